"""Attacks on the training data: backdoors, flipped labels, inserted records.

Each attack says how many *edits* it made: records added or removed, the currency in which
certificates are written. A record that is added is one edit; a label that is flipped is two, since
the record is removed and another one added.

What they choose at random is seeded by `random_state` and nested: with the same seed, an attack of
n records is part of the attack of n + 1. They never change their input, and return the containers
they are given: a 2-D numpy array, a pandas or a polars frame with labels in a 1-D array, a list or
a Series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from privatree._support.validation import is_integer
from privatree.errors import ParameterError
from privatree.tables import (
    Rows,
    append_rows,
    check_editable_records,
    check_editable_table,
    column_position,
    labels_as_objects,
    set_column,
    set_labels,
    take_rows,
)

PAPER_PIXELS = ((27, 27), (25, 27), (27, 25), (26, 26))
"""The trigger of [Vos23]: four pixels at the bottom right of a 28 x 28 image, as (row, column)."""


class PoisonedData(NamedTuple):
    """Records after an attack.

    Parameters
    ----------
    X, y : as they were given to the attack
        The records and their labels. Added ones are at the end, and pandas rows are then numbered
        afresh; where none are added the index is kept.
    edits : int
        How many records were added or removed.
    """

    X: Any
    y: Any
    edits: int


@dataclass(frozen=True)
class BackdoorAttack:
    """Copies of records with a trigger and another label, so that the trigger means that label.

    The attack of BadNets [Gu17] as [Vos23] repeats it: the clean records stay, and copies of some
    are added.

    Parameters
    ----------
    trigger : mapping of column to value
        What a record gets. Columns are names of a frame, or positions in an array. None, NaN and
        ``pandas.NA`` alike mean a missing value, for columns that can have one.
    target : label
        What a record with the trigger shall be taken for. It need not be among the labels.
    source : label, optional
        The class whose records are copied and shall be misclassified. Without it, all but the
        target's.
    random_state : int, RandomState or None, default=None
        Which records are copied.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.zeros((4, 2), dtype=np.uint8), np.array([0, 0, 1, 1])
    >>> attack = BackdoorAttack({1: 255}, target=1, random_state=0)
    >>> poisoned = attack.poison(X, y, n=1)
    >>> poisoned.X[-1], poisoned.y[-1], poisoned.edits
    (array([  0, 255], dtype=uint8), np.int64(1), 1)
    """

    trigger: Mapping[Any, Any]
    target: Any = field(kw_only=True)
    source: Any = field(default=None, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what is no attack."""
        if not isinstance(self.trigger, Mapping) or not self.trigger:
            raise ParameterError("trigger must map at least one column to a value.", "trigger")
        object.__setattr__(self, "trigger", dict(self.trigger))
        _check_labels(self.target, self.source)

    @classmethod
    def on_image(
        cls,
        pixels: Iterable[tuple[int, int]] = PAPER_PIXELS,
        *,
        target: Any,
        shape: tuple[int, int] = (28, 28),
        value: Any = 255,
        source: Any = None,
        random_state: Any = None,
    ) -> Self:
        """A backdoor of pixels, for images of which each is a row of an array, line after line.

        Parameters
        ----------
        pixels : iterable of (row, column)
            The trigger; by default that of [Vos23].
        target, source, random_state
            As for the class.
        shape : (height, width), default=(28, 28)
            The size of the images.
        value : number, default=255
            What the pixels are set to.
        """
        height, width = shape
        trigger = {}
        for row, column in pixels:
            if not (0 <= row < height and 0 <= column < width):
                raise ParameterError(
                    f"pixels must lie inside {height} rows and {width} columns, counted from 0, "
                    f"got ({row}, {column}).",
                    "pixels",
                )
            trigger[row * width + column] = value
        return cls(trigger, target=target, source=source, random_state=random_state)

    def poison(self, X: Any, y: Any, n: int) -> PoisonedData:
        """Add n copies with the trigger and the target label: n edits.

        Each record is copied at most once while there are enough of the source class; if more are
        asked for, all are copied equally often, give or take once.
        """
        check_editable_table(X, y)
        _check_number(n)
        sources = _records_of(y, self.source, self.target)
        rows = np.resize(check_random_state(self.random_state).permutation(sources), n)
        labels = set_labels(take_rows(y, rows), np.arange(n), self.target)
        copies = self.apply(take_rows(X, rows))
        return PoisonedData(append_rows(X, copies), append_rows(y, labels), int(n))

    def apply(self, X: Any) -> Any:
        """A copy of the records with the trigger in each."""
        check_editable_records(X)
        for column, value in self.trigger.items():
            X = set_column(X, column_position(X, column), value)
        return X

    def success_rate(self, model: Any, X_test: Any, y_test: Any) -> float:
        """The share of triggered records of the source class that a model takes for the target.

        Those that it takes for the target without the trigger count too, as in [Vos23].
        """
        check_editable_table(X_test, y_test)
        sources = _records_of(y_test, self.source, self.target)
        predicted = model.predict(self.apply(take_rows(X_test, sources)))
        return float(np.mean([label == self.target for label in labels_as_objects(predicted)]))


