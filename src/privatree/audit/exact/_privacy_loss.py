"""The exact privacy loss of the record-level learner on tiny universes of records.

The learner takes one step at a time at one node: its own code, run in every way in which its draws
can come out (:mod:`enumeration`). That gives the exact law of the step. Siblings draw independently
from disjoint records, so the logarithm of the ratio of a whole *transcript* (everything drawn)
between two tables is a sum over the nodes at which the two differ: for neighbours, those on the
path of the record that was added. The largest ratio follows by recursion, without a list of trees.

Noisy counts count as released, so the transcript tells at least as much as the tree does. Whatever
decides (kind of stage, budget, region, score) must be the same in both tables once the transcript
is: if it is not, the loss is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from privatree.audit.exact._enumeration import (
    Script,
    ScriptedBuilder,
    ScriptedDraw,
    ScriptedLedger,
    executions,
)
from privatree.audit.exact._universe import Table, Universe
from privatree.counting import BinnedRecords
from privatree.learners.tree import (
    Growth,
    Node,
    OpenNode,
    RecordPlan,
    Region,
    SplittingNode,
    SubtreeNode,
)
from privatree.model import Tree
from privatree.privacy import Ledger, Randomness, Spend

TreeShape = tuple[Any, ...]
"""A released tree: of a leaf its label and probabilities, else feature, threshold or categories on
the left, and the two subtrees."""

_MAX_COUNTS = 10_000


class Decision(NamedTuple):
    """Something that records decided although the same values had been released."""

    step: str
    """Where: "number of records", "next stage", "split" or "subtree"."""
    what: str
    """Which outcomes are possible, or what follows an outcome."""
    tables: tuple[Table, Table]
    """The records of the node in the two tables."""


class PrivacyLoss(NamedTuple):
    """What an enumeration found."""

    loss: float
    """Largest absolute logarithm of the ratio of a transcript's probabilities."""
    recorded: Fraction
    """The most that the ledger recorded for the records in which tables differ."""
    stages: dict[tuple[str, int], float]
    """By purpose of the spend and depth of the node: the largest loss of that stage alone, as a
    share of its epsilon. (A subtree includes noisy counts of its leaves.)"""
    tables: tuple[Table, Table] | None
    """The two tables with the largest loss; None if no two were compared."""
    decision: Decision | None
    """Why the loss is infinite, if it is."""


def exact_privacy_loss(
    universe: Universe,
    plan: RecordPlan,
    tables: Iterable[Table],
    *,
    neighbours: Literal["add-remove", "replace"] = "add-remove",
    counts: Sequence[int] | None = None,
) -> PrivacyLoss:
    """The largest privacy loss of the learner over neighbouring tables.

    Parameters
    ----------
    universe : Universe
        The records there can be.
    plan : RecordPlan
        The learner's parameters. A small `largest_count` keeps the enumeration short.
    tables : iterable of Table
        Each is compared with all tables of one record more; or, to replace a record, all tables of
        one record more are compared with each other.
    neighbours : {"add-remove", "replace"}
        Between which tables.
    counts : sequence of int, optional
        The noisy counts to go through, increasing, from 0 to `plan.largest_count`; by default all.
        If some are left out, so are the transcripts that contain them. (Noisy counts above every
        exact one all have the same ratio, so it is enough to have one for each thing they decide.)

    Returns
    -------
    PrivacyLoss
        Of all transcripts together, and of each stage alone.
    """
    steps = _Steps(universe, plan, counts)
    comparison = _Comparison(steps)
    worst, recorded = 0.0, Fraction(0)
    worst_pair: tuple[Table, Table] | None = None
    for table in tables:
        larger = [_plus_one(table, kind) for kind in range(len(table))]
        pairs = [(table, other) for other in larger]
        if neighbours == "replace":
            pairs = [(a, b) for i, a in enumerate(larger) for b in larger[:i]]
        for pair in pairs:
            found = comparison.between(*pair, None, None)
            loss = max(found.forward, found.backward)
            if worst_pair is None or loss > worst:
                worst, worst_pair = loss, pair
            recorded = max(recorded, found.recorded)
    return PrivacyLoss(worst, recorded, comparison.stages, worst_pair, comparison.decision)


def exact_law(universe: Universe, plan: RecordPlan, table: Table) -> dict[TreeShape, float]:
    """The probability of every tree that the learner can release.

    Parameters
    ----------
    universe : Universe
        The records there can be.
    plan : RecordPlan
        The learner's parameters, with a small `largest_count`.
    table : Table
        The records.
    """
    return _trees(_Steps(universe, plan, None), table, None, {})


def shape_of(tree: Tree, node: int = 0) -> TreeShape:
    """A released tree in the form in which :func:`exact_law` lists it."""
    feature = int(tree.feature[node])
    if feature < 0:
        row = None if tree.probability is None else tuple(tree.probability[node].tolist())
        return int(tree.label[node]), row
    where: Hashable = float(tree.threshold[node])
    if tree.mask_start[node] >= 0:
        where = tree.left_codes(node)
    left, right = tree.children(node)
    return feature, where, shape_of(tree, left), shape_of(tree, right)


