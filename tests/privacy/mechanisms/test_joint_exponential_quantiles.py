"""The law against its definition, privacy on all small neighbours, the sampler against the law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from math import exp, factorial, log, prod
from typing import Any

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import JointExponentialQuantiles
from privatree.privacy.mechanisms import _joint_exponential_quantiles as quantiles_module
from privatree.privacy.mechanisms._joint_exponential_tables import JointQuantileTables
from privatree.privacy.mechanisms._quantile_grid import Intervals, QuantileGrid

QUANTILES = (
    (Fraction(1, 2),),
    (Fraction(1, 10), Fraction(3, 4)),
    (Fraction(1, 4), Fraction(1, 3), Fraction(9, 10)),
)
DECILES = tuple(Fraction(k, 10) for k in range(1, 10))
Law = dict[tuple[int, ...], float]


def small(epsilon, quantiles, cells) -> JointExponentialQuantiles:
    return JointExponentialQuantiles(Fraction(epsilon), quantiles, 0.0, float(cells), cells)


def values(cells) -> np.ndarray:
    """The upper ends of cells: a value on an edge belongs to the cell on its left."""
    return np.array(cells, dtype=np.float64) + 1.0


def intervals(mechanism: JointExponentialQuantiles, column: np.ndarray) -> Intervals:
    return QuantileGrid(mechanism.low, mechanism.high, mechanism.cells).intervals(column)


def enumerated_law(mechanism: JointExponentialQuantiles, data) -> Law:
    """The definition: every sorted tuple with its measure and utility."""
    weights = {}
    for cells in combinations_with_replacement(range(mechanism.cells), len(mechanism.quantiles)):
        ranks = [0, *(sum(x <= cell for x in data) for cell in cells), len(data)]
        borders = [Fraction(0), *mechanism.quantiles, Fraction(1)]
        misses = sum(
            abs((b - a) - (q - p) * len(data))
            for (a, b), (p, q) in zip(pairwise(ranks), pairwise(borders), strict=True)
        )
        measure = prod(1 / factorial(times) for times in Counter(cells).values())
        weights[cells] = measure * exp(-mechanism.epsilon / 4 * misses)
    total = sum(weights.values())
    return {cells: weight / total for cells, weight in weights.items()}


def law(mechanism: JointExponentialQuantiles, data) -> Law:
    """The law of walking back through the tables, every choice taken with its probability."""
    exact = intervals(mechanism, values(data))
    tables = JointQuantileTables(exact, mechanism.rate, mechanism.shares)
    found: Law = {}

    def walk(placed: int, limit: int, end: int, tail: tuple[int, ...], chance: float) -> None:
        if placed == 0:
            found[tail] = found.get(tail, 0.0) + chance
            return
        for i, p in positive_shares(tables.interval_weights(placed, limit, end)):
            for k, q in positive_shares(tables.run_weights(placed, i)):
                for cells, r in uniform_runs(exact, i, k + 1):
                    rest = placed - k - 1, i, int(exact.positions[i])
                    walk(*rest, cells + tail, chance * p * q * r)

    walk(len(mechanism.quantiles), len(exact.positions), exact.rows, (), 1.0)
    return found


def positive_shares(weights: np.ndarray) -> list[tuple[int, float]]:
    return [(i, float(weights[i] / weights.sum())) for i in np.flatnonzero(weights)]


def uniform_runs(exact: Intervals, i: int, k: int) -> Iterator[tuple[tuple[int, ...], float]]:
    start, width = int(exact.starts[i]), int(exact.widths[i])
    for cells in combinations_with_replacement(range(start, start + width), k):
        orders = factorial(k) / prod(factorial(times) for times in Counter(cells).values())
        yield cells, orders / width**k


def law_is_right(mechanism: JointExponentialQuantiles, data) -> bool:
    found, expected = law(mechanism, data), enumerated_law(mechanism, data)
    return found.keys() == expected.keys() and all(
        found[cells] == pytest.approx(chance, rel=1e-11) for cells, chance in expected.items()
    )


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 8])
@pytest.mark.parametrize("quantiles", QUANTILES)
@pytest.mark.parametrize(
    "data", [(), (2,), (0, 0), (4, 4, 4), (1, 1, 3), (0, 2, 2, 4), (0, 1, 2, 3, 4), (3,) * 9]
)
def test_the_tables_give_the_law_of_the_definition(epsilon, quantiles, data) -> None:
    assert law_is_right(small(epsilon, quantiles, 5), data)


class WithoutMultiplicity(JointQuantileTables):
    """A mutant: cells that hold several quantiles count as often as there are orders of them."""

    def run_weights(self, placed: int, interval: int) -> np.ndarray:
        weights = super().run_weights(placed, interval)
        return weights * [factorial(k) for k in range(1, placed + 1)]


def test_the_check_of_the_law_catches_a_wrong_measure(monkeypatch) -> None:
    monkeypatch.setitem(globals(), "JointQuantileTables", WithoutMultiplicity)
    assert not law_is_right(small(1, QUANTILES[1], 5), (0, 2, 2, 4))


def largest_losses(mechanism: JointExponentialQuantiles) -> tuple[float, float]:
    """The largest |log ratio| of probabilities for a row replaced, and for one added or removed.

    Over all datasets of up to four rows, all their neighbours and all outcomes.
    """
    laws = {
        data: law(mechanism, data)
        for rows in range(5)
        for data in combinations_with_replacement(range(mechanism.cells), rows)
    }
    replaced = removed = 0.0
    for data in laws:
        for i in range(len(data)):
            rest = data[:i] + data[i + 1 :]
            removed = max(removed, loss(laws[data], laws[rest]))
            for cell in range(mechanism.cells):
                other = tuple(sorted((*rest, cell)))
                replaced = max(replaced, loss(laws[data], laws[other]))
    return replaced, removed


def loss(one: Law, other: Law) -> float:
    return max(abs(log(chance / other[outcome])) for outcome, chance in one.items())


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("quantiles", QUANTILES)
def test_private_on_all_small_neighbours(epsilon, quantiles) -> None:
    mechanism = small(epsilon, quantiles, 4)
    replaced, removed = largest_losses(mechanism)
    assert replaced <= epsilon + 1e-9
    assert removed <= epsilon * (1 - min(mechanism.shares)) + 1e-9


def test_the_privacy_check_catches_half_the_noise() -> None:
    replaced, removed = largest_losses(small(2 * 8, QUANTILES[1], 4))
    assert replaced > 8 + 1e-9
    assert removed > 8 * (1 - Fraction(1, 10)) + 1e-9


def statistic(chi_square, mechanism: JointExponentialQuantiles, data) -> float:
    """How far 2,500 draws are from the law, 1 being too far."""
    randomness, expected = Randomness(5), enumerated_law(mechanism, data)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(2500):
        counts[tuple(int(edge) - 1 for edge in mechanism.release(values(data), randomness))] += 1
    assert counts.keys() <= expected.keys()
    return chi_square([counts[cells] for cells in expected], list(expected.values()), 2500)


@pytest.mark.slow
@pytest.mark.parametrize("data", [(0, 2, 2, 4), (1, 1, 3, 4, 5)])
def test_the_sampler_follows_the_law(data, chi_square) -> None:
    assert statistic(chi_square, small(2, QUANTILES[2], 6), data) < 1


@pytest.mark.slow
def test_the_check_of_the_sampler_catches_choices_without_weights(monkeypatch, chi_square) -> None:
    def uniform(weights: np.ndarray, randomness: Randomness) -> int:
        possible = np.flatnonzero(weights)
        return int(possible[randomness.below(len(possible))])

    monkeypatch.setattr(quantiles_module, "_choose_quantile", uniform)
    assert statistic(chi_square, small(2, QUANTILES[1], 6), (0, 2, 2, 4)) > 1


# --- larger columns -----------------------------------------------------------------------------


class PlainTables:
    """The recurrences as they are written: all pairs of intervals, nothing left out."""

    def __init__(self, exact: Intervals, rate: Fraction, shares: tuple[Fraction, ...]) -> None:
        self._positions, self._log_widths = exact.positions, np.log(exact.widths)
        self._rate = float(rate)
        self._targets = [float(share * exact.rows) for share in shares]
        self.log_b = [self._log_kernel(0, exact.positions)]
        self.log_a = [self._log_a(0)]
        gaps = exact.positions[:, None] - exact.positions
        for gap in range(1, len(shares) - 1):
            logs = np.where(gaps > 0, self.log_a[-1] + self._log_kernel(gap, gaps), -np.inf)
            self.log_b.append(np.logaddexp.reduce(logs, axis=1))
            self.log_a.append(self._log_a(gap))

    def _log_kernel(self, gap: int, rows: Any) -> Any:
        return -self._rate * np.abs(rows - self._targets[gap])

    def _log_runs(self, quantile: int) -> np.ndarray:
        zero_gaps = [self._log_kernel(gap, 0) for gap in range(quantile + 1)]
        return np.array(
            [
                self.log_b[quantile - k + 1]
                + k * self._log_widths
                - log(factorial(k))
                + sum(zero_gaps[quantile - k + 2 :])
                for k in range(1, quantile + 2)
            ]
        )

    def _log_a(self, quantile: int) -> np.ndarray:
        return np.logaddexp.reduce(self._log_runs(quantile), axis=0)

    def interval_weights(self, placed: int, limit: int, end: int) -> np.ndarray:
        logs = self.log_a[placed - 1] + self._log_kernel(placed, end - self._positions)
        return np.exp(logs[:limit] - logs[:limit].max())

    def run_weights(self, placed: int, interval: int) -> np.ndarray:
        logs = self._log_runs(placed - 1)[:, interval]
        return np.exp(logs - logs.max())


def columns(seed: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(50, 400))
    spread = generator.normal(size=n)
    return {
        "spread": spread,
        "ties": np.round(spread, 1),
        "mostly one value": np.where(generator.random(n) < 0.8, 0.0, spread),
    }


@pytest.mark.parametrize("kind", ["spread", "ties", "mostly one value"])
@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 10.0, 1e9])
@pytest.mark.parametrize("n_bins", [2, 10, pytest.param(256, marks=pytest.mark.slow)])
def test_every_choice_has_the_weights_of_plain_double_sums(kind, epsilon, n_bins) -> None:
    quantiles = tuple(Fraction(k, n_bins) for k in range(1, n_bins))
    mechanism = JointExponentialQuantiles(Fraction(epsilon), quantiles, -8.0, 8.0)
    exact = intervals(mechanism, columns(n_bins)[kind])
    tables = JointQuantileTables(exact, mechanism.rate, mechanism.shares)
    plain = PlainTables(exact, mechanism.rate, mechanism.shares)
    placed, limit, end = len(quantiles), len(exact.positions), exact.rows
    for interval, run in mechanism._draw_runs(exact, Randomness(1)):
        state = placed, limit, end
        assert_same_shares(tables.interval_weights(*state), plain.interval_weights(*state))
        runs = tables.run_weights(placed, interval), plain.run_weights(placed, interval)
        assert_same_shares(*runs)
        placed, limit, end = placed - run, interval, int(exact.positions[interval])
    assert placed == 0


def assert_same_shares(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=0, atol=1e-8)


def test_what_is_negligible_is_not_computed() -> None:
    column = np.random.default_rng(0).normal(size=20_000)
    mechanism = JointExponentialQuantiles(Fraction(10), DECILES, -8.0, 8.0)
    tables = JointQuantileTables(intervals(mechanism, column), mechanism.rate, mechanism.shares)
    assert (tables._lasts - tables._firsts).max() < 200


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**400), Fraction(1), Fraction(10**9)])
@pytest.mark.parametrize(
    "column",
    [[], [0.0], [1.0], [0.3] * 500, [0.0] * 50 + [1.0] * 50, [-9.0, np.inf, np.nan, -np.inf]],
)
def test_extreme_columns(epsilon: Fraction, column: Any) -> None:
    mechanism = JointExponentialQuantiles(epsilon, DECILES, 0.0, 1.0)
    edges = mechanism.release(np.array(column), Randomness(1))
    assert edges.shape == (9,)
    assert np.all(np.diff(edges) >= 0)
    assert edges[0] >= 0.0
    assert edges[-1] <= 1.0


def test_a_range_of_one_value() -> None:
    mechanism = JointExponentialQuantiles(Fraction(1), DECILES, 2.5, 2.5)
    assert mechanism.release(np.array([2.5, 7.0]), Randomness(1)).tolist() == [2.5] * 9


def test_quantiles_are_near_the_true_ones_when_epsilon_is_large() -> None:
    column = np.random.default_rng(3).normal(size=5000)
    mechanism = JointExponentialQuantiles(Fraction(20), DECILES, -10.0, 10.0)
    edges = mechanism.release(column, Randomness(2))
    ranks = np.searchsorted(np.sort(column), edges) / len(column)
    assert np.abs(ranks - np.arange(1, 10) / 10).max() < 0.002


def test_heavy_ties() -> None:
    column = np.repeat([0.1, 0.4, 0.7], [30_000, 50_000, 20_000])
    mechanism = JointExponentialQuantiles(Fraction(1), (Fraction(3, 10), Fraction(8, 10)), 0.0, 1.0)
    first, second = mechanism.release(column, Randomness(4))
    assert 0.1 <= first < 0.4 <= second < 0.7


def test_a_huge_epsilon_never_makes_the_rate_larger_than_its_cap() -> None:
    assert JointExponentialQuantiles(Fraction(10**9), DECILES, 0.0, 1.0).rate == 256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": Fraction(0)}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "epsilon must be a finite number"),
        ({"quantiles": ()}, "one or more strictly increasing"),
        ({"quantiles": (Fraction(1, 2), Fraction(1, 2))}, "strictly increasing"),
        ({"quantiles": (Fraction(0), Fraction(1, 2))}, "between 0 and 1"),
        ({"low": float("nan")}, "must be finite"),
        ({"low": -1e308, "high": 1e308}, "must be finite"),
        ({"low": 2.0}, "low must be <= high"),
        ({"cells": 1}, "cells must be"),
    ],
)
def test_parameters_are_checked(change: dict[str, Any], message: str) -> None:
    parameters = {"epsilon": Fraction(1), "quantiles": DECILES, "low": 0.0, "high": 1.0}
    with pytest.raises(ParameterError, match=message):
        JointExponentialQuantiles(**(parameters | change))
