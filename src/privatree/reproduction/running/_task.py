"""What the runner needs to know about a task.

Keep this module quick to import: every process of a run imports it before its first task.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol


class Score(NamedTuple):
    """The result of a task.

    ``more`` has one number for each of the task's ``measures``, and ``added`` one for each of its
    ``added_measures``, or nothing. A number that cannot be measured is NaN.
    """

    accuracy: float
    fit_seconds: float
    more: tuple[float, ...] = ()
    added: tuple[float, ...] = ()


class Task(Protocol):
    """One training to be measured.

    ``fields`` are the names of the parts of ``key``: the first columns of the results file.
    ``measures`` are the names of the numbers that the task finds besides the accuracy.
    ``added_measures`` are the names of numbers that older results files do not have: the last
    columns of the file.
    """

    fields: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]]
    added_measures: ClassVar[tuple[str, ...]]

    @property
    def key(self) -> tuple[str, ...]:
        """Text that identifies the task, as written in the results file."""

    @property
    def weight(self) -> float:
        """Rough duration, relative to other tasks, for the progress bar."""

    def prepare(self) -> None:
        """Load the data before ``run``, because loading is not timed."""

    def run(self) -> Score:
        """Train, and return the score."""
