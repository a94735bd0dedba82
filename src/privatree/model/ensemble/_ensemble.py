"""The released ensemble: a sum of functions of one, two or three features. It is public.

Each round has a function h with the values -1 and +1. It is a *step function* of one feature, or a
*branch*: a split of the records with a function on either side.

- The step function of a number has a first sign, and switches: it changes its sign above each of
  them. A value equal to a switch is still below it. If missing values are separate, a first switch
  of minus infinity has only them below it, as a threshold of minus infinity does.
- The step function of a category feature has a sign for each category.
- A number that is missing, and not separate, has the value ``Numeric.missing_place``. An unknown
  category is ``Categorical.missing_place``.

The *margin* of a record is a whole number: the sum of all h, or with more than two classes one sum
for each class, of h times the sign of the class in the round. The log-odds of the second of two
classes are the margin times `step`. With more classes, the probabilities are the softmax of the
margins times `step` / 2.

With a numeric target there is one margin: the sum of all h, each times the *amount* of its round.
The score of a record is `start` plus the margin times `step`. It is the predicted target, or the
logarithm of 1 plus the target where the schema says so. Predictions are clipped to the target's
range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ModelFormatError, ParameterError
from privatree.model.ensemble._prediction import PackedEnsemble, pack_rounds
from privatree.model.ensemble._round_functions import (
    Round,
    RoundFunction,
    Step,
    depth_of,
    nodes_of,
)
from privatree.schema import Categorical, Numeric, Schema

MAX_ROUNDS = 10_000
MAX_BRANCHES = 8
"""Largest number of branches on a path."""
MAX_AMOUNT = 2**31 - 1
"""Largest sum of the amounts of all rounds, for a numeric target."""
MAX_SWITCHES = 2**22
"""Largest number of switches and category signs of an ensemble, all functions together."""


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """A sum of the functions of all rounds.

    Parameters
    ----------
    schema : Schema
        Features and classes, to whose positions the functions refer.
    step : float
        What a function adds to, or subtracts from, the log-odds of two classes. With a numeric
        target: what 1 in the margin adds to the score.
    rounds : tuple of Round
        The rounds, in order.
    intervals : dict of int to pair of float, optional
        For some numbers, by position, an interval that probably has most of the records. The
        learner drew it, with noise, and released it.
    directions : dict of int to {-1, 1}, optional
        For each number that was declared monotone, by position, whether the functions must not fall
        (1) or must not rise (-1).
    start : float, default=0.0
        With a numeric target: the score where the margin is 0. It must be 0 for classes.

    Raises
    ------
    ModelFormatError
        If a function does not fit the schema, or a declared direction.
    """

    schema: Schema
    step: float
    rounds: tuple[Round, ...]
    intervals: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    directions: Mapping[int, int] = field(default_factory=dict)
    start: float = 0.0
    packed: PackedEnsemble = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Schema):
            raise ModelFormatError(f"schema must be a Schema, got {type(self.schema).__name__}.")
        _check_scores(self.step, self.start, has_target=self.schema.target is not None)
        if not 1 <= len(self.rounds) <= MAX_ROUNDS:
            raise ModelFormatError(f"an ensemble must have 1 to {MAX_ROUNDS} rounds.")
        _check_intervals(self.intervals, self.schema)
        check = _FunctionCheck(self.schema, self.directions)
        for place, one in enumerate(self.rounds):
            try:
                check.check_round(one)
            except ModelFormatError as error:
                raise ModelFormatError(f"round {place}: {error}") from None
        object.__setattr__(self, "packed", pack_rounds(self.schema, self.rounds))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ensemble):
            return NotImplemented
        return self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Ensemble], tuple[Any, ...]]:
        """Pickle by the constructor, so that an unpickled ensemble is checked."""
        return Ensemble, self._parts

    @property
    def _parts(self) -> tuple[Any, ...]:
        directions = dict(self.directions)
        return self.schema, self.step, self.rounds, dict(self.intervals), directions, self.start

    @property
    def has_one_score(self) -> bool:
        """Whether a record has one score: with two classes, and with a numeric target."""
        return len(self.schema.classes) <= 2

    @property
    def unit(self) -> float:
        """What 1 in a margin is in the score."""
        return self.step if self.has_one_score else self.step / 2

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def depth(self) -> int:
        """Largest number of features that a function looks at for one record."""
        return max(depth_of(one.function) for one in self.rounds)

    @property
    def used_features(self) -> tuple[int, ...]:
        """Schema positions of the features that the functions use, in increasing order."""
        used = {node.feature for one in self.rounds for node in nodes_of(one.function)}
        return tuple(sorted(used))

    def margins(
        self, matrix: NDArray[Any], columns: Sequence[int] | NDArray[Any]
    ) -> NDArray[np.int32]:
        """Return the margins of records: an array (record, score).

        There is one score for two classes, and for a numeric target.

        Parameters
        ----------
        matrix : 2-D array of numbers, records as rows
            Raw values in numeric columns, category codes in the others.
        columns : sequence of int
            Column of `matrix` for each feature of the schema; any number for an unused feature.
        """
        return self.packed.margins(np.asarray(matrix), np.asarray(columns))

    def decision_function(
        self, matrix: NDArray[Any], columns: Sequence[int] | NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the log-odds of the second of two classes, or else a score for each class.

        With a numeric target it is the score of each record. The arguments are those of
        :meth:`margins`.
        """
        margins = self.margins(matrix, columns).astype(np.float64)
        return self.start + self.unit * (margins[:, 0] if self.has_one_score else margins)

    def predict_proba(
        self, matrix: NDArray[Any], columns: Sequence[int] | NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return class probabilities of each record. The arguments are those of `margins`."""
        if self.schema.target is not None:
            raise ParameterError("an ensemble with a numeric target has no probabilities.")
        scores = self.decision_function(matrix, columns)
        if scores.ndim == 1:
            scores = np.stack([-scores / 2, scores / 2], axis=1)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def predict(self, matrix: NDArray[Any], columns: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
        """Return the class code of each record, the first of the most likely classes, or a number.

        The arguments are those of :meth:`margins`.
        """
        if self.schema.target is not None:
            return self.schema.target.of_score(self.decision_function(matrix, columns))
        margins = self.margins(matrix, columns)
        if margins.shape[1] == 1:
            return np.asarray(margins[:, 0] > 0, dtype=np.int32)
        best: NDArray[np.int32] = margins.argmax(axis=1).astype(np.int32)
        return best


class _FunctionCheck:
    """Checks that functions fit a schema. Raises a ModelFormatError if one does not."""

    def __init__(self, schema: Schema, directions: Mapping[int, int]) -> None:
        self._features = list(schema.features.values())
        self._directions = directions
        for place, direction in directions.items():
            if direction not in (-1, 1) or not _is_number(self._features, place):
                raise ModelFormatError("a monotone feature must be a number, with -1 or 1.")
        if directions and len(schema.classes) > 2:
            raise ModelFormatError("monotone features must not be used with more than two classes.")
        self._n_classes = len(schema.classes)
        self._total_amount = 0
        self._n_entries = 0

    def check_round(self, one: Round) -> None:
        signs = one.amounts
        if not self._n_classes:
            self._check_amount(signs)
        elif len(signs) != self._n_classes or any(sign not in (-1, 1) for sign in signs):
            raise ModelFormatError("there must be a sign, -1 or 1, for each class.")
        elif self._n_classes == 2 and signs != (-1, 1):
            raise ModelFormatError("the signs of two classes must be -1 and 1.")
        self._check_function(one.function, 0)

    def _check_amount(self, amounts: tuple[int, ...]) -> None:
        if len(amounts) != 1 or type(amounts[0]) is not int or amounts[0] < 1:
            raise ModelFormatError("the amount of a round must be a whole number of at least 1.")
        self._total_amount += amounts[0]
        if self._total_amount > MAX_AMOUNT:
            raise ModelFormatError(
                f"the amounts of all rounds together must be at most {MAX_AMOUNT}."
            )

    def _check_function(self, function: RoundFunction, n_above: int) -> None:
        position = function.feature
        if not 0 <= position < len(self._features):
            raise ModelFormatError("a feature must be a position in the schema.")
        feature = self._features[position]
        if isinstance(function, Step):
            self._check_step(function, feature)
            if position in self._directions:
                _check_direction(function, self._directions[position])
            return
        if position in self._directions:
            raise ModelFormatError("a monotone feature must not have a branch.")
        if n_above >= MAX_BRANCHES:
            raise ModelFormatError(f"a path must have at most {MAX_BRANCHES} branches.")
        if isinstance(feature, Categorical):
            if function.threshold is not None:
                raise ModelFormatError("a branch on categories must not have a threshold.")
            self._check_mask(function.goes_left, feature)
        else:
            if function.goes_left is not None or function.threshold is None:
                raise ModelFormatError("a branch on a number must have a threshold.")
            self._check_numbers((function.threshold,), feature)
        self._check_function(function.left, n_above + 1)
        self._check_function(function.right, n_above + 1)

    def _check_step(self, step: Step, feature: Numeric | Categorical) -> None:
        if step.first not in (-1, 1):
            raise ModelFormatError("the first sign must be -1 or 1.")
        if isinstance(feature, Categorical):
            if step.switches:
                raise ModelFormatError("a step function of categories must not have switches.")
            self._check_mask(step.positive, feature)
        else:
            if step.positive is not None:
                raise ModelFormatError("a step function of a number must not have categories.")
            self._check_numbers(step.switches, feature)

    def _check_numbers(self, numbers: tuple[float, ...], feature: Numeric) -> None:
        """Check thresholds or switches: increasing, and in the range, so that clipping is safe."""
        self._count_entries(len(numbers))
        finite = numbers
        if numbers and numbers[0] == -np.inf:
            if not feature.separates_missing:
                raise ModelFormatError(
                    "minus infinity must be used only where missing values are separate."
                )
            finite = numbers[1:]
        if any(not feature.low <= number < feature.high for number in finite):
            raise ModelFormatError("thresholds and switches must lie in the range of the feature.")
        if any(one >= other for one, other in pairwise(finite)):
            raise ModelFormatError("switches must increase.")

    def _check_mask(self, mask: bytes | None, feature: Categorical) -> None:
        if mask is None or len(mask) != feature.n_codes or any(entry > 1 for entry in mask):
            raise ModelFormatError("there must be a 0 or 1 for each category.")
        self._count_entries(len(mask))

    def _count_entries(self, n: int) -> None:
        self._n_entries += n
        if self._n_entries > MAX_SWITCHES:
            raise ModelFormatError(
                f"all functions together must have at most {MAX_SWITCHES} switches and categories."
            )


def _check_scores(step: Any, start: Any, *, has_target: bool) -> None:
    if not (isinstance(step, float) and step > 0.0 and (has_target or step <= 100.0)):
        limit = "" if has_target else " and at most 100"
        raise ModelFormatError(f"the step of an ensemble must be above 0{limit}.")
    if not isinstance(start, float) or (start != 0.0 and not has_target):
        raise ModelFormatError("the start of an ensemble must be a number, and for classes 0.")
    if not math.isfinite(abs(start) + MAX_AMOUNT * step):
        raise ModelFormatError("the scores of an ensemble must be finite numbers.")


def _is_number(features: Sequence[Numeric | Categorical], place: int) -> bool:
    return 0 <= place < len(features) and isinstance(features[place], Numeric)


def _check_direction(step: Step, direction: int) -> None:
    """Check a function of a monotone feature. Missing values are not constrained."""
    separates = bool(step.switches) and step.switches[0] == -np.inf
    n_switches = len(step.switches) - separates
    lowest = -step.first if separates else step.first
    if n_switches > 1 or (n_switches == 1 and lowest == direction):
        raise ModelFormatError("a function of a monotone feature must follow its direction.")


def _check_intervals(intervals: Mapping[int, tuple[float, float]], schema: Schema) -> None:
    features = list(schema.features.values())
    for place, (low, high) in intervals.items():
        if not _is_number(features, place):
            raise ModelFormatError("an interval must belong to a number of the schema.")
        feature = features[place]
        if not (isinstance(feature, Numeric) and feature.low <= low < high <= feature.high):
            raise ModelFormatError("an interval must lie in the range of its feature.")