@dataclass(frozen=True)
class LabelFlipAttack:
    """Other labels for some records.

    Parameters
    ----------
    target : label, optional
        What they are flipped to. Without it, each to a random other one of the labels that occur.
    source : label, optional
        The class whose labels are flipped. Without it, all but the target's.
    random_state : int, RandomState or None, default=None
        Which labels are flipped, and to what.
    """

    target: Any = field(default=None, kw_only=True)
    source: Any = field(default=None, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what is no attack."""
        if self.target is not None:
            _check_labels(self.target, self.source)

    def poison(self, X: Any, y: Any, n: int) -> PoisonedData:
        """Flip n labels: 2 n edits. There must be as many to flip."""
        check_editable_table(X, y)
        _check_number(n)
        sources = _records_of(y, self.source, self.target)
        if n > len(sources):
            raise ParameterError(
                f"n must be at most the number of records whose label can be flipped, got {n}. "
                "Flip fewer, or leave source out to flip any.",
                "n",
            )
        randomness = check_random_state(self.random_state)
        rows = randomness.permutation(sources)[:n]
        flipped = take_rows(y, np.arange(len(y)))
        for label, places in self._targets(labels_as_objects(y), rows, randomness):
            flipped = set_labels(flipped, places, label)
        return PoisonedData(take_rows(X, np.arange(len(X))), flipped, 2 * int(n))

    def _targets(self, labels: list[Any], rows: Rows, randomness: Any) -> list[tuple[Any, Rows]]:
        """Each label that some of the rows get, with those rows."""
        if self.target is not None:
            return [(self.target, rows)]
        classes = list(dict.fromkeys(label for label in labels if label is not None))
        if len(classes) < 2:
            raise ParameterError("y must have two labels to flip between. Give a target.", "y")
        number = {label: i for i, label in enumerate(classes)}
        steps = randomness.randint(1, len(classes), size=len(rows))
        new = (np.array([number[labels[row]] for row in rows], dtype=int) + steps) % len(classes)
        return [(label, rows[new == i]) for i, label in enumerate(classes)]


@dataclass(frozen=True)
class InsertionAttack:
    """Many copies of one record.

    Parameters
    ----------
    point : mapping of column to value, or sequence of values, optional
        The record, with a value for every column; None, NaN and ``pandas.NA`` alike mean a missing
        one. Without it, a random one of the data.
    label : label, optional
        Its label. Without it, a random record of the data keeps its own: plain duplicates. With a
        `point` it must be given.
    random_state : int, RandomState or None, default=None
        Which record is copied, if none is given.
    """

    point: Any = None
    label: Any = field(default=None, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse a point without a label."""
        if self.point is not None and self.label is None:
            raise ParameterError(
                "label must be given with a point: say what the copies are.", "label"
            )

    def poison(self, X: Any, y: Any, n: int) -> PoisonedData:
        """Add n copies of the record: n edits."""
        check_editable_table(X, y)
        _check_number(n)
        if len(y) == 0:
            raise ParameterError("X must have at least one record.")
        row = np.array([check_random_state(self.random_state).randint(len(y))])
        record, label = take_rows(X, row), take_rows(y, row)
        if self.point is not None:
            for position, value in _values_by_position(X, self.point).items():
                record = set_column(record, position, value)
        if self.label is not None:
            label = set_labels(label, np.array([0]), self.label)
        copies = np.zeros(n, dtype=np.intp)
        return PoisonedData(
            append_rows(X, take_rows(record, copies)),
            append_rows(y, take_rows(label, copies)),
            int(n),
        )


def _records_of(y: Any, source: Any, target: Any) -> Rows:
    """The rows of the source class, or of all that have a label but the target's."""
    labels = labels_as_objects(y)
    if source is None:
        rows = [i for i, label in enumerate(labels) if label is not None and label != target]
    else:
        rows = [i for i, label in enumerate(labels) if label == source]
    if not rows:
        wanted = "a label other than the target" if source is None else f"the label {source!r}"
        raise ParameterError(
            f"y must have records with {wanted}, got none. Look at the type of the labels: 1 and "
            "'1' are different.",
            "y",
        )
    return np.array(rows, dtype=np.intp)


def _values_by_position(X: Any, point: Any) -> dict[int, Any]:
    """The values of a record by the number of their column, which must all be there."""
    if hasattr(point, "keys"):
        values = {column_position(X, column): point[column] for column in point.keys()}  # noqa: SIM118
    else:
        values = dict(enumerate(point))
    if len(values) != X.shape[1]:
        raise ParameterError(
            f"point must have a value for each of the {X.shape[1]} columns of X, got "
            f"{len(values)}.",
            "point",
        )
    return values


def _check_labels(target: Any, source: Any) -> None:
    if target is None:
        raise ParameterError("target must be a label, got None.", "target")
    if source is not None and source == target:
        raise ParameterError(f"source and target must be different labels, got {target!r} twice.")


def _check_number(n: Any) -> None:
    if not is_integer(n) or n < 0:
        raise ParameterError(f"n must be an integer >= 0, the number of records, got {n!r}.", "n")
