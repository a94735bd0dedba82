"""A bar that shows the progress of a pass on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privatree._support.progress import rich_progress


@contextmanager
def show_pass_progress(
    number: int, total: int | None, shown: bool | None
) -> Iterator[Callable[[int], None]]:
    """Show a bar with the rows of a pass and their rate, and remove it at the end of the pass.

    `total` is the number of rows, if an earlier pass has counted them. The bar is shown if `shown`
    is True, or if it is None, stderr is a terminal and rich is installed. The yielded function
    takes the number of rows that were counted since its last call.

    Notes
    -----
    The number of records is private. The bar is for the person who runs the training, who has the
    records anyway. Its numbers are rounded, they are not kept, and the model does not contain them.
    """
    if shown is None and not sys.stderr.isatty():
        shown = False  # a setting of rich can treat a file as a terminal; no count goes to a file
    bar = rich_progress(
        "Pass {task.fields[number]}",
        "bar",
        "{task.fields[rows]} rows, {task.fields[rate]}/s",
        "elapsed",
        shown=shown,
        transient=True,
    )
    if bar is None:
        yield lambda rows: None
        return
    with bar:
        task = bar.add_task("", total=total, number=number, rows="0", rate="0")

        def advance(rows: int) -> None:
            bar.advance(task, rows)
            now = bar.tasks[0]
            rate = now.completed / now.elapsed if now.elapsed else 0.0
            bar.update(
                task, rows=round_pass_progress(now.completed), rate=round_pass_progress(rate)
            )

        yield advance


def round_pass_progress(number: float) -> str:
    """Round a number to two digits, as text: 1,234,567 becomes "1.2 million"."""
    if number < 1000:
        return "fewer than 1,000"
    digits = float(f"{number:.2g}")
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if digits >= size:
            return f"{digits / size:g} {name}"
    return f"{digits:,.0f}"
