"""Nets of exact enumeration: all that the learner's own code can do at tables of tiny universes.

- *loss*: the whole learner loses more than epsilon; the figure is the loss over epsilon.
- *stage*: a stage by itself loses more than its own epsilon; the figure is their quotient.
- *decision*: records decide what may follow from released values only: the loss is infinite.
- *ledger*: the account refuses, or what it recorded does not cover the loss; the figure is the
  quotient of what was spent, or lost, and what is allowed, or recorded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from reports import Report, worst

from privatree import Numeric, Schema
from privatree.audit import PrivacyLoss, Universe, exact_privacy_loss
from privatree.audit.exact._enumeration import (
    Script,
    ScriptedBuilder,
    ScriptedLedger,
    run_every_execution,
)
from privatree.audit.exact._universe import Table
from privatree.errors import BudgetExceededError
from privatree.learners.tree import ClassGrowth, RecordPlan, SplittingNode, grow_tree
from privatree.privacy import Ledger, Randomness

EPSILON = 8
_ENOUGH = 1 + 1e-9
PILE = 160


class Case(NamedTuple):
    """A learner, and tables at which it is looked at."""

    universe: Universe
    depth: int
    settings: Mapping[str, Any]
    tables: Sequence[Table]
    counts: Sequence[int] = (0, 1, 512)

    @property
    def plan(self) -> RecordPlan:
        """The learner's parameters."""
        settings = {"largest_count": self.counts[-1], **self.settings}
        return self.universe.plan(EPSILON, self.depth, **settings)


def _case(sizes: tuple[int | str, ...], records: Any, depth: int, **settings: Any) -> Case:
    universe = Universe.of(*sizes)
    counts = settings.pop("counts", (0, 1, 512))
    return Case(universe, depth, settings, [universe.table(records)], counts)


_TWO_PILES = {((2, 0), 1): PILE, ((1, 0), 0): PILE}
_FEW = {((2, 0), 1): 40, ((1, 0), 0): 40}
"""Few enough for one record to change a share of the classes in its last digit."""

ZOOMED = Universe(Schema({"x": Numeric(0, 40, integer=True)}, [0, 1]), 16, zoom_levels=2)

