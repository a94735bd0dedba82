"""The figures that the paper printed [Vos23], to compare with ours.

``published/*.csv`` has a row for each dataset and epsilon and a column for each method. Cells are
the paper's: accuracy and seconds as ``mean±standard error``, ``-`` where a method does not apply.
A cell of ``poisoning.csv`` has the accuracy, then the accuracies that are guaranteed if 0.1, 0.5
and 1% of the training records are poisoned. For datasets with categories the paper printed fewer
digits.
Four datasets occur in two of the paper's suites; the version with categories ends in ``-mixed``.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Published(NamedTuple):
    """A mean over five folds and its standard error."""

    mean: float
    standard_error: float


class PublishedRuntime(NamedTuple):
    """Whole seconds; ``bound`` is ``"<"`` or ``">"`` if the paper printed only a bound."""

    seconds: float
    bound: str = ""

    @property
    def text(self) -> str:
        """The seconds as the paper printed them."""
        return f"{self.bound}{self.seconds:g}"


def published_accuracy(dataset: str, method: str, epsilon: float) -> Published | None:
    """Return the paper's test accuracy of trees of depth 4, or None if it printed no number."""
    cell = published_accuracy_text(dataset, method, epsilon)
    mean, plus_minus, standard_error = cell.partition("±")
    return Published(float(mean), float(standard_error)) if plus_minus else None


def published_accuracy_text(dataset: str, method: str, epsilon: float) -> str:
    """Return a cell of the paper's accuracy tables: ``.701±.009``, ``timeout``, ``-`` or nothing.

    The decision tree without privacy is the same in every table, so its `epsilon` is ignored.
    """
    return _printed_cell("accuracy", dataset, method, 0.1 if method == "decision-tree" else epsilon)


def published_runtime(dataset: str, method: str, epsilon: float) -> PublishedRuntime | None:
    """Return the paper's mean runtime, or None: the paper printed runtimes at epsilon 0.1 only."""
    seconds = _printed_cell("runtime", dataset, method, epsilon).partition("±")[0]
    if seconds in ("", "-"):
        return None
    return PublishedRuntime(float(seconds.lstrip("<>")), seconds[0] if seconds[0] in "<>" else "")


def published_guarantees(dataset: str, method: str, epsilon: float) -> tuple[str, ...]:
    """Return the paper's accuracy, and its guarantees at 0.1, 0.5 and 1% poisoned records.

    The four texts are as printed, including ``-``. All are empty if the paper has no such row.
    """
    return tuple(_printed_cell("poisoning", dataset, method, epsilon).split()) or ("",) * 4


def _printed_cell(table: str, dataset: str, method: str, epsilon: float) -> str:
    for row in _read_published_table(table):
        if row["dataset"] == dataset and math.isclose(float(row["epsilon"]), epsilon):
            return row.get(method, "")
    return ""


@cache
def _read_published_table(table: str) -> list[dict[str, str]]:
    path = Path(__file__).with_name("published") / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
