"""From single nodes to a tree: :class:`TreeBuilder` grows one split by split.

A learner calls the builder; whoever has every node at hand calls :func:`assemble`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from privatree.errors import ModelFormatError, ParameterError
from privatree.model._tree import Tree
from privatree.schema import Categorical, Feature, Schema


class TreeBuilder:
    """Grows a tree from the root: split a node or make it a leaf, each node once.

    Parameters
    ----------
    schema : Schema
        The features and classes of the tree.

    Notes
    -----
    Child ids are handed out in the order of the calls: 1 and 2, then 3 and 4, and so on.
    """

    root = 0

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._features = list(schema.features.values())
        self._drafts: list[Draft | None] = [None]

    def split_numeric(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        """Send values up to and including `threshold` left; returns both children."""
        self._check(node, feature)
        return self._split(node, Draft(feature=int(feature), threshold=float(threshold)))

    def split_categories(
        self, node: int, feature: int, left_codes: Iterable[int]
    ) -> tuple[int, int]:
        """Send the categories with these codes left; returns both children."""
        kind, codes = self._check(node, feature), {int(code) for code in left_codes}
        if not isinstance(kind, Categorical):
            raise ParameterError(f"feature {feature} has no categories. Use split_numeric.")
        if not codes <= set(range(len(kind.categories))):
            raise ParameterError(
                f"left_codes must be in 0 to {len(kind.categories) - 1}.", "left_codes"
            )
        mask = bytes(code in codes for code in range(len(kind.categories)))
        return self._split(node, Draft(feature=int(feature), goes_left=mask))

    def leaf(self, node: int, label: int, probability: Sequence[float] | None = None) -> None:
        """Predict the class with code `label` here."""
        self._check(node, 0)
        row = None if probability is None else [float(share) for share in probability]
        self._drafts[node] = Draft(label=int(label), probability=row)

    def build(self) -> Tree:
        """The finished tree."""
        finished = [draft for draft in self._drafts if draft is not None]
        if len(finished) < len(self._drafts):
            raise ParameterError(
                f"every node must be split or a leaf, node {self._drafts.index(None)} is neither."
            )
        return assemble(self._schema, finished)

    def _check(self, node: int, feature: int) -> Feature:
        if not 0 <= node < len(self._drafts) or self._drafts[node] is not None:
            raise ParameterError(f"node must be an unfinished node, got {node}.", "node")
        if not 0 <= feature < len(self._features):
            raise ParameterError(
                f"feature must be in 0 to {len(self._features) - 1}, got {feature}.", "feature"
            )
        return self._features[feature]

    def _split(self, node: int, draft: Draft) -> tuple[int, int]:
        children = len(self._drafts), len(self._drafts) + 1
        self._drafts[node] = draft._replace(left=children[0], right=children[1])
        self._drafts += [None, None]
        return children


# --- nodes on their way to arrays ---------------------------------------------------------------


class Draft(NamedTuple):
    """One node on its way into the arrays of :class:`Tree`; the defaults are "none here"."""

    feature: int = -1
    threshold: float = math.nan
    left: int = -1
    right: int = -1
    goes_left: bytes | None = None
    """Of a category split: 1 for each category that goes left, 0 for the others."""
    label: int = -1
    probability: list[float] | None = None


def assemble(schema: Schema, drafts: Sequence[Draft]) -> Tree:
    """The tree with these nodes, the root first; :class:`Tree` checks that it is one."""
    leaves = [draft for draft in drafts if draft.feature < 0]
    n_classes = len(schema.classes)
    probability = None
    if any(leaf.probability is not None for leaf in leaves):
        if any(leaf.probability is None or len(leaf.probability) != n_classes for leaf in leaves):
            raise ModelFormatError(f"every leaf must have {n_classes} probabilities, or none has.")
        probability = np.array([draft.probability or [0.0] * n_classes for draft in drafts])
    masks = [draft.goes_left or b"" for draft in drafts]
    starts = accumulate(map(len, masks), initial=0)
    mask_start = [
        -1 if draft.goes_left is None else start
        for draft, start in zip(drafts, starts, strict=False)
    ]
    return Tree(
        schema=schema,
        feature=np.array([draft.feature for draft in drafts]),
        threshold=np.array([draft.threshold for draft in drafts]),
        left=np.array([draft.left for draft in drafts]),
        right=np.array([draft.right for draft in drafts]),
        mask_start=np.array(mask_start),
        goes_left=np.frombuffer(b"".join(masks), dtype=np.uint8),
        label=np.array([draft.label for draft in drafts]),
        probability=probability,
    )
