"""Epsilons and deltas as exact fractions, so that the parts of a budget add up to the whole."""

from __future__ import annotations

import math
import numbers
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

from privatree.errors import ParameterError

MIN_EPSILON, MAX_EPSILON = 1e-9, 1e9
"""Smallest and largest epsilon of a learner, and of scores."""
_SHORT = 12  # an amount of at most so many digits is shown in full


def positive_fraction(name: str, value: Any) -> Fraction:
    """Return the exact value of a positive finite number, or raise a :class:`ParameterError`."""
    if type(value) is Fraction and value > 0:
        return value
    fraction = _finite_fraction(name, value)
    if fraction <= 0:
        raise ParameterError(f"{name} must be > 0, got {value}.", name)
    return fraction


def _finite_fraction(name: str, value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(f"{name} must be a number, got {value!r}.", name)
    if not isinstance(value, numbers.Rational):
        if not math.isfinite(value):
            raise ParameterError(f"{name} must be a finite number, got {value}.", name)
        return Fraction(float(value))
    # As plain integers: numpy's would overflow in the arithmetic of fractions.
    return Fraction(int(value.numerator), int(value.denominator))


def decimal_fraction(name: str, value: Any) -> Fraction:
    """Return an exact fraction. A float stands for the decimal that Python prints: 0.1 is 1/10.

    Use it for amounts that people add up: ten times 1/10 is 1, but ten times the float 0.1 is more.
    Raise a :class:`ParameterError` as :func:`positive_fraction` does.
    """
    exact = positive_fraction(name, value)
    return exact if isinstance(value, numbers.Rational) else Fraction(repr(float(value)))


def delta_fraction(name: str, value: Any) -> Fraction:
    """Return a delta, 0 <= delta < 1, as an exact fraction. A float stands for its decimal.

    Raise a :class:`ParameterError` if the value is not such a number.
    """
    exact = _finite_fraction(name, value)
    if not 0 <= exact < 1:
        raise ParameterError(f"{name} must be at least 0 and below 1, got {value}.", name)
    return exact if isinstance(value, numbers.Rational) else Fraction(repr(float(value)))


def conservative_epsilon(name: str, value: Any) -> Fraction:
    """Return the smaller of an epsilon's exact value and the decimal that Python prints.

    A statement counts in floats and a budget in decimals. Noise drawn for the smaller value
    satisfies both; they differ by about one part in 10^16.
    """
    return min(positive_fraction(name, value), decimal_fraction(name, value))


def conservative_delta(name: str, value: Any) -> Fraction:
    """Return the smaller of a delta's exact value and its decimal, as for an epsilon."""
    return min(delta_fraction(name, value), _finite_fraction(name, value))


def format_epsilon(amount: Fraction, *, up: bool, digits: int = 6) -> str:
    """Return an epsilon or a delta as text: exact if it has few digits, else rounded up or down."""
    with localcontext(prec=_SHORT) as context:
        context.clear_flags()  # the caller's flags were copied into this context
        exact = Decimal(amount.numerator) / amount.denominator
        if not context.flags[Inexact]:
            return f"{float(exact):.{_SHORT}g}"
    with localcontext(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        return f"{float(Decimal(amount.numerator) / amount.denominator):.{digits}g}"


def epsilon_above(amount: Fraction) -> float:
    """Return the smallest float >= an epsilon: certificates must never understate a spend."""
    nearest = float(amount)
    return nearest if nearest >= amount else math.nextafter(nearest, math.inf)


def check_epsilon(epsilon: Any, name: str = "epsilon") -> None:
    """Check that epsilon is a finite number from 1e-9 to 1e9."""
    exact = positive_fraction(name, epsilon)
    if exact < MIN_EPSILON:
        raise ParameterError(f"{name} must be at least {MIN_EPSILON:g}, got {epsilon}.", name)
    if exact > MAX_EPSILON:
        raise ParameterError(
            f"{name} must be at most {MAX_EPSILON:g}, got more. An epsilon this large gives no "
            "privacy.",
            name,
        )
