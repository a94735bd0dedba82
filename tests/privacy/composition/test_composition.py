from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy import Composition, RangeGroup, certified_delta, largest_range

ONE = Fraction(1)
E6 = Fraction(1, 10**6)
SIZE = largest_range(ONE, E6, [(Fraction(1, 4), 8), (ONE, 60)])
GROUPS = (RangeGroup(SIZE / 4, 8), RangeGroup(SIZE, 60))


def test_ranges_are_listed_in_order() -> None:
    composition = Composition(ONE, E6, GROUPS)
    assert composition.n_draws == 68
    assert list(composition.ranges()) == [SIZE / 4] * 8 + [SIZE] * 60


def test_empty_groups_are_left_out() -> None:
    assert Composition(ONE, E6, (RangeGroup(ONE, 0), *GROUPS)).groups == GROUPS


def test_what_the_search_found_is_certified() -> None:
    Composition(ONE, E6, GROUPS).certify()


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups"),
    [
        (ONE, E6, (RangeGroup(SIZE / 4, 8), RangeGroup(SIZE * Fraction(1001, 1000), 60))),
        (ONE, E6, (RangeGroup(SIZE / 4, 8), RangeGroup(SIZE, 61))),
        (ONE, E6, (RangeGroup(SIZE / 2, 8), RangeGroup(SIZE, 60))),
        (ONE * Fraction(999, 1000), E6, GROUPS),
        (ONE, E6 * Fraction(99, 100), GROUPS),
        (ONE, Fraction(0), GROUPS),
    ],
)
def test_what_costs_more_is_not(
    epsilon: Fraction, delta: Fraction, groups: tuple[RangeGroup, ...]
) -> None:
    with pytest.raises(BudgetExceededError, match="draws of bounded range must cost at most"):
        Composition(epsilon, delta, groups).certify()


def test_a_replaced_record_costs_twice_the_ranges_at_twice_epsilon() -> None:
    Composition(ONE / 2, E6, tuple(RangeGroup(e / 2, n) for e, n in GROUPS)).certify(factor=2)
    with pytest.raises(BudgetExceededError):
        Composition(ONE / 2, E6, tuple(RangeGroup(e * 51 / 100, n) for e, n in GROUPS)).certify(2)
    alone = largest_range(ONE / 2, E6, [(ONE, 60)])  # for one record added or removed
    composition = Composition(ONE / 2, E6, (RangeGroup(alone, 60),))
    composition.certify()
    with pytest.raises(BudgetExceededError):
        composition.certify(factor=2)


def test_a_tolerance_is_a_share_of_delta() -> None:
    delta = Fraction(certified_delta(ONE, GROUPS)) * Fraction(999, 1000)
    Composition(ONE, delta, GROUPS).certify(tolerance=Fraction(2, 1000))
    with pytest.raises(BudgetExceededError):
        Composition(ONE, delta, GROUPS).certify()


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"epsilon": Fraction(0)}, "epsilon"),
        ({"epsilon": Fraction(10**13)}, "epsilon"),
        ({"delta": Fraction(-1)}, "delta"),
        ({"delta": Fraction(1)}, "delta"),
        ({"groups": ()}, "groups"),
        ({"groups": (RangeGroup(ONE, 10_001),)}, "groups"),
        ({"groups": (RangeGroup(ONE, 6_000), RangeGroup(ONE / 2, 6_000))}, "groups"),
        ({"groups": (RangeGroup(-ONE, 1),)}, "groups"),
    ],
)
def test_wrong_numbers_are_refused(changes: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Composition(**{"epsilon": ONE, "delta": E6, "groups": GROUPS, **changes})
    assert caught.value.parameter == parameter


def test_a_wrong_factor_is_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        Composition(ONE, E6, GROUPS).certify(factor=0)
    assert caught.value.parameter == "factor"
