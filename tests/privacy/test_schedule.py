from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

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
