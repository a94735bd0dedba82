"""Powers exp(rate * score) in arbitrary precision, each computed once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


class DecimalPowers:
    """Powers of whole scores with a given number of digits, in a decimal context of that precision.

    Parameters
    ----------
    rate : Fraction
        Logarithm of the power of a score of 1.
    digits : int
        Number of digits.
    n_factors : int, default=1
        Largest number of powers that are multiplied with each other.
    """

    def __init__(self, rate: Fraction, digits: int, n_factors: int = 1) -> None:
        self._rate, self._digits, self._n_factors = rate, digits, n_factors
        self._powers: dict[int, Decimal] = {}
        self._largest = Fraction(0)

    @property
    def error(self) -> Decimal:
        """Bound on the relative error, from the exponents so far and up to 10^12 roundings."""
        exponents = 8 * int(self._largest + 1) * self._n_factors
        return (exponents + Decimal(10) ** 12) * Decimal(10) ** (1 - self._digits)

    def power(self, score: int) -> Decimal:
        """Return exp(rate * score)."""
        if score not in self._powers:
            exponent = self._rate * score
            self._largest = max(self._largest, abs(exponent))
            quotient = Decimal(exponent.numerator) / Decimal(exponent.denominator)
            self._powers[score] = quotient.exp()
        return self._powers[score]
