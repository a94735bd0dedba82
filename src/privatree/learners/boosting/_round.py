"""One round: a function drawn from sums of signed weights, in several choices of one draw.

The draw goes from the top down: first the root (or none), then on each side a feature, then the
signs of its codes. The weight of a choice is the total weight of all functions that begin with it.
With a depth of 3, a choice comes first among a few public splits, each with such a function on
either side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.counting.sums import (
    CodeBranch,
    CodeFunction,
    CodeSplit,
    CodeStep,
    RowSums,
    SignedSums,
)
from privatree.learners.boosting._measure import CHAIN, FREE, RISING, RootMeasure, StepMeasure
from privatree.learners.boosting._round_decimal import PreciseWeights
from privatree.learners.boosting._round_kernels import (
    RoundDecay,
    fill_monotone,
    relative_error,
    sweep_chain,
    total_weight,
    weigh_features,
    weigh_roots_of_feature,
    weigh_steps,
)
from privatree.privacy.mechanisms import Draw, LogWeights
from privatree.privacy.samplers import LinkedCoins, precision

_Task: TypeAlias = Callable[[], None]


@dataclass(frozen=True)
class RoundLaw:
    """Everything public that decides with which probability a function is drawn.

    Parameters
    ----------
    rate : Fraction
        Change of the log-weight for one unit of score.
    powers : RoundDecay
        Powers of exp(-rate), for compiled code.
    steps : StepMeasure
        Base measure of the step functions.
    roots : RootMeasure
        Roots and their base measure. There may be none.
    no_root_share : float
        Base measure of no root; 1 if there are no roots.
    tops : tuple of CodeSplit
        Public splits that can come before the root.
    no_top_share : float
        Base measure of no split before the root; 1 if there are none.
    """

    rate: Fraction
    powers: RoundDecay
    steps: StepMeasure
    roots: RootMeasure
    no_root_share: float
    tops: tuple[CodeSplit, ...] = ()
    no_top_share: float = 1.0

    @property
    def depth(self) -> int:
        return 3 if self.tops else 2 if self.no_root_share < 1.0 else 1

    def error(self, depth: int) -> float:
        """Bound on the relative error of weights at this depth."""
        n_codes = int(np.diff(self.steps.offsets).max())
        n_roots = int(self.roots.n_candidates.sum()) + len(self.tops)
        return relative_error(n_codes, len(self.steps.kind), n_roots, depth)


def draw_function(
    draw: Draw, sums: Sequence[RowSums], law: RoundLaw, records: SignedSums
) -> CodeFunction:
    """Draw the function of a round.

    `draw` is already paid for. `sums` are those of all records, and those on the left of each of
    the public splits of `law`. `records` run compiled work in threads, and nothing else.
    """
    whole, *lefts = sums
    if not law.tops:
        return _draw_below_top(draw, _RootWeigher(whole, law), records)
    rights = [
        RowSums(whole.exact_sums - left.exact_sums, whole.exact_rows - left.exact_rows)
        for left in lefts
    ]
    weighers = [_RootWeigher(one, law) for one in (whole, *lefts, *rights)]
    records.map_in_threads(lambda task: task(), [task for one in weighers for task in one.tasks()])
    chosen = draw.draw(_top_weights(weighers, law))
    if chosen == len(law.tops):
        draw.expect(1)
        return _draw_below_top(draw, weighers[0], records)
    draw.expect(2)
    left = _draw_below_top(draw, weighers[1 + chosen], records)
    right = _draw_below_top(draw, weighers[1 + len(law.tops) + chosen], records)
    return CodeBranch(law.tops[chosen], left, right)


def _top_weights(weighers: Sequence[_RootWeigher], law: RoundLaw) -> LogWeights:
    """Return the weights of each public split, and last that of none."""
    n_tops = len(law.tops)
    totals = [weigher.total() for weigher in weighers]
    pairs = list(zip(totals[1 : 1 + n_tops], totals[1 + n_tops :], strict=True))
    share = (1.0 - law.no_top_share) / n_tops
    scores = [left[0] + right[0] for left, right in pairs] + [totals[0][0]]
    factors = [share * left[1] * right[1] for left, right in pairs]
    factors.append(law.no_top_share * totals[0][1])

    def in_decimals(digits: int) -> tuple[Sequence[Decimal], Decimal]:
        with localcontext(precision(digits)):
            precise = PreciseWeights(law.rate, law.steps, digits)
            whole, *sides = [sum(weigher.decimals(precise)) for weigher in weighers]
            weights = [
                Decimal(share) * left * right
                for left, right in zip(sides[:n_tops], sides[n_tops:], strict=True)
            ]
            return [*weights, Decimal(law.no_top_share) * whole], precise.error

    return LogWeights(np.array(scores), np.array(factors), law.error(3), in_decimals)


class _RootWeigher:
    """Computes the weights of all roots, one feature at a time."""

    def __init__(self, sums: RowSums, law: RoundLaw) -> None:
        self.sums, self.law = sums, law
        roots = law.roots
        self.features = roots.rows.used_features() if law.no_root_share < 1.0 else []
        self.ends = np.cumsum([0, *roots.n_candidates[self.features].tolist()])
        self._scores = np.zeros(int(self.ends[-1]) + 1, dtype=np.int64)
        self._factors = np.zeros(int(self.ends[-1]) + 1)
        self._is_done = False

    def tasks(self) -> list[_Task]:
        """Return functions that threads can run independently."""
        self._is_done = True
        return [self._weigh_no_root, *(partial(self._weigh, i) for i in range(len(self.features)))]

    def _weigh_no_root(self) -> None:
        law = self.law
        self._scores[-1], factor = weigh_steps(self.sums.exact_sums, law.steps, law.powers)
        self._factors[-1] = law.no_root_share * factor

    def _weigh(self, place: int) -> None:
        law, feature = self.law, self.features[place]
        first, end = law.roots.rows.firsts[feature : feature + 2]
        parts = slice(self.ends[place], self.ends[place + 1])
        n_candidates = int(law.roots.n_candidates[feature])
        weigh_roots_of_feature(
            self.sums.exact_rows[first:end],
            self.sums.exact_sums,
            law.roots.is_category[feature],
            (1.0 - law.no_root_share) * law.roots.measure[feature, :n_candidates],
            law.steps,
            law.powers,
            self._scores[parts],
            self._factors[parts],
        )

    def weights(self, records: SignedSums) -> LogWeights:
        """Return the weights of all roots, and last that of no root."""
        if not self._is_done:
            records.map_in_threads(lambda task: task(), self.tasks())

        def in_decimals(digits: int) -> tuple[Sequence[Decimal], Decimal]:
            with localcontext(precision(digits)):
                precise = PreciseWeights(self.law.rate, self.law.steps, digits)
                return self.decimals(precise), precise.error

        return LogWeights(self._scores, self._factors, self.law.error(2), in_decimals)

    def total(self) -> tuple[int, float]:
        """Return score and factor of all roots together; the tasks must be done."""
        score, factor = total_weight(
            self._scores, self._factors, len(self._scores), self.law.powers
        )
        return int(score), float(factor)

    def decimals(self, precise: PreciseWeights) -> list[Decimal]:
        sums, law = self.sums, self.law
        return precise.weigh_roots(sums.exact_sums, sums.exact_rows, law.roots, law.no_root_share)

    def sides(self, part: int) -> tuple[CodeSplit, NDArray[np.int64], NDArray[np.int64]]:
        """Return the split of a root, and the sums of its two sides."""
        place = int(np.searchsorted(self.ends, part, side="right")) - 1
        feature, candidate = self.features[place], part - int(self.ends[place])
        first = int(self.law.roots.rows.firsts[feature])
        rows = self.sums.exact_rows
        if self.law.roots.is_category[feature]:
            left = rows[first + candidate]
        else:
            left = rows[first : first + candidate + 1].sum(axis=0)
        split = self.law.roots.split(feature, candidate, self.law.steps.offsets)
        return split, left, self.sums.exact_sums - left


def _draw_below_top(draw: Draw, weigher: _RootWeigher, records: SignedSums) -> CodeFunction:
    """Draw a root with a step function on either side, or a step function alone."""
    if not weigher.features:
        return _draw_step(draw, weigher.sums.exact_sums, weigher.law)
    part = draw.draw(weigher.weights(records))
    if part == weigher.ends[-1]:
        draw.expect(1)
        return _draw_step(draw, weigher.sums.exact_sums, weigher.law)
    draw.expect(2)
    split, left, right = weigher.sides(part)
    on_left = _draw_step(draw, left, weigher.law)
    return CodeBranch(split, on_left, _draw_step(draw, right, weigher.law))


def _draw_step(draw: Draw, sums: NDArray[np.int64], law: RoundLaw) -> CodeStep:
    """Draw a feature, then the signs of its codes."""
    measure = law.steps
    n_features, n_codes = len(measure.kind), int(np.diff(measure.offsets).max())
    scores, factors = np.zeros(n_features, dtype=np.int64), np.zeros(n_features)
    room = np.zeros(n_codes + 1, dtype=np.int64), np.zeros(n_codes + 1)
    weigh_features(sums, measure, law.powers, room, scores, factors)

    def in_decimals(digits: int) -> tuple[Sequence[Decimal], Decimal]:
        with localcontext(precision(digits)):
            precise = PreciseWeights(law.rate, measure, digits)
            return precise.weigh_features(sums), precise.error

    feature = draw.draw(LogWeights(scores, factors, law.error(1), in_decimals))
    if measure.kind[feature] == CHAIN:
        draw.expect(1)
        return CodeStep(feature, _draw_chain(draw, sums, law, feature))
    if measure.kind[feature] == FREE:
        draw.expect(1)
        codes = slice(*measure.offsets[feature : feature + 2])
        return CodeStep(feature, _draw_free_signs(draw, sums[codes], law))
    return CodeStep(feature, _draw_monotone(draw, sums, law, feature))


def _as_signs(is_plus: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(is_plus, 1, -1).astype(np.int8)


def _draw_chain(
    draw: Draw, sums: NDArray[np.int64], law: RoundLaw, feature: int
) -> NDArray[np.int8]:
    """Draw the signs of a number, the last code first."""
    measure = law.steps
    first, last = measure.offsets[feature : feature + 2].tolist()
    up, down = ends = np.empty((2, last - first))
    sweep_chain(sums, measure, first, last, law.powers, ends)
    switch = np.append(measure.switch[first : last - 1], 0.5)  # after the last code: no preference
    stay = np.append(measure.stay[first : last - 1], 0.5)
    heads = np.stack(
        [
            switch * up / (switch * up + stay * down),  # the next sign is -
            stay * up / (stay * up + switch * down),  # the next sign is +
        ]
    )

    def in_decimals(digits: int) -> tuple[list[list[tuple[Decimal, Decimal]]], Decimal]:
        with localcontext(precision(digits)):
            precise = PreciseWeights(law.rate, measure, digits)
            found = precise.sweep_chain(sums, feature)
            pairs = zip(found, map(Decimal, switch.tolist()), map(Decimal, stay.tolist()),
                        strict=True)  # fmt: skip
            both = [((r * u, s * d), (s * u, r * d)) for (u, d), r, s in pairs][::-1]
            return [[one for one, _ in both], [other for _, other in both]], precise.error

    coins = LinkedCoins(heads[:, ::-1], law.error(1), in_decimals)
    return _as_signs(draw.draw_signs(coins)[::-1])


def _draw_free_signs(draw: Draw, sums: NDArray[np.int64], law: RoundLaw) -> NDArray[np.int8]:
    """Draw the sign of each code by itself."""
    exponents = 2.0 * float(law.rate) * np.abs(sums)
    likely = 1.0 / (1.0 + np.exp(-np.minimum(exponents, 700.0)))
    heads = np.where(sums >= 0, likely, 1.0 - likely)

    def in_decimals(digits: int) -> tuple[list[list[tuple[Decimal, Decimal]]], Decimal]:
        with localcontext(precision(digits)):
            precise = PreciseWeights(law.rate, law.steps, digits)
            weights = [precise.free_weights(exact_sum) for exact_sum in sums.tolist()]
            return [weights, weights], precise.error

    coins = LinkedCoins(np.stack([heads, heads]), law.error(1), in_decimals)
    return _as_signs(draw.draw_signs(coins))


def _draw_monotone(
    draw: Draw, sums: NDArray[np.int64], law: RoundLaw, feature: int
) -> NDArray[np.int8]:
    """Draw where the signs of a monotone number switch, and the sign of separate missing values."""
    measure = law.steps
    first, last = measure.offsets[feature : feature + 2].tolist()
    n_missing = int(measure.n_missing[feature])
    scores, factors = np.zeros(last - first + 1, np.int64), np.zeros(last - first + 1)
    n = fill_monotone(sums, measure, feature, law.powers, scores, factors)

    def in_decimals(digits: int) -> tuple[Sequence[Decimal], Decimal]:
        with localcontext(precision(digits)):
            precise = PreciseWeights(law.rate, measure, digits)
            return precise.weigh_monotone(sums, feature), precise.error

    draw.expect(1 + n_missing)
    switch = draw.draw(LogWeights(scores[:n], factors[:n], law.error(1), in_decimals))
    is_plus = np.arange(last - first - n_missing) >= switch
    signs = _as_signs(is_plus if measure.kind[feature] == RISING else ~is_plus)
    of_missing = _draw_free_signs(draw, sums[first : first + n_missing], law) if n_missing else ()
    return np.concatenate([np.array(of_missing, np.int8), signs])
