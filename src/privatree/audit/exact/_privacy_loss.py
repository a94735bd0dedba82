"""The exact privacy loss of the record-level learner on tiny universes of records.

The learner works in steps, each at one node. The learner's own code is run for every possible
outcome of the draws in a step (:mod:`enumeration`), which gives the exact law of the step.

A *transcript* lists everything that was drawn. Its privacy loss is the log ratio of its
probabilities on the two datasets. Siblings draw independently from disjoint records, so this loss
is a sum over the nodes at which the datasets differ. For neighbours these are the nodes on the
paths of the added records. The largest loss follows by recursion, without a list of all trees.

The transcript contains all noisy counts, so it reveals at least as much as the tree. If two
datasets have the same transcript, then everything that a later step depends on (kind of stage,
budget, region, score) must be the same, too. Otherwise the loss is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.audit.exact._enumeration import (
    Script,
    ScriptedBuilder,
    ScriptedDraw,
    ScriptedLedger,
    ScriptedRecords,
    run_every_execution,
)
from privatree.audit.exact._universe import Table, Universe
from privatree.counting import LEAF, Candidates
from privatree.learners.regression import (
    LeafNode,
    RegressionGrowth,
    RegressionPlan,
    TargetLevels,
)
from privatree.learners.tree import (
    ClassGrowth,
    Growth,
    Node,
    OpenNode,
    RecordPlan,
    SplittingNode,
    SubtreeNode,
)
from privatree.model import Tree
from privatree.privacy import Ledger, Randomness, Spend

TreeShape = tuple[Any, ...]
"""A released tree as nested tuples: (label, probabilities, noisy counts) for a leaf, and
(feature, threshold or left categories, left subtree, right subtree) for a split. A leaf that
predicts a number is (number, noisy count, shares). A training that stops because there are too few
records releases only (noisy number of records,)."""

_MAX_COUNTS = 10_000


class Decision(NamedTuple):
    """A decision that depended on records although the released values were the same."""

    step: str
    """Kind of step: "number of records", "next stage", "split" or "subtree"."""
    what: str
    """What was decided: which outcomes are possible, or what follows an outcome."""
    tables: tuple[Table, Table]
    """Records of the node in the two datasets."""


class PrivacyLoss(NamedTuple):
    """Result of an exact enumeration.

    Attributes
    ----------
    loss : float
        Largest privacy loss: the absolute log ratio of the probabilities of a transcript.
    recorded : Fraction
        Largest epsilon that the ledger recorded for the records in which two datasets differ.
    stages : dict
        Largest loss of each stage alone, divided by the epsilon of the stage. The keys are the
        purpose of the spend and the depth of the node. (The loss of a subtree includes the noisy
        counts of its leaves.)
    tables : tuple of two datasets, or None
        The two datasets with the largest loss; None if no datasets were compared.
    decision : Decision or None
        Reason why the loss is infinite, if it is.

    Examples
    --------
    >>> universe = Universe.of(2)
    >>> plan = universe.plan(1, max_depth=1, largest_count=2)
    >>> exact_privacy_loss(universe, plan, universe.tables(1)).loss <= 1
    True
    """

    loss: float
    recorded: Fraction
    stages: dict[tuple[str, int], float]
    tables: tuple[Table, Table] | None
    decision: Decision | None


def exact_privacy_loss(
    universe: Universe,
    plan: RecordPlan,
    tables: Iterable[Table],
    *,
    units: Iterable[Table] | None = None,
    neighbours: Literal["add-remove", "replace"] = "add-remove",
    counts: Sequence[int] | None = None,
) -> PrivacyLoss:
    """Return the largest privacy loss of the learner over neighbouring datasets.

    Parameters
    ----------
    universe : Universe
        All possible records.
    plan : RecordPlan
        Parameters of the learner. A small `largest_count` keeps the enumeration short.
    tables : iterable of Table
        Each of these datasets is compared with all datasets that have one more unit. With
        ``neighbours="replace"``, these larger datasets are compared with each other instead.
    units : iterable of Table, optional
        Units that are added, each with all its records (:meth:`Universe.unit`); by default every
        unit of one record.
    neighbours : {"add-remove", "replace"}
        Neighbour relation.
    counts : sequence of int, optional
        Noisy counts to enumerate, increasing, from 0 to `plan.largest_count`; by default all.
        Transcripts with other counts are left out. (All noisy counts above every exact count
        have the same privacy loss, so one of them is enough for each decision that depends on it.)

    Examples
    --------
    >>> universe = Universe.of(2)
    >>> plan = universe.plan(1, max_depth=1, largest_count=2)
    >>> found = exact_privacy_loss(universe, plan, universe.tables(2))
    >>> found.loss <= 1, found.decision
    (True, None)

    A unit of two records, each of half the weight:

    >>> universe = Universe.of(2, full_weight=2)
    >>> two = [universe.unit(((0,), 1), ((1,), 0))]
    >>> exact_privacy_loss(universe, plan, universe.tables(2), units=two).loss <= 1
    True
    """
    comparison = _Comparison(_Steps(universe, plan, counts))
    worst, recorded = 0.0, Fraction(0)
    worst_pair: tuple[Table, Table] | None = None
    added = [universe.unit(kind) for kind in universe.kinds] if units is None else list(units)
    for table in tables:
        larger = [tuple(map(sum, zip(table, unit, strict=True))) for unit in added]
        pairs = [(table, other) for other in larger]
        if neighbours == "replace":
            pairs = [(a, b) for i, a in enumerate(larger) for b in larger[:i]]
        for pair in pairs:
            found = comparison.loss_between(*pair, _START, _START)
            loss = max(found.forward, found.backward)
            if worst_pair is None or loss > worst:
                worst, worst_pair = loss, pair
            recorded = max(recorded, found.recorded)
    return PrivacyLoss(worst, recorded, comparison.stages, worst_pair, comparison.decision)


def exact_law(universe: Universe, plan: RecordPlan, table: Table) -> dict[TreeShape, float]:
    """Return the probability of every tree that the learner can release.

    Parameters
    ----------
    universe : Universe
        All possible records.
    plan : RecordPlan
        Parameters of the learner, with a small `largest_count`.
    table : Table
        The dataset.

    Examples
    --------
    >>> universe = Universe.of(2)
    >>> law = exact_law(universe, universe.plan(1, max_depth=1, largest_count=2), (1, 0, 0, 1))
    >>> round(sum(law.values()), 9)
    1.0
    """
    return _law_of_subtrees(_Steps(universe, plan, None), table, _START, {})


def shape_of(tree: Tree, node: int = 0) -> TreeShape:
    """Return a released tree as nested tuples, like the keys that :func:`exact_law` returns.

    Examples
    --------
    >>> from privatree import Numeric, PrivaTreeClassifier, Schema
    >>> schema = Schema({"x": Numeric(0, 1)}, [0, 1])
    >>> model = PrivaTreeClassifier(
    ...     10.0, max_depth=1, schema=schema, probability_share=0, random_state=0
    ... )
    >>> shape_of(model.fit([[0.25], [0.75]] * 100, [0, 1] * 100).tree_)
    (0, 0.7421875, (0, (0.75, 0.25), None), (1, (0.25, 0.75), None))
    """
    feature = int(tree.feature[node])
    if feature < 0 and tree.value is not None:
        count = None if tree.noisy_counts is None else int(tree.noisy_counts[node, 0])
        shares = None if tree.shares is None else tuple(tree.shares[node].tolist())
        return float(tree.value[node]), count, shares
    if feature < 0:
        rows = tree.probability, tree.noisy_counts
        released = (None if row is None else tuple(row[node].tolist()) for row in rows)
        return int(tree.label[node]), *released
    where: Hashable = float(tree.threshold[node])
    if tree.mask_start[node] >= 0:
        where = tree.left_codes(node)
    left, right = tree.children(node)
    return feature, where, shape_of(tree, left), shape_of(tree, right)


# --- the law of one step --------------------------------------------------------------------------


class _At(NamedTuple):
    """A node that is being grown, and what its tree has; None before the first step."""

    node: Node | None
    candidates: Candidates | None
    full_weight: int | None
    """What a record weighs at most."""
    levels: TargetLevels | None = None
    """Levels of the target, if the tree predicts a number."""

    @property
    def public(self) -> Hashable:
        """What is public about the node."""
        state = _public_node_state(self.node)
        return state, self.public_candidates, self.full_weight, self.levels

    @property
    def public_candidates(self) -> Hashable:
        of_tree = self.candidates
        arrays = () if of_tree is None else (*of_tree.cuts, of_tree.base_measure, of_tree.n_codes)
        return _node_array_bytes(arrays)


_START = _At(None, None, None)


class _Outcome(NamedTuple):
    log_probability: float
    children: tuple[_At, ...]
    tables: tuple[Table, ...]
    """Records of each child."""
    public: Hashable
    """Public states of the children, and spends: these must be the same for both datasets."""
    spends: tuple[Spend, ...]
    recorded: Fraction
    """Largest epsilon that the step spent on the path to a child."""
    built: dict[int, tuple[Hashable, ...]]


_Law = dict[tuple[Hashable, ...], _Outcome]


class _Steps:
    """Computes and caches the law of every step. The first step of a tree has the node None."""

    def __init__(self, universe: Universe, plan: RecordPlan, counts: Sequence[int] | None) -> None:
        self.universe, self._plan = universe, plan
        self._counts = range(plan.largest_count + 1) if counts is None else counts
        if (self._counts[0], self._counts[-1]) != (0, plan.largest_count):
            raise ValueError("counts must begin with 0 and end with plan.largest_count.")
        if len(self._counts) > _MAX_COUNTS:
            raise ValueError(
                f"counts must have at most {_MAX_COUNTS} entries, got {len(self._counts)}. "
                "Choose a smaller largest_count."
            )
        self._laws: dict[tuple[Table, Hashable], _Law] = {}
        self._randomness = Randomness(0)  # never drawn from
        self._inside: dict[Hashable, tuple[bool, ...]] = {}
        self._places: dict[Hashable, Any] = {}

    def law_of_step(self, table: Table, at: _At) -> _Law:
        """Return the outcomes of a step, by their transcript."""
        key = table, at.public
        if key not in self._laws:
            ways = run_every_execution(lambda script: self._run_step(script, table, at))
            self._laws[key] = {tuple(script.transcript): outcome for script, outcome in ways}
        return self._laws[key]

    def _run_step(self, script: Script, table: Table, at: _At) -> _Outcome:
        node, candidates, full_weight, levels = at
        records = ScriptedRecords(self.universe.records(table, candidates, full_weight), script)
        builder = ScriptedBuilder(self.universe.schema, script)
        growth = self._make_growth(records, builder, candidates, levels)
        account = Ledger(self._plan.epsilon, self._randomness)
        ledger = ScriptedLedger(account, script, self._counts, records)
        children: Sequence[Node]
        if node is None:
            children = self._begin_tree(growth, ledger, builder)
        elif isinstance(node, OpenNode):
            children = [growth.decide_stage(replace(node, number=0, ledger=ledger))]
        elif isinstance(node, SplittingNode | SubtreeNode):
            draw = ScriptedDraw(node.draw, script)
            children = growth.next_level([replace(node, number=0, ledger=ledger, draw=draw)])
        else:
            children = ()
        if isinstance(growth, RegressionGrowth):
            children, levels = [*children, *growth.leaves], growth.levels
            if isinstance(node, LeafNode):
                _release_leaf(growth, records, replace(node, number=0, ledger=ledger))
        below = tuple(
            _At(child, growth.candidates, records.full_weight, levels) for child in children
        )
        tables = self._tables_of_nodes(records, below) if below else ()
        spends = tuple(account.spends())
        return _Outcome(
            script.log_probability,
            below,
            tables,
            (tuple(child.public for child in below), spends),
            spends,
            account.total.epsilon,
            builder.built,
        )

    def _make_growth(
        self,
        records: ScriptedRecords,
        builder: ScriptedBuilder,
        candidates: Candidates | None,
        levels: TargetLevels | None,
    ) -> Growth:
        codes = candidates or self.universe.cells
        target = self.universe.schema.target
        if not isinstance(self._plan, RegressionPlan) or target is None:
            return ClassGrowth(records, codes, self._plan, builder)
        growth = RegressionGrowth(records, codes, self._plan, builder, target)
        if levels is not None:
            growth.use_levels(levels)
        return growth

    def _begin_tree(
        self, growth: Growth, ledger: Ledger, builder: ScriptedBuilder
    ) -> Sequence[Node]:
        """Return the root in a list, which is empty if the noisy number of records is too small."""
        noisy_size = growth.release_size(ledger)
        if noisy_size is None or growth.has_enough_records(noisy_size):
            return [growth.begin(ledger, noisy_size)]
        builder.built[0] = (noisy_size,)
        return []

    def _tables_of_nodes(self, records: ScriptedRecords, below: Sequence[_At]) -> tuple[Table, ...]:
        """Return the records that each node has, with the weights that the learner gave them."""
        key = below[0].public_candidates
        if key not in self._places and below[0].candidates is not None:
            self._places[key] = self.universe.places(below[0].candidates)
        tables = []
        for at, (codes, labels, weights) in zip(below, records.records_of_nodes(), strict=True):
            if at.levels is not None:
                labels = self.universe.positions_of_targets(labels)
            places = self._places[key][(*codes.T, labels)]
            exact = np.bincount(places, weights, len(self.universe.kinds)).astype(np.int64)
            self._check_records_in_region(exact, at)
            tables.append(tuple(exact.tolist()))
        return tuple(tables)

    def _check_records_in_region(self, exact: NDArray[np.int64], at: _At) -> None:
        key = at.public
        if key not in self._inside and at.node is not None and at.candidates is not None:
            self._inside[key] = self.universe.inside(at.node.region, at.candidates)
        is_outside = exact[~np.array(self._inside[key])].any()
        exact_totals = exact.reshape(-1, self.universe.n_labels).sum(axis=0)
        if at.levels is not None:
            classes = at.levels.level_of_code()[list(self.universe.targets)] + 1
            exact_totals = np.bincount(classes, exact_totals, at.levels.n_levels + 1)
        given = at.node.exact_totals if isinstance(at.node, OpenNode) else exact_totals
        if is_outside or not np.array_equal(given, exact_totals):
            raise RuntimeError(
                "the counts of a node must be those of the records in its region, but differ."
            )


def _release_leaf(growth: RegressionGrowth, records: ScriptedRecords, leaf: LeafNode) -> None:
    """Release the knot sums of a leaf, to which all records belong."""
    growth.leaves.append(leaf)
    every_code = np.full((1, max(records.n_codes)), LEAF, dtype=np.int32)
    records.descend(np.zeros(1, dtype=np.int32), every_code)
    growth.release_leaves()


def _public_node_state(node: Node | None) -> Hashable:
    """Return the public state of a node that is being grown."""
    match node:
        case OpenNode():
            return "open", _node_array_bytes(node.region), node.leaves, node.at
        case SplittingNode():
            at, leaves = node.at, node.leaves
            return "split", _node_array_bytes(node.region), leaves, at, node.centre, node.mechanism
        case SubtreeNode():
            subtree = node.subtree
            return (
                "subtree",
                _node_array_bytes(node.region),
                node.leaves,
                _node_array_bytes(subtree.region),
                subtree.rate,
                tuple(_node_array_bytes(grid) for grid in subtree.grids),
            )
        case LeafNode():
            return "leaf", _node_array_bytes(node.region), node.leaves, node.level
    return None


def _node_array_bytes(arrays: Iterable[Any]) -> tuple[bytes, ...]:
    return tuple(np.asarray(array).tobytes() for array in arrays)


# --- two tables -----------------------------------------------------------------------------------


class _LossBetween(NamedTuple):
    forward: float
    """Largest log ratio of the first dataset's probability to the second's."""
    backward: float
    recorded: Fraction
    step: float
    """Largest absolute log ratio of the next step alone."""


_SAME = _LossBetween(0.0, 0.0, Fraction(0), 0.0)
_DECIDED_BY_RECORDS = _LossBetween(math.inf, math.inf, Fraction(0), math.inf)
_STEPS = {
    type(None): "number of records",
    OpenNode: "next stage",
    SplittingNode: "split",
    SubtreeNode: "subtree",
    LeafNode: "leaf",
}


class _Comparison:
    """Computes the largest privacy loss between two datasets, in a node and all nodes below."""

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps
        self._known: dict[tuple[Table, Table, Hashable], _LossBetween] = {}
        self.stages: dict[tuple[str, int], float] = {}
        self.decision: Decision | None = None

    def loss_between(self, a: Table, b: Table, at_a: _At, at_b: _At) -> _LossBetween:
        """Return the loss in a node and all nodes below. Both nodes have the same public state."""
        if a == b:
            return _SAME
        key = a, b, at_a.public
        if key not in self._known:
            self._known[key] = self._compute_loss_between(a, b, at_a, at_b)
        return self._known[key]

    def _compute_loss_between(self, a: Table, b: Table, at_a: _At, at_b: _At) -> _LossBetween:
        of_a, of_b = self._steps.law_of_step(a, at_a), self._steps.law_of_step(b, at_b)
        if of_a.keys() != of_b.keys():
            return self._decided_by_records(a, b, at_a, "which outcomes are possible")
        forward = backward = -math.inf
        recorded, step = Fraction(0), 0.0
        for transcript, x in of_a.items():
            y = of_b[transcript]
            if x.public != y.public:
                return self._decided_by_records(a, b, at_a, "what follows an outcome")
            gap = x.log_probability - y.log_probability
            below = list(map(self.loss_between, x.tables, y.tables, x.children, y.children))
            forward = max(forward, gap + sum(child.forward for child in below))
            backward = max(backward, -gap + sum(child.backward for child in below))
            later = max((child.recorded for child in below), default=Fraction(0))
            recorded = max(recorded, x.recorded + later if x.spends else later)
            step = max(step, abs(gap))
            self._note_stage_losses(at_a.node, x, abs(gap), below)
        return _LossBetween(forward, backward, recorded, step)

    def _decided_by_records(self, a: Table, b: Table, at: _At, what: str) -> _LossBetween:
        self.decision = self.decision or Decision(_STEPS[type(at.node)], what, (a, b))
        return _DECIDED_BY_RECORDS

    def _note_stage_losses(
        self, node: Node | None, outcome: _Outcome, gap: float, below: Sequence[_LossBetween]
    ) -> None:
        """Note the loss of each stage alone. A stage is charged at an open node.

        The noisy number of records and the intervals are drawn in the same step, so the loss of
        this step is noted for each of them.
        """
        if node is None:
            whole = sum((spend.epsilon for spend in outcome.spends), Fraction(0))
            for spend in outcome.spends:
                self._note_stage_loss(spend, 0, gap, whole)
        elif isinstance(node, LeafNode):
            for spend in outcome.spends:
                self._note_stage_loss(spend, 0, gap, spend.epsilon)
        elif isinstance(node, OpenNode):
            for spend in outcome.spends[:-1]:
                self._note_stage_loss(spend, node.at.depth, gap, spend.epsilon)
            spend, (drawn,) = outcome.spends[-1], below
            if isinstance(outcome.children[0].node, SubtreeNode):
                worst = max(drawn.forward, drawn.backward)
                self._note_stage_loss(spend, node.at.depth, worst, spend.epsilon + drawn.recorded)
            else:
                self._note_stage_loss(spend, node.at.depth, drawn.step, spend.epsilon)

    def _note_stage_loss(self, spend: Spend, depth: int, loss: float, epsilon: Fraction) -> None:
        key = spend.purpose, depth
        self.stages[key] = max(self.stages.get(key, 0.0), loss / float(epsilon))


# --- whole trees ----------------------------------------------------------------------------------


def _law_of_subtrees(
    steps: _Steps,
    table: Table,
    at: _At,
    known: dict[tuple[Table, Hashable], dict[TreeShape, float]],
) -> dict[TreeShape, float]:
    """Return the probability of every subtree that can be grown at a node."""
    key = table, at.public
    if key in known:
        return known[key]
    found: dict[TreeShape, float] = {}
    for outcome in steps.law_of_step(table, at).values():
        laws = [
            _law_of_subtrees(steps, part, child, known).items()
            for part, child in zip(outcome.tables, outcome.children, strict=True)
        ]
        numbers = [child.node.number for child in outcome.children if child.node is not None]
        for subtrees in product(*laws):
            shapes = {n: shape for n, (shape, _) in zip(numbers, subtrees, strict=True)}
            shape = _join_subtrees(0, outcome.built, shapes)
            probability = math.exp(outcome.log_probability) * math.prod(p for _, p in subtrees)
            found[shape] = found.get(shape, 0.0) + probability
    known[key] = found
    return found


def _join_subtrees(
    number: int, built: Mapping[int, tuple[Any, ...]], shapes: Mapping[int, TreeShape]
) -> TreeShape:
    if number in shapes:
        return shapes[number]
    what = built[number]
    if len(what) < 4:
        return what
    feature, where, left, right = what
    return feature, where, _join_subtrees(left, built, shapes), _join_subtrees(right, built, shapes)
