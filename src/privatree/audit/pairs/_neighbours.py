"""Pairs of datasets that differ in one record and reveal known mistakes of learners.

Each pair is made to reveal one mistake. If theory says which outcome reveals it, the pair names
this outcome as an :class:`~privatree.audit.Event`. Otherwise an event is learned from trainings.
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
"""Number of trainings that is enough to count a rare event."""
_MAX_TABLE = 20_000
"""Largest number of records in a dataset. A very small epsilon would need more."""


class Records(NamedTuple):
    """Rows of a dataset and their labels.

    Attributes
    ----------
    X : frame, array or source
        Features, in any form that the learner takes.
    y : array or None
        Labels.

    Examples
    --------
    >>> len(Records([[0.5], [1.5]], [0, 1]).y)
    2
    """

    X: Any
    y: Any


@dataclass(frozen=True)
class Neighbours:
    """Two datasets that differ in one record, or in all records of one unit, and their schema.

    Parameters
    ----------
    name : str
        Short name of the pair.
    after : str
        Mistake that the pair can reveal, in words.
    schema : Schema
        Public schema, which does not depend on the datasets. If it names a unit, the datasets have
        its column, and differ by all records of one unit.
    first, second : Records
        The datasets, in a form that the learner takes.
    max_depth : int, optional
        Depth of the trees that can reveal the mistake; by default the learner's own.
    events : sequence of Event, default=()
        Outcomes that theory names.
    needs : str, optional
        Name of a view that the models must have; otherwise the pair is left out.
    effort : int, default=1
        Factor for the number of trainings. It is larger for rare events.

    Examples
    --------
    >>> schema = Schema({"x": Numeric(0, 1)}, [0, 1])
    >>> first, second = Records([[0.5]] * 9, [0] * 9), Records([[0.5]] * 10, [0] * 10)
    >>> pair = Neighbours("size", "an exact number of records", schema, first, second)
    >>> pair.sizes, pair.replaced
    ((9, 10), False)
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
        """Whether one record is replaced, so that the datasets have the same size."""
        first, second = self.sizes
        return first == second

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of records of the two datasets."""
        return len(self.first.y), len(self.second.y)

    def trainings(self, runs: int) -> int:
        """Return the number of trainings on each dataset; ``runs`` is the requested number."""
        return max(runs, min(self.effort * runs, _ENOUGH))

    @contextmanager
    def given(self) -> Iterator[list[Records]]:
        """Yield both datasets in the form in which each training gets them."""
        yield [self.first, self.second]

    def encoded(self, encode: Callable[[Any, Schema], Any]) -> Self:
        """Return the pair with encoded rows, for a learner that does not take frames.

        Parameters
        ----------
        encode : callable
            Takes rows and the schema; returns what the learner takes.
        """
        first, second = (
            Records(encode(table.X, self.schema), table.y) for table in (self.first, self.second)
        )
        return replace(self, first=first, second=second)


def table_pairs(epsilon: float = 1.0) -> dict[str, Neighbours]:
    """Return all pairs in memory, by name. The size of one pair depends on the claimed epsilon."""
    pairs = (
        _purity_neighbours(),
        _many_features_neighbours(),
        _new_class_neighbours(),
        _new_category_neighbours(),
        _outlier_neighbours(),
        _size_threshold_neighbours(epsilon),
        _category_order_neighbours(),
        _three_records_neighbours(),
        _first_row_neighbours(),
        _part_sizes_neighbours(),
        _no_records_neighbours(),
        _lead_neighbours(),
        _noisy_size_neighbours(),
    )
    return {pair.name: pair for pair in pairs}


# --- the pairs ------------------------------------------------------------------------------------


def _purity_neighbours() -> Neighbours:
    """Return a pair in which the added record makes a pure node impure.

    A learner that stops at pure nodes reveals the record. Each side of the first split has 100
    records, so that noise alone cannot make a side look empty.
    """
    side, other = np.repeat([0, 1], 100), np.tile([0, 1], 100)
    event = Event(
        "splits",
        "the root splits on f0, and both of its children are leaves",
        lambda splits: splits == (0, (), ()),
        likelier="first",
    )
    return _neighbours_with_record(
        "purity",
        "stopping where all records have one class",
        _make_binary_neighbour({"f0": side, "f1": other}, side),
        ({"f0": 0, "f1": 0}, 1),
        max_depth=2,
        events=(event,),
        effort=4,
    )


def _many_features_neighbours() -> Neighbours:
    """Return a pair in which the added record changes the histograms of five features.

    All features are constant, except in the added record. A learner that spends its whole epsilon
    on each histogram reveals the record five times. The tree has no split only if none of the noisy
    histograms shows the record.
    """
    n_features, n_records = 5, 2000
    columns = {f"f{place}": np.zeros(n_records, int) for place in range(n_features)}
    event = Event(
        "splits", "the tree is a single leaf", lambda splits: splits == (), likelier="first"
    )
    return _neighbours_with_record(
        "many-features",
        "a budget for each feature, as if a record were in one of them only",
        _make_binary_neighbour(columns, np.arange(n_records) % 2),
        (dict.fromkeys(columns, 1), 1),
        max_depth=1,
        events=(event,),
        effort=24,
    )


def _new_class_neighbours() -> Neighbours:
    data = _make_neighbour({"x": Numeric(0, 1)}, {"x": np.linspace(0, 1, 10)}, np.zeros(10, int))
    return _neighbours_with_record(
        "new-class", "classes taken from the records", data, ({"x": 0.5}, 1)
    )


def _new_category_neighbours() -> Neighbours:
    codes = np.tile([0, 1], 20)
    data = _make_neighbour({"f": Categorical(["a", "b", "c"])}, {"f": codes}, codes)
    return _neighbours_with_record(
        "new-category", "categories taken from the records", data, ({"f": 2}, 1)
    )


def _outlier_neighbours() -> Neighbours:
    x = np.linspace(0, 1, 40)
    data = _make_neighbour({"x": Numeric(0, 1_000_000)}, {"x": x}, (x > 0.5).astype(int))
    record = {"x": 1_000_000}, 1
    return _neighbours_with_record(
        "outlier", "ranges taken from the records", data, record, max_depth=1
    )


def _size_threshold_neighbours(epsilon: float) -> Neighbours:
    """Return a pair in which the added record makes a tree one level deeper.

    This happens if the depth is planned from the exact number of records. The record-level learner
    plans with a noisy number.
    """
    plan = RecordPlan(Fraction(epsilon), 2, (), (2, 2), max_depth=2)
    sizes = range(2, _MAX_TABLE)
    n_records = bisect_left(sizes, True, key=lambda n: _has_two_levels(plan, n)) + sizes[0] - 1
    side, other = np.arange(n_records) % 2, np.arange(n_records) // 2 % 2
    return _neighbours_with_record(
        "size-threshold",
        "planning with the exact number of records",
        _make_binary_neighbour({"f0": side, "f1": other}, side ^ other),
        ({"f0": 0, "f1": 0}, 0),
        max_depth=2,
    )


def _has_two_levels(plan: RecordPlan, n_records: int) -> bool:
    stage = plan.stage(plan.root(n_records))
    return not isinstance(stage, DrawSubtree) or len(stage.grids) > 0


def _category_order_neighbours() -> Neighbours:
    """Return a pair in which two categories have equal class ratios without the added record."""
    codes, labels = np.repeat([0, 1, 2, 3], 20), np.tile([0, 1], 40)
    labels[:20], labels[60:] = 0, 1
    return _neighbours_with_record(
        "category-order",
        "categories put in the order of their exact ratios of classes",
        _make_neighbour({"f": Categorical(["a", "b", "c", "d"])}, {"f": codes}, labels),
        ({"f": 1}, 1),
        max_depth=1,
    )


def _three_records_neighbours() -> Neighbours:
    return _neighbours_with_record(
        "three-records",
        "any budget that is exceeded where there are hardly any records",
        _make_binary_neighbour({"f": np.array([0, 1])}, np.array([0, 1])),
        ({"f": 0}, 1),
        max_depth=1,
    )


def _first_row_neighbours() -> Neighbours:
    """Return a pair whose classes alternate by row; the second dataset lacks the first row."""
    event = Event(
        "members",
        "of ten members, at least seven predict the class of the row at their place",
        _seven_of_ten_members_agree,
        likelier="first",
    )
    return _neighbours_without_first(
        "first-row",
        "rows dealt to the members of an ensemble by their position",
        _make_binary_neighbour({"f": np.zeros(10, int)}, np.arange(10) % 2),
        events=(event,),
        needs="members",
    )


def _seven_of_ten_members_agree(predictions: Hashable) -> bool:
    """Return whether seven of ten members predict the class of the row at their own position."""
    if not isinstance(predictions, tuple) or len(predictions) != 10:
        return False
    return sum(float(label) == place % 2 for place, label in enumerate(predictions)) >= 7


def _part_sizes_neighbours() -> Neighbours:
    return _neighbours_without_first(
        "part-sizes",
        "parts of the records whose sizes follow from the number of all",
        _make_binary_neighbour({"f": np.zeros(7, int)}, np.ones(7, int)),
        needs="members",
    )


def _no_records_neighbours() -> Neighbours:
    schema, table = _make_binary_neighbour({"f": np.zeros(1, int)}, np.zeros(1, int))
    empty = Records(table.X.iloc[:0], table.y[:0])
    return Neighbours(
        "no-records", "an error if there is nothing to train on", schema, empty, table
    )


def _lead_neighbours() -> Neighbours:
    """Return a pair in which one class leads by one record or by two.

    The probability of the other class falls much faster than by a factor of e^epsilon if the noise
    of a label shrinks with the exact lead.
    """
    event = Event(
        "labels",
        "the prediction is the class that no record has",
        lambda labels: labels == ("1",),
        likelier="first",
    )
    return _neighbours_with_record(
        "lead",
        "labels whose noise shrinks with the lead of the largest class",
        _make_binary_neighbour({"f": np.zeros(1, int)}, np.zeros(1, int)),
        ({"f": 0}, 0),
        max_depth=1,
        events=(event,),
        effort=10,
    )


def _noisy_size_neighbours() -> Neighbours:
    """Return a pair of one and two records, of a hundred classes.

    The noisy counts of a hundred classes add up to many records. If the noise of a split shrinks
    with them, two records decide the split.
    """
    columns = {f"f{place}": np.zeros(1, int) for place in range(20)}
    schema = Schema({name: Categorical(["0", "1"]) for name in columns}, range(100))
    only = Records(_make_neighbour_frame(schema, columns), np.zeros(1, int))
    event = Event(
        "splits",
        "the root splits on f0",
        lambda splits: isinstance(splits, tuple) and splits[:1] == (0,),
        likelier="second",
    )
    return _neighbours_with_record(
        "noisy-size",
        "splits whose noise shrinks with a noisy number of records",
        (schema, only),
        ({name: int(name == "f0") for name in columns}, 1),
        max_depth=1,
        events=(event,),
    )


# --- making datasets ------------------------------------------------------------------------------


def _neighbours_with_record(
    name: str,
    after: str,
    data: tuple[Schema, Records],
    record: tuple[Mapping[str, float], int],
    **options: Any,
) -> Neighbours:
    import pandas as pd

    (schema, first), (values, label) = data, record
    row = _make_neighbour_frame(schema, {name: np.array([value]) for name, value in values.items()})
    X = pd.concat([first.X, row], ignore_index=True)
    return Neighbours(name, after, schema, first, Records(X, np.append(first.y, label)), **options)


def _neighbours_without_first(
    name: str, after: str, data: tuple[Schema, Records], **options: Any
) -> Neighbours:
    schema, first = data
    second = Records(first.X.iloc[1:].reset_index(drop=True), first.y[1:])
    return Neighbours(name, after, schema, first, second, **options)


def _make_neighbour(
    features: Mapping[str, Feature], columns: Mapping[str, Any], labels: Any
) -> tuple[Schema, Records]:
    schema = Schema(features, [0, 1])
    return schema, Records(_make_neighbour_frame(schema, columns), labels)


def _make_binary_neighbour(columns: Mapping[str, Any], labels: Any) -> tuple[Schema, Records]:
    return _make_neighbour({name: Categorical(["0", "1"]) for name in columns}, columns, labels)


def _make_neighbour_frame(schema: Schema, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a frame of the columns, in which categories are given by their codes."""
    import pandas as pd

    def column(feature: Feature, values: Any) -> Any:
        if isinstance(feature, Categorical):
            return pd.Categorical.from_codes(values, pd.Index(list(feature.categories)))
        return values

    return pd.DataFrame({name: column(schema.features[name], columns[name]) for name in columns})
