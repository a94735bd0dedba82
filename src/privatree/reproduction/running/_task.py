"""What the runner needs to know of a task, and nothing that takes long to import.

Every process of a run begins by importing the runner; what a task itself needs comes with the task.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol


class Score(NamedTuple):
    """What a task found; ``more`` are the numbers that its ``measures`` name."""

    accuracy: float
    fit_seconds: float
    more: tuple[float, ...] = ()


class Task(Protocol):
    """What the runner can run.

    ``fields`` name the parts of ``key``; together they are a row's first columns in the results.
    ``measures`` name what it finds besides the accuracy.
    """

    fields: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]]

    @property
    def key(self) -> tuple[str, ...]:
        """What tells this task from all others, as written in the results."""

    @property
    def weight(self) -> float:
        """About how long it takes, beside other tasks: for the progress bar."""

    def prepare(self) -> None:
        """Load the data, so that the time it takes is not counted."""

    def run(self) -> Score:
        """Do it."""
