from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from privatree.errors import ParameterError
from privatree.privacy import Schedule, Stage

PATH = (Stage("count", Fraction(1, 3)), Stage("choice", Fraction(2, 3)))


def test_a_stage_has_a_kind_and_a_cost() -> None:
    kind, epsilon = PATH[0]
    assert (kind, epsilon) == ("count", Fraction(1, 3))
    assert PATH[1].kind == "choice"


def test_schedules_are_values() -> None:
    """They go into sets and into a cache, and nobody changes them afterwards."""
    one, same = (Schedule(Fraction(1), Fraction(2, 3), Fraction(1, 3), (PATH,)) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Schedule(Fraction(1), Fraction(2, 3), Fraction(1, 3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.choices = Fraction(0)  # type: ignore[misc]


def test_too_many_sequences_are_none() -> None:
    assert Schedule(Fraction(1), Fraction(1), Fraction(1, 10)).sequences == ()


WHOLE, HALF = Fraction(1), Fraction(1, 2)
ONE = (Stage("choice", WHOLE),)


@pytest.mark.parametrize(
    ("amounts", "sequences", "message"),
    [
        ((Fraction(0), WHOLE, WHOLE), (), "total of a schedule must be > 0"),
        ((Fraction(10**13), WHOLE, WHOLE), (), "total of a schedule must be > 0"),
        ((WHOLE, WHOLE, -HALF), (), "counts must be >= 0"),
        (
            (WHOLE, Fraction(10**13), WHOLE),
            (),
            "choices and counts of a schedule must each be at most",
        ),
        (
            (WHOLE, WHOLE, Fraction(10**308)),
            (),
            "choices and counts of a schedule must each be at most",
        ),
        ((WHOLE, HALF, Fraction(1, 4)), (), "must be at least its total"),
        ((WHOLE, WHOLE, WHOLE), ((),), "1 to 250 stages"),
        ((WHOLE, WHOLE, WHOLE), (ONE,) * 101, "at most 100 sequences"),
        ((Fraction(300), Fraction(300), WHOLE), (ONE * 251,), "1 to 250 stages"),
        ((HALF, WHOLE, WHOLE), (ONE,), "each sequence of a schedule must add up to at most"),
        ((WHOLE, HALF, HALF), (ONE,), "each sequence of a schedule must add up to at most"),
        (
            (WHOLE, WHOLE, HALF),
            ((Stage("count", WHOLE),),),
            "each sequence of a schedule must add up to at most",
        ),
    ],
)
def test_a_schedule_that_contradicts_itself_is_refused(
    amounts: tuple[Fraction, Fraction, Fraction],
    sequences: tuple[tuple[Stage, ...], ...],
    message: str,
) -> None:
    """A certificate would take the smaller one of the two for the truth."""
    with pytest.raises(ParameterError, match=message):
        Schedule(*amounts, sequences)
