"""A tree as an ONNX graph, whose predictions equal those of ``predict`` to the last bit.

The output of the TreeEnsembleRegressor is the position of a leaf. Gather then looks up the leaf's
label and probabilities, or its number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.export.onnx_graph._graph import Graph, Question, SplitNodes
from privatree.model import Tree
from privatree.schema import Categorical


class TreeGraph(Graph):
    """Builder of the ONNX graph of a tree."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.schema)
        self.tree = tree

    def add_outputs(self, *names: str) -> None:
        leaf = self._add_tree()
        for name, table in zip(names, self._leaf_tables(), strict=True):
            self.add_node("Gather", [self.add_constant(table), leaf], [name], axis=0)

    def _leaf_tables(self) -> list[NDArray[Any]]:
        """Return the entry of each leaf in each output."""
        leaves = self.tree.leaves
        if self.labels is None or self.tree.value is not None:
            return [np.asarray(self.tree.value)[leaves]]
        if self.tree.probability is not None:
            shares = self.tree.probability[leaves]
        else:
            shares = np.zeros((len(leaves), len(self.labels)))
            shares[np.arange(len(leaves)), self.tree.label[leaves]] = 1.0
        return [self.labels[self.tree.label[leaves]], shares]

    def _add_tree(self) -> str:
        """Add the tree. Its output is the position of each record's leaf among the leaves."""
        tree = self.tree
        if tree.n_nodes == 1:
            return self.add_record_zeros(np.array([0]))
        questions = {int(node): self._question(int(node)) for node in tree.splits}
        columns, column_of = self.add_columns(questions.values())
        nodes, leaf_place = SplitNodes(), {int(leaf): i for i, leaf in enumerate(tree.leaves)}
        for node in range(tree.n_nodes):
            if node in leaf_place:
                nodes.add_leaf(0, node, [float(leaf_place[node])])
                continue
            threshold = float(tree.threshold[node])
            nodes.add_split(
                0,
                node,
                column_of[questions[node]],
                threshold if np.isfinite(threshold) else None,
                missing_left=bool(tree.missing_goes_left(node)),
                children=tree.children(node),
            )
        found = self.add_trees(columns, nodes)
        return self.squeeze(self.add_node("Cast", [found], to=self.onnx.TensorProto.INT64))

    def _question(self, node: int) -> Question:
        position = int(self.tree.feature[node])
        if isinstance(self.features[position][1], Categorical):
            return Question(position, goes_right=(~self.tree.left_mask(node)).tobytes())
        return Question(position, asks_missing=bool(self.tree.asks_missing(node)))
