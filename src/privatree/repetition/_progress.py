"""A bar of what is done, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privatree._support.extras import missing_extra
from privatree.errors import ParameterError


@contextmanager
def progress_bar(
    total: int, shown: bool | None, description: str
) -> Iterator[Callable[[int], None]]:
    """Show how much is done and how long the rest will take.

    Parameters
    ----------
    total : int
        How much there is to do.
    shown : bool or None
        Whether there is a bar; None: if stderr is a terminal and rich is installed.
    description : str
        What is counted.

    Yields
    ------
    callable
        Takes how much more is done.

    Raises
    ------
    ParameterError
        If there must be a bar, and rich is not installed.
    """
    if shown is not None and not isinstance(shown, bool):
        raise ParameterError(f"progress must be True, False or None, got {shown!r}.", "progress")
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    except ImportError as error:
        if shown:
            raise missing_extra("progress bars need rich", "cli") from error
        yield lambda finished: None
        return
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        console=console,
        disable=not (console.is_terminal if shown is None else shown),
    )
    with bar:
        task = bar.add_task(description, total=total)
        yield lambda finished: bar.update(task, advance=finished)
