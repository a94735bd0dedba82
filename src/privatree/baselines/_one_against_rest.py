"""The learner of BDPT and DPGDF: a greedy tree whose splits are one code against the rest.

A code is a category, or a group of values of a numeric feature between two neighbouring cuts.
The learner counts, scores every code by weighted Gini impurity and builds the tree level by level.
Which code is split off, and how a leaf is labelled, is decided by the :class:`Rules` of the method.

A group in the middle of a numeric feature is an interval, while a node of
:class:`~privatree.model.Tree` has only one threshold. So a split on such a group becomes two nested
nodes of the tree. *The rest* then has two copies in the tree: one below the interval and one above
it. The tree can be twice as deep as the number of splits on a path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.counting import BinnedRecords, bin_numbers
from privatree.model import Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.schema import Categorical, Schema


@dataclass(frozen=True)
class Coding:
    """The features that may be split on, and the codes of their values."""

    features: tuple[int, ...]
    """Positions of the features in the schema."""
    cuts: tuple[NDArray[np.float64] | None, ...]
    """Cuts of each numeric feature, increasing; None for categories. A value that is equal to a
    cut goes left."""
    n_codes: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, cuts: Mapping[int, NDArray[np.float64]]) -> Coding:
        """Return the coding of a schema: one code per category, and per interval between `cuts`.

        The keys of `cuts` are positions in the schema. A numeric feature without cuts, and a
        feature with a single code, are left out.
        """
        features, all_cuts, n_codes = [], [], []
        for position, feature in enumerate(schema.features.values()):
            own = cuts.get(position)
            size = len(feature.categories) if isinstance(feature, Categorical) else 1
            size += 0 if own is None else len(own)
            if size > 1:
                features.append(position)
                all_cuts.append(own)
                n_codes.append(size)
        return cls(tuple(features), tuple(all_cuts), tuple(n_codes))

    def bin_records(
        self, columns: Sequence[NDArray[Any]], labels: NDArray[np.int32], n_classes: int
    ) -> BinnedRecords:
        """Return the records as codes. `columns` has one array for each feature of the schema."""
        codes = [
            columns[feature] if cuts is None else bin_numbers(columns[feature], cuts)
            for feature, cuts in zip(self.features, self.cuts, strict=True)
        ]
        matrix = np.column_stack(codes) if codes else np.empty((len(labels), 0), dtype=np.uint8)
        return BinnedRecords(matrix, self.n_codes, labels, n_classes)


@dataclass(frozen=True)
class OpenNode:
    """A node that is neither split nor a leaf yet."""

    numbers: tuple[int, ...]
    """Numbers of the node's copies in the tree."""
    ledger: Ledger
    """Ledger of the node's records."""
    depth: int
    used: frozenset[int] = frozenset()
    """Candidates that were chosen above the node."""


class Rules(Protocol):
    """The decisions that differ between methods."""

    @property
    def max_depth(self) -> int:
        """Number of splits on a path."""

    def candidates(self, node: OpenNode, n_candidates: int) -> NDArray[np.int64]:
        """Return the codes that may be split off, numbered consecutively over all features."""

    def choose(self, node: OpenNode, exact_scores: NDArray[np.float64], exact_size: int) -> int:
        """Draw a candidate, charge the node's ledger, and return the position of its score."""

    def label(self, node: OpenNode, exact_counts: NDArray[np.int64]) -> int:
        """Draw the label of a leaf, charge the node's ledger, and return the label."""


def grow_one_against_rest(
    schema: Schema, coding: Coding, records: BinnedRecords, rules: Rules, ledger: Ledger
) -> Tree:
    """Grow the tree level by level, with one pass over the records for each level.

    Every path has ``max_depth`` splits, unless there is no candidate left. Given the codes, the
    length of a path does not depend on the records. A code without records may be split off, too.
    """
    builder = TreeBuilder(schema)
    level = [OpenNode((builder.root,), ledger, 0)]
    for _ in range(rules.max_depth):
        exact_counts, exact_totals = records.class_counts(), records.class_totals()
        chosen: list[int | None] = []
        for node, counts, totals in zip(level, exact_counts, exact_totals, strict=True):
            candidates = rules.candidates(node, counts.shape[1])
            exact_scores = one_against_rest_scores(counts[:, candidates], totals)
            found = rules.choose(node, exact_scores, int(totals.sum())) if len(candidates) else None
            chosen.append(None if found is None else int(candidates[found]))
        for place, node in enumerate(level):
            if chosen[place] is None:
                _label_one_against_rest(node, exact_totals[place], builder, rules)
        level = _make_one_and_rest_children(level, chosen, coding, records, builder)
    exact_totals = records.class_totals()
    for place, node in enumerate(level):
        _label_one_against_rest(node, exact_totals[place], builder, rules)
    return builder.build()