CASES = {
    "one by one": _case((3, 2), _TWO_PILES, 3, lookahead=1, dataset_size=512, counts=(0, 512)),
    "one split": _case((3, 2), _FEW, 2, lookahead=1, dataset_size=512, counts=(0, 512)),
    "noisy size": _case((3, 2), _TWO_PILES, 2, lookahead=1),
    "two levels together": _case((3, 2), _TWO_PILES, 2, lookahead=2, dataset_size=512),
    "three levels together": _case((3, 2), _TWO_PILES, 3, lookahead=3, dataset_size=512),
    "one feature": _case(
        (4,),
        {((1,), 0): 10, ((2,), 1): 10, ((3,), 0): 10},
        2,
        lookahead=2,
        dataset_size=8,  # a size at which stopping is not nearly certain by its base measure
        counts=(0, 512),
    ),
    "leaf counts": _case(
        ("3",),
        {((0,), 0): PILE},
        1,
        dataset_size=512,
        probability_share=Fraction(1, 4),
        counts=(0, 512),
    ),
    "one class": _case(
        ("3", 2), {((0, 0), 0): PILE}, 2, lookahead=1, dataset_size=512, counts=(0, 512)
    ),
    "zoom": Case(
        ZOOMED,
        1,
        {"dataset_size": 512},
        [ZOOMED.table({((2,), 0): PILE, ((len(ZOOMED.kinds) // 4,), 1): PILE})],
        (0, 512),
    ),
    "categories": Case(
        Universe.of("3"), 2, {"robust_levels": 2}, list(Universe.of("3").tables(1)), (0, 1)
    ),
    "early stop": Case(
        Universe.of(2),
        1,
        {"min_records": 1},
        [*Universe.of(2).tables(1), Universe.of(2).table({((0,), 0): PILE})],
    ),
    "last level": Case(
        Universe.of(2, 2), 1, {"dataset_size": 1}, list(Universe.of(2, 2).tables(1)), (0, 1)
    ),
}
"""Each has at least one stage that is sharp without a mutant: no slack for one to hide in."""


def enumerated(case: str) -> PrivacyLoss:
    """What enumeration finds."""
    found = CASES[case]
    return exact_privacy_loss(found.universe, found.plan, found.tables, counts=found.counts)


def loss(*cases: str) -> Report:
    """The whole learner."""
    return worst([_loss(case, enumerated(case)) for case in cases or CASES])


def _loss(case: str, found: PrivacyLoss) -> Report:
    share = found.loss / EPSILON if found.loss < math.inf else 0.0  # that is another net's
    return Report("loss", share > _ENOUGH, share, case, "the whole learner", found.tables)


def stage(*cases: str) -> Report:
    """Each stage by itself, and one split of which nothing is seen but the split."""
    by_itself = [_split_by_itself(case) for case in cases or SPLITS if case in SPLITS]
    others = [_stage(case, enumerated(case)) for case in cases or CASES if case in CASES]
    return worst(by_itself + others)


def _stage(case: str, found: PrivacyLoss) -> Report:
    finite = {key: share for key, share in found.stages.items() if share < math.inf}
    key = max(finite, key=lambda key: finite[key], default=("no stage", 0))
    share = finite.get(key, 0.0)
    return Report("stage", share > _ENOUGH, share, case, f"{key[0]}, depth {key[1]}")


def decision(*cases: str) -> Report:
    """Something decided by records."""
    return worst([_decision(case, enumerated(case)) for case in cases or CASES])


def _decision(case: str, found: PrivacyLoss) -> Report:
    if found.decision is None:
        return Report("decision", False, 0.0, case, "none")
    step, what, tables = found.decision
    return Report("decision", True, math.inf, case, f"{step}: {what}", tables)


def ledger(*cases: str) -> Report:
    """The account."""
    return worst([_ledger(case, enumerated(case)) for case in cases or CASES])


def _ledger(case: str, found: PrivacyLoss) -> Report:
    if _is_refused(CASES[case]):
        return Report("ledger", True, float(found.recorded / EPSILON), case, "the account refuses")
    share = found.loss / float(found.recorded) if 0 < found.loss < math.inf else 0.0
    reason = "the account does not cover the loss"
    return Report("ledger", share > _ENOUGH, share, case, reason, found.tables)


def all_of(case: str) -> list[Report]:
    """What all four say of a case, which is enumerated once."""
    found = enumerated(case)
    return [net(case, found) for net in (_loss, _stage, _decision, _ledger)]


def _is_refused(case: Case) -> bool:
    records = case.universe.records(case.tables[-1])
    account = Ledger(case.plan.epsilon, Randomness(0))
    try:
        grow_tree(records, case.universe.cells, case.plan, case.universe.schema, account)
    except BudgetExceededError:
        return True
    return False


# --- one split by itself --------------------------------------------------------------------------
#
# In the nets above whatever the score is centred on counts as known. Here nothing is known but
# noisy counts and the split: what a mutant really costs.

SPLITS = {
    "a split": _case((3, 2), _FEW, 2, lookahead=1, dataset_size=512, counts=(0, 40, 512)),
}


def _split_by_itself(name: str) -> Report:
    case = SPLITS[name]
    found = Report("stage", False, 0.0, name, "split, by itself")
    for table in case.tables:
        here = _split_law(case, table)
        for kind in range(len(table)):
            other = tuple(count + (place == kind) for place, count in enumerate(table))
            share = _largest_ratio(here, _split_law(case, other)) / _split_epsilon(case)
            if share > found.figure:
                caught = share > _ENOUGH
                found = found._replace(caught=caught, figure=share, tables=(table, other))
    return found


_Law = dict[Any, dict[Any, float]]


def _split_law(case: Case, table: Table) -> _Law:
    """For all noisy counts the logarithms of the law of the split of the root."""
    found: _Law = {}

    def run(script: Script) -> tuple[Any, Any] | None:
        records = case.universe.records(table)
        builder = ScriptedBuilder(case.universe.schema, script)
        growth = ClassGrowth(records, case.universe.cells, case.plan, builder)
        account = Ledger(case.plan.epsilon, Randomness(0))
        scripted = ScriptedLedger(account, script, case.counts, records)
        node = growth.decide_stage(growth.begin(scripted, growth.release_size(scripted)))
        noisy = tuple(script.transcript)
        if not isinstance(node, SplittingNode):
            return None
        growth.next_level([node])
        return noisy, builder.built.get(0)

    for script, outcome in run_every_execution(run):
        if outcome is not None:
            noisy, split = outcome
            law = found.setdefault(noisy, {})
            log = script.log_probability
            law[split] = float(np.logaddexp(law.get(split, -math.inf), log))
    return {noisy: _conditional(law) for noisy, law in found.items()}


def _conditional(law: dict[Any, float]) -> dict[Any, float]:
    whole = np.logaddexp.reduce(list(law.values()))
    return {split: log - whole for split, log in law.items()}


def _largest_ratio(one: _Law, other: _Law) -> float:
    return max(_ratios(one, other), default=0.0)


def _ratios(one: _Law, other: _Law) -> Iterable[float]:
    for noisy in one.keys() & other.keys():
        for split in one[noisy].keys() | other[noisy].keys():
            yield abs(one[noisy].get(split, math.inf) - other[noisy].get(split, -math.inf))


def _split_epsilon(case: Case) -> float:
    at = case.plan.root(case.plan.dataset_size or 1)
    counted = case.plan.after_counting(at, [case.counts[-1]] * 2)
    return float(case.plan.stage(counted).epsilon)
