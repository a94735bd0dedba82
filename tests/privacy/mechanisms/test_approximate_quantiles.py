"""The law by enumeration, privacy on all small neighbours, the sampler against the law."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from privatree.privacy import Randomness
from privatree.privacy.mechanisms import ApproximateQuantiles
from privatree.privacy.samplers import _selection as selection

RELATIONS = ("replace", "add-remove")
QUANTILES = (
    (Fraction(1, 5),),
    (Fraction(1, 10), Fraction(3, 4)),
    (Fraction(1, 4), Fraction(1, 3), Fraction(9, 10)),
    (Fraction(1, 5), Fraction(2, 5), Fraction(3, 5), Fraction(4, 5)),
    (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
)
QUARTILES = QUANTILES[4]
DECILES = tuple(Fraction(k, 10) for k in range(1, 10))
Law = dict[tuple[int, ...], float]


class RootOfAddRemove(ApproximateQuantiles):
    """Wrong: the rate of add-remove at the root."""

    def rate(self, level: int, share: Fraction) -> Fraction:
        if level > 0:
            return super().rate(level, share)
        return self.epsilon / self.n_levels / (2 * max(share, 1 - share))


class TwiceBelowTheRoot(ApproximateQuantiles):
    """Wrong: the rate of add-remove below the root, though a record can change two parts."""

    def rate(self, level: int, share: Fraction) -> Fraction:
        if level == 0:
            return super().rate(level, share)
        return self.epsilon / self.n_levels / (2 * max(share, 1 - share))


class OneLevelShort(ApproximateQuantiles):
    """Wrong: the budget is shared by fewer levels than there are."""

    @property
    def n_levels(self) -> int:
        return super().n_levels - 1


MUTANTS = (
    (RootOfAddRemove, "replace"),
    (TwiceBelowTheRoot, "replace"),
    (OneLevelShort, "replace"),
    (OneLevelShort, "add-remove"),
)
WITNESSES = (
    ((1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 5), (0, 2, 3)),
    ((0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4), (2, 2, 4)),
)
"""Rows beside which a row in cell 5 is replaced by one in cell 0, and the worst outcome known."""


def small(epsilon, quantiles, neighbours, cells, kind=ApproximateQuantiles) -> ApproximateQuantiles:
    return kind(Fraction(epsilon), quantiles, 0.0, float(cells), neighbours, cells)


def values(cells) -> np.ndarray:
    """The upper ends of cells: a value on an edge belongs to the cell on its left."""
    return np.array(cells, dtype=np.float64) + 1.0


def law(mechanism: ApproximateQuantiles, data) -> Law:
    """The definition: the middle quantile's law, then those of the halves beside it."""

    def part(rows, first, last, quantiles, below, above, level) -> Law:
        if not quantiles:
            return {(): 1.0}
        if first == last:
            return {(first,) * len(quantiles): 1.0}
        middle = len(quantiles) // 2
        quantile = quantiles[middle]
        share = (quantile - below) / (above - below)
        rate = mechanism.rate(level, share)
        weights = {
            cell: exp(-rate * abs(sum(x <= cell for x in rows) - share * len(rows)))
            for cell in range(first, last + 1)
        }
        result: Law = {}
        for cell, weight in weights.items():
            chance = weight / sum(weights.values())
            lefts = part(
                [x for x in rows if x <= cell],
                first,
                cell,
                quantiles[:middle],
                below,
                quantile,
                level + 1,
            )
            rights = part(
                [x for x in rows if x > cell],
                min(cell + 1, last),
                last,
                quantiles[middle + 1 :],
                quantile,
                above,
                level + 1,
            )
            for left, p in lefts.items():
                for right, q in rights.items():
                    outcome = (*left, cell, *right)
                    result[outcome] = result.get(outcome, 0.0) + chance * p * q
        return result

    return part(data, 0, mechanism.cells - 1, mechanism.quantiles, Fraction(0), Fraction(1), 0)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("quantiles", QUANTILES)
@pytest.mark.parametrize("size", [4, 5])
def test_private_on_all_small_neighbours(
    epsilon, neighbours, quantiles, size, largest_quantile_loss
) -> None:
    mechanism = small(epsilon, quantiles, neighbours, size)
    assert largest_quantile_loss(mechanism, law, largest=size) <= epsilon + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize(("mutant", "neighbours"), MUTANTS)
def test_the_privacy_check_catches_wrong_rates(
    mutant, neighbours, size, largest_quantile_loss
) -> None:
    mechanism = small(8, QUARTILES, neighbours, size, mutant)
    assert largest_quantile_loss(mechanism, law, largest=size) > 1.1 * 8


def test_the_privacy_check_catches_a_wrong_rate_of_one_quantile(largest_quantile_loss) -> None:
    mechanism = small(8, QUANTILES[0], "replace", 5, RootOfAddRemove)
    assert largest_quantile_loss(mechanism, law, largest=5) > 1.2 * 8


