"""The law against enumeration, privacy on all small neighbours, the sampler against the law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from math import exp, factorial, prod
from typing import Any

import numpy as np
import pytest

from privatree.privacy import Randomness
from privatree.privacy.mechanisms import JointExponentialQuantiles
from privatree.privacy.mechanisms import _joint_exponential_tables as joint_exponential_tables
from privatree.privacy.mechanisms._joint_exponential_decimal import PreciseTables
from privatree.privacy.mechanisms._joint_exponential_tables import FloatTables, Problem
from privatree.privacy.mechanisms._quantile_grid import intervals
from privatree.privacy.samplers import _halving as halving
from privatree.privacy.samplers import precision
from privatree.privacy.samplers._refinement import UniformReal

RELATIONS = ("replace", "add-remove")
QUANTILES = (
    (Fraction(1, 2),),
    (Fraction(1, 10), Fraction(3, 4)),
    (Fraction(1, 4), Fraction(1, 3), Fraction(9, 10)),
)
Law = dict[tuple[int, ...], float]


def small(epsilon, quantiles, neighbours, cells) -> JointExponentialQuantiles:
    return JointExponentialQuantiles(
        Fraction(epsilon), quantiles, 0.0, float(cells), neighbours, cells
    )


def values(cells) -> np.ndarray:
    """The upper ends of cells: a value on an edge belongs to the cell on its left."""
    return np.array(cells, dtype=np.float64) + 1.0


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
        rate = mechanism.epsilon / (2 * mechanism.sensitivity)
        measure = prod(1 / factorial(times) for times in Counter(cells).values())
        weights[cells] = measure * exp(-rate * misses)
    total = sum(weights.values())
    return {cells: weight / total for cells, weight in weights.items()}


def law_of_tables(tables: FloatTables | PreciseTables, problem: Problem) -> Law:
    """The law of walking back through the tables, every choice taken with its probability."""
    law: Law = {}

    def shares(weights: Any) -> list[float]:
        total = sum(weights)
        return [float(weight / total) for weight in weights]

    def walk(placed: int, limit: int, end: int, tail: tuple[int, ...], chance: float) -> None:
        if placed == 0:
            law[tail] = law.get(tail, 0.0) + chance
            return
        for i, p in enumerate(shares(tables.interval_weights(placed, limit, end))):
            for k, q in enumerate(shares(tables.run_weights(placed, i)), start=1):
                if q > 0:
                    for cells, r in uniform_runs(problem, i, k):
                        rest = placed - k, i, int(problem.exact.positions[i])
                        walk(*rest, cells + tail, chance * p * q * r)

    walk(problem.n_quantiles, len(problem.exact.positions), problem.rows, (), 1.0)
    return law


def uniform_runs(problem: Problem, i: int, k: int) -> Iterator[tuple[tuple[int, ...], float]]:
    start, width = int(problem.exact.starts[i]), int(problem.exact.widths[i])
    for cells in combinations_with_replacement(range(start, start + width), k):
        orders = factorial(k) / prod(factorial(times) for times in Counter(cells).values())
        yield cells, orders / width**k


def law(mechanism: JointExponentialQuantiles, data) -> Law:
    problem = mechanism._problem(values(data))
    return law_of_tables(FloatTables(problem), problem)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("quantiles", QUANTILES)
@pytest.mark.parametrize(
    "data", [(), (2,), (0, 0), (4, 4, 4), (1, 1, 3), (0, 2, 2, 4), (0, 1, 2, 3, 4), (3,) * 9]
)
def test_the_tables_give_the_law_of_the_definition(neighbours, quantiles, data) -> None:
    for epsilon in (Fraction(1, 2), 8):
        mechanism = small(epsilon, quantiles, neighbours, 5)
        problem = mechanism._problem(values(data))
        expected = enumerated_law(mechanism, data)
        for tables in (FloatTables(problem), PreciseTables(problem, 40)):
            found = law_of_tables(tables, problem)
            assert found.keys() == expected.keys()
            for cells, chance in expected.items():
                assert found[cells] == pytest.approx(chance, rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("quantiles", QUANTILES)
def test_private_on_all_small_neighbours(
    epsilon, neighbours, quantiles, largest_quantile_loss
) -> None:
    mechanism = small(epsilon, quantiles, neighbours, 4)
    assert largest_quantile_loss(mechanism, law) <= epsilon + 1e-9


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_the_privacy_check_catches_half_the_noise(neighbours, largest_quantile_loss) -> None:
    mechanism = small(2 * 8, QUANTILES[1], neighbours, 4)
    assert largest_quantile_loss(mechanism, law) > 8 + 1e-9


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
    [((), "replace"), ((1, 1, 3), "replace"), ((0, 2, 2, 4, 5), "add-remove")],
)
def test_the_sampler_follows_the_law(data, neighbours, chi_square) -> None:
    mechanism = small(2, QUANTILES[2], neighbours, 6)
    draws = draw(mechanism, data, 2500, seed=5)
    assert statistic(chi_square, enumerated_law(mechanism, data), draws) < 1


@pytest.mark.slow
def test_the_sampler_follows_the_law_in_arbitrary_precision(monkeypatch, chi_square) -> None:
    monkeypatch.setattr(FloatTables, "relative_error", float("inf"))
    mechanism = small(2, QUANTILES[1], "replace", 6)
    draws = draw(mechanism, (0, 2, 2, 4), 1000, seed=6)
    assert statistic(chi_square, enumerated_law(mechanism, (0, 2, 2, 4)), draws) < 1


@pytest.fixture
def hidden_decisions(monkeypatch) -> dict[str, list[Any]]:
    """All errors patched so that no decision can be taken before 80 digits.

    Collects every uniform number, those of the decisions in arbitrary precision, and which
    weights were asked for.
    """
    seen: dict[str, list[Any]] = {"uniforms": [], "precise": [], "weights": []}
    halve, error = halving._halve_precisely, PreciseTables.relative_error.fget

    class Recorded(UniformReal):
        def __init__(self, randomness: Randomness) -> None:
            super().__init__(randomness)
            seen["uniforms"].append(self)

    def recorded_halve(*arguments: Any) -> bool:
        seen["precise"].append(arguments[-1])
        return halve(*arguments)

    def record_weights(name: str) -> None:
        weigh = getattr(FloatTables, name)

        def recorded(self: FloatTables, *choice: int) -> np.ndarray:
            weights = weigh(self, *choice)
            seen["weights"].append((name, len(weights)))
            return weights

        monkeypatch.setattr(FloatTables, name, recorded)

    def large_error(self: PreciseTables) -> Decimal:
        return Decimal(2) if self._digits < 80 else error(self)

    monkeypatch.setattr(halving, "UniformReal", Recorded)
    monkeypatch.setattr(halving, "_halve_precisely", recorded_halve)
    record_weights("interval_weights")
    record_weights("run_weights")
    monkeypatch.setattr(FloatTables, "relative_error", float("inf"))
    monkeypatch.setattr(PreciseTables, "relative_error", property(large_error))
    return seen


def test_every_decision_respects_the_errors_of_the_tables(hidden_decisions) -> None:
    mechanism = small(2, QUANTILES[2], "replace", 6)
    randomness = Randomness(7)
    for _ in range(20):
        mechanism.release(values((0, 2, 2, 4)), randomness)
    choices = {name for name, size in hidden_decisions["weights"] if size > 1}
    assert choices == {"interval_weights", "run_weights"}
    assert hidden_decisions["precise"] == hidden_decisions["uniforms"]
    assert all(uniform.bits >= 4 * 80 for uniform in hidden_decisions["uniforms"])


def random_problem(seed: int, epsilon: float) -> Problem:
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(1, 400))
    cells = int(generator.choice([40, 1000, 2**50]))
    data = np.sort(generator.integers(0, cells, rows))
    n_quantiles = int(generator.integers(1, 7))
    cuts = np.sort(generator.choice(np.arange(1, 100), n_quantiles, replace=False))
    quantiles = tuple(Fraction(int(cut), 100) for cut in cuts)
    mechanism = JointExponentialQuantiles(
        Fraction(epsilon), quantiles, 0.0, 1.0, "add-remove", cells
    )
    exact = intervals(data, 0, cells - 1)
    return Problem(exact, rows, mechanism.rate, mechanism.shares)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.3, 2.0, 50.0])
@pytest.mark.parametrize("seed", range(5))
def test_float_tables_keep_to_their_error_bound(seed, epsilon) -> None:
    problem = random_problem(seed, epsilon)
    floats, decimals = FloatTables(problem), PreciseTables(problem, 60)
    bound = Decimal(floats.relative_error)
    with localcontext(precision(60)):
        for j in range(problem.n_quantiles):
            for i, true in enumerate(decimals._b[j]):
                scale = Decimal(2) ** (512 * int(floats._b_exponents[j, i]))
                assert abs(Decimal(float(floats._b[j, i])) * scale - true) <= bound * true
        size = len(problem.exact.positions)
        for placed in range(1, problem.n_quantiles + 1):
            for limit in {1, (size + 1) // 2, size}:
                end = problem.rows if limit == size else int(problem.exact.positions[limit])
                assert_same_shares(
                    floats.interval_weights(placed, limit, end),
                    decimals.interval_weights(placed, limit, end),
                    bound,
                )
            assert_same_shares(
                floats.run_weights(placed, size // 2),
                decimals.run_weights(placed, size // 2),
                bound,
            )


def assert_same_shares(floats, decimals, bound: Decimal) -> None:
    numbers = [Decimal(weight) for weight in floats.tolist()]
    total, true_total = sum(numbers), sum(decimals)
    for number, true in zip(numbers, decimals, strict=True):
        share, true_share = number / total, true / true_total
        assert abs(share - true_share) <= 2 * bound * true_share + Decimal(2) ** -500


@pytest.mark.parametrize("epsilon", [0.01, 2.0, 50.0])
def test_decimal_tables_keep_to_their_error_bound(epsilon) -> None:
    """And need it: 40 digits are off by more than a few roundings would explain."""
    problem = random_problem(3, epsilon)
    tables, finer = PreciseTables(problem, 40), PreciseTables(problem, 100)
    size = len(problem.exact.positions)
    worst = Decimal(0)
    with localcontext(precision(100)):
        for placed in range(1, problem.n_quantiles + 1):
            weights = tables.interval_weights(placed, size, problem.rows)
            weights += tables.run_weights(placed, size // 2)
            true_weights = finer.interval_weights(placed, size, problem.rows)
            true_weights += finer.run_weights(placed, size // 2)
            for weight, true in zip(weights, true_weights, strict=True):
                worst = max(worst, abs(weight / true - 1))
    assert Decimal(10) ** -39 < worst <= tables.relative_error
    assert tables.relative_error < Decimal(10) ** -30
    assert finer.relative_error == tables.relative_error.scaleb(-60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_decimal_tables_equal_plain_double_sums(seed) -> None:
    problem = random_problem(seed + 50, 0.7)
    tables = PreciseTables(problem, 60)
    positions = problem.exact.positions.tolist()
    with localcontext(precision(60)):
        for j in range(1, problem.n_quantiles):
            sums = [sum(tables.run_weights(j, i)) for i in range(len(positions))]
            target = problem.shares[j] * problem.rows
            for i in range(0, len(positions), 7):
                expected = Decimal(0)
                for a, x in zip(sums[:i], positions[:i], strict=True):
                    exponent = -problem.rate * abs(positions[i] - x - target)
                    expected += a * (Decimal(exponent.numerator) / exponent.denominator).exp()
                assert abs(tables._b[j][i] - expected) <= expected * Decimal(10) ** -50


DECILES = tuple(Fraction(k, 10) for k in range(1, 10))


def test_a_huge_epsilon_never_makes_the_rate_larger_than_its_cap() -> None:
    mechanism = JointExponentialQuantiles(Fraction(10**9), DECILES, 0.0, 1.0, "replace")
    assert mechanism.rate == 256


def test_what_columns_share_cannot_be_written_to() -> None:
    rate, shares = Fraction(1, 7), (Fraction(1, 4), Fraction(3, 4))
    powers, kernels = joint_exponential_tables._constants(rate, 3000, shares)
    for array in (*powers, *kernels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert joint_exponential_tables._constants.cache_info().maxsize == 2
