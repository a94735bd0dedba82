"""Compositions in statements: written, read, refused and printed. The rest is in test_statement."""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.errors import ModelFormatError
from privatree.privacy import Composition, PrivacyStatement, RangeGroup, Spend

COMPOSED = PrivacyStatement(
    "a learner",
    1.0,
    delta=2.0**-20,
    spends=(
        Spend("geometric", Fraction(1, 32), "number of records"),
        Spend("exponential", Fraction(1, 64), "interval of age", is_range=True),
        *(Spend("exponential", Fraction(1, 16), "round", is_range=True) for _ in range(3)),
    ),
    composition=Composition(
        Fraction(31, 32),
        Fraction(1, 2**20),
        (RangeGroup(Fraction(1, 64), 1), RangeGroup(Fraction(1, 16), 40)),
    ),
)


def through_json(statement: PrivacyStatement) -> Any:
    return json.loads(json.dumps(statement.to_dict(), allow_nan=False))


def test_round_trip() -> None:
    written = through_json(COMPOSED)
    assert PrivacyStatement.from_dict(written) == COMPOSED
    assert written["composition"] == {
        "epsilon": 0.96875,
        "delta": 2.0**-20,
        "groups": [[0.015625, 1], [0.0625, 40]],
    }
    assert [spend.get("is_range") for spend in written["spends"]] == [None, *[True] * 4]


def test_without_a_composition_nothing_is_written() -> None:
    spend = Spend("geometric", Fraction(1, 2), "number of records")
    written = through_json(PrivacyStatement("a learner", 1.0, spends=(spend,)))
    assert "composition" not in written
    assert "is_range" not in written["spends"][0]
    assert PrivacyStatement.from_dict(written).composition is None


@settings(deadline=None)
@given(
    st.fractions(Fraction(1, 1000), 100),
    st.fractions(0, Fraction(999, 1000)),
    st.lists(
        st.builds(RangeGroup, st.fractions(Fraction(1, 1000), 100), st.integers(1, 900)),
        min_size=1,
        max_size=4,
    ),
)
def test_any_composition_is_written_as_no_less_than_it_is(
    epsilon: Fraction, delta: Fraction, groups: list[RangeGroup]
) -> None:
    composition = Composition(epsilon, delta, tuple(groups))
    written = through_json(PrivacyStatement("x", 1.0, composition=composition))
    found = PrivacyStatement.from_dict(written).composition
    assert found is not None
    assert through_json(PrivacyStatement("x", 1.0, composition=found)) == written
    pairs = [(epsilon, found.epsilon), (delta, found.delta)]
    for one, read in zip(groups, found.groups, strict=True):
        assert one.times == read.times
        pairs.append((one.epsilon, read.epsilon))
    for exact, read_amount in pairs:
        assert exact <= read_amount <= exact * (1 + Fraction(1, 2**52))


def test_what_is_printed() -> None:
    shown = str(COMPOSED).split("spends:\n")[1]
    assert [" ".join(line.split()) for line in shown.split("    - ")[1:]] == [
        "number of records: geometric, epsilon 0.03125",
        "interval of age: exponential, range 0.015625",
        "round: exponential, range 0.0625, 3 times",
        "the 41 ranges together: epsilon 0.96875 and delta 9.53675e-07 "
        "(adaptive composition of bounded-range draws)",
    ]


WRONG: list[tuple[tuple[Any, ...], Any]] = [
    (("composition",), None),
    (("composition",), []),
    (("composition",), {}),
    (("composition", "epsilon"), 0),
    (("composition", "epsilon"), -1.0),
    (("composition", "epsilon"), "infinity"),
    (("composition", "epsilon"), 1e300),
    (("composition", "epsilon"), math.nan),
    (("composition", "epsilon"), True),
    (("composition", "epsilon"), 10**400),
    (("composition", "delta"), -1e-9),
    (("composition", "delta"), 1),
    (("composition", "delta"), None),
    (("composition", "groups"), []),
    (("composition", "groups"), {}),
    (("composition", "groups"), [[0.1, 1]] * 101),
    (("composition", "groups"), [[0.1, 10_001]]),
    (("composition", "groups"), [[0.1, 10**400]]),
    (("composition", "groups"), [[0.1, 9_000], [0.2, 9_000]]),
    (("composition", "groups", 0), [0.1]),
    (("composition", "groups", 0), [0.1, 1, 1]),
    (("composition", "groups", 0), "ab"),
    (("composition", "groups", 0), {"0.1": 1}),
    (("composition", "groups", 0, 0), 0.0),
    (("composition", "groups", 0, 0), -0.1),
    (("composition", "groups", 0, 0), "0.1"),
    (("composition", "groups", 0, 0), 5e-324),
    (("composition", "groups", 0, 0), 1e300),
    (("composition", "groups", 0, 0), math.inf),
    (("composition", "groups", 0, 1), 0),
    (("composition", "groups", 0, 1), -1),
    (("composition", "groups", 0, 1), 1.0),
    (("composition", "groups", 0, 1), True),
    (("composition", "more"), 1),
    (("spends", 1, "is_range"), 1),
    (("spends", 1, "is_range"), None),
    (("spends", 1, "is_range"), "yes"),
]


@pytest.mark.parametrize(("place", "value"), WRONG, ids=str)
def test_what_is_wrong_is_refused(place: tuple[Any, ...], value: Any) -> None:
    written = COMPOSED.to_dict()
    parent: Any = written
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    before = copy.deepcopy(written)
    with pytest.raises(ModelFormatError, match="privacy"):
        PrivacyStatement.from_dict(written)
    assert repr(written) == repr(before)


@pytest.mark.parametrize("key", ["epsilon", "delta", "groups"])
def test_a_missing_key_is_refused(key: str) -> None:
    written = COMPOSED.to_dict()
    del written["composition"][key]
    with pytest.raises(ModelFormatError, match="the composition in privacy"):
        PrivacyStatement.from_dict(written)
