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
    from privatree._support.progress import rich_progress

    spinner = rich_progress(
        "spinner",
        "{task.description}",
        "elapsed",
        shown=None if shown else False,
        transient=True,
    )
    with spinner:
        spinner.add_task(doing, total=None)
        yield
