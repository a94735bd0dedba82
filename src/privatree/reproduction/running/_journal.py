"""Results on disk: one row for each finished task, written at once and never lost.

A row is complete if its line ends; a line that a kill cut short is dropped on reading, and its task
is run again. :meth:`Journal.sort` leaves the file in an order that does not depend on which task
finished first.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privatree._support.atomic_files import replace_file
from privatree.errors import ParameterError
from privatree.reproduction.running._task import Score, Task

if TYPE_CHECKING:
    import pandas as pd


class Journal:
    """The results of one experiment, as a CSV file.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    fields : sequence of str
        The columns that identify a task; those of its result follow.
    measures : sequence of str, default=()
        The columns of what a task finds besides the accuracy.

    Raises
    ------
    ParameterError
        If the file holds something else.
    """

    def __init__(self, path: Path, fields: Sequence[str], measures: Sequence[str] = ()) -> None:
        self.path = path
        self._fields, self._measures = tuple(fields), tuple(measures)
        self._header = (*self._fields, "accuracy", *self._measures, "fit_seconds", "note")
        self._rows: dict[tuple[str, ...], tuple[str, ...]] = {}
        if path.exists() and path.stat().st_size > 0:
            self._read()
        else:
            self._replace([])

    def __contains__(self, task: Task) -> bool:
        """Whether the task is finished: scored, or marked as one that cannot be."""
        return task.key in self._rows

    def scored(self, task: Task, score: Score) -> None:
        """Write what a task found."""
        if len(score.more) != len(self._measures):
            raise ParameterError(
                f"a score must have {len(self._measures)} numbers besides the accuracy, got "
                f"{len(score.more)}. Let the task's measures name them all."
            )
        found = (f"{number:.6f}" for number in (score.accuracy, *score.more))
        self._append(task.key, (*found, f"{score.fit_seconds:.4f}", ""))

    def marked(self, task: Task, note: str) -> None:
        """Write that a task has no score, and why."""
        nothing = [""] * (len(self._measures) + 2)
        self._append(task.key, (*nothing, " ".join(note.split())))

    def forget_marked(self, tasks: Iterable[Task]) -> None:
        """Drop those of these tasks that have no score, so that they are run again."""
        asked = {task.key for task in tasks}
        rows = self._rows.items()
        self._rows = {key: result for key, result in rows if result[0] or key not in asked}
        self._replace(self._rows.items())

    def sort(self, tasks: Iterable[Task]) -> None:
        """Rewrite the file: these tasks in their order, then all others in alphabetical order."""
        first = [task.key for task in tasks if task in self]
        others = sorted(self._rows.keys() - set(first))
        self._replace((key, self._rows[key]) for key in [*first, *others])

    def frame(self, tasks: Iterable[Task]) -> pd.DataFrame:
        """The finished ones among these tasks, with numbers as numbers."""
        import pandas as pd

        rows = [(*task.key, *self._rows[task.key]) for task in tasks if task in self]
        table = pd.DataFrame(rows, columns=list(self._header))
        numbers = table.columns.drop(["dataset", "method", "note"], errors="ignore")
        return table.assign(**{name: pd.to_numeric(table[name]) for name in numbers})

    def _append(self, key: tuple[str, ...], result: tuple[str, ...]) -> None:
        self._rows[key] = result
        with self.path.open("ab") as file:  # one write: a line is whole or cut short, never mixed
            file.write(_line((*key, *result)))

    def _replace(self, rows: Iterable[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        lines = [_line(self._header), *(_line((*k, *r)) for k, r in rows)]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, b"".join(lines))

    def _read(self) -> None:
        whole = self.path.read_bytes()
        ended = whole[: whole.rfind(b"\n") + 1]
        lines = csv.reader(io.StringIO(ended.decode("utf-8", errors="replace")))
        if tuple(next(lines, ())) != self._header:
            raise ParameterError(
                f"{self.path}: is not a results file with the columns {', '.join(self._header)}. "
                "Name another output folder."
            )
        for row in _complete(lines, len(self._header)):
            self._rows[row[: len(self._fields)]] = row[len(self._fields) :]
        if len(ended) < len(whole):
            self._replace(self._rows.items())


def _complete(lines: Iterable[list[str]], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(row) for row in lines if len(row) == length)


def _line(row: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue().encode(errors="backslashreplace")
