"""A sign of how far a pass over the records is, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privatree._support.extras import missing_extra


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
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError as error:
        if shown:
            raise missing_extra("progress bars need rich", "cli") from error
        yield lambda rows: None
        return
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("Pass {task.fields[number]}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rows]} rows, {task.fields[rate]}/s", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not (sys.stderr.isatty() if shown is None else shown),
    )
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