# --- the law of one step --------------------------------------------------------------------------


class _Outcome(NamedTuple):
    log_probability: float
    children: tuple[Node, ...]
    tables: tuple[Table, ...]
    """Records of each child."""
    public: Hashable
    """What must be the same for all tables: states of the children, and spends."""
    spends: tuple[Spend, ...]
    recorded: Fraction
    """Spent on the path to the child with the largest amount."""
    built: dict[int, tuple[Hashable, ...]]


_Law = dict[tuple[Hashable, ...], _Outcome]


class _Steps:
    """The laws of all steps, each computed once. The step at "no node" is how a tree begins."""

    def __init__(self, universe: Universe, plan: RecordPlan, counts: Sequence[int] | None) -> None:
        self.universe, self._plan = universe, plan
        self._counts = range(plan.largest_count + 1) if counts is None else counts
        if (self._counts[0], self._counts[-1]) != (0, plan.largest_count):
            raise ValueError("counts must go from 0 to the plan's largest_count.")
        if len(self._counts) > _MAX_COUNTS:
            raise ValueError(
                f"at most {_MAX_COUNTS} noisy counts can be gone through, got "
                f"{len(self._counts)}. Choose a smaller largest_count."
            )
        self._laws: dict[tuple[Table, Hashable], _Law] = {}
        self._randomness = Randomness(0)  # never drawn from
        self._inside: dict[bytes, tuple[bool, ...]] = {}

    def law(self, table: Table, node: Node | None) -> _Law:
        """Outcomes by their transcript."""
        key = table, _state(node)
        if key not in self._laws:
            ways = executions(lambda script: self._run(script, table, node))
            self._laws[key] = {tuple(script.transcript): outcome for script, outcome in ways}
        return self._laws[key]

    def _run(self, script: Script, table: Table, node: Node | None) -> _Outcome:
        records = self.universe.records(table)
        builder = ScriptedBuilder(self.universe.schema, script)
        growth = Growth(records, self.universe.candidates, self._plan, builder)
        account = Ledger(self._plan.epsilon, self._randomness)
        ledger = ScriptedLedger(account, script, self._counts)
        children: Sequence[Node]
        if node is None:
            children = [growth.begin(ledger)]
        elif isinstance(node, OpenNode):
            children = [growth.ready(replace(node, number=0, ledger=ledger))]
        elif isinstance(node, SplittingNode | SubtreeNode):
            draw = ScriptedDraw(node.draw, script)
            children = growth.next_level([replace(node, number=0, ledger=ledger, draw=draw)])
        tables = tuple(self._part(table, child.region) for child in children)
        self._check(records, children, tables)
        spends = tuple(account.spends())
        return _Outcome(
            script.log_probability,
            tuple(children),
            tables,
            (tuple(_state(child) for child in children), spends),
            spends,
            account.total.epsilon,
            builder.built,
        )

    def _part(self, table: Table, region: Region) -> Table:
        key = region.inside.tobytes()
        if key not in self._inside:
            self._inside[key] = self.universe.inside(region)
        return tuple(count * inside for count, inside in zip(table, self._inside[key], strict=True))

    def _check(
        self, records: BinnedRecords, children: Sequence[Node], tables: Sequence[Table]
    ) -> None:
        """Records must be where the regions say."""
        exact_totals = records.class_totals()
        shape = len(tables), -1, len(self.universe.schema.classes)
        expected = np.array(tables, dtype=np.int64).reshape(shape).sum(axis=1) if tables else []
        given = [child.exact_totals for child in children if isinstance(child, OpenNode)]
        if any(not np.array_equal(of, expected) for of in (exact_totals, given) if len(of)):
            raise RuntimeError("the records of a node are not those of its region.")


def _state(node: Node | None) -> Hashable:
    """What is public about a node on its way."""
    match node:
        case OpenNode():
            return "open", _bytes(node.region), node.at
        case SplittingNode():
            return "split", _bytes(node.region), node.at, node.centre, node.mechanism
        case SubtreeNode():
            subtree = node.subtree
            return (
                "subtree",
                _bytes(node.region),
                _bytes(subtree.region),
                subtree.rate,
                _grids(subtree.grids),
            )
    return None


def _bytes(arrays: Iterable[Any]) -> tuple[bytes, ...]:
    return tuple(array.tobytes() for array in arrays)


def _grids(grids: Iterable[Iterable[Any]]) -> tuple[tuple[bytes, ...], ...]:
    return tuple(_bytes(grid) for grid in grids)


def _plus_one(table: Table, kind: int) -> Table:
    return (*table[:kind], table[kind] + 1, *table[kind + 1 :])


