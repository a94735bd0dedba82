"""Greedy trees whose every split is one code against the rest, as BDPT and DPGDF grow them.

A code is a category, or one group of a numeric feature: the values between two neighbouring cuts.
:func:`grow` counts, scores every code by weighted Gini impurity and builds the tree level by
level; which code is taken, and how a leaf is labelled, is up to the :class:`Rules` of the method.

A group in the middle of a numeric feature is an interval, while a node of
:class:`~privatree.model.Tree` has one threshold only. Such a split is written as two nested nodes,
below ``value <= low cut`` and beyond ``value <= high cut`` the same subtree: *the rest* is one node
here and has several copies in the tree, which may therefore be twice as deep.
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
    """The features that may be split on, and their codes."""

    features: tuple[int, ...]
    """Positions in the schema."""
    cuts: tuple[NDArray[np.float64] | None, ...]
    """Of each numeric feature, increasing; None for categories. A value equal to a cut belongs to
    its left."""
    n_codes: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, cuts: Mapping[int, NDArray[np.float64]]) -> Coding:
        """Categories, and numbers by their cuts; what has no cuts, or one code only, is left out.

        The keys of `cuts` are positions in the schema.
        """
        found: list[tuple[int, NDArray[np.float64] | None, int]] = []
        for position, feature in enumerate(schema.features.values()):
            if isinstance(feature, Categorical):
                found.append((position, None, len(feature.categories)))
            elif position in cuts:
                found.append((position, cuts[position], len(cuts[position]) + 1))
        several = [entry for entry in found if entry[2] > 1]
        return cls(
            tuple(position for position, _, _ in several),
            tuple(own for _, own, _ in several),
            tuple(size for _, _, size in several),
        )

    def code(
        self, columns: Sequence[NDArray[Any]], labels: NDArray[np.int32], n_classes: int
    ) -> BinnedRecords:
        """The records in these codes; `columns` has one array for each feature of the schema."""
        codes = [
            columns[feature] if cuts is None else bin_numbers(columns[feature], cuts)
            for feature, cuts in zip(self.features, self.cuts, strict=True)
        ]
        matrix = np.column_stack(codes) if codes else np.empty((len(labels), 0), dtype=np.uint8)
        return BinnedRecords(matrix, self.n_codes, labels, n_classes)


@dataclass(frozen=True)
class OpenNode:
    """A node still to be made."""

    numbers: tuple[int, ...]
    """Of its copies in the tree."""
    ledger: Ledger
    """Of its records."""
    depth: int
    used: frozenset[int] = frozenset()
    """The candidates chosen above it."""


class Rules(Protocol):
    """What a method decides."""

    @property
    def max_depth(self) -> int:
        """How many splits there are on a path."""

    def candidates(self, node: OpenNode, n_candidates: int) -> NDArray[np.int64]:
        """Which of the codes, counted through all features, may be split off at a node."""

    def choose(self, node: OpenNode, exact_scores: NDArray[np.float64], exact_size: int) -> int:
        """The place of the chosen one among the candidates, at the cost of the node's ledger."""

    def label(self, node: OpenNode, exact_counts: NDArray[np.int64]) -> int:
        """The label of a leaf, at the cost of the node's ledger."""


def grow(
    schema: Schema, coding: Coding, records: BinnedRecords, rules: Rules, ledger: Ledger
) -> Tree:
    """Grow the tree level by level: one pass over the records for each.

    Every path has ``max_depth`` splits, unless there is no candidate left: given the codes, where
    it ends does not depend on the records. A code that no record has may be split off like any
    other.
    """
    builder = TreeBuilder(schema)
    level = [OpenNode((builder.root,), ledger, 0)]
    for _ in range(rules.max_depth):
        exact_counts, exact_totals = records.class_counts(), records.class_totals()
        chosen = [
            _choose(node, exact_counts[place], exact_totals[place], rules)
            for place, node in enumerate(level)
        ]
        for place, node in enumerate(level):
            if chosen[place] is None:
                _label(node, exact_totals[place], builder, rules)
        level = _make_children(level, chosen, coding, records, builder)
    exact_totals = records.class_totals()
    for place, node in enumerate(level):
        _label(node, exact_totals[place], builder, rules)
    return builder.build()


def _choose(
    node: OpenNode, exact_counts: NDArray[np.int64], exact_totals: NDArray[np.int64], rules: Rules
) -> int | None:
    candidates = rules.candidates(node, exact_counts.shape[1])
    if len(candidates) == 0:
        return None
    exact_scores = split_scores(exact_counts[:, candidates], exact_totals)
    return int(candidates[rules.choose(node, exact_scores, int(exact_totals.sum()))])


def _label(
    node: OpenNode, exact_totals: NDArray[np.int64], builder: TreeBuilder, rules: Rules
) -> None:
    label = rules.label(node, exact_totals)
    for number in node.numbers:
        builder.leaf(number, label)


def _make_children(
    level: Sequence[OpenNode],
    chosen: Sequence[int | None],
    coding: Coding,
    records: BinnedRecords,
    builder: TreeBuilder,
) -> list[OpenNode]:
    """Write the splits into the tree, and send the records on."""
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
        copies = [_write_split(number, position, code, coding, builder) for number in node.numbers]
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


def _write_split(
    node: int, position: int, code: int, coding: Coding, builder: TreeBuilder
) -> tuple[int, tuple[int, ...]]:
    """Split one node of the tree: where the code goes, and all places where the rest goes."""
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


def split_scores(
    exact_counts: NDArray[np.int64], exact_totals: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of each code, how good it is to split it off: (K - 1)/K less the weighted Gini impurity.

    Parameters
    ----------
    exact_counts : array (class, code)
        Of the records with this code.
    exact_totals : array (class,)
        Of all records of the node.

    Notes
    -----
    For K = 2 this is the published 1/2 - impurity. The constant has no influence on a choice. At
    a node without records all scores are equal.
    Neighbours: one record more or less at the node.
    Sensitivity: 2 n/(n + 1)^2 where the smaller node has n >= 1 records, 0 if it has none; so 1/2
    overall, for any number of classes (``docs/proofs/baselines.md``).
    """
    n_classes, size = len(exact_totals), max(int(exact_totals.sum()), 1)
    impurity = _impurity(exact_counts) + _impurity(exact_totals[:, np.newaxis] - exact_counts)
    return np.asarray((n_classes - 1) / n_classes - impurity / size)


def _impurity(exact_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Size times Gini impurity: size - sum of squares / size."""
    counts = exact_counts.astype(np.float64)
    sizes = counts.sum(axis=0)
    return np.asarray(sizes - (counts**2).sum(axis=0) / np.maximum(sizes, 1))
