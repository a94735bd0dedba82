"""Nets of ensembles: exact enumeration of all that the learner's own code can do.

- *round*: one round varies by more than its range; the figure is the quotient.
- *ensemble loss*: the whole learner loses more than epsilon; the figure is the loss over epsilon,
  and infinite if records decide what may follow from released values only.
- *ensemble delta*: rounds that are charged for together need a larger delta than was charged; the
  figure is the quotient.
- *ensemble ledger*: the account refuses, or does not cover the loss; the figure is the loss over
  what was recorded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from reports import Report, worst

from privatree import Numeric, Schema
from privatree.audit import Universe
from privatree.audit.exact._ensembles import (
    EnsembleCase,
    EnsembleLoss,
    exact_delta,
    exact_ensemble_law,
    exact_ensemble_loss,
)
from privatree.audit.exact._universe import Record, Table
from privatree.counting.sums import CodeStep
from privatree.errors import BudgetExceededError
from privatree.learners.boosting import BoostPlan, NumberBoosting, boost
from privatree.privacy import Ledger, Randomness

EPSILON = 8
FULL = 6
_ENOUGH = 1 + 1e-9


class EnsembleNet(NamedTuple):
    """A learner, a table, and units that are added to it."""

    case: EnsembleCase
    table: Table
    units: Sequence[Table]

    @property
    def found(self) -> EnsembleLoss:
        """What enumeration finds."""
        return exact_ensemble_loss(self.case, [self.table], units=self.units)


def _net(
    universe: Universe,
    records: dict[Record, int],
    *units: Sequence[Record],
    past: Sequence[int] = (),
    **settings: Any,
) -> EnsembleNet:
    """Return a case; `past` are the signs of a function of the first feature, which is given."""
    of_case = ("counts", "n_drawn", "make")
    case_settings = {name: settings.pop(name) for name in of_case if name in settings}
    plan = universe.boost_plan(settings.pop("epsilon", EPSILON), **settings)
    given = ((CodeStep(0, np.array(past, np.int8)), (-1, 1)),) if past else ()
    case = EnsembleCase(universe, plan, given=given, **case_settings)
    return EnsembleNet(case, universe.table(records), [universe.unit(*unit) for unit in units])


class _OneCount(NumberBoosting):
    """A learner for numbers whose tables of residuals have one entry, so that it is quick."""

    _ends = np.array([2**24])


_TWO, _THREE = Universe.of("2"), Universe.of(3)
_NUMBERS = Universe.of("2", targets=(0, 40_000, 65_535))
_HEAVY = Universe.of("3", full_weight=FULL)
_CLASSES = Universe.of("2", n_classes=3)
_ZOOMED = Universe(Schema({"x": Numeric(0, 1)}, [0, 1]), 16, zoom_levels=2)
_LAST = len(_ZOOMED.kinds) // 2 - 1
_WRONG = ((0,), 0)
"""A record that the function that is given calls class 1."""
_ONE = {"epsilon": 12, "dataset_size": 1, "n_rounds": 3, "n_drawn": 1}

ROUNDS: dict[str, EnsembleNet] = {
    "a step": _net(
        _TWO, {_WRONG: 3, ((1,), 1): 1}, [_WRONG], [((1,), 1)], past=(1, 1), max_depth=1, **_ONE
    ),
    "one record": _net(_TWO, {((1,), 0): 1}, [_WRONG], past=(1, 1), max_depth=1, **_ONE),
    "a root": _net(
        _THREE, {_WRONG: 1, ((2,), 1): 1}, [((1,), 0)], past=(1, 1, 1), max_depth=2, **_ONE
    ),
    "a unit": _net(
        _HEAVY,
        {_WRONG: 1},
        [_WRONG, ((1,), 0), ((2,), 0)],
        past=(1, 1, 1),
        max_depth=1,
        **_ONE,
    ),
}
"""All are sharp without a mutant."""


def _size_before_other_plan(plan: BoostPlan) -> int:
    """Return a number of records at which one more changes the number of rounds."""
    return next(n for n in range(1, 500) if plan.rounds(n).n_rounds < plan.rounds(n + 1).n_rounds)


_NOISY = {"max_depth": 1, "epsilon": Fraction(EPSILON)}
_THRESHOLD = _size_before_other_plan(_TWO.boost_plan(Fraction(EPSILON), max_depth=1))

ENSEMBLES: dict[str, EnsembleNet] = {
    "two rounds": _net(_TWO, {_WRONG: 3}, [_WRONG], dataset_size=1, n_rounds=2, max_depth=1),
    "an even table": _net(
        _TWO, {_WRONG: 8, ((0,), 1): 8}, [_WRONG], dataset_size=1, n_rounds=2, max_depth=1
    ),
    "a number": _net(
        Universe.of(2), {_WRONG: 3}, [_WRONG], [((1,), 0)], dataset_size=1, n_rounds=2, max_depth=1
    ),
    "noisy size": _net(_TWO, {_WRONG: _THRESHOLD}, [_WRONG], counts=(0, 1), **_NOISY),
    "three classes": _net(
        _CLASSES, {((0,), 0): 1, ((0,), 1): 1}, [((0,), 1)], dataset_size=1, n_rounds=1, max_depth=1
    ),
    "a target": _net(
        _NUMBERS,
        {((0,), 1): 1},
        [((0,), 2)],
        counts=(0, 2**10),  # the first, of residuals, leaves the scale as it is
        make=partial(_OneCount, declared_interval=(Fraction(0), Fraction(1))),
        draws_target_interval=False,
        dataset_size=1,
        n_rounds=1,
        max_depth=1,
    ),
}
ACCOUNTS: dict[str, EnsembleNet] = {
    "two rounds": ENSEMBLES["two rounds"],
    "zoom": _net(
        _ZOOMED,
        {((2,), 0): 160, ((_LAST // 2,), 1): 160},
        [((_LAST,), 0)],
        epsilon=64,
        dataset_size=512,
        n_rounds=1,
        n_drawn=0,
        max_depth=1,
    ),
    "composed rounds": _net(
        _TWO,
        {_WRONG: 1},
        [_WRONG],
        epsilon=2,
        delta=Fraction(1, 20),
        dataset_size=1,
        n_rounds=2,
        max_depth=1,
    ),
}

COMPOSED: dict[str, tuple[EnsembleNet, Sequence[int]]] = {
    "two rounds": (
        _net(
            Universe.of("2", full_weight=FULL),
            {},
            [_WRONG],
            epsilon=2,
            delta=Fraction(1, 20),
            dataset_size=1,
            n_rounds=2,
            max_depth=1,
        ),
        (-3, 0, 1),
    ),
}
"""With what other records of the unit's cell weigh: of its class, or of the other if negative."""