# --- two tables -----------------------------------------------------------------------------------


class _Between(NamedTuple):
    forward: float
    """Largest log ratio of the first table's probability to the second's."""
    backward: float
    recorded: Fraction
    step: float
    """Largest absolute log ratio of the next step alone."""


_SAME = _Between(0.0, 0.0, Fraction(0), 0.0)
_DECIDED_BY_RECORDS = _Between(math.inf, math.inf, Fraction(0), math.inf)
_STEPS = {
    type(None): "number of records",
    OpenNode: "next stage",
    SplittingNode: "split",
    SubtreeNode: "subtree",
}


class _Comparison:
    """Largest log ratios between two tables, from any node on."""

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps
        self._known: dict[tuple[Table, Table, Hashable], _Between] = {}
        self.stages: dict[tuple[str, int], float] = {}
        self.decision: Decision | None = None

    def between(self, a: Table, b: Table, at_a: Node | None, at_b: Node | None) -> _Between:
        """Of everything that is drawn from a node on; the two nodes have the same state."""
        if a == b:
            return _SAME
        key = a, b, _state(at_a)
        if key not in self._known:
            self._known[key] = self._between(a, b, at_a, at_b)
        return self._known[key]

    def _between(self, a: Table, b: Table, at_a: Node | None, at_b: Node | None) -> _Between:
        of_a, of_b = self._steps.law(a, at_a), self._steps.law(b, at_b)
        if of_a.keys() != of_b.keys():
            return self._decided(a, b, at_a, "which outcomes are possible")
        forward = backward = -math.inf
        recorded, step = Fraction(0), 0.0
        for transcript, x in of_a.items():
            y = of_b[transcript]
            if x.public != y.public:
                return self._decided(a, b, at_a, "what follows an outcome")
            gap = x.log_probability - y.log_probability
            below = list(map(self.between, x.tables, y.tables, x.children, y.children))
            forward = max(forward, gap + sum(child.forward for child in below))
            backward = max(backward, -gap + sum(child.backward for child in below))
            later = max((child.recorded for child in below), default=Fraction(0))
            recorded = max(recorded, x.recorded + later if x.spends else later)
            step = max(step, abs(gap))
            self._note(at_a, x, abs(gap), below)
        return _Between(forward, backward, recorded, step)

    def _decided(self, a: Table, b: Table, at: Node | None, what: str) -> _Between:
        self.decision = self.decision or Decision(_STEPS[type(at)], what, (a, b))
        return _DECIDED_BY_RECORDS

    def _note(
        self, at: Node | None, outcome: _Outcome, gap: float, below: Sequence[_Between]
    ) -> None:
        """The losses of stages by themselves: they are paid for where a node is open."""
        if at is None:
            for spend in outcome.spends:
                self._stage(spend, 0, gap, spend.epsilon)
        elif isinstance(at, OpenNode):
            for spend in outcome.spends[:-1]:
                self._stage(spend, at.at.depth, gap, spend.epsilon)
            spend, (drawn,) = outcome.spends[-1], below
            if isinstance(outcome.children[0], SubtreeNode):
                worst = max(drawn.forward, drawn.backward)
                self._stage(spend, at.at.depth, worst, spend.epsilon + drawn.recorded)
            else:
                self._stage(spend, at.at.depth, drawn.step, spend.epsilon)

    def _stage(self, spend: Spend, depth: int, loss: float, epsilon: Fraction) -> None:
        key = spend.purpose, depth
        self.stages[key] = max(self.stages.get(key, 0.0), loss / float(epsilon))


# --- whole trees ----------------------------------------------------------------------------------


def _trees(
    steps: _Steps,
    table: Table,
    node: Node | None,
    known: dict[tuple[Table, Hashable], dict[TreeShape, float]],
) -> dict[TreeShape, float]:
    """The law of the subtree below a node."""
    key = table, _state(node)
    if key in known:
        return known[key]
    found: dict[TreeShape, float] = {}
    for outcome in steps.law(table, node).values():
        laws = [
            _trees(steps, part, child, known).items()
            for part, child in zip(outcome.tables, outcome.children, strict=True)
        ]
        numbers = [child.number for child in outcome.children]
        for subtrees in product(*laws):
            shapes = {n: shape for n, (shape, _) in zip(numbers, subtrees, strict=True)}
            shape = _assembled(0, outcome.built, shapes)
            probability = math.exp(outcome.log_probability) * math.prod(p for _, p in subtrees)
            found[shape] = found.get(shape, 0.0) + probability
    known[key] = found
    return found


def _assembled(
    number: int, built: Mapping[int, tuple[Any, ...]], shapes: Mapping[int, TreeShape]
) -> TreeShape:
    if number in shapes:
        return shapes[number]
    what = built[number]
    if len(what) == 2:
        return what
    feature, where, left, right = what
    return feature, where, _assembled(left, built, shapes), _assembled(right, built, shapes)
