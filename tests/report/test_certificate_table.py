"""The page never shows more than what holds, and hardly less."""

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.privacy import Schedule, Stage
from privatree.report._certificate_table import (
    ACCURACY_STEPS,
    ERROR_STEPS,
    CertificateTable,
    accuracy_in_steps,
    certificate_table,
)
from privatree.robustness import EpsilonDP, best
from privatree.robustness.poisoning_bounds import paper_bound


def a_schedule(*paths):
    sequences = tuple(
        tuple(Stage(kind, Fraction(epsilon)) for kind, epsilon in path) for path in paths
    )

    def most(kinds):
        return max(sum(s.epsilon for s in path if s.kind in kinds) for path in sequences)

    return Schedule(most({"count", "choice"}), most({"choice"}), most({"count"}), sequences)


SPENDINGS = {
    "any learner": EpsilonDP(0.2),
    "one sequence": a_schedule([("count", "1/300"), ("choice", "3/100"), ("choice", "1/30")]),
    "two sequences": a_schedule(
        [("count", "1/100"), ("choice", "9/100")],
        [("count", "1/100"), ("count", "1/50"), ("choice", "7/100")],
    ),
    "sums only": Schedule(Fraction(1), Fraction(9, 10), Fraction(1, 10)),
    "large epsilon": EpsilonDP(14.0),
    "tiny epsilon": EpsilonDP(1e-9),
    "tiny epsilon with stages": a_schedule([("choice", "1/10000000"), ("count", "1/10000000")]),
}


@cache
def table_of(name, steps=ACCURACY_STEPS):
    return certificate_table(SPENDINGS[name], steps=steps)


def shown_accuracy(table: CertificateTable, start: float, edits: int) -> float:
    """Read the table as the page does: at the next smaller start and the next larger edits."""
    row = max(i for i, unit in enumerate(table.starts) if unit <= start * table.steps + 1e-9)
    column = next((i for i, number in enumerate(table.edits) if number >= edits), None)
    if column is None or column >= len(table.rows[row]):
        return 0.0
    return table.rows[row][column] / table.steps


@pytest.mark.slow
@pytest.mark.parametrize("name", SPENDINGS)
def test_figures_are_bounds_and_almost_the_best(name):
    spending, table = SPENDINGS[name], table_of(name)
    for start in (0.3, 0.5, 0.75, 0.9, 0.99):
        for edits in table.edits[1 :: max(1, len(table.edits) // 6)]:
            if edits > 30_000:  # best goes edit by edit up to there
                break
            known = best(spending, start, edits).value
            assert known - 0.02 <= shown_accuracy(table, start, edits) <= known


@pytest.mark.slow
@pytest.mark.parametrize("name", SPENDINGS)
def test_errors_are_bounds_and_almost_the_best(name):
    """Of an error that is a very small share of the range, too."""
    spending, table = SPENDINGS[name], table_of(name, ERROR_STEPS)
    for error in (0.5, 0.1, 0.03, 1e-3, 1e-4):
        for edits in table.edits[1 :: max(1, len(table.edits) // 6)]:
            if edits > 30_000:
                break
            known = 1 - best(spending, 1 - error, edits).value
            shown = 1 - shown_accuracy(table, 1 - error, edits)
            assert known - 1e-12 <= shown <= 1.15 * known + 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", SPENDINGS)
@pytest.mark.parametrize("steps", [ACCURACY_STEPS, ERROR_STEPS])
def test_a_table_is_monotonous_and_reaches_from_all_to_nothing(name, steps):
    table = table_of(name, steps)
    assert table.edits[0] == 0
    assert len(table.edits) <= 80
    assert list(table.edits) == sorted(set(table.edits))
    assert table.starts[0] == 0
    assert steps * 9 // 10 in table.starts
    for start, row in zip(table.starts, table.rows, strict=True):
        assert row[0] == start
        assert all(later <= earlier for earlier, later in pairwise(row))
    for lower, higher in pairwise(table.rows):
        assert all(a <= b for a, b in zip(lower, higher, strict=False))
    assert shown_accuracy(table, 0.99, table.edits[-1]) < 0.02


@settings(max_examples=60, deadline=None)
@given(start=st.floats(0, 1), edits=st.integers(0, 200))
def test_between_computed_figures_the_worse_one_is_shown(start, edits):
    for name in ("any learner", "two sequences", "sums only"):
        assert (
            shown_accuracy(table_of(name), start, edits)
            <= best(SPENDINGS[name], start, edits).value
        )


def test_the_papers_bound_is_rounded_down_too():
    table = table_of("any learner")
    for edits, factor in zip(table.edits, table.paper_factors, strict=True):
        assert 0 <= paper_bound(0.2, 1.0, edits) - factor <= 2e-6


def test_a_certificates_own_start_is_in_the_table():
    table = certificate_table(EpsilonDP(0.5), extra_start=8432)
    assert 8432 in table.starts
    assert shown_accuracy(table, 0.84325, 0) == 0.8432


def test_units_are_rounded_down():
    assert accuracy_in_steps(0.90001) == 9000
    assert accuracy_in_steps(0.9) == 8999  # what is exactly on an edge may have been a little less
    assert accuracy_in_steps(0.0) == 0
    assert math.isclose(accuracy_in_steps(1.0) / ACCURACY_STEPS, 1.0, abs_tol=2e-4)
