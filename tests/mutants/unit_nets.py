"""Nets of units: neighbours that differ by all records of one person, say.

- *unit loss*: exact enumeration, where one unit with several records is added; the code itself
  weighs the records. The figure is the loss over epsilon, and infinite if records decide.
- *weights*: raw tables that differ by one unit. A unit may weigh as much as one record, and no unit
  changes what others weigh. The figure is the weight of the heaviest unit over that of a record,
  and infinite if others' weights change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from reports import Report, worst

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.audit import Universe, exact_privacy_loss
from privatree.audit.exact._universe import Record, Table
from privatree.counting import UnitQuery, Weigher, _weights
from privatree.estimators import _privatree as estimators
from privatree.tables import Batch, open_labels

EPSILON = 8
FULL = 6
"""What a record weighs where all is enumerated: little, and units of one to three divide it."""
MANY = 2048
_ENOUGH = 1 + 1e-9
PILE = 160

# --- exact enumeration ----------------------------------------------------------------------------


class UnitCase(NamedTuple):
    """A learner, a table, and the records of a unit that is added to it."""

    universe: Universe
    table: Table
    unit: Sequence[Record]
    settings: Mapping[str, Any]
    depth: int = 2


_SPREAD = Universe.of(3, 2, full_weight=FULL)
_LINE = Universe.of(3, full_weight=FULL)
_ZOOMED = Universe(Schema({"x": Numeric(0, 1)}, [0, 1]), 16, zoom_levels=2, full_weight=FULL)
_LAST = len(_ZOOMED.kinds) // 2 - 1
_SPREAD_RECORDS = {((2, 0), 1): PILE, ((0, 0), 0): 480, ((1, 1), 0): 80, ((0, 1), 0): 80}
_ON_SPREAD = (
    _SPREAD,
    _SPREAD.table(_SPREAD_RECORDS),
    (((1, 1), 1), ((2, 0), 0), ((0, 1), 1)),
)
_ON_LINE = (
    _LINE,
    _LINE.table({((0,), 0): PILE, ((1,), 1): PILE, ((2,), 0): PILE}),
    (((0,), 1), ((1,), 0), ((2,), 1)),
)
_JOINT = {"lookahead": 2, "dataset_size": MANY}

UNIT_CASES: dict[str, UnitCase] = {
    "one by one": UnitCase(*_ON_SPREAD, {"robust_levels": 2}),
    "joint": UnitCase(*_ON_LINE, _JOINT),
    "four records": UnitCase(*_ON_LINE[:2], (*_ON_LINE[2], _ON_LINE[2][0]), _JOINT),
    "balanced": UnitCase(*_ON_LINE, {**_JOINT, "balances_classes": True}),
    "class factors": UnitCase(*_ON_LINE, {**_JOINT, "class_factors": (1024, 1024)}),
    "zoom": UnitCase(
        _ZOOMED,
        _ZOOMED.table({((2,), 0): PILE, ((_LAST // 2,), 1): PILE}),
        tuple(((_LAST - place,), 0) for place in range(3)),
        {"dataset_size": MANY},
        1,
    ),
}
"""All are sharp without a mutant, but for the four records: 4 does not divide 6."""


def unit_loss(*cases: str) -> Report:
    """The whole learner, and what it makes of the records of a unit."""
    return worst([_unit_loss(name) for name in cases or UNIT_CASES])


def _unit_loss(name: str) -> Report:
    case = UNIT_CASES[name]
    plan = case.universe.plan(EPSILON, case.depth, largest_count=MANY, **case.settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_weights, "FULL_WEIGHT", FULL)
        unit = _weighed(case.universe, case.unit)
        found = exact_privacy_loss(
            case.universe, plan, [case.table], units=[unit], counts=(0, MANY)
        )
    share = found.loss / EPSILON
    reason = "the unit's records lose more than epsilon"
    if found.decision is not None:
        reason = f"{found.decision.step}: {found.decision.what}"
    elif share <= _ENOUGH and max(found.stages.values()) > _ENOUGH:
        share, reason = max(found.stages.values()), "a stage loses more than its epsilon"
    return Report("unit loss", share > _ENOUGH, share, name, reason, found.tables)


def _weighed(universe: Universe, records: Sequence[Record]) -> Table:
    """Return what the records of one unit weigh, by kind, as the code weighs them."""
    labels = np.array([label for _, label in records])
    batch = Batch(
        len(records),
        [],
        open_labels(labels).columns[0],
        unit=open_labels(["somebody"] * len(records)).columns[0],
    )
    totals = UnitQuery(universe.schema, 1.0).new_partial()
    totals.add_batch(batch)
    table = [0] * len(universe.kinds)
    for record, weight in zip(records, Weigher(1.0, totals).weigh(batch, labels), strict=True):
        table[universe.kinds.index(record)] += int(weight)
    return tuple(table)


# --- raw tables -----------------------------------------------------------------------------------

_SCHEMA = Schema({"row": Numeric(0, 63, integer=True)}, [0, 1])
_Row = tuple[str | None, Any, float]
"""Id of the unit, label, sample weight."""

UNIT_ROWS: dict[str, list[_Row]] = {
    "units of 1 to 6 records": [
        (f"u{n_rows}", row % 2, 1.0) for n_rows in range(1, 7) for row in range(n_rows)
    ],
    "labels of several types": [
        ("a", 1, 1.0),
        ("a", 1.0, 1.0),
        ("a", 0.0, 1.0),
        ("b", 0, 1.0),
        ("c", 1, 1.0),
        ("c", 0.0, 1.0),
    ],
    "unknown labels and ids": [
        ("a", 1, 1.0),
        ("a", "unknown", 1.0),
        ("a", None, 1.0),
        ("b", 0, 1.0),
        (None, 0, 1.0),
        ("b", 1, 1.0),
        ("c", None, 1.0),
    ],
    "sample weights": [
        ("a", 1, 0.9),
        ("a", 1, 0.7),
        ("a", 0, 0.1),
        ("b", 0, 0.3),
        ("b", 1, 7.0),
        ("b", 1, math.nan),
        ("c", 1, -1.0),
    ],
}


def weights(*cases: str) -> Report:
    """What ``fit`` hands over to the learner."""
    return worst([_net_of_weights(case, UNIT_ROWS[case]) for case in cases or UNIT_ROWS])


def _net_of_weights(case: str, rows: list[_Row]) -> Report:
    everything = dict(enumerate(rows))
    here, full_weight = handed_over_weights(everything)
    figure, reason = 0.0, "no unit weighs more than a record"
    for unit in {unit for unit, _, _ in rows if unit is not None}:
        of_unit = {number for number, (its_unit, _, _) in everything.items() if its_unit == unit}
        without = {number: row for number, row in everything.items() if number not in of_unit}
        there, _ = handed_over_weights(without)
        if {number: here[number] for number in here if number not in of_unit} != there:
            return Report("weights", True, math.inf, case, "a unit changes what others weigh")
        share = sum(here.get(number, 0) for number in of_unit) / full_weight
        if share > figure:
            figure = share
            reason = "a unit weighs more than a record" if share > 1 else reason
    return Report("weights", figure > 1, figure, case, reason)


class _HandedOver(Exception):  # noqa: N818 (it is no error)
    """The learner has got its records."""


def handed_over_weights(rows: Mapping[int, _Row]) -> tuple[dict[int, int], int]:
    """Return the weight of each row that the learner gets, by number, and that of a record."""
    found: dict[int, int] = {}

    def grow(records: Any, *rest: Any) -> Any:
        kept = zip(records._codes[:, 0].tolist(), records._weights.tolist(), strict=True)
        found.update(kept)
        raise _HandedOver(records.full_weight)

    units, labels, sample_weights = map(list, zip(*rows.values(), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimators, "grow_tree", grow)
        learner = PrivaTreeClassifier(schema=_SCHEMA, random_state=0, dataset_size=10)
        X = np.array(list(rows))[:, np.newaxis]
        try:
            learner.fit(X, labels, sample_weight=sample_weights, units=units)
        except _HandedOver as got:
            return found, got.args[0]
    raise AssertionError("the learner got no records.")
