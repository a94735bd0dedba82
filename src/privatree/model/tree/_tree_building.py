"""Build a tree from single nodes.

A learner grows a tree split by split with :class:`TreeBuilder`. Code that has all nodes already
calls :func:`assemble_tree`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ModelFormatError, ParameterError
from privatree.model.tree._tree import Tree
from privatree.model.tree._tree_checks import n_counts
from privatree.schema import Categorical, Feature, Schema


class TreeBuilder:
    """Builder that grows a tree from the root. Each node is split, or made a leaf, exactly once.

    The children get their ids in the order of the splits: 1 and 2, then 3 and 4, and so on.
    """

    root = 0

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._features = list(schema.features.values())
        self._drafts: list[NodeDraft | None] = [None]

    def split_numeric(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        """Split a node: values up to and including `threshold` go left. Return both children.

        With a threshold of minus infinity, only missing values go left.
        """
        self._check_unfinished(node, feature)
        return self._split(node, NodeDraft(feature=int(feature), threshold=float(threshold)))

    def split_categories(
        self, node: int, feature: int, left_codes: Iterable[int]
    ) -> tuple[int, int]:
        """Split a node: categories with these codes go left. Return both children."""
        kind, codes = self._check_unfinished(node, feature), {int(code) for code in left_codes}
        if not isinstance(kind, Categorical):
            raise ParameterError(
                f"feature must be categorical, but feature {feature} is numeric. Use "
                "split_numeric.",
                "feature",
            )
        if not codes <= set(range(kind.n_codes)):
            raise ParameterError(f"left_codes must be in 0 to {kind.n_codes - 1}.", "left_codes")
        mask = bytes(code in codes for code in range(kind.n_codes))
        return self._split(node, NodeDraft(feature=int(feature), goes_left=mask))

    def leaf(
        self,
        node: int,
        label: int,
        probability: Sequence[float] | None = None,
        noisy_counts: Sequence[int] | None = None,
        support_error: int = 0,
    ) -> None:
        """Make a node a leaf that predicts the class with code `label`."""
        self._check_unfinished(node, 0)
        row = None if probability is None else [float(share) for share in probability]
        counts = None if noisy_counts is None else [int(count) for count in noisy_counts]
        self._drafts[node] = NodeDraft(
            label=int(label), probability=row, noisy_counts=counts, support_error=support_error
        )

    def value_leaf(
        self,
        node: int,
        value: float,
        noisy_count: int | None = None,
        support_error: int = 0,
        shares: Sequence[float] | None = None,
    ) -> None:
        """Make a node a leaf that predicts a number, in a tree whose schema has a target."""
        self._check_unfinished(node, 0)
        self._drafts[node] = NodeDraft(
            value=float(value),
            noisy_counts=None if noisy_count is None else [int(noisy_count)],
            support_error=support_error,
            shares=None if shares is None else [float(share) for share in shares],
        )

    def build(self, edges: Sequence[float] | None = None) -> Tree:
        """Return the finished tree. `edges` are those of the shares of its leaves, if any."""
        finished = [draft for draft in self._drafts if draft is not None]
        if len(finished) < len(self._drafts):
            node = self._drafts.index(None)
            raise ParameterError(f"every node must be split or a leaf, got neither at node {node}.")
        return assemble_tree(self._schema, finished, edges)

    def _check_unfinished(self, node: int, feature: int) -> Feature:
        if not 0 <= node < len(self._drafts) or self._drafts[node] is not None:
            raise ParameterError(
                f"node must be a node that is neither split nor a leaf yet, got {node}.", "node"
            )
        if not 0 <= feature < len(self._features):
            raise ParameterError(
                f"feature must be in 0 to {len(self._features) - 1}, got {feature}.", "feature"
            )
        return self._features[feature]

    def _split(self, node: int, draft: NodeDraft) -> tuple[int, int]:
        children = len(self._drafts), len(self._drafts) + 1
        self._drafts[node] = draft._replace(left=children[0], right=children[1])
        self._drafts += [None, None]
        return children


class NodeDraft(NamedTuple):
    """One node of a tree that is being built. Fields that do not apply have their defaults."""

    feature: int = -1
    threshold: float = math.nan
    left: int = -1
    right: int = -1
    goes_left: bytes | None = None
    """For a category split: 1 for each category code that goes left, 0 for the others."""
    label: int = -1
    probability: list[float] | None = None
    noisy_counts: list[int] | None = None
    """Released class counts of a leaf, or its one count if it predicts a number. Noise can make
    them negative."""
    support_error: int = 0
    """Bound on the noise in the sum of `noisy_counts`, with a probability of 95%."""
    value: float = math.nan
    """Number that a leaf predicts, in a tree whose schema has a target."""
    shares: list[float] | None = None
    """Share of the records of such a leaf in each interval of the target."""


def assemble_tree(
    schema: Schema, drafts: Sequence[NodeDraft], edges: Sequence[float] | None = None
) -> Tree:
    """Return the tree of these nodes, the root first. :class:`Tree` checks that it is a tree."""
    n_classes, n_shares = len(schema.classes), 0 if edges is None else len(edges) - 1
    probability = _leaf_rows(drafts, "probability", n_classes, 0.0, "probabilities")
    counts = _leaf_rows(drafts, "noisy_counts", n_counts(schema), 0, "noisy counts")
    shares = _leaf_rows(drafts, "shares", n_shares, 0.0, "shares")
    support_error = None
    if counts is not None:
        support_error = np.array([draft.support_error for draft in drafts])
    feature, threshold, left, right, masks, label, *_ = zip(*drafts, strict=True)
    starts = accumulate((len(mask or b"") for mask in masks), initial=0)
    mask_start = [-1 if mask is None else start for mask, start in zip(masks, starts, strict=False)]
    return Tree(
        schema=schema,
        feature=np.array(feature),
        threshold=np.array(threshold),
        left=np.array(left),
        right=np.array(right),
        mask_start=np.array(mask_start),
        goes_left=np.frombuffer(b"".join(mask or b"" for mask in masks), dtype=np.uint8),
        label=np.array(label),
        probability=probability,
        noisy_counts=counts,
        support_error=support_error,
        value=None if schema.target is None else np.array([draft.value for draft in drafts]),
        edges=None if edges is None else np.array(edges, dtype=np.float64),
        shares=shares,
    )


def _leaf_rows(
    drafts: Sequence[NodeDraft], name: str, length: int, zero: float, shown: str
) -> NDArray[Any] | None:
    """Return a field of all nodes, with zeros inside the tree; None if no leaf has it."""
    rows = [getattr(draft, name) for draft in drafts if draft.feature < 0]
    if all(row is None for row in rows):
        return None
    if any(row is None or len(row) != length for row in rows):
        raise ModelFormatError(f"every leaf must have {length} {shown}, or no leaf may have any.")
    return np.array([getattr(draft, name) or [zero] * length for draft in drafts])


def tree_nodes(tree: Tree) -> list[NodeDraft]:
    """Return the nodes of a tree; :func:`assemble_tree` makes the same tree from them."""
    return [_tree_node(tree, node) for node in range(tree.n_nodes)]


def _tree_node(tree: Tree, node: int) -> NodeDraft:
    if tree.feature[node] >= 0:
        is_category = tree.mask_start[node] >= 0
        return NodeDraft(
            feature=int(tree.feature[node]),
            threshold=float(tree.threshold[node]),
            left=int(tree.left[node]),
            right=int(tree.right[node]),
            goes_left=bytes(tree.left_mask(node)) if is_category else None,
        )
    leaf = NodeDraft(label=int(tree.label[node]))
    if tree.value is not None:
        leaf = leaf._replace(value=float(tree.value[node]))
    if tree.shares is not None:
        leaf = leaf._replace(shares=tree.shares[node].tolist())
    if tree.probability is not None:
        leaf = leaf._replace(probability=tree.probability[node].tolist())
    if tree.noisy_counts is not None and tree.support_error is not None:
        leaf = leaf._replace(
            noisy_counts=tree.noisy_counts[node].tolist(),
            support_error=int(tree.support_error[node]),
        )
    return leaf
