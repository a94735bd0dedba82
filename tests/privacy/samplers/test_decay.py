from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privatree.privacy.samplers import DECAY_ERROR, decay, decay_table, precision
from privatree.privacy.samplers._decay import MIN_FACTOR

DROPPED = 2.0**-995
"""Where numbers begin to count as 0."""


def exactly(rate: Fraction, k: int) -> Decimal:
    with localcontext(precision(60)):
        return (-Decimal(rate.numerator) * k / rate.denominator).exp()


rates = st.floats(1e-9, 1e9).map(Fraction) | st.fractions(Fraction(1, 10**6), 50)


@pytest.mark.slow
@given(rates, st.data())
@example(Fraction(1, 1000), None)
def test_it_is_as_precise_as_promised_and_zero_beyond(rate: Fraction, data: st.DataObject) -> None:
    reach = min(int(700 / rate), 10**7) + 3000  # at the smallest rates nothing is negligible
    table = decay_table(rate, 2 * reach)
    several = [
        0,
        1,
        1023,
        1024,
        1025,
        2**table.shift - 1,
        2**table.shift,
        min(int(690 / rate), reach),
        reach,
        2 * reach,
    ]
    if data is not None:
        several += data.draw(st.lists(st.integers(0, reach), max_size=8))
    for k in several:
        got, expected = Decimal(float(decay(table, k))), exactly(rate, k)
        with localcontext(precision(60)):
            if expected > Decimal(1.001 * DROPPED):
                assert abs(got / expected - 1) <= Decimal(DECAY_ERROR)
            else:
                assert 0 <= got <= Decimal(1.01 * DROPPED), "negligible, or nothing at all"


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 7), Fraction(3)])
def test_it_falls_from_one_to_zero(rate: Fraction) -> None:
    tables = decay_table(rate, 10**12)
    found = [float(decay(tables, k)) for k in np.unique(np.geomspace(1, 10**11, 400).astype(int))]
    assert decay(tables, 0) == 1.0
    assert found == sorted(found, reverse=True)
    assert found[0] < 1.0
    assert found[-1] == 0.0


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 50)])
@pytest.mark.parametrize("largest", [0, 1, 1023, 1024, 5000])
def test_the_largest_argument_bounds_the_table_and_nothing_else(
    rate: Fraction, largest: int
) -> None:
    short, long = decay_table(rate, largest), decay_table(rate, 10**6)
    assert len(short.high) == largest // len(short.low) + 1 <= len(long.high)
    for k in {0, largest // 2, largest}:
        assert decay(short, k) == pytest.approx(decay(long, k), rel=1e-12)


def test_the_table_is_small_at_any_rate() -> None:
    for rate in (Fraction(1), Fraction(1, 1000), Fraction(1, 10**9), Fraction(10**300)):
        table = decay_table(rate, 2**60)
        assert len(table.high) <= 2**20, rate
        assert len(table.low) <= 2**21, rate
    assert len(decay_table(Fraction(1, 10**9), 2**18).low) == 1024, "few records, small tables"


def test_a_rate_beyond_all_sense_leaves_only_the_best() -> None:
    tables = decay_table(Fraction(10**300), 10**6)
    assert [float(decay(tables, k)) for k in (0, 1, 2, 1024, 10**6)] == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_what_is_dropped_is_nothing_beside_the_smallest_factor() -> None:
    assert DROPPED / MIN_FACTOR <= 2.0**-145
    assert exactly(Fraction(690), 1) < Decimal(DROPPED)
    assert DECAY_ERROR / 10**6 > 2.0**-145
