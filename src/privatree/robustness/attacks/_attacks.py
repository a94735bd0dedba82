"""Attacks on the training data: backdoors, flipped labels, inserted records.

Each attack counts its *edits*, by which certificates count: an added record is one edit, and a
flipped label is two, because one record is removed and another one added. Attacks count records.
For a learner with units, give added rows ids of their own, or count each unit that is touched as
two edits.

Random choices depend on `random_state`. With the same seed, a larger attack contains a smaller one:
an attack with 11 records has the 10 records of the attack with 10. Attacks never change their
input. They return the same kinds of containers as they are given: a 2-D numpy array, a pandas or a
polars frame, with labels in a 1-D array, a list or a Series.
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
    """Training data after an attack.

    Parameters
    ----------
    X, y : records and labels
        Poisoned data, in the containers that the attack was given. Added records are at the end.
        The rows of a pandas frame are numbered afresh if records were added.
    edits : int
        Number of records added or removed.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree.robustness import InsertionAttack
    >>> X, y, edits = InsertionAttack(random_state=0).poison(np.eye(2), [0, 1], n=3)
    >>> X.shape, edits
    ((5, 2), 3)
    """

    X: Any
    y: Any
    edits: int


@dataclass(frozen=True)
class BackdoorAttack:
    """An attack that adds copies of records with a trigger and the label that the attacker wants.

    A model that is trained on the copies predicts that label for records with the trigger. This is
    the attack of BadNets [Gu17] as [Vos23] repeats it: the clean records stay.

    Parameters
    ----------
    trigger : mapping of column to value
        Values that the attacker writes into a record. Columns are names of a frame, or positions
        in an array. None, NaN and ``pandas.NA`` all mean a missing value.
    target : label
        Label that the model shall predict for a record with the trigger.
    source : label, optional
        Class whose records are copied and shall be misclassified; by default all classes except
        the target.
    random_state : int, RandomState or None, default=None
        Seed for the choice of the records that are copied.

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
        if not isinstance(self.trigger, Mapping) or not self.trigger:
            raise ParameterError("trigger must map at least one column to a value.", "trigger")
        object.__setattr__(self, "trigger", dict(self.trigger))
        _check_attack_labels(self.target, self.source)

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
        """Make an attack on images, each flattened to a row of an array, with a trigger of pixels.

        Parameters
        ----------
        pixels : iterable of (row, column)
            Pixels of the trigger; by default those of [Vos23].
        target, source, random_state
            See :class:`BackdoorAttack`.
        shape : (height, width), default=(28, 28)
            Size of the images.
        value : number, default=255
            Value that the pixels are set to.
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
        """Return the data and n copies of records with trigger and target label. This is n edits.

        Each record of the source class is copied at most once if there are at least n such records.
        Otherwise the numbers of copies of two records differ by at most one.
        """
        _check_attacked_data(X, y, n)
        sources = _rows_of_attacked_class(y, self.source, self.target)
        rows = np.resize(check_random_state(self.random_state).permutation(sources), n)
        labels = set_labels(take_rows(y, rows), np.arange(n), self.target)
        copies = self.apply(take_rows(X, rows))
        return PoisonedData(append_rows(X, copies), append_rows(y, labels), int(n))

    def apply(self, X: Any) -> Any:
        """Return a copy of the records in which each record has the trigger."""
        check_editable_records(X)
        for column, value in self.trigger.items():
            X = set_column(X, column_position(X, column), value)
        return X

    def success_rate(self, model: Any, X_test: Any, y_test: Any) -> float:
        """Return the share of triggered source records for which the model predicts the target.

        As in [Vos23], a record also counts as a success if the model predicts the target without
        the trigger.
        """
        check_editable_table(X_test, y_test)
        sources = _rows_of_attacked_class(y_test, self.source, self.target)
        predicted = model.predict(self.apply(take_rows(X_test, sources)))
        return float(np.mean([label == self.target for label in labels_as_objects(predicted)]))


@dataclass(frozen=True)
class LabelFlipAttack:
    """An attack that changes the labels of some records.

    Parameters
    ----------
    target : label, optional
        New label of the records; by default each gets a random other label that occurs in y.
    source : label, optional
        Class whose labels are changed; by default all classes except the target.
    random_state : int, RandomState or None, default=None
        Seed for the choice of the records and of their new labels.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree.robustness import LabelFlipAttack
    >>> X, y = np.zeros((4, 1)), np.array(["no", "no", "yes", "yes"])
    >>> attack = LabelFlipAttack(target="yes", random_state=0)
    >>> attack.poison(X, y, n=2).y.tolist(), attack.poison(X, y, n=2).edits
    (['yes', 'yes', 'yes', 'yes'], 4)
    """

    target: Any = field(default=None, kw_only=True)
    source: Any = field(default=None, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.target is not None:
            _check_attack_labels(self.target, self.source)

    def poison(self, X: Any, y: Any, n: int) -> PoisonedData:
        """Return the data with n labels changed, by 2 n edits. The source must have n records."""
        _check_attacked_data(X, y, n)
        sources = _rows_of_attacked_class(y, self.source, self.target)
        if n > len(sources):
            raise ParameterError(
                f"n must be at most the number of records whose label can be changed, got {n}. "
                "Use a smaller n. Without source, labels of all classes can be changed.",
                "n",
            )
        randomness = check_random_state(self.random_state)
        rows = randomness.permutation(sources)[:n]
        flipped = take_rows(y, np.arange(len(y)))
        for label, places in self._choose_new_labels(labels_as_objects(y), rows, randomness):
            flipped = set_labels(flipped, places, label)
        return PoisonedData(take_rows(X, np.arange(len(X))), flipped, 2 * int(n))

    def _choose_new_labels(
        self, labels: list[Any], rows: Rows, randomness: Any
    ) -> list[tuple[Any, Rows]]:
        """Return pairs of a new label and the rows that get the label."""
        if self.target is not None:
            return [(self.target, rows)]
        classes = list(dict.fromkeys(label for label in labels if label is not None))
        if len(classes) < 2:
            raise ParameterError("y must have at least two labels, or target must be given.", "y")
        number = {label: i for i, label in enumerate(classes)}
        steps = randomness.randint(1, len(classes), size=len(rows))
        new = (np.array([number[labels[row]] for row in rows], dtype=int) + steps) % len(classes)
        return [(label, rows[new == i]) for i, label in enumerate(classes)]


@dataclass(frozen=True)
class InsertionAttack:
    """An attack that adds many copies of one record.

    Parameters
    ----------
    point : mapping of column to value, or sequence of values, optional
        Record to copy, with a value for every column; by default a random record of the data.
        None, NaN and ``pandas.NA`` all mean a missing value.
    label : label, optional
        Label of the copies, required with a `point`. By default a random record keeps its label.
    random_state : int, RandomState or None, default=None
        Seed for the choice of the record, if there is no `point`.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree.robustness import InsertionAttack
    >>> attack = InsertionAttack([9.0, 9.0], label=1)
    >>> attack.poison(np.zeros((2, 2)), np.array([0, 1]), n=1).X[-1]
    array([9., 9.])
    """

    point: Any = None
    label: Any = field(default=None, kw_only=True)
    random_state: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.point is not None and self.label is None:
            raise ParameterError(
                "label must be given with a point. Pass the label of the copies.", "label"
            )

    def poison(self, X: Any, y: Any, n: int) -> PoisonedData:
        """Return the data with n copies of the record added. This is n edits."""
        _check_attacked_data(X, y, n)
        if len(y) == 0:
            raise ParameterError("X must have at least one record.", "X")
        row = np.array([check_random_state(self.random_state).randint(len(y))])
        record, label = take_rows(X, row), take_rows(y, row)
        if self.point is not None:
            for position, value in _attack_values_by_column(X, self.point).items():
                record = set_column(record, position, value)
        if self.label is not None:
            label = set_labels(label, np.array([0]), self.label)
        copies = np.zeros(n, dtype=np.intp)
        return PoisonedData(
            append_rows(X, take_rows(record, copies)),
            append_rows(y, take_rows(label, copies)),
            int(n),
        )


def _rows_of_attacked_class(y: Any, source: Any, target: Any) -> Rows:
    """Return the rows of the source class, by default of all classes except the target."""
    rows = [
        row
        for row, label in enumerate(labels_as_objects(y))
        if label is not None and (label != target if source is None else label == source)
    ]
    if not rows:
        wanted = "a label other than the target" if source is None else f"the label {source!r}"
        raise ParameterError(
            f"y must have records with {wanted}, got none. Check the type of the labels: 1 and '1' "
            "are different.",
            "y",
        )
    return np.array(rows, dtype=np.intp)


def _attack_values_by_column(X: Any, point: Any) -> dict[int, Any]:
    """Return the value of the point for each column position of X."""
    if hasattr(point, "keys"):
        values = {column_position(X, column): point[column] for column in point.keys()}  # noqa: SIM118
    else:
        values = dict(enumerate(point))
    if len(values) != X.shape[1]:
        raise ParameterError(
            f"point must have a value for each of the {X.shape[1]} columns of X, got "
            f"{len(values)} values.",
            "point",
        )
    return values


def _check_attack_labels(target: Any, source: Any) -> None:
    if target is None:
        raise ParameterError("target must be a label, got None.", "target")
    if source is not None and source == target:
        raise ParameterError(f"source and target must be different labels, got {target!r} twice.")


def _check_attacked_data(X: Any, y: Any, n: Any) -> None:
    check_editable_table(X, y)
    if not is_integer(n) or n < 0:
        raise ParameterError(f"n must be an integer >= 0, a number of records, got {n!r}.", "n")