def round_range(*cases: str) -> Report:
    """One round."""
    return worst([_round_range(case) for case in cases or ROUNDS])


def _round_range(name: str) -> Report:
    net = ROUNDS[name]
    found = net.found
    share = found.range / float(net.case.plan.rounds(1).round_epsilon)
    reason = "a round exceeds its range"
    if found.decided_by_records:
        reason = "records decide what is possible"
    return Report("round", share > _ENOUGH, share, name, reason, found.tables)


def ensemble_loss(*cases: str) -> Report:
    """The whole learner."""
    return worst([_ensemble_loss(case) for case in cases or ENSEMBLES])


def _ensemble_loss(name: str) -> Report:
    net = ENSEMBLES[name]
    found = net.found
    share = found.loss / float(net.case.plan.epsilon)
    reason = "the whole learner loses more than epsilon"
    if found.decided_by_records:
        reason = "records decide what is possible"
    return Report("ensemble loss", share > _ENOUGH, share, name, reason, found.tables)


def ensemble_delta(*cases: str) -> Report:
    """Rounds that are charged for together."""
    return worst([_ensemble_delta(case) for case in cases or COMPOSED])


def _ensemble_delta(name: str) -> Report:
    net, weights = COMPOSED[name]
    plan, universe = net.case.plan, net.case.universe
    needed = 0.0
    for weight in weights:
        table = [0] * len(universe.kinds)
        table[universe.kinds.index(((0,), int(weight < 0)))] = abs(weight)
        larger = tuple(map(sum, zip(table, net.units[0], strict=True)))
        laws = [exact_ensemble_law(net.case, one) for one in (tuple(table), larger)]
        needed = max(needed, exact_delta(*laws, float(plan.epsilon)))
    share = needed / float(plan.delta)
    return Report("ensemble delta", share > _ENOUGH, share, name, "delta is larger")


def ensemble_ledger(*cases: str) -> Report:
    """The account."""
    return worst([_ensemble_ledger(case) for case in cases or ACCOUNTS])


def _ensemble_ledger(name: str) -> Report:
    net = ACCOUNTS[name]
    if _is_refused(net):
        return Report("ensemble ledger", True, math.inf, name, "the account refuses")
    if net.case.plan.delta:
        return Report("ensemble ledger", False, 0.0, name, "the account takes it")
    found = net.found
    share = found.loss / float(found.recorded) if found.recorded else math.inf
    reason = "the account does not cover the loss"
    return Report("ensemble ledger", share > _ENOUGH, share, name, reason, found.tables)


def _is_refused(net: EnsembleNet) -> bool:
    universe, plan = net.case.universe, net.case.plan
    account = Ledger(plan.epsilon, Randomness(0), delta=plan.delta)
    directions = (0,) * len(universe.schema.features)
    records = universe.records(net.table)
    try:
        boost(records, universe.cells, plan, universe.schema, account, directions)
    except BudgetExceededError:
        return True
    return False
