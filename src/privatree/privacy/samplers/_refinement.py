"""Numbers that are known as precisely as a decision needs.

Every decision of the exact samplers compares a uniform number with a quantity of which only
approximations are known. It is taken in float64 first, with a rigorous bound on the rounding error.
If the bound hides the answer, more bits of the *same* uniform number are drawn and the quantity is
computed again with twice the digits, as often as needed: the outcome is that of exact arithmetic.
"""

from __future__ import annotations

from decimal import Context, Decimal

from privatree.privacy._randomness import Randomness

UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one float64 operation."""

FIRST_DIGITS = 40
"""Decimal digits of the first attempt beyond float64."""


class UniformReal:
    """A uniform number in [0, 1), of which as many bits are drawn as decisions ask for."""

    def __init__(self, randomness: Randomness, numerator: int | None = None) -> None:
        self._randomness = randomness
        self.numerator = randomness.bits(64) if numerator is None else numerator
        self.bits = 64

    def to_digits(self, digits: int) -> Decimal:
        """The number, off by less than 10^(1 - digits); draws what bits are missing for that.

        To be called in a context of at least ``digits`` digits.
        """
        more = 4 * digits - self.bits
        if more > 0:
            self.numerator = (self.numerator << more) | self._randomness.bits(more)
            self.bits += more
        return Decimal(self.numerator) / Decimal(2) ** self.bits


def precision(digits: int) -> Context:
    """A decimal context in which each operation, exp included, rounds correctly."""
    return Context(prec=digits, Emax=10**17, Emin=-(10**17))
