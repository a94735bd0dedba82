from __future__ import annotations

import math
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.privacy import (
    conservative_delta,
    conservative_epsilon,
    decimal_fraction,
    delta_fraction,
    format_epsilon,
    positive_fraction,
)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (1, Fraction(1)),
        (10**400, Fraction(10**400)),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(0.1)),
        (5e-324, Fraction(1, 2**1074)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Fraction(1, 10**400), Fraction(1, 10**400)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.float16(0.5), Fraction(1, 2)),
        (np.int64(7), Fraction(7)),
        (np.uint8(200), Fraction(200)),
    ],
)
def test_positive_numbers_are_taken_exactly(value: Any, exact: Fraction) -> None:
    assert positive_fraction("epsilon", value) == exact


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_numpy_integers_become_plain_ones(kind: type) -> None:
    """A fraction of fixed-width integers would overflow in the arithmetic that follows."""
    fraction = positive_fraction("epsilon", kind(100))
    assert type(fraction.numerator) is int
    assert type(fraction.denominator) is int
    assert fraction * 2**70 == 100 * 2**70


@pytest.mark.parametrize("value", [True, False, np.bool_(True), "1", b"1", None, [1.0], 1j])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="sensitivity must be a number"):
        positive_fraction("sensitivity", value)


@pytest.mark.parametrize("value", [Decimal(1), np.array(1.0), np.array([1.0])])
def test_other_kinds_of_number_are_refused(value: Any) -> None:
    with pytest.raises(ParameterError):
        positive_fraction("epsilon", value)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")]
)
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a finite number"):
        positive_fraction("epsilon", value)


@pytest.mark.parametrize(
    "value", [0, 0.0, -0.0, -1, -1.5, Fraction(-1, 3), np.int64(0), np.float64(-2)]
)
def test_what_is_not_positive_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be > 0"):
        positive_fraction("epsilon", value)


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats() | st.integers() | st.fractions() | st.text() | st.booleans() | st.none())
def test_everything_is_exact_or_refused(value: Any) -> None:
    try:
        fraction = positive_fraction("epsilon", value)
    except ParameterError:
        return
    assert fraction > 0
    assert fraction == value


# --- decimals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.3), Fraction(3, 10)),
        (1e22, Fraction(10**22)),
        (5e-324, Fraction(5, 10**324)),
        (np.float32(0.1), Fraction("0.10000000149011612")),
        (Fraction(0.1), Fraction(0.1)),
        (3, Fraction(3)),
        (np.int8(100), Fraction(100)),
    ],
)
def test_a_float_can_be_read_as_the_decimal_it_is_written_as(value: Any, exact: Fraction) -> None:
    assert decimal_fraction("epsilon", value) == exact


@pytest.mark.parametrize("value", [0, -0.5, math.nan, math.inf, True, "0.1", Decimal("0.1"), None])
def test_decimals_are_refused_like_other_numbers(value: Any) -> None:
    for read in (decimal_fraction, conservative_epsilon):
        with pytest.raises(ParameterError, match="epsilon must be"):
            read("epsilon", value)


@pytest.mark.slow
@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_what_may_be_spent_is_within_both_readings(value: float) -> None:
    """So neither the statement, in floats, nor the account, in decimals, says too little."""
    decimal, spendable = decimal_fraction("epsilon", value), conservative_epsilon("epsilon", value)
    assert float(decimal) == value
    assert spendable in (decimal, Fraction(value))
    assert spendable <= decimal
    assert spendable <= Fraction(value)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0, Fraction(0)),
        (-0.0, Fraction(0)),
        (np.int64(0), Fraction(0)),
        (1e-6, Fraction(1, 10**6)),
        (np.float64(1e-5), Fraction(1, 10**5)),
        (Fraction(1e-6), Fraction(1e-6)),
        (5e-324, Fraction(5, 10**324)),
        (math.nextafter(1, 0), Fraction("0.9999999999999999")),
    ],
)
def test_a_delta_is_the_decimal_it_is_written_as(value: Any, exact: Fraction) -> None:
    assert delta_fraction("delta", value) == exact


@pytest.mark.parametrize("value", [-1e-300, Fraction(-1, 9), 1, 1.0, np.int8(1), 7.5])
def test_a_delta_is_at_least_0_and_below_1(value: Any) -> None:
    for read in (delta_fraction, conservative_delta):
        with pytest.raises(ParameterError, match="delta must be at least 0 and below 1") as caught:
            read("delta", value)
        assert caught.value.parameter == "delta"


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "0", Decimal(0), None, [0.0]])
def test_deltas_are_refused_like_other_numbers(value: Any) -> None:
    with pytest.raises(ParameterError, match="delta must be"):
        delta_fraction("delta", value)


@pytest.mark.slow
@given(st.floats(min_value=0, max_value=1, exclude_max=True))
def test_a_delta_that_may_be_spent_is_within_both_readings(value: float) -> None:
    decimal, spendable = delta_fraction("delta", value), conservative_delta("delta", value)
    assert float(decimal) == value
    assert spendable == min(decimal, Fraction(value))


@pytest.mark.parametrize(
    ("amount", "down", "up"),
    [
        (Fraction(1, 4), "0.25", "0.25"),
        (Fraction(100), "100", "100"),
        (Fraction(0), "0", "0"),
        (Fraction(1, 3), "0.333333", "0.333334"),
        (Fraction(999999999, 10**10), "0.0999999999", "0.0999999999"),
        (Fraction(1, 10) - Fraction(1, 10**20), "0.0999999", "0.1"),
        (Fraction(3, 10**30), "3e-30", "3e-30"),
    ],
)
def test_amounts_in_digits(amount: Fraction, down: str, up: str) -> None:
    assert (format_epsilon(amount, up=False), format_epsilon(amount, up=True)) == (down, up)


@given(st.fractions(min_value=0, max_value=10**9))
def test_rounded_down_to_15_digits_a_float_can_be_charged(amount: Fraction) -> None:
    shown = float(format_epsilon(amount, up=False, digits=15))
    if shown:
        assert amount * (1 - Fraction(1, 10**14)) <= decimal_fraction("epsilon", shown) <= amount


def test_digits_do_not_depend_on_what_was_computed_before() -> None:
    with localcontext() as context:
        context.flags[Inexact] = True
        assert format_epsilon(Fraction(123456789, 10**9), up=True) == "0.123456789"
