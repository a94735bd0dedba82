"""Nets of regression trees.

- *regression loss*: exact enumeration at tables of tiny universes. The figure is the loss of the
  worst stage over its own epsilon, and infinite if records decide what may follow.
- *target codes*: all that the learner can draw from two raw tables, whose targets it codes itself.
  The figure is the loss over epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from reports import Report, worst

from privatree.audit import Universe, exact_privacy_loss
from privatree.audit.exact._enumeration import (
    Script,
    ScriptedBuilder,
    ScriptedLedger,
    run_every_execution,
)
from privatree.audit.exact._universe import Table
from privatree.counting import BinnedRecords
from privatree.learners.regression import RegressionGrowth
from privatree.privacy import Ledger, Randomness
from privatree.schema import TARGET_CODES, Target

EPSILON = 8
_ENOUGH = 1 + 1e-9
_LARGEST = 2**20
_TARGETS = (0, TARGET_CODES // 2, TARGET_CODES - 1)
_UNIVERSE = Universe.of(2, targets=_TARGETS)
_ONE_CODE = Universe.of("1", targets=_TARGETS)
_WHOLE = (Fraction(0), Fraction(1))
_ROBUST = {"robust_levels": 2, "interval": _WHOLE, "leaf_means": False}


class RegressionCase(NamedTuple):
    """A learner, and a table at which it is looked at."""

    universe: Universe
    depth: int
    settings: Mapping[str, Any]
    table: Table
    counts: Sequence[int] = (0, _LARGEST)


REGRESSIONS = {
    "an interval": RegressionCase(
        _ONE_CODE,
        1,
        {"dataset_size": 25, "leaf_means": False},
        _ONE_CODE.table({((0,), 0): 1, ((0,), 1): 1}),
    ),
    "level sums": RegressionCase(_UNIVERSE, 2, _ROBUST, _UNIVERSE.table({}), (0, 1, 40, _LARGEST)),
    "a last level": RegressionCase(
        _UNIVERSE,
        1,
        {"dataset_size": 17, "interval": _WHOLE, "leaf_means": False},
        _UNIVERSE.table({}),
    ),
    "a leaf": RegressionCase(
        _UNIVERSE,
        1,
        {"dataset_size": 1, "interval": (Fraction(0), Fraction(3, 4))},
        _UNIVERSE.table({((0,), 2): 3}),
    ),
}


def regression_loss(*cases: str) -> Report:
    """Every stage by itself, and what records decide."""
    return worst([_regression_loss(case) for case in cases or REGRESSIONS])


def _regression_loss(name: str) -> Report:
    universe, depth, settings, table, counts = REGRESSIONS[name]
    plan = universe.regression_plan(EPSILON, depth, largest_count=_LARGEST, **settings)
    found = exact_privacy_loss(universe, plan, [table], counts=counts)
    if found.decision is not None:
        step, what, tables = found.decision
        return Report("regression loss", True, math.inf, name, f"{step}: {what}", tables)
    key = max(found.stages, key=lambda key: found.stages[key])
    share = max(found.stages[key], found.loss / EPSILON)
    reason = f"{key[0]}, depth {key[1]}"
    return Report("regression loss", share > _ENOUGH, share, name, reason, found.tables)


# --- raw targets ----------------------------------------------------------------------------------

RAW = {"targets that are added at the end": ([0.2, *[0.4] * 5], 1.0)}


def target_codes(*cases: str) -> Report:
    """The whole learner, from raw targets."""
    return worst([_target_codes(case) for case in cases or RAW])


def _target_codes(name: str) -> Report:
    targets, added = RAW[name]
    here, there = _law_of_targets(targets), _law_of_targets([*targets, added])
    share = max(abs(here[drawn] - there[drawn]) for drawn in here.keys() & there.keys()) / EPSILON
    reason = "the whole learner"
    return Report("target codes", share > _ENOUGH, share, name, reason, (tuple(targets), added))


def _law_of_targets(targets: list[float]) -> dict[tuple[Any, ...], float]:
    """The logarithm of the probability of everything that can be drawn."""
    target = Target(0, 1)
    codes = target.code_of(targets).astype(np.uint16)
    plan = _UNIVERSE.regression_plan(EPSILON, 1, dataset_size=6, largest_count=_LARGEST)

    def run(script: Script) -> None:
        features = np.zeros((len(codes), 1), dtype=np.uint8)
        records = BinnedRecords(features, _UNIVERSE.candidates.n_codes, codes, TARGET_CODES)
        builder = ScriptedBuilder(_UNIVERSE.schema, script)
        growth = RegressionGrowth(records, _UNIVERSE.cells, plan, builder, target)
        account = Ledger(plan.epsilon, Randomness(0))
        scripted = ScriptedLedger(account, script, (0, 3, _LARGEST), records)
        growth.grow(scripted, lambda noisy_size: None)
        growth.release_leaves()

    return {
        tuple(script.transcript): script.log_probability for script, _ in run_every_execution(run)
    }
