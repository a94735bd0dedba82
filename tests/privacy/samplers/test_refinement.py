from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from privatree.privacy import Randomness
from privatree.privacy.samplers import precision
from privatree.privacy.samplers._refinement import UniformReal


def test_more_digits_keep_the_bits_already_drawn() -> None:
    uniform = UniformReal(Randomness(1))
    first = uniform.numerator
    for digits in (10, 40, 20, 80):
        with localcontext(precision(digits)):
            number = uniform.to_digits(digits)
        assert uniform.bits == max(64, 4 * digits, 160 if digits == 20 else 0)
        assert uniform.numerator >> (uniform.bits - 64) == first
        exact = Fraction(uniform.numerator, 2**uniform.bits)
        assert abs(Fraction(number) - exact) < Fraction(1, 10**digits)


def test_a_word_drawn_elsewhere_can_be_the_beginning() -> None:
    uniform = UniformReal(Randomness(1), 17)
    with localcontext(precision(40)):
        uniform.to_digits(40)
    assert uniform.numerator >> (uniform.bits - 64) == 17


def test_operations_round_correctly_at_any_size() -> None:
    with localcontext(precision(50)):
        small = Decimal(-(10**15)).exp()
        assert 0 < small < Decimal(10) ** -(10**14)
        assert abs(Decimal(1).exp().ln() - 1) < Decimal(10) ** -48
