"""Privacy amounts as exact fractions, so that a budget's parts add up to the whole."""

from __future__ import annotations

import math
import numbers
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

from privatree.errors import ParameterError

_SHORT = 12
"""Digits of an amount that are shown in full."""


def positive_fraction(name: str, value: Any) -> Fraction:
    """The exact value of a positive finite number; anything else is a :class:`ParameterError`."""
    if type(value) is Fraction and value > 0:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(f"{name} must be a number, got {value!r}.", name)
    if not isinstance(value, numbers.Rational):
        if not math.isfinite(value):
            raise ParameterError(f"{name} must be a finite number, got {value}.", name)
        fraction = Fraction(float(value))
    else:  # as plain integers: numpy's would overflow in the arithmetic of fractions
        fraction = Fraction(int(value.numerator), int(value.denominator))
    if fraction <= 0:
        raise ParameterError(f"{name} must be > 0, got {value}.", name)
    return fraction


def decimal_fraction(name: str, value: Any) -> Fraction:
    """As :func:`positive_fraction`, but a float is the decimal that it is written as: 0.1 is 1/10.

    For amounts that people add up: ten times 0.1 is 1, and more than 1 as the floats they are.
    """
    exact = positive_fraction(name, value)
    return exact if isinstance(value, numbers.Rational) else Fraction(repr(float(value)))


def conservative_epsilon(name: str, value: Any) -> Fraction:
    """What may be spent under an epsilon that is given as a float, its decimal or both.

    The lesser of both readings, which differ by a part in 10^16: so neither a statement in floats
    nor an account in decimals promises more privacy than there is.
    """
    return min(positive_fraction(name, value), decimal_fraction(name, value))


def format_epsilon(amount: Fraction, *, up: bool, digits: int = 6) -> str:
    """An amount to be read by people: as it is if it is short, else rounded up or down."""
    with localcontext(prec=_SHORT) as context:
        context.clear_flags()  # those of the caller come along
        exact = Decimal(amount.numerator) / amount.denominator
        if not context.flags[Inexact]:
            return f"{float(exact):.{_SHORT}g}"
    with localcontext(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        return f"{float(Decimal(amount.numerator) / amount.denominator):.{digits}g}"


def rounded_up(amount: Fraction) -> float:
    """The least float that is not below it: certificates must not be told less than is spent."""
    nearest = float(amount)
    return nearest if nearest >= amount else math.nextafter(nearest, math.inf)
