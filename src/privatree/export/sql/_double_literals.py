"""Doubles as SQL literals whose value is exactly the number in every database."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

_MAX_EXACT_DIGITS = 15
"""Every database reads a decimal number with at most this many digits without an error."""
_MAX_SHIFT = 62
"""Exponent of the largest power of two that is a 64-bit integer in every database."""


def double_as_fraction_writer(double_type: str, exponent: str = "") -> Callable[[float], str]:
    """Return a function that writes a double as an expression of integers and powers of two.

    No database rounds such numbers. `exponent` is the suffix that makes a short decimal a double.
    """

    def write_fraction(number: float) -> str:
        if (short := _short_exact_double(number)) is not None:
            return short if number.is_integer() else f"{short}{exponent}"
        numerator, denominator = number.as_integer_ratio()
        shift = 0
        while numerator % 2 == 0:
            numerator, shift = numerator // 2, shift + 1
        parts = [f"CAST({numerator} AS {double_type})"]
        for sign, power in (("*", shift), ("/", denominator.bit_length() - 1)):
            full, rest = divmod(power, _MAX_SHIFT)
            powers = [_MAX_SHIFT] * full + [rest] * (rest > 0)
            parts += [f"{sign} {2**power}" for power in powers]
        return f"{' '.join(parts)} /* {number!r} */"

    return write_fraction


def double_with_exponent(number: float) -> str:
    """Write all digits and an exponent, for databases that read them as the nearest double."""
    if number.is_integer() and (short := _short_exact_double(number)) is not None:
        return short
    digits = repr(number)
    return digits if "e" in digits else f"{digits}e0"


def postgresql_double(number: float) -> str:
    """Write all digits as a FLOAT8 text, which PostgreSQL reads as the nearest double."""
    short = _short_exact_double(number)
    return f"FLOAT8 '{number!r}'" if short is None else short


def _short_exact_double(number: float) -> str | None:
    """Return the exact decimal digits, or None if they are too many to be read exactly."""
    exact = Decimal(number)
    if exact.adjusted() < _MAX_EXACT_DIGITS and len(exact.as_tuple().digits) <= _MAX_EXACT_DIGITS:
        return f"{exact:f}" if number else "0"
    return None
