"""Scaled floats against exact rational arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from privatree.privacy.samplers import UNIT_ROUNDOFF, precision
from privatree.privacy.samplers._scaled_floats import (
    POWER_ERROR,
    ZERO_EXPONENT,
    add,
    damp,
    divide,
    multiply,
    power,
    power_tables,
)


def exactly(number: tuple[float, int]) -> Fraction:
    return Fraction(number[0]) * Fraction(2) ** (512 * int(number[1]))


def numbers() -> list[tuple[float, int]]:
    generator = np.random.default_rng(0)
    mantissas = np.ldexp(generator.uniform(1, 2, 60), generator.integers(-256, 256, 60))
    exponents = generator.integers(-2, 3, 60)
    ends = [(2.0**256, 0), (2.0**-256, 0), (2.0**-256, 1), (2.0**256, -1)]
    return [*zip(mantissas.tolist(), exponents.tolist(), strict=True), *ends]


@pytest.mark.slow
def test_every_operation_rounds_once_and_stays_in_range() -> None:
    for a in numbers():
        for b in numbers():
            for operation, true in (
                (add, exactly(a) + exactly(b)),
                (multiply, exactly(a) * exactly(b)),
                (divide, exactly(a) / exactly(b)),
            ):
                result = operation(*a, *b)
                assert 2.0**-256 <= result[0] <= 2.0**256
                assert abs(exactly(result) - true) <= true * Fraction(UNIT_ROUNDOFF)


def test_zero_stays_zero() -> None:
    zero = 0.0, ZERO_EXPONENT
    for number in numbers():
        assert multiply(*zero, *number)[0] == 0.0
        assert exactly(add(*multiply(*zero, *number), *number)) == exactly(number)


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 40), Fraction(7, 3), 256])
@pytest.mark.parametrize("largest", [0, 5, 1023, 1024, 10_000])
def test_powers_keep_to_their_error_bound(rate, largest) -> None:
    tables = power_tables(Fraction(rate), largest)
    for distance in {0, largest // 3, largest // 2, max(largest - 1, 0), largest}:
        with localcontext(precision(60)):
            exponent = -Fraction(rate) * distance
            true = (Decimal(exponent.numerator) / exponent.denominator).exp()
            found, scale = power(tables, distance)
            error = abs(Decimal(found) * Decimal(2) ** (512 * int(scale)) / true - 1)
            assert error <= Decimal(POWER_ERROR * UNIT_ROUNDOFF)
            found, scale = damp(tables, distance, 3.0, 1)
            error = abs(Decimal(found) * Decimal(2) ** (512 * int(scale - 1)) / (3 * true) - 1)
            assert error <= Decimal((POWER_ERROR + 1) * UNIT_ROUNDOFF)
