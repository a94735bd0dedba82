"""Pairs of tables that differ in one record, at which private learners are known to give way.

Each pair is after one mistake. Where theory says which outcome gives it away, the pair names it as
an :class:`~privatree.audit.Event`; others are learned from half of the trainings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from privatree.audit._events import Event
from privatree.learners.tree import DrawSubtree, RecordPlan
from privatree.schema import Categorical, Feature, Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd

_ENOUGH = 24_000
"""Trainings with which an event that is rare is seen often enough."""
_MAX_TABLE = 20_000
"""A learner with a smaller epsilon would need a larger one to be told apart by its size."""


class Records(NamedTuple):
    """Rows and their labels."""

    X: Any
    y: Any


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ in one record, and what is public about them.

    Parameters
    ----------
    name : str
        A short one.
    after : str
        The mistake that the pair would show, in words.
    schema : Schema
        Kinds, ranges, categories and classes, declared before the tables are looked at.
    first, second : Records
        The tables, as the learner takes them.
    max_depth : int, optional
        Depth of a tree at which the mistake shows; by default the learner's own.
    events : sequence of Event, default=()
        Outcomes that theory names.
    needs : str, optional
        The view without which the pair can show nothing that the others do not.
    effort : int, default=1
        How many times as many trainings it needs, if they are few: more if its event is rare.
    """

    name: str
    after: str
    schema: Schema
    first: Records
    second: Records
    max_depth: int | None = None
    events: Sequence[Event] = ()
    needs: str | None = None
    effort: int = 1

    @property
    def replaced(self) -> bool:
        """Whether one record is replaced by another, and not added or removed."""
        first, second = self.sizes
        return first == second

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of records of the tables."""
        return len(self.first.y), len(self.second.y)

    def trainings(self, runs: int) -> int:
        """How many of each table, where so many are asked for in general."""
        return max(runs, min(self.effort * runs, _ENOUGH))

    @contextmanager
    def given(self) -> Iterator[list[Records]]:
        """Both tables as they are given to each training."""
        yield [self.first, self.second]

    def encoded(self, encode: Callable[[Any, Schema], Any]) -> Self:
        """The same pair in another form, for a learner that takes no frames.

        Parameters
        ----------
        encode : callable
            Turns rows, given the schema, into what the learner takes.
        """
        first, second = (
            Records(encode(table.X, self.schema), table.y) for table in (self.first, self.second)
        )
        return replace(self, first=first, second=second)


def table_pairs(epsilon: float = 1.0) -> dict[str, Neighbours]:
    """Every pair of tables, by name.

    Parameters
    ----------
    epsilon : float, default=1.0
        What the learner claims; the size of one pair follows from it.
    """
    pairs = (
        _purity(),
        _many_features(),
        _new_class(),
        _new_category(),
        _outlier(),
        _size_threshold(epsilon),
        _category_order(),
        _three_records(),
        _first_row(),
        _part_sizes(),
        _no_records(),
    )
    return {pair.name: pair for pair in pairs}


# --- the pairs ------------------------------------------------------------------------------------


def _purity() -> Neighbours:
    """One record more makes a pure node impure: whoever stops at pure nodes tells.

    There are so many records that noise alone does not empty a side of a split.
    """
    side, other = np.repeat([0, 1], 100), np.tile([0, 1], 100)
    schema, first = _binary({"f0": side, "f1": other}, labels=side)
    return Neighbours(
        "purity",
        "stopping where all records have one class",
        schema,
        first,
        _with(first, schema, {"f0": 0, "f1": 0}, 1),
        max_depth=2,
        events=(
            Event(
                "splits",
                "the root splits on f0, and both of its children are leaves",
                lambda splits: splits == (0, (), ()),
                likelier="first",
            ),
        ),
        effort=4,
    )


def _many_features() -> Neighbours:
    """One record is in the histogram of every feature: their costs add up.

    All features are constant but for the record. A learner that spends its whole epsilon on each
    of their histograms sees it five times over; only if it shows in none of them there is no split.
    """
    n_features, n_records = 5, 2000
    columns = {f"f{place}": np.zeros(n_records, int) for place in range(n_features)}
    schema, first = _binary(columns, labels=np.arange(n_records) % 2)
    return Neighbours(
        "many-features",
        "a budget for each feature, as if a record were in one of them only",
        schema,
        first,
        _with(first, schema, dict.fromkeys(columns, 1), 1),
        max_depth=1,
        events=(
            Event(
                "splits",
                "the tree is a single leaf",
                lambda splits: splits == (),
                likelier="first",
            ),
        ),
        effort=24,
    )


def _new_class() -> Neighbours:
    schema = Schema({"x": Numeric(0, 1)}, [0, 1])
    first = Records(_frame(schema, {"x": np.linspace(0, 1, 10)}), np.zeros(10, int))
    return Neighbours(
        "new-class",
        "classes taken from the records",
        schema,
        first,
        _with(first, schema, {"x": 0.5}, 1),
    )


def _new_category() -> Neighbours:
    schema = Schema({"f": Categorical(["a", "b", "c"])}, [0, 1])
    first = Records(_frame(schema, {"f": np.tile([0, 1], 20)}), np.tile([0, 1], 20))
    return Neighbours(
        "new-category",
        "categories taken from the records",
        schema,
        first,
        _with(first, schema, {"f": 2}, 1),
    )


def _outlier() -> Neighbours:
    schema = Schema({"x": Numeric(0, 1_000_000)}, [0, 1])
    x = np.linspace(0, 1, 40)
    first = Records(_frame(schema, {"x": x}), (x > 0.5).astype(int))
    return Neighbours(
        "outlier",
        "ranges taken from the records",
        schema,
        first,
        _with(first, schema, {"x": 1_000_000}, 1),
        max_depth=1,
    )


def _size_threshold(epsilon: float) -> Neighbours:
    """The record-level learner plans with a noisy number of records.

    With the exact one, one record more would decide whether a tree of these columns may have two
    levels.
    """
    plan = RecordPlan(Fraction(epsilon), 2, (), (2, 2), max_depth=2)
    sizes = range(2, _MAX_TABLE)
    n_records = bisect_left(sizes, True, key=lambda n: _has_two_levels(plan, n)) + sizes[0] - 1
    side, other = np.arange(n_records) % 2, np.arange(n_records) // 2 % 2
    schema, first = _binary({"f0": side, "f1": other}, labels=side ^ other)
    return Neighbours(
        "size-threshold",
        "planning with the exact number of records",
        schema,
        first,
        _with(first, schema, {"f0": 0, "f1": 0}, 0),
        max_depth=2,
    )


def _has_two_levels(plan: RecordPlan, n_records: int) -> bool:
    stage = plan.stage(plan.root(n_records))
    return not isinstance(stage, DrawSubtree) or len(stage.grids) > 0


def _category_order() -> Neighbours:
    """Two categories have the same ratio of classes until one record is added."""
    schema = Schema({"f": Categorical(["a", "b", "c", "d"])}, [0, 1])
    codes, labels = np.repeat([0, 1, 2, 3], 20), np.tile([0, 1], 40)
    labels[:20], labels[60:] = 0, 1
    first = Records(_frame(schema, {"f": codes}), labels)
    return Neighbours(
        "category-order",
        "categories put in the order of their exact ratios of classes",
        schema,
        first,
        _with(first, schema, {"f": 1}, 1),
        max_depth=1,
    )


def _three_records() -> Neighbours:
    schema, first = _binary({"f": np.array([0, 1])}, labels=np.array([0, 1]))
    return Neighbours(
        "three-records",
        "any budget that is exceeded where there are hardly any records",
        schema,
        first,
        _with(first, schema, {"f": 0}, 1),
        max_depth=1,
    )


def _first_row() -> Neighbours:
    """Every row is of another class than the next: without the first all are one place further."""
    n_rows = 10
    schema, table = _binary({"f": np.zeros(n_rows, int)}, labels=np.arange(n_rows) % 2)
    return Neighbours(
        "first-row",
        "rows dealt to the members of an ensemble by their position",
        schema,
        table,
        Records(table.X.iloc[1:].reset_index(drop=True), table.y[1:]),
        events=(
            Event(
                "members",
                "of ten members, at least seven predict the class of the row at their place",
                _seven_of_ten,
                likelier="first",
            ),
        ),
        needs="members",
    )


def _seven_of_ten(predictions: Hashable) -> bool:
    """All rows are alike, so there is one prediction of each member."""
    if not isinstance(predictions, tuple) or len(predictions) != 10:
        return False
    return sum(float(label) == place % 2 for place, label in enumerate(predictions)) >= 7


def _part_sizes() -> Neighbours:
    schema, table = _binary({"f": np.zeros(7, int)}, labels=np.ones(7, int))
    return Neighbours(
        "part-sizes",
        "parts of the records whose sizes follow from the number of all",
        schema,
        table,
        Records(table.X.iloc[1:].reset_index(drop=True), table.y[1:]),
        needs="members",
    )


def _no_records() -> Neighbours:
    schema, table = _binary({"f": np.zeros(1, int)}, labels=np.zeros(1, int))
    return Neighbours(
        "no-records",
        "an error if there is nothing to train on",
        schema,
        Records(table.X.iloc[:0], table.y[:0]),
        table,
    )


# --- making tables --------------------------------------------------------------------------------


def _binary(columns: Mapping[str, Any], labels: Any) -> tuple[Schema, Records]:
    """A table of features with the two categories 0 and 1, and two classes."""
    schema = Schema({name: Categorical(["0", "1"]) for name in columns}, [0, 1])
    return schema, Records(_frame(schema, columns), np.asarray(labels))


def _with(table: Records, schema: Schema, record: Mapping[str, float], label: int) -> Records:
    """The table with one record more."""
    import pandas as pd

    row = _frame(schema, {name: np.array([value]) for name, value in record.items()})
    return Records(pd.concat([table.X, row], ignore_index=True), np.append(table.y, label))


def _frame(schema: Schema, columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame; categories are given by their codes."""
    import pandas as pd

    def column(feature: Feature, values: Any) -> Any:
        if isinstance(feature, Categorical):
            return pd.Categorical.from_codes(values, pd.Index(list(feature.categories)))
        return values

    return pd.DataFrame({name: column(schema.features[name], columns[name]) for name in columns})
