"""Floating-point numbers of any magnitude, for compiled kernels.

A scaled number is a float64 *mantissa* in [2^-256, 2^256] and a whole *exponent*; its value is
``mantissa * 2^(512 exponent)``. Zero is the mantissa 0 with an exponent below any other. Products,
quotients and sums of positive scaled numbers have a relative error of one unit roundoff, whatever
their magnitude: scaling by a power of two is exact, and a mantissa never leaves the normal range.
The radix is that large so that most operations are those of plain float64 numbers.

Compiled code is cached by file: after a change here, the kernels of other files must be compiled
anew (delete their ``__pycache__``).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import ldexp
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.privacy.samplers._refinement import precision

RADIX_BITS = 512
ZERO_EXPONENT = -(2**60)
"""Exponent of zero: products of it stay far below the exponent of any positive number."""

LOWEST_STORED_EXPONENT = -(2**31)
"""Zero in an int32 array of exponents."""

LARGEST_RATE = 256
POWER_ERROR = 4.0
"""Bound on the relative error of :func:`power` in unit roundoffs: two entries and a product, and
the entries' errors before they were rounded, below 2^-100."""

_HIGH, _LOW = 2.0**256, 2.0**-256
_UP, _DOWN = 2.0**512, 2.0**-512
_TABLE_BITS = 10
_TABLE_SIZE = 1 << _TABLE_BITS
_BINARY_DIGITS = 192

Array: TypeAlias = NDArray[Any]


@compiled
def normal(mantissa: Any, exponent: Any) -> Any:
    """The scaled number, given a mantissa in [2^-768, 2^768]: a product of up to three, say."""
    if mantissa >= _HIGH:
        return mantissa * _DOWN, exponent + 1
    if mantissa < _LOW:
        return mantissa * _UP, exponent - 1
    return mantissa, exponent


@compiled
def multiply(a: Any, a_exponent: Any, b: Any, b_exponent: Any) -> Any:
    """The product of two scaled numbers."""
    return normal(a * b, a_exponent + b_exponent)


@compiled
def divide(a: Any, a_exponent: Any, b: Any, b_exponent: Any) -> Any:
    """The quotient of two scaled numbers, the second one positive."""
    return normal(a / b, a_exponent - b_exponent)


@compiled
def add(a: Any, a_exponent: Any, b: Any, b_exponent: Any) -> Any:
    """The sum of two scaled numbers.

    Where the exponents differ by two or more the smaller number is below 2^-511 of the larger one:
    leaving it out is less than one rounding.
    """
    if a_exponent == b_exponent:
        mantissa, exponent = a + b, a_exponent
    elif a_exponent > b_exponent:
        exponent = a_exponent
        mantissa = a + b * _DOWN if a_exponent == b_exponent + 1 else a
    else:
        exponent = b_exponent
        mantissa = b + a * _DOWN if b_exponent == a_exponent + 1 else b
    if mantissa >= _HIGH:
        return mantissa * _DOWN, exponent + 1
    return mantissa, exponent


@compiled
def power(powers: Any, distance: Any) -> Any:
    """exp(-rate * distance) from the tables of :func:`power_tables`."""
    low = distance & (_TABLE_SIZE - 1)
    high = distance >> _TABLE_BITS
    return normal(powers[0][low] * powers[2][high], powers[1][low] + powers[3][high])


@compiled
def damp(powers: Any, distance: Any, a: Any, a_exponent: Any) -> Any:
    """Exp(-rate * distance) times a scaled number."""
    if distance == 0:
        return a, a_exponent
    low = distance & (_TABLE_SIZE - 1)
    high = distance >> _TABLE_BITS
    mantissa = powers[0][low] * powers[2][high] * a
    return normal(mantissa, powers[1][low] + powers[3][high] + a_exponent)


def power_tables(rate: Fraction, largest: int) -> tuple[Array, Array, Array, Array]:
    """Tables that give exp(-rate * distance) for the whole distances 0, ..., largest.

    One table holds the powers of exp(-rate), the other those of exp(-1024 rate). Both are products
    in whole-number arithmetic of 192 bits, rounded once.
    """
    with localcontext(precision(120)):
        base = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        number = _shorten(int(base * Decimal(2) ** 1024), -1024)
    if largest < _TABLE_SIZE:
        return (*_stored(_powers(number, largest)), *_stored(_powers(number, 0)))
    fine = _powers(number, _TABLE_SIZE)
    coarse = _powers(fine.pop(), largest >> _TABLE_BITS)
    return (*_stored(fine), *_stored(coarse))


def scaled(value: Decimal) -> tuple[float, int]:
    """The scaled number nearest to a number between exp(-256) and 1."""
    with localcontext(precision(120)):
        mantissas, exponents = _stored([_shorten(int(value * Decimal(2) ** 1024), -1024)])
    return float(mantissas[0]), int(exponents[0])


def _shorten(number: int, exponent: int) -> tuple[int, int]:
    """Number * 2^exponent, cut to 192 binary digits."""
    excess = number.bit_length() - _BINARY_DIGITS
    return (number >> excess, exponent + excess) if excess > 0 else (number, exponent)


def _powers(base: tuple[int, int], count: int) -> list[tuple[int, int]]:
    """The powers 0, ..., count of ``base``."""
    current = (1 << (_BINARY_DIGITS - 1), 1 - _BINARY_DIGITS)
    powers = [current]
    for _ in range(count):
        current = _shorten(current[0] * base[0], current[1] + base[1])
        powers.append(current)
    return powers


def _stored(numbers: list[tuple[int, int]]) -> tuple[Array, Array]:
    """Whole numbers times powers of two as arrays of mantissas and exponents."""
    mantissas = np.empty(len(numbers))
    exponents = np.empty(len(numbers), dtype=np.int64)
    for index, (number, exponent) in enumerate(numbers):
        scale = (exponent + number.bit_length() + RADIX_BITS // 2) // RADIX_BITS
        mantissas[index] = ldexp(float(number), exponent - RADIX_BITS * scale)
        exponents[index] = scale
    return mantissas, exponents
