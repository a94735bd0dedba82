"""The results file of a run: one CSV row for each finished task, written as soon as it finishes.

A row is complete if its line ends. If the run was killed in the middle of a line, that line is
dropped when the file is read, and its task is run again.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privatree._support.atomic_files import replace_file
from privatree.errors import ParameterError
from privatree.reproduction.running._task import Score, Task

if TYPE_CHECKING:
    import pandas as pd


class Journal:
    """A results file: ``fields``, accuracy, ``measures``, fit_seconds, note, ``added_measures``.

    The file is made if it does not exist, and refused if it has other columns. A file without
    ``added_measures`` is an older one: it gets these columns, and its rows have nothing there.
    """

    def __init__(
        self,
        path: Path,
        fields: Sequence[str],
        measures: Sequence[str] = (),
        added_measures: Sequence[str] = (),
    ) -> None:
        self.path = path
        self._fields, self._measures = tuple(fields), tuple(measures)
        self._added = tuple(added_measures)
        self._old_header = (*self._fields, "accuracy", *self._measures, "fit_seconds", "note")
        self._header = (*self._old_header, *self._added)
        self._rows: dict[tuple[str, ...], tuple[str, ...]] = {}
        if path.exists() and path.stat().st_size > 0:
            self._read_rows()
        else:
            self._replace_rows([])

    def __contains__(self, task: Task) -> bool:
        """Return whether the task has a row: a score, or a note that says why it has none."""
        return task.key in self._rows

    def record_score(self, task: Task, score: Score) -> None:
        """Write the row of a task that has a score."""
        if len(score.more) != len(self._measures):
            raise ParameterError(
                f"a score must have {len(self._measures)} numbers besides the accuracy, got "
                f"{len(score.more)}. List a name for each number in the task's measures."
            )
        if score.added and len(score.added) != len(self._added):
            raise ParameterError(
                f"a score must have {len(self._added)} added numbers or none, got "
                f"{len(score.added)}. List a name for each number in the task's added_measures."
            )
        found = map(_journal_number, (score.accuracy, *score.more))
        added = map(_journal_number, score.added or [math.nan] * len(self._added))
        self._append_row(task.key, (*found, f"{score.fit_seconds:.4f}", "", *added))

    def record_failure(self, task: Task, note: str) -> None:
        """Write the row of a task that has no score; the note says why."""
        nothing = [""] * (len(self._measures) + 2)
        no_added = [""] * len(self._added)
        self._append_row(task.key, (*nothing, " ".join(note.split()), *no_added))

    def forget_failures(self, tasks: Iterable[Task]) -> None:
        """Drop the rows of these tasks that have no score, so that the tasks are run again."""
        asked = {task.key for task in tasks}
        rows = self._rows.items()
        self._rows = {key: result for key, result in rows if result[0] or key not in asked}
        self._replace_rows(self._rows.items())

    def sort(self, tasks: Iterable[Task]) -> None:
        """Rewrite the file in an order that does not depend on which task finished first.

        First come the given tasks in their order, then all other tasks in alphabetical order.
        """
        first = [task.key for task in tasks if task in self]
        others = sorted(self._rows.keys() - set(first))
        self._replace_rows((key, self._rows[key]) for key in [*first, *others])

    def frame(self, tasks: Iterable[Task]) -> pd.DataFrame:
        """Return the rows of those tasks that are finished, with numeric columns."""
        import pandas as pd

        rows = [(*task.key, *self._rows[task.key]) for task in tasks if task in self]
        table = pd.DataFrame(rows, columns=list(self._header))
        numbers = table.columns.drop(["dataset", "method", "note"], errors="ignore")
        return table.assign(**{name: pd.to_numeric(table[name]) for name in numbers})

    def _append_row(self, key: tuple[str, ...], result: tuple[str, ...]) -> None:
        self._rows[key] = result
        with self.path.open("ab") as file:  # one write: a line is whole or cut short, never mixed
            file.write(_journal_line((*key, *result)))

    def _replace_rows(self, rows: Iterable[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        lines = [_journal_line(self._header), *(_journal_line((*k, *r)) for k, r in rows)]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, b"".join(lines))

    def _read_rows(self) -> None:
        whole = self.path.read_bytes()
        ended = whole[: whole.rfind(b"\n") + 1]
        lines = csv.reader(io.StringIO(ended.decode("utf-8", errors="replace")))
        header = tuple(next(lines, ()))
        if header not in (self._header, self._old_header):
            raise ParameterError(
                f"{self.path}: must be a results file with the columns {', '.join(self._header)}. "
                "Choose another output folder."
            )
        not_measured = [""] * (len(self._header) - len(header))
        for row in lines:
            if len(row) == len(header):
                row += not_measured
                self._rows[tuple(row[: len(self._fields)])] = tuple(row[len(self._fields) :])
        if len(ended) < len(whole) or not_measured:
            self._replace_rows(self._rows.items())


def _journal_number(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.6f}"


def _journal_line(row: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue().encode(errors="backslashreplace")
