"""A sign of how far a pass over the records is, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privatree._support.progress import rich_progress


@contextmanager
def pass_progress(
    number: int, total: int | None, shown: bool | None
) -> Iterator[Callable[[int], None]]:
    """Show the pass, how many rows are done, and how fast; it is gone afterwards.

    Parameters
    ----------
    number : int
        Of the pass, from 1.
    total : int or None
        How many rows there are, if a pass before has found out.
    shown : bool or None
        Whether to show it; None: if stderr is a terminal and rich is installed.

    Yields
    ------
    callable
        Takes how many more rows are done.

    Raises
    ------
    ParameterError
        If it must be shown, and rich is not installed.

    Notes
    -----
    How many records there are is private. The bar is for whoever runs the training and so has the
    records; it is rounded, it is not kept, and nothing of it goes into the model.
    """
    if shown is None and not sys.stderr.isatty():
        shown = False  # rich can be told to take a file for a terminal; no count goes to a file
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
            bar.update(task, rows=rounded(now.completed), rate=rounded(rate))

        yield advance


def rounded(number: float) -> str:
    """A number in two digits, for a person: 1,234,567 is 1.2 million."""
    if number < 1000:
        return "fewer than 1,000"
    digits = float(f"{number:.2g}")
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if digits >= size:
            return f"{digits / size:g} {name}"
    return f"{digits:,.0f}"