def _label_one_against_rest(
    node: OpenNode, exact_totals: NDArray[np.int64], builder: TreeBuilder, rules: Rules
) -> None:
    label = rules.label(node, exact_totals)
    for number in node.numbers:
        builder.leaf(number, label)


def _make_one_and_rest_children(
    level: Sequence[OpenNode],
    chosen: Sequence[int | None],
    coding: Coding,
    records: BinnedRecords,
    builder: TreeBuilder,
) -> list[OpenNode]:
    """Add the splits to the tree, assign the records to the children, and return the children."""
    features = np.full(len(level), -1, dtype=np.int32)
    children = np.zeros((len(level), max(coding.n_codes, default=0)), dtype=np.int32)
    next_level: list[OpenNode] = []
    for place, (node, candidate) in enumerate(zip(level, chosen, strict=True)):
        if candidate is None:
            continue
        position = int(np.searchsorted(records.offsets, candidate, side="right")) - 1
        code = int(candidate - records.offsets[position])
        features[place] = position
        children[place] = len(next_level) + 1
        children[place, code] = len(next_level)
        copies = [
            _split_off_rest(number, position, code, coding, builder) for number in node.numbers
        ]
        both = (
            tuple(inside for inside, _ in copies),
            tuple(number for _, outside in copies for number in outside),
        )
        used = node.used | {candidate}
        next_level += [
            OpenNode(numbers, part, node.depth + 1, used)
            for numbers, part in zip(both, node.ledger.parallel(2), strict=True)
        ]
    records.descend(features, children)
    return next_level


def _split_off_rest(
    node: int, position: int, code: int, coding: Coding, builder: TreeBuilder
) -> tuple[int, tuple[int, ...]]:
    """Split a node of the tree. Return the child for the code, and the children for the rest."""
    feature, cuts = coding.features[position], coding.cuts[position]
    if cuts is None:
        inside, outside = builder.split_categories(node, feature, [code])
        return inside, (outside,)
    rest = []
    if code > 0:
        below, node = builder.split_numeric(node, feature, float(cuts[code - 1]))
        rest.append(below)
    if code < len(cuts):
        node, above = builder.split_numeric(node, feature, float(cuts[code]))
        rest.append(above)
    return node, tuple(rest)


def one_against_rest_scores(
    exact_counts: NDArray[np.int64], exact_totals: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the score of splitting off each code: (K - 1)/K minus the weighted Gini impurity.

    K is the number of classes. `exact_counts` is an array (class, code), and `exact_totals` an
    array (class,) of all records of the node.

    Notes
    -----
    For K = 2 this is 1/2 - impurity, as published for BDPT and DPGDF. The constant (K - 1)/K has
    no influence on a choice. At a node without records all scores are equal.
    Neighbours: one record more or less at the node.
    Sensitivity: 2 n/(n + 1)^2 if the node has n >= 1 records without the added record, and 0 if it
    has none. The largest value is 1/2, for any number of classes (``docs/proofs/baselines.md``).
    """
    n_classes, size = len(exact_totals), max(int(exact_totals.sum()), 1)
    impurity = _rest_gini(exact_counts) + _rest_gini(exact_totals[:, np.newaxis] - exact_counts)
    return np.asarray((n_classes - 1) / n_classes - impurity / size)


def _rest_gini(exact_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return size times Gini impurity: size - sum of squares / size."""
    counts = exact_counts.astype(np.float64)
    sizes = counts.sum(axis=0)
    return np.asarray(sizes - (counts**2).sum(axis=0) / np.maximum(sizes, 1))
