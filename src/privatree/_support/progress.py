"""Progress bars and spinners on stderr, drawn by rich, which is optional."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from privatree._support.extras import missing_extra
from privatree.errors import ParameterError


def rich_progress(*columns: str, shown: bool | None = None, **options: Any) -> Any:
    """Return a `rich.progress.Progress` that is not started yet; None if rich is not installed.

    A column is "spinner", "bar", "count", "share", "elapsed", "remaining", or a text with fields of
    the task. With ``shown=None``, the progress is shown if stderr is a terminal. With
    ``shown=True``, an error is raised if rich is not installed.
    """
    try:
        from rich import progress
        from rich.console import Console
    except ImportError as error:
        if shown:
            raise missing_extra("progress bars need rich", "cli") from error
        return None
    known: dict[str, Callable[[], progress.ProgressColumn]] = {
        "spinner": progress.SpinnerColumn,
        "bar": progress.BarColumn,
        "count": progress.MofNCompleteColumn,
        "share": progress.TaskProgressColumn,
        "elapsed": progress.TimeElapsedColumn,
        "remaining": lambda: progress.TimeRemainingColumn(elapsed_when_finished=False),
    }
    console = Console(stderr=True)
    return progress.Progress(
        *(
            known[column]() if column in known else progress.TextColumn(column, markup=False)
            for column in columns
        ),
        console=console,
        disable=not (console.is_terminal if shown is None else shown),
        **options,
    )


@contextmanager
def progress_bar(
    total: int, shown: bool | None, description: str
) -> Iterator[Callable[[int], None]]:
    """Show a bar with the remaining time; yield a function that advances it by some steps.

    `shown` is the parameter ``progress`` of the caller. None shows a bar if stderr is a terminal
    and rich is installed; True raises a ParameterError if rich is not installed.
    """
    if shown is not None and not isinstance(shown, bool):
        raise ParameterError(f"progress must be True, False or None, got {shown!r}.", "progress")
    bar = rich_progress(
        "{task.description}", "bar", "count", "elapsed", "left", "remaining", shown=shown
    )
    if bar is None:
        yield lambda finished: None
        return
    with bar:
        task = bar.add_task(description, total=total)
        yield lambda finished: bar.update(task, advance=finished)


@contextmanager
def passing_bar(description: str, shown: bool | None) -> Iterator[Callable[[int, int], None]]:
    """Show a bar that disappears at the end; yield a function of the steps done and of all steps.

    The bar appears at the first call of the function. `shown` is as for `rich_progress`.
    """
    bar = rich_progress(description, "bar", "count", "elapsed", shown=shown, transient=True)
    if bar is None:
        yield lambda done, total: None
        return
    with bar:

        def show(done: int, total: int) -> None:
            if not bar.tasks:
                bar.add_task("", total=total)
            bar.update(bar.tasks[0].id, completed=done)

        yield show