def loss_of_witness(kind, rows, outcome) -> float:
    """|log ratio| of an outcome's probabilities, in units of epsilon."""
    mechanism = small(16, QUARTILES, "replace", 6, kind)
    chances = [law(mechanism, (*rows, cell))[outcome] for cell in (5, 0)]
    return abs(log(chances[0] / chances[1])) / 16


@pytest.mark.parametrize(("rows", "outcome"), WITNESSES)
def test_private_on_the_worst_neighbours_known(rows, outcome) -> None:
    assert 0.99 < loss_of_witness(ApproximateQuantiles, rows, outcome) <= 1


@pytest.mark.parametrize(("rows", "outcome"), WITNESSES)
@pytest.mark.parametrize(
    ("mutant", "loss"), [(RootOfAddRemove, 1.49), (TwiceBelowTheRoot, 1.49), (OneLevelShort, 1.99)]
)
def test_the_worst_neighbours_known_catch_wrong_rates(mutant, loss, rows, outcome) -> None:
    assert loss_of_witness(mutant, rows, outcome) > loss


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_privacy_check_catches_half_the_noise(neighbours, largest_quantile_loss) -> None:
    mechanism = small(2 * 8, QUANTILES[2], neighbours, 4)
    assert largest_quantile_loss(mechanism, law) > 8 + 1e-9


def test_the_sensitivity_of_one_quantile_is_the_best_constant(largest_quantile_loss) -> None:
    mechanism = small(30, QUANTILES[0], "add-remove", 4)
    ratio = largest_quantile_loss(mechanism, law, largest=6)
    assert 0.97 * 30 < ratio <= 30 + 1e-9


def statistic(chi_square, expected: Law, draws: list[tuple[int, ...]]) -> float:
    """How far draws are from a law, 1 being too far."""
    counts = Counter(draws)
    assert counts.keys() <= expected.keys()
    return chi_square([counts[cells] for cells in expected], list(expected.values()), len(draws))


def draw(mechanism, data, count, seed) -> list[tuple[int, ...]]:
    randomness = Randomness(seed)
    column = values(data)
    return [
        tuple(int(edge) - 1 for edge in mechanism.release(column, randomness)) for _ in range(count)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "neighbours"),
    [((), "replace")]  # without rows no rate is felt
    + [(data, neighbours) for data in ((1, 1, 3), (0, 2, 2, 4, 5)) for neighbours in RELATIONS],
)
def test_the_sampler_follows_the_law(data, neighbours, chi_square) -> None:
    mechanism = small(2, QUANTILES[2], neighbours, 6)
    draws = draw(mechanism, data, 2000, seed=5)
    assert statistic(chi_square, law(mechanism, data), draws) < 1
    if data:  # twice the rate would be seen
        twice = small(4, QUANTILES[2], neighbours, 6)
        assert statistic(chi_square, law(twice, data), draws) > 1


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_sampler_asks_for_the_rate_of_the_level_it_is_at(neighbours) -> None:
    """Draws alone would hardly tell: a wrong level is a factor of 1 to 2 in some of the rates."""
    asked = []

    class Recorder(ApproximateQuantiles):
        def rate(self, level: int, share: Fraction) -> Fraction:
            asked.append((level, share))
            return super().rate(level, share)

    quantiles = tuple(Fraction(k, 8) for k in range(1, 8))
    # So large an epsilon that every quantile is the true one: no part has a single cell.
    mechanism = small(10_000, quantiles, neighbours, 16, Recorder)
    assert draw(mechanism, range(16), 1, seed=8) == [(1, 3, 5, 7, 9, 11, 13)]
    assert asked == [(level, Fraction(1, 2)) for level in (0, 1, 2, 2, 1, 2, 2)]


@pytest.mark.slow
def test_the_sampler_follows_the_law_in_arbitrary_precision(monkeypatch, chi_square) -> None:
    monkeypatch.setattr(selection, "UNIT_ROUNDOFF", 1.0)
    mechanism = small(2, QUANTILES[3], "replace", 6)
    draws = draw(mechanism, (0, 2, 2, 4), 1500, seed=6)
    assert statistic(chi_square, law(mechanism, (0, 2, 2, 4)), draws) < 1


@pytest.mark.parametrize("count", range(1, 18))
def test_levels_are_the_depth_of_the_halving(count) -> None:
    def depth(quantiles: int) -> int:
        return 1 + max(map(depth, (quantiles // 2, (quantiles - 1) // 2))) if quantiles else 0

    quantiles = tuple(Fraction(k, count + 1) for k in range(1, count + 1))
    mechanism = ApproximateQuantiles(Fraction(1), quantiles, 0.0, 1.0, "replace")
    assert mechanism.n_levels == depth(count)
