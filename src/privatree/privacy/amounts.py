"""Privacy amounts as exact fractions, so that a budget's parts add up to the whole."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

from privatree.errors import ParameterError


def positive_fraction(name: str, value: Any) -> Fraction:
    """The exact value of a positive finite number; anything else is a :class:`ParameterError`."""
    if type(value) is Fraction and value > 0:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(f"{name} must be a number, got {value!r}.")
    if not isinstance(value, numbers.Rational):
        if not math.isfinite(value):
            raise ParameterError(f"{name} must be a finite number, got {value}.")
        fraction = Fraction(float(value))
    else:  # as plain integers: numpy's would overflow in the arithmetic of fractions
        fraction = Fraction(int(value.numerator), int(value.denominator))
    if fraction <= 0:
        raise ParameterError(f"{name} must be > 0, got {value}.")
    return fraction


def rounded_up(amount: Fraction) -> float:
    """The least float that is not below it: certificates must not be told less than is spent."""
    nearest = float(amount)
    return nearest if nearest >= amount else math.nextafter(nearest, math.inf)
