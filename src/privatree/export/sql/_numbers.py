"""Doubles as SQL: expressions whose value is exactly the number, whoever computes it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

_EXACT_DIGITS = 15
"""A number that so many digits give exactly is read without an error by every database."""
_MAX_SHIFT = 62
"""The largest power of two that is a whole number of 64 bits everywhere."""


def fraction(double_type: str, exponent: str = "") -> Callable[[float], str]:
    """How to write doubles as whole numbers and powers of two: no database rounds these.

    Parameters
    ----------
    double_type : str
        What the database calls a double.
    exponent : str, optional
        What makes a short decimal a double instead of a decimal number.

    Returns
    -------
    callable
        From a double to SQL.
    """

    def written(number: float) -> str:
        if (short := _short(number)) is not None:
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

    return written


def with_exponent(number: float) -> str:
    """All digits and an exponent, for a database that reads these as the nearest double."""
    if number.is_integer() and (short := _short(number)) is not None:
        return short
    digits = repr(number)
    return digits if "e" in digits else f"{digits}e0"


def typed_text(number: float) -> str:
    """All digits as a text of PostgreSQL's type, which reads it as the nearest double."""
    short = _short(number)
    return f"FLOAT8 '{number!r}'" if short is None else short


def _short(number: float) -> str | None:
    """The exact digits if they are few, with nothing to round."""
    exact = Decimal(number)
    if exact.adjusted() < _EXACT_DIGITS and len(exact.as_tuple().digits) <= _EXACT_DIGITS:
        return f"{exact:f}" if number else "0"
    return None
