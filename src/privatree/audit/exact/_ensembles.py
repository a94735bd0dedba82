"""The exact privacy of the ensemble learner on tiny universes of records.

The learner's own code is run for every possible outcome of its draws
(:mod:`privatree.audit.exact._enumeration`). An *outcome* is everything that was drawn, and
everything that was released: the ensemble and the spends. Two datasets have the same outcomes,
unless records decided something that only released values may decide. Then the loss is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.audit.exact._enumeration import (
    Script,
    ScriptedLedger,
    ScriptedRecords,
    run_every_execution,
)
from privatree.audit.exact._universe import Table, Universe
from privatree.counting.sums import CodeFunction, CodeStep
from privatree.errors import TooFewRecordsError
from privatree.learners.boosting import Boosting, BoostPlan, boost
from privatree.privacy import Ledger, Randomness, Spend


class EnsembleCase(NamedTuple):
    """A learner of ensembles on a universe.

    Parameters
    ----------
    universe : Universe
        All possible records.
    plan : BoostPlan
        Parameters of the learner.
    directions : tuple of int, optional
        Direction of each feature: 1, -1 or 0; by default 0 for all.
    counts : tuple of int
        Possible noisy counts, increasing; see :class:`ScriptedLedger`.
    given : tuple of pairs
        Functions of the first rounds, which count as released, each with the signs of the classes.
        Then the plan must have a declared number of records, and its rounds come after these.
    n_drawn : int, optional
        Number of rounds that are drawn; by default all that are left of the plan.
    make : callable, optional
        Makes the learner; by default that of classes. For a numeric target, it is always run as a
        whole.
    """

    universe: Universe
    plan: BoostPlan
    directions: tuple[int, ...] | None = None
    counts: tuple[int, ...] = (0,)
    given: tuple[tuple[CodeFunction, tuple[int, ...]], ...] = ()
    n_drawn: int | None = None
    make: Callable[..., Boosting] = Boosting


class EnsembleOutcome(NamedTuple):
    """Everything that was drawn and released in one execution."""

    transcript: tuple[Hashable, ...]
    """Choices of all draws, as positions among the possible ones."""
    drawn: tuple[Hashable, ...]
    """Functions over codes, the given ones first (:func:`hashable_function`). Empty if the whole
    learner was run."""
    released: tuple[Hashable, ...]
    """The ensemble: step, start, functions, intervals and directions; or the noisy number of too
    few records. If only some rounds were run: the plan of the rounds, and the cuts of all
    features."""
    spends: tuple[Spend, ...]


class EnsembleLaw(NamedTuple):
    """The law of what the learner draws from one dataset."""

    log_probabilities: dict[EnsembleOutcome, float]
    """Logarithm of the probability of each outcome."""
    recorded: Fraction
    """Largest epsilon that the ledger charged, over all outcomes."""

    @property
    def total(self) -> float:
        """Sum of all probabilities. It is 1 if `counts` stand for all noisy counts."""
        return math.fsum(math.exp(log) for log in self.log_probabilities.values())


class EnsembleLoss(NamedTuple):
    """The largest privacy loss over neighbouring datasets.

    Attributes
    ----------
    loss : float
        Largest absolute log ratio of the probabilities of an outcome.
    range : float
        Largest difference between the log ratios of two outcomes.
    recorded : Fraction
        Largest epsilon that the ledger charged.
    tables : tuple of two datasets, or None
        The two datasets with the largest loss.
    decided_by_records : bool
        Whether the outcomes of two datasets differ, so that the loss is infinite.
    """

    loss: float
    range: float
    recorded: Fraction
    tables: tuple[Table, Table] | None
    decided_by_records: bool


def exact_ensemble_law(case: EnsembleCase, table: Table) -> EnsembleLaw:
    """Return the law of what the learner draws from a dataset."""
    found: dict[EnsembleOutcome, float] = {}
    recorded = Fraction(0)
    for script, (outcome, spent) in run_every_execution(lambda script: _run(script, case, table)):
        found[outcome] = script.log_probability
        recorded = max(recorded, spent)
    return EnsembleLaw(found, recorded)


def exact_ensemble_loss(
    case: EnsembleCase,
    tables: Iterable[Table],
    *,
    units: Iterable[Table] | None = None,
    neighbours: Literal["add-remove", "replace"] = "add-remove",
) -> EnsembleLoss:
    """Return the largest privacy loss of the learner over neighbouring datasets.

    Parameters
    ----------
    case : EnsembleCase
        The learner.
    tables : iterable of Table
        Each of these datasets is compared with all datasets that have one more unit. With
        ``neighbours="replace"``, these larger datasets are compared with each other instead.
    units : iterable of Table, optional
        Units that are added; by default every unit of one record.
    neighbours : {"add-remove", "replace"}
        Neighbour relation.
    """
    universe = case.universe
    added = [universe.unit(kind) for kind in universe.kinds] if units is None else list(units)
    found = EnsembleLoss(0.0, 0.0, Fraction(0), None, False)
    for table in tables:
        larger = [tuple(map(sum, zip(table, unit, strict=True))) for unit in added]
        laws = {one: exact_ensemble_law(case, one) for one in {table, *larger}}
        pairs = [(table, other) for other in larger]
        if neighbours == "replace":
            pairs = [(a, b) for i, a in enumerate(larger) for b in larger[:i]]
        for pair in pairs:
            found = _worse_loss(found, pair, *(laws[one] for one in pair))
    return found


def _worse_loss(
    found: EnsembleLoss, pair: tuple[Table, Table], one: EnsembleLaw, other: EnsembleLaw
) -> EnsembleLoss:
    recorded = max(found.recorded, one.recorded, other.recorded)
    if one.log_probabilities.keys() != other.log_probabilities.keys():
        tables = found.tables if found.decided_by_records else pair
        return EnsembleLoss(math.inf, math.inf, recorded, tables, True)
    ratios = log_ratios(one, other)
    loss = max(float(np.abs(ratios).max()), 0.0)
    return EnsembleLoss(
        max(found.loss, loss),
        max(found.range, float(np.ptp(ratios))),
        recorded,
        pair if found.tables is None or loss > found.loss else found.tables,
        found.decided_by_records,
    )


def log_ratios(one: EnsembleLaw, other: EnsembleLaw) -> NDArray[np.float64]:
    """Return the log ratio of the two probabilities of each outcome, which both laws have."""
    logs = other.log_probabilities
    return np.array([log - logs[key] for key, log in one.log_probabilities.items()])


def exact_delta(one: EnsembleLaw, other: EnsembleLaw, epsilon: float) -> float:
    """Return the smallest delta for which two datasets are (epsilon, delta)-indistinguishable."""
    return max(
        _delta_one_way(*laws, epsilon)
        for laws in (
            (one.log_probabilities, other.log_probabilities),
            (other.log_probabilities, one.log_probabilities),
        )
    )


def _delta_one_way(
    one: Mapping[EnsembleOutcome, float], other: Mapping[EnsembleOutcome, float], epsilon: float
) -> float:
    excess = (
        math.exp(log) - math.exp(epsilon + other.get(outcome, -math.inf))
        for outcome, log in one.items()
    )
    return math.fsum(more for more in excess if more > 0.0)


# --- one execution --------------------------------------------------------------------------------


def _run(script: Script, case: EnsembleCase, table: Table) -> tuple[EnsembleOutcome, Fraction]:
    """Run the learner once; return what it drew and released, and the epsilon that was charged."""
    universe, plan = case.universe, case.plan
    records = ScriptedRecords(universe.records(table), script)
    account = Ledger(plan.epsilon, Randomness(0), delta=plan.delta)  # never drawn from
    ledger = ScriptedLedger(account, script, case.counts, records)
    directions = case.directions or (0,) * len(universe.schema.features)
    arguments = records, universe.cells, plan, universe.schema, ledger, directions
    released: tuple[Hashable, ...]
    drawn: tuple[Hashable, ...] = ()
    try:
        if case.given or case.n_drawn is not None:
            released, drawn = _run_rounds(case, _NotedBoosting(*arguments, None))
        else:
            ensemble = boost(*arguments, make=case.make)
            extras = (ensemble.intervals, ensemble.directions)
            released = (
                ensemble.step,
                ensemble.start,
                ensemble.rounds,
                *(tuple(extra.items()) for extra in extras),
            )
    except TooFewRecordsError as error:
        released = ("stopped", error.noisy_records)
    spends = tuple(account.spends())
    outcome = EnsembleOutcome(tuple(script.transcript), drawn, released, spends)
    return outcome, account.total.epsilon


def _run_rounds(
    case: EnsembleCase, boosting: _NotedBoosting
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Run some rounds; return what is public besides the drawn functions, and these functions."""
    for function, code in case.given:
        boosting.add_function(function, code)
    n_left = boosting.rounds.n_rounds - len(case.given)
    for _ in range(n_left if case.n_drawn is None else case.n_drawn):
        boosting.run_round()
    cuts = tuple(None if cuts is None else cuts.tobytes() for cuts in boosting.candidates.cuts)
    return (boosting.rounds, cuts), tuple(boosting.drawn)


class _NotedBoosting(Boosting):
    """A learner that notes the functions over codes."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.drawn: list[Hashable] = []

    def add_function(self, drawn: CodeFunction, code: Sequence[int]) -> None:
        self.drawn.append(hashable_function(drawn))
        super().add_function(drawn, code)


def hashable_function(function: CodeFunction) -> Hashable:
    """Return a function over codes as nested tuples.

    A step function is (feature, signs), and a branch is (feature, which codes go left, left
    function, right function).
    """
    if isinstance(function, CodeStep):
        return function.feature, tuple(function.signs.tolist())
    feature, goes_left = function.split
    sides = hashable_function(function.left), hashable_function(function.right)
    return feature, tuple(goes_left.tolist()), *sides
