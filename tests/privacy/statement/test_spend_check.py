from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privatree.errors import ModelFormatError
from privatree.privacy import (
    Composition,
    Leak,
    PrivacyStatement,
    RangeGroup,
    Spend,
    check_spends_without_tree,
    largest_range,
)

ONE = Fraction(1)
E6 = Fraction(1, 10**6)
SIZE = largest_range(ONE, E6, [(Fraction(1, 4), 2), (ONE, 20)])
COUNT = Spend("geometric", ONE / 2, "number of records")
NOISE = Spend("gaussian", ONE / 4, "sums", times=2, delta=E6 / 2)


def range_spends(size: Fraction = SIZE, n_rounds: int = 20) -> tuple[Spend, ...]:
    intervals = [Spend("exponential", size / 4, "interval", is_range=True)] * 2
    return (*intervals, *[Spend("exponential", size, "round", is_range=True)] * n_rounds)


def composition_of(size: Fraction = SIZE, epsilon: Fraction = ONE) -> Composition:
    return Composition(epsilon, E6, (RangeGroup(size / 4, 2), RangeGroup(size, 20)))


PLAIN = PrivacyStatement("x", 1.0, delta=1e-6, spends=(COUNT, NOISE))
COMPOSED = PrivacyStatement(
    "x", 1.5, delta=1e-6, spends=(COUNT, *range_spends()), composition=composition_of()
)
REPLACED = PrivacyStatement(
    "x",
    2.0,
    delta=1e-6,
    neighbours="replace",
    spends=(COUNT, *range_spends(SIZE / 2)),
    composition=composition_of(SIZE / 2, ONE / 2),
)


def check(statement: PrivacyStatement, **changes: Any) -> None:
    """Check a statement, and what a file makes of it."""
    changed = replace(statement, **changes)
    check_spends_without_tree(changed)
    check_spends_without_tree(PrivacyStatement.from_dict(changed.to_dict()))


@pytest.mark.parametrize("statement", [PLAIN, COMPOSED, REPLACED, PrivacyStatement("x", 0.0)])
def test_what_adds_up_is_right(statement: PrivacyStatement) -> None:
    check(statement)


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        (PLAIN, {"epsilon": 1.0 - 1e-12}),  # rounding
        (COMPOSED, {"epsilon": math.inf, "delta": 0.0}),
        (COMPOSED, {"epsilon": math.inf, "leaks": (Leak("a", "b"),)}),
        (COMPOSED, {"spends": (COUNT, *range_spends(n_rounds=19))}),
        (COMPOSED, {"spends": range_spends(SIZE / 2)}),
        (COMPOSED, {"spends": ()}),
    ],
)
def test_less_was_spent_than_is_claimed(statement: PrivacyStatement, changes: Any) -> None:
    check(statement, **changes)


LESS_EPSILON = "epsilon must be at least the sum"
LESS_DELTA = "delta must be at least the sum"


@pytest.mark.parametrize(
    ("statement", "changes", "message"),
    [
        (PLAIN, {"epsilon": 0.999}, LESS_EPSILON),
        (PLAIN, {"delta": 0.99e-6}, LESS_DELTA),
        (PLAIN, {"neighbours": "replace"}, LESS_EPSILON),
        (PLAIN, {"leaks": (Leak("a", "b"),)}, "must be infinite where there are leaks"),
        (PLAIN, {"spends": (replace(COUNT, times=10**30),)}, LESS_EPSILON),
        (COMPOSED, {"epsilon": 1.499}, LESS_EPSILON),
        (COMPOSED, {"delta": 0.99e-6}, LESS_DELTA),
        (COMPOSED, {"spends": (COUNT, NOISE, *range_spends())}, LESS_EPSILON),
        (COMPOSED, {"composition": None}, "must belong to a composition"),
        (COMPOSED, {"spends": range_spends(n_rounds=21)}, "as many draws as were made"),
        (
            COMPOSED,
            {"spends": (replace(range_spends()[-1], times=10**30),)},
            "as many draws as were made",
        ),
        (
            COMPOSED,
            {"spends": (COUNT, *range_spends(SIZE * Fraction(1001, 1000)))},
            "must be at most that of the composition",
        ),
        (
            COMPOSED,
            {"spends": range_spends()[::-1]},
            "must be at most that of the composition",
        ),
        (
            COMPOSED,
            {"composition": composition_of(SIZE * Fraction(1001, 1000))},
            "must cost at most delta",
        ),
        (
            COMPOSED,
            {"epsilon": 1.4, "composition": composition_of(epsilon=ONE * 9 / 10)},
            "must cost at most delta",
        ),
        (COMPOSED, {"neighbours": "replace", "epsilon": 3.0}, "must cost at most delta"),
        (REPLACED, {"epsilon": 1.999}, LESS_EPSILON),
        (REPLACED, {"delta": 0.99e-6}, LESS_DELTA),
        (
            REPLACED,
            {"composition": composition_of(SIZE * Fraction(51, 100), ONE / 2)},
            "must cost at most delta",
        ),
    ],
)
def test_more_was_spent_than_is_claimed(
    statement: PrivacyStatement, changes: Any, message: str
) -> None:
    with pytest.raises(ModelFormatError, match=message):
        check(statement, **changes)


def test_a_hostile_composition_is_checked_in_time() -> None:
    """The most draws that a file can have, with ranges for which no window is narrow."""
    groups = (RangeGroup(Fraction(1, 10**4), 5_000), RangeGroup(Fraction(1, 10**7), 5_000))
    composition = Composition(Fraction(499, 1000), Fraction(0), groups)
    with pytest.raises(ModelFormatError):
        check_spends_without_tree(PrivacyStatement("x", 1.0, composition=composition))
