"""A sign of life while something takes longer than a moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def waiting(doing: str, *, shown: bool = True) -> Iterator[None]:
    """Show what is being done, and for how long, on stderr; it is gone afterwards.

    Parameters
    ----------
    doing : str
        What: "Training".
    shown : bool, default=True
        Whether to show it. Where stderr is no terminal it is never shown.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
    )
    with progress:
        progress.add_task(doing, total=None)
        yield
