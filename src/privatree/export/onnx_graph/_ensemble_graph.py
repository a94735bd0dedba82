"""An ensemble as an ONNX graph, whose labels and numbers are those of ``predict``.

Each round is a tree with the values -1 and +1: a step function of a number becomes a balanced tree
of splits at its switches. TreeEnsembleRegressor adds up the trees. The sums are whole numbers, so
they are exact also in its output of 32-bit floats. The amounts of a numeric target are too large
for that: their high and low digits are added up apart. Labels, probabilities and numbers follow in
doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privatree.errors import ParameterError
from privatree.export.onnx_graph._graph import Graph, Question, SplitNodes
from privatree.export.onnx_graph._types import onnx_label_array
from privatree.model.ensemble import Branch, Ensemble, Round, RoundFunction, Step, nodes_of
from privatree.schema import Categorical

_LOW_DIGITS = 2**10
"""What an amount is divided by: 10,000 remainders, and all quotients, add up to less than 2^24."""
_MAX_VALUES = 20_000_000
"""Largest number of leaves times scores."""


class EnsembleGraph(Graph):
    """Builder of the ONNX graph of an ensemble."""

    def __init__(self, ensemble: Ensemble) -> None:
        super().__init__(ensemble.schema)
        self.ensemble = ensemble

    def scores_of(self, one: Round) -> tuple[int, ...]:
        """Return what a function value of +1 adds to each sum."""
        if self.labels is None:
            return divmod(one.amounts[0], _LOW_DIGITS)
        return one.amounts[1:] if self.ensemble.has_one_score else one.amounts

    @property
    def _n_sums(self) -> int:
        return len(self.scores_of(self.ensemble.rounds[0]))

    def add_outputs(self, *names: str) -> None:
        if self.labels is None:
            self._add_number(*names)
            return
        label, probabilities = names
        labels = onnx_label_array(self.ensemble.schema.classes)
        margins = self._add_margins()
        step = self.ensemble.step
        if len(labels) == 2:
            is_second = self.add_node("Greater", [margins, self.add_constant(np.array(0.0))])
            code = self.squeeze(self.add_node("Cast", [is_second], to=self.onnx.TensorProto.INT64))
            factors = np.array([[-step / 2, step / 2]])
        else:
            code = self.add_node("ArgMax", [margins], axis=1, keepdims=0)
            factors = np.array(step / 2)
        self.add_node("Gather", [self.add_constant(labels), code], [label], axis=0)
        scores = self.add_node("Mul", [margins, self.add_constant(factors)])
        self.add_node("Softmax", [scores], [probabilities], axis=1)

    def _add_number(self, name: str) -> None:
        """Add the predicted number."""
        target, double = self.ensemble.schema.target, np.float64
        if target is None:
            raise RuntimeError("an ensemble without classes must have a target.")
        digits = self.add_constant(np.array([[_LOW_DIGITS], [1]], dtype=double))
        margin = self.squeeze(self.add_node("MatMul", [self._add_margins(), digits]))
        step, start = (
            self.add_constant(np.array(number))
            for number in (self.ensemble.step, self.ensemble.start)
        )
        score = self.add_node("Add", [self.add_node("Mul", [margin, step]), start])
        if target.log:
            one = self.add_constant(np.array(1.0))
            score = self.add_node("Sub", [self.add_node("Exp", [score]), one])
        ends = [self.add_constant(np.array(end, dtype=double)) for end in (target.low, target.high)]
        self.add_node("Clip", [score, *ends], [name])

    def _add_margins(self) -> str:
        """Add the sums of all rounds, as doubles of shape (records, sums)."""
        self._check_size()
        rounds = self.ensemble.rounds
        splitting = [one for one in rounds if not _is_constant(one.function)]
        constant = np.zeros((1, self._n_sums))
        for one in rounds:
            if isinstance(one.function, Step) and _is_constant(one.function):
                constant += _first_sign(one.function) * np.array(self.scores_of(one))
        if splitting:
            found = self._add_rounds(splitting)
            margins = self.add_node("Cast", [found], to=self.onnx.TensorProto.DOUBLE)
        else:
            zeros = self.add_record_zeros(np.array([0.0]))
            margins = self.add_node("Unsqueeze", [zeros, self.add_constant(np.array([1]))])
        return self.add_node("Add", [margins, self.add_constant(constant)])

    def _add_rounds(self, rounds: list[Round]) -> str:
        questions = (q for one in rounds for q in self._questions(one.function))
        columns, column_of = self.add_columns(questions)
        nodes = SplitNodes()
        for tree, one in enumerate(rounds):
            _RoundTree(self, nodes, column_of, tree, self.scores_of(one)).add(one.function)
        return self.add_trees(columns, nodes)

    def _questions(self, function: RoundFunction) -> Iterator[Question]:
        for node in nodes_of(function):
            if isinstance(node, Branch):
                yield self.branch_question(node)
            elif node.positive is not None:
                yield self.step_question(node)
            else:
                if -math.inf in node.switches:
                    yield Question(node.feature, asks_missing=True)
                if any(map(math.isfinite, node.switches)):
                    yield Question(node.feature)

    def branch_question(self, branch: Branch) -> Question:
        if branch.goes_left is not None:
            return Question(branch.feature, goes_right=_flipped(branch.goes_left))
        return Question(branch.feature, asks_missing=branch.threshold == -math.inf)

    def step_question(self, step: Step) -> Question:
        """Return the question on categories whose left answer is the sign -1."""
        return Question(step.feature, goes_right=step.positive)

    def missing_place(self, position: int) -> float:
        """Return the number that stands for NaN, or for a feature of categories NaN itself."""
        feature = self.features[position][1]
        return math.nan if isinstance(feature, Categorical) else float(feature.missing_place)

    def _check_size(self) -> None:
        functions = (one.function for one in self.ensemble.rounds)
        n_leaves = sum(
            len(node.switches) + 2
            for f in functions
            for node in nodes_of(f)
            if isinstance(node, Step)
        )
        n_values = n_leaves * self._n_sums
        if n_values > _MAX_VALUES:
            raise ParameterError(
                f"ONNX must have at most {_MAX_VALUES:,} values, one for each interval between "
                f"switches and each class, got {n_values:,}. Export to JSON instead."
            )


class _RoundTree:
    """Adds the function of one round as a tree."""

    def __init__(
        self,
        graph: EnsembleGraph,
        nodes: SplitNodes,
        column_of: dict[Question, int],
        tree: int,
        amounts: tuple[int, ...],
    ) -> None:
        self._graph, self._nodes, self._column_of = graph, nodes, column_of
        self._tree, self._amounts = tree, amounts
        self._n_nodes = 1

    def add(self, function: RoundFunction, node: int = 0) -> None:
        """Add a function, with its root as this node."""
        if isinstance(function, Branch):
            question = self._graph.branch_question(function)
            threshold = function.threshold if function.goes_left is None else None
            left, right = self._add_split(node, question, threshold)
            self.add(function.left, left)
            self.add(function.right, right)
        elif _is_constant(function):
            self._add_leaf(node, _first_sign(function))
        elif function.positive is not None:
            left, right = self._add_split(node, self._graph.step_question(function), None)
            self._add_leaf(left, -1)
            self._add_leaf(right, 1)
        else:
            self._add_switches(node, function.feature, function.first, function.switches)

    def _add_switches(
        self, node: int, position: int, first: int, switches: tuple[float, ...]
    ) -> None:
        """Add a balanced tree over the switches of a number."""
        if not switches:
            self._add_leaf(node, first)
            return
        middle = 0 if switches[0] == -math.inf else len(switches) // 2
        switch = switches[middle]
        question = Question(position, asks_missing=switch == -math.inf)
        left, right = self._add_split(node, question, switch)
        after = first if middle % 2 else -first
        self._add_switches(left, position, first, switches[:middle])
        self._add_switches(right, position, after, switches[middle + 1 :])

    def _add_split(self, node: int, question: Question, threshold: float | None) -> tuple[int, int]:
        children = self._n_nodes, self._n_nodes + 1
        self._n_nodes += 2
        place, missing_left = self._graph.missing_place(question.feature), False
        if threshold is not None and math.isfinite(threshold):
            missing_left = place <= threshold
        else:
            threshold = None
        self._nodes.add_split(
            self._tree,
            node,
            self._column_of[question],
            threshold,
            missing_left=missing_left,
            children=children,
        )
        return children

    def _add_leaf(self, node: int, sign: int) -> None:
        self._nodes.add_leaf(self._tree, node, [float(sign * s) for s in self._amounts])


def _is_constant(function: RoundFunction) -> bool:
    if isinstance(function, Branch):
        return False
    return (
        len(set(function.positive)) < 2 if function.positive is not None else not function.switches
    )


def _first_sign(step: Step) -> int:
    """Return the sign of a step function that has only one."""
    return step.first if step.positive is None else 1 if step.positive[0] else -1


def _flipped(mask: bytes) -> bytes:
    return bytes(1 - entry for entry in mask)
