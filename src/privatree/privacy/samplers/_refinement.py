"""Uniform numbers, and decimals, with as many digits as a decision needs.

Every decision of the exact samplers compares a uniform number with a quantity that can only be
approximated. The comparison is made in float64 first, with a rigorous bound on the rounding error.
If the bound leaves the answer open, more bits of the *same* uniform number are drawn, and the
quantity is computed again with twice the digits, as often as needed. So the outcome is that of
exact arithmetic.
"""

from __future__ import annotations

from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)

from privatree.privacy._randomness import Randomness

UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one float64 operation."""

FIRST_DIGITS = 40
"""Number of decimal digits of the first attempt after float64."""


class UniformReal:
    """A uniform number in [0, 1). Its bits are drawn when a decision needs them."""

    def __init__(self, randomness: Randomness, numerator: int | None = None) -> None:
        self._randomness = randomness
        self.numerator = randomness.bits(64) if numerator is None else numerator
        self.bits = 64

    def to_digits(self, digits: int) -> Decimal:
        """Return the number with an error below 10^(1 - digits), after drawing the missing bits.

        Call it in a decimal context of at least ``digits`` digits.
        """
        more = 4 * digits - self.bits
        if more > 0:
            self.numerator = (self.numerator << more) | self._randomness.bits(more)
            self.bits += more
        return Decimal(self.numerator) / Decimal(2) ** self.bits


def precision(digits: int) -> Context:
    """Return a decimal context in which every operation, including exp, rounds correctly."""
    # Everything is set here: the defaults of a process could round, or raise, in other ways.
    return Context(
        prec=digits,
        rounding=ROUND_HALF_EVEN,
        Emax=10**17,
        Emin=-(10**17),
        traps=[InvalidOperation, DivisionByZero, Overflow],
    )
