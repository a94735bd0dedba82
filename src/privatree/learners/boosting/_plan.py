"""How many rounds there are, and the budget of each draw, decided from public values alone.

The noisy number of records decides the number of rounds, and whether intervals are drawn first.
Nothing else about the records does. The constants were chosen on the datasets of
``benchmarks/ensembles.py`` (other folds).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privatree.learners.first_steps import BALANCE_SHARE, MAX_COUNT, SIZE_SHARE, count_error
from privatree.learners.zoom import LEVEL_EVIDENCE, SURPLUS_EVIDENCE, zoom_evidence
from privatree.privacy import (
    MAX_STAGES,
    RangeGroup,
    Schedule,
    Stage,
    gaussian_mu,
    largest_range,
)

MAX_ROUNDS = 200
"""Largest number of rounds that is chosen automatically if delta > 0."""
_MAX_PURE_ROUNDS = 60
_MAX_RANGE = Fraction(25)
"""Largest range of a round. A larger one would not change what is drawn."""
_ZOOM_SHARE = Fraction(5, 100)
"""Share of the budget for intervals: of epsilon if delta = 0, otherwise of the squared ranges."""
_RATIO_STEPS = 64
"""The range of an interval is a multiple of the range of a round, divided by this number. It is a
power of 2, so that both ranges are floats in a model file."""
_MIN_LEVELS = 2
"""Intervals are drawn if the evidence is enough for so many levels."""
_FEW_ROUNDS = 10
"""Below this number of rounds, few have a root, and their number is odd."""
_MANY_ROUNDS = 25
"""From this number of rounds on, records that are fitted already count less."""
_SCALE_OF_MANY, _SCALE_OF_FEW = 3, 4
"""Twice the scale of the weights of records, with many rounds and with fewer."""
_STEP_OF_TWO, _STEP_OF_MORE = 1.2, 2.0
"""Step of a single round, for two classes and for more."""
_ROOT_WORK = 100_000_000
"""About so many pairs of codes are added up in a round, over all records."""
_MIN_ROOT_FEATURES = 4
"""So many features offer roots in a round, however many records there are."""
_MAX_TABLE = 2**26
"""Largest number of sums by pairs of codes."""
_ROOM = 2
"""Stages of a schedule that are left free for the noisy counts before the rounds, at least."""
_MAX_EPSILON = Fraction(10_000)
"""Largest epsilon of all rounds together. More would not change what is drawn."""


@dataclass(frozen=True)
class RoundPlan:
    """What is decided once the noisy number of records is known."""

    n_rounds: int
    round_epsilon: Fraction
    """Range of a round, for one record added or removed."""
    interval_epsilon: Fraction
    """Range of the interval of a numeric feature; 0 if no intervals are drawn."""
    step: float
    """What a function adds to or subtracts from the log-odds. It is not used for a number."""
    twice_scale: int
    """Twice the scale of the weights of records (:class:`privatree.counting.sums.WeightRule`)."""
    no_root_share: float
    """Base measure of a step function without a root."""
    n_root_features: int
    """Number of features whose roots a round offers."""


@dataclass(frozen=True)
class BoostPlan:
    """The parameters of the learner that decide its draws.

    Parameters
    ----------
    epsilon, delta : Fraction
        The whole guarantee. Epsilon is for one record added or removed, also if neighbours differ
        by one record replaced: then the guarantee is for twice this epsilon.
    n_classes : int
        Number of classes; 0 for a numeric target.
    n_codes : tuple of int
        Number of codes of each feature.
    max_depth : int
        1 for step functions alone, 2 with a root, 3 with a public split before the root.
    n_rounds : int, optional
        Declared number of rounds. By default it follows from the number of records.
    dataset_size : int, optional
        Declared number of records. By default a noisy number is released.
    replaces : bool
        Whether neighbours differ by one record replaced. A replaced record changes a score by twice
        as much as one that is added or removed, and costs twice its range.
    n_zoomed : int
        Number of numeric features for which an interval can be drawn.
    class_factors : tuple of int, optional
        Declared weight of each class.
    balances_classes : bool
        Whether the weights of the classes follow from noisy class counts.
    min_records : int, optional
        Declared number of records below which the training stops.
    """

    epsilon: Fraction
    delta: Fraction
    n_classes: int
    n_codes: tuple[int, ...]
    max_depth: int = 2
    n_rounds: int | None = None
    dataset_size: int | None = None
    replaces: bool = False
    n_zoomed: int = 0
    class_factors: tuple[int, ...] | None = None
    balances_classes: bool = False
    min_records: int | None = None

    @property
    def has_one_score(self) -> bool:
        """Whether a record has one score: with two classes, and with a numeric target."""
        return self.n_classes <= 2

    @property
    def price(self) -> int:
        """How many times the range of a draw one neighbour costs."""
        return 2 if self.replaces else 1

    @property
    def size_epsilon(self) -> Fraction:
        """Budget of the noisy number of records; 0 if this number is declared or not needed."""
        is_needed = self.dataset_size is None or self.min_records
        return self.epsilon * SIZE_SHARE if is_needed else Fraction(0)

    @property
    def balance_epsilon(self) -> Fraction:
        """Budget of the noisy class counts for balanced class weights; 0 if there are none."""
        return self.epsilon * BALANCE_SHARE if self.balances_classes else Fraction(0)

    @property
    def first_stages(self) -> tuple[Stage, ...]:
        """All draws but the rounds, and the intervals of features."""
        counts = (self.size_epsilon, self.balance_epsilon)
        return tuple(Stage("count", epsilon) for epsilon in counts if epsilon)

    @property
    def rounds_epsilon(self) -> Fraction:
        """Epsilon of all rounds and intervals of features together."""
        spent = sum((stage.epsilon for stage in self.first_stages), Fraction(0))
        return min(self.epsilon - spent, _MAX_EPSILON)

    def size_error(self, full_weight: int = 1) -> int:
        """Return a bound on the noise in the number of records, true with a probability of 95%."""
        return count_error(self.size_epsilon, full_weight)

    def planning_size(self, noisy_size: int | None) -> int:
        """Return the number of records to plan with: declared, noisy, or 1 if neither is known."""
        return min(max(1, self.dataset_size or noisy_size or 1), MAX_COUNT)

    def rounds(self, size: int) -> RoundPlan:
        """Return the number of rounds and the budget of each draw, for the noisy size."""
        n_rounds = self.n_rounds or self._automatic_rounds(size)
        interval_ratio = self._interval_ratio(size, n_rounds)
        pattern = [(interval_ratio, self.n_zoomed)] if interval_ratio else []
        pattern.append((Fraction(1), n_rounds))
        whole = self.price * self.rounds_epsilon
        widest = min(largest_range(whole, self.delta, tuple(pattern)), _MAX_RANGE)
        slope = _STEP_OF_TWO if self.has_one_score else _STEP_OF_MORE
        no_root = 1.0 if self.max_depth == 1 else 0.6 if n_rounds < _FEW_ROUNDS else 0.3
        return RoundPlan(
            n_rounds,
            widest / self.price,
            interval_ratio * widest / self.price,
            slope / math.sqrt(n_rounds),
            _SCALE_OF_FEW if n_rounds < _MANY_ROUNDS else _SCALE_OF_MANY,
            no_root,
            self._n_root_features(size),
        )

    def range_groups(self, rounds: RoundPlan) -> tuple[RangeGroup, ...]:
        """Return the ranges of all draws of the rounds, in order; empty if delta = 0."""
        if not self.delta:
            return ()
        intervals = [RangeGroup(rounds.interval_epsilon, self.n_zoomed)]
        last = RangeGroup(rounds.round_epsilon, rounds.n_rounds)
        return (*(intervals if rounds.interval_epsilon else []), last)

    def schedule(self) -> Schedule | None:
        """Return the stages of any training, for certificates; None if they cannot be listed.

        All draws are about all records, so they are one path. If the number of rounds is public,
        there are two possible sequences: with and without intervals. Otherwise, if delta = 0, the
        rounds and intervals share one epsilon. One choice that spends all of it is worse than any
        of these plans (``docs/proofs/poisoning.md``), so it stands for them.
        """
        return _cached_schedule(self)

    def _choices(self) -> set[tuple[Stage, ...]]:
        """Return all sequences of intervals and rounds; empty if they are too many or too long."""
        if self.dataset_size is None and self.n_rounds is None:
            return set()
        sizes = (1, MAX_COUNT) if self.dataset_size is None else (self.planning_size(None),)
        found = set()
        for rounds in map(self.rounds, sizes):  # more records: at some size there are intervals
            n_intervals = self.n_zoomed if rounds.interval_epsilon else 0
            intervals = (Stage("choice", rounds.interval_epsilon),) * n_intervals
            found.add(intervals + (Stage("choice", rounds.round_epsilon),) * rounds.n_rounds)
        room = MAX_STAGES - max(_ROOM, len(self.first_stages))
        return found if max(map(len, found)) <= room else set()

    def _automatic_rounds(self, size: int) -> int:
        epsilon = self.price * float(self.rounds_epsilon)
        if self.delta:
            signal = size * gaussian_mu(epsilon, float(self.delta)) / self.price
            times, share = (1.0, 1 / 10) if self.has_one_score else (2.5, 1 / 2.5)
            return _odd_if_few(min(times * math.sqrt(signal), share * signal, MAX_ROUNDS))
        signal = size * epsilon / self.price
        times, share = (0.7, 1 / 40) if self.has_one_score else (1.4, 1 / 16)
        return _odd_if_few(min(times * math.cbrt(signal), share * signal, _MAX_PURE_ROUNDS))

    def _interval_ratio(self, size: int, n_rounds: int) -> Fraction:
        """Return the range of an interval divided by that of a round; 0 for no intervals."""
        if not self.n_zoomed:
            return Fraction(0)
        if self.delta:
            ratio = math.sqrt(_ZOOM_SHARE * n_rounds / self.n_zoomed)
            whole = self.price * float(self.rounds_epsilon)
            widest = 2 * gaussian_mu(whole, float(self.delta)) / math.sqrt(n_rounds) / self.price
        else:
            ratio = float(_ZOOM_SHARE * n_rounds / self.n_zoomed / (1 - _ZOOM_SHARE))
            widest = float(self.rounds_epsilon) / n_rounds
        rounded = Fraction(math.floor(_RATIO_STEPS * ratio), _RATIO_STEPS)
        evidence = zoom_evidence(size, rounded * Fraction(widest))
        enough = SURPLUS_EVIDENCE + _MIN_LEVELS * LEVEL_EVIDENCE
        return rounded if evidence >= enough else Fraction(0)

    def _n_root_features(self, size: int) -> int:
        """Return how many features offer roots: as many as time and memory allow."""
        n_features = sum(codes >= 2 for codes in self.n_codes)
        if self.max_depth == 1 or not n_features:
            return 0
        quick = max(_MIN_ROOT_FEATURES, _ROOT_WORK // (size * n_features))
        fitting = max(1, _MAX_TABLE // (max(self.n_codes) * sum(self.n_codes)))
        return min(n_features, quick, fitting)


def _odd_if_few(n_rounds: float) -> int:
    """Return a number of rounds; an odd one if it is small, so that no margin is 0."""
    if n_rounds >= _FEW_ROUNDS:
        return round(n_rounds)
    return 1 + 2 * max(0, round((n_rounds - 1) / 2 - 0.25))


@lru_cache(maxsize=64)
def _cached_schedule(plan: BoostPlan) -> Schedule | None:
    choices = plan._choices()
    if not choices:
        if plan.delta:
            return None
        choices = {(Stage("choice", plan.rounds_epsilon),)}
    # Some of these are drawn between the others. What they cost does not depend on these.
    first = plan.first_stages
    counts, drawn = (
        sum((stage.epsilon for stage in first if stage.kind == kind), Fraction(0))
        for kind in ("count", "choice")
    )
    most = drawn + max(sum((stage.epsilon for stage in path), Fraction(0)) for path in choices)
    return Schedule(
        total=max(plan.epsilon, counts + most),
        choices=most,
        counts=counts,
        sequences=tuple(first + path for path in sorted(choices, key=len)),
    )
