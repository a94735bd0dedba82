"""Pairs of datasets that differ by all records of one unit: a person with many records.

The schema names the unit, and the frames have its column. A learner that gives every record its
full weight loses as many epsilons as the person has records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.schema import Categorical, Schema

_UNIT = "person"
_SCHEMA = Schema({"f0": Categorical(["0", "1"]), "f1": Categorical(["0", "1"])}, [0, 1], unit=_UNIT)
_MANY = 20
_Row = tuple[int, int, int]
"""Codes of both features, and the class."""


def unit_pairs() -> dict[str, Neighbours]:
    """Return all pairs that differ by the records of one unit, by name."""
    pairs = (_one_person_neighbours(), _two_places_neighbours())
    return {pair.name: pair for pair in pairs}


def _one_person_neighbours() -> Neighbours:
    """Three persons have one record each. One more has many, of the other class, at one place."""
    others = [[(0, 0, 0)]] * 3
    return _unit_neighbours(
        "one-person", "each record of a person weighed as a whole", others, [(0, 0, 1)] * _MANY, 1
    )


def _two_places_neighbours() -> Neighbours:
    """The classes are on two sides of f0. One more person has the other class, on each side.

    A learner that spends its budget once for all leaves, as if a person were in one of them only,
    is seen here.
    """
    others = [[(side, place % 2, side)] for side in (0, 1) for place in range(5)]
    person = [(side, place % 2, 1 - side) for side in (0, 1) for place in range(_MANY)]
    return _unit_neighbours(
        "two-places", "leaves taken to have different persons", others, person, 2
    )


def _unit_neighbours(
    name: str, after: str, others: Sequence[list[_Row]], person: list[_Row], max_depth: int
) -> Neighbours:
    """Return datasets without and with a person. The others have one record or more each."""
    first, second = (_make_unit_records(persons) for persons in (others, [*others, person]))
    return Neighbours(name, after, _SCHEMA, first, second, max_depth=max_depth)


def _make_unit_records(persons: Sequence[list[_Row]]) -> Records:
    import pandas as pd

    rows = np.array([row for of_person in persons for row in of_person])
    columns: dict[str, Any] = {
        name: pd.Categorical.from_codes(rows[:, place], pd.Index(["0", "1"]))
        for place, name in enumerate(_SCHEMA.names)
    }
    columns[_UNIT] = np.repeat(np.arange(len(persons)), [len(one) for one in persons])
    return Records(pd.DataFrame(columns), rows[:, -1])
