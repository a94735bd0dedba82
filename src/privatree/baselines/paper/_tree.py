"""Algorithm 1 of the paper [Vos23] as printed, except for the misprinted ratio of equation 4.

Bins are private quantiles. A split is chosen by the least Gini impurity in noisy class histograms
of all features. Labels are drawn by permute-and-flip. ``docs/proofs/paper-tree.md`` says what this
guarantees for a whole record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.paper._budget import PaperBudget
from privatree.baselines.paper._gini import BestSplit, best_gini_split
from privatree.counting import THREADS, BinnedRecords, ClassCounts, bin_numbers
from privatree.model import Tree, TreeBuilder
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import (
    JointExponentialQuantiles,
    PermuteAndFlip,
    TruncatedGeometric,
    ValueCounts,
)
from privatree.schema import Categorical, Feature, Numeric, Schema


@dataclass(frozen=True)
class PaperPlan:
    """The input of Algorithm 1 besides the records. All of it is assumed to be public."""

    schema: Schema
    budget: PaperBudget
    max_depth: int
    n_bins: int
    private_quantiles: bool
    stop_when_pure: bool

    @property
    def kinds(self) -> tuple[int, int]:
        """Number of features with quantile bins, and number of other features."""
        with_quantiles = sum(needs_paper_quantiles(f) for f in self.schema.features.values())
        return with_quantiles, len(self.schema.features) - with_quantiles


Cuts = Sequence[NDArray[np.float64] | None]
"""Upper ends of all bins but the last, for each numeric feature; None for categories."""


class Unbinned(Protocol):
    """Records whose numbers have no bins yet."""

    def values(self, features: Sequence[int]) -> Sequence[NDArray[np.float64] | ValueCounts]:
        """Return all values of the given numeric features."""

    def binned(self, cuts: Cuts, n_codes: Sequence[int]) -> ClassCounts:
        """Return the records with their numbers in bins."""


@dataclass(frozen=True)
class UnbinnedColumns:
    """Records in memory whose numbers have no bins yet."""

    columns: Sequence[NDArray[Any]]
    """Numbers inside their range, or category codes, for each feature of the schema."""
    labels: NDArray[np.int32]
    n_classes: int

    def values(self, features: Sequence[int]) -> list[NDArray[np.float64]]:
        return [self.columns[feature] for feature in features]

    def binned(self, cuts: Cuts, n_codes: Sequence[int]) -> BinnedRecords:
        codes = [
            column if edges is None else bin_numbers(column, edges)
            for column, edges in zip(self.columns, cuts, strict=True)
        ]
        return BinnedRecords(np.column_stack(codes), n_codes, self.labels, self.n_classes)


@dataclass(frozen=True)
class _Node:
    """An unfinished node: its number in the tree, and the ledger of its records."""

    number: int
    ledger: Ledger


def grow_paper_tree(unbinned: Unbinned, plan: PaperPlan, ledger: Ledger) -> Tree:
    """Grow the tree level by level, with one pass over the records for each level.

    Records without a known label must be left out of `unbinned`.
    """
    cuts = _draw_paper_tree_cuts(unbinned, plan, ledger)
    records = unbinned.binned(cuts, _count_paper_tree_codes(cuts, plan.schema))
    builder = TreeBuilder(plan.schema)
    level = [_Node(0, ledger)]
    for _ in range(plan.max_depth):
        if not level:
            break
        splits = _choose_paper_tree_splits(level, records, plan)
        level = _make_paper_tree_children(level, splits, builder, records, cuts, plan)
    exact_totals = records.class_totals()
    for node, exact_counts in zip(level, exact_totals, strict=True):
        builder.leaf(node.number, _draw_paper_tree_label(node, exact_counts, plan))
    return builder.build()


def _draw_paper_tree_cuts(unbinned: Unbinned, plan: PaperPlan, ledger: Ledger) -> Cuts:
    """Return the drawn quantiles, or the declared cuts (Algorithm 1, lines 3 to 5)."""
    features = list(plan.schema.features.values())
    shares = [Fraction(place, plan.n_bins) for place in range(1, plan.n_bins)]
    asked = {place: f for place, f in enumerate(features) if needs_paper_quantiles(f)}
    values = unbinned.values(list(asked))
    if plan.private_quantiles:
        mechanisms = [
            JointExponentialQuantiles(
                epsilon=plan.budget.quantiles,
                quantiles=tuple(shares),
                low=feature.low,
                high=feature.high,
            )
            for feature in asked.values()
        ]
        edges = ledger.release_all(
            mechanisms, values, purpose="quantile bins of a numeric feature", threads=THREADS
        )
    else:
        edges = [_exact_paper_cuts(column, [float(share) for share in shares]) for column in values]
    found = dict(zip(asked, edges, strict=True))
    return [
        None if isinstance(feature, Categorical) else _paper_tree_cuts(feature, found.get(place))
        for place, feature in enumerate(features)
    ]


def needs_paper_quantiles(feature: Feature) -> TypeGuard[Numeric]:
    """Return whether a feature gets quantile bins: it is numeric and has no declared cuts."""
    return isinstance(feature, Numeric) and feature.cuts is None


def _paper_tree_cuts(feature: Numeric, edges: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return distinct cuts inside the range. A cut at the upper end would separate nothing."""
    distinct = np.unique(np.asarray(feature.cuts if edges is None else edges, dtype=np.float64))
    return distinct[(distinct >= feature.low) & (distinct < feature.high)]


def _exact_paper_cuts(
    column: NDArray[np.float64] | ValueCounts, shares: list[float]
) -> NDArray[np.float64]:
    exact_values = np.repeat(*column) if isinstance(column, ValueCounts) else column
    return np.quantile(exact_values, shares) if len(exact_values) else exact_values


def _count_paper_tree_codes(cuts: Cuts, schema: Schema) -> list[int]:
    return [
        len(feature.categories)
        if isinstance(feature, Categorical)
        else 1 + (0 if edges is None else len(edges))
        for feature, edges in zip(schema.features.values(), cuts, strict=True)
    ]


def _choose_paper_tree_splits(
    level: list[_Node], records: ClassCounts, plan: PaperPlan
) -> list[BestSplit | NDArray[np.int64]]:
    """Return the split of each node, or the exact class counts of a node that becomes a leaf."""
    exact_counts = records.class_counts()
    exact_totals = records.class_totals()
    outcomes: list[BestSplit | NDArray[np.int64]] = []
    for place, node in enumerate(level):
        split = None
        if not (plan.stop_when_pure and _is_pure_paper_node(exact_totals[place])):
            exact_histograms = np.split(exact_counts[place].T, records.offsets[1:-1])
            split = _noisy_paper_tree_split(node, exact_histograms, plan)
        outcomes.append(exact_totals[place] if split is None else split)
    return outcomes


def _is_pure_paper_node(exact_counts: NDArray[np.int64]) -> bool:
    """Return whether a node has fewer than two records or classes (Algorithm 1, line 7)."""
    return bool(exact_counts.sum() < 2 or np.count_nonzero(exact_counts) <= 1)


def _noisy_paper_tree_split(
    node: _Node, exact_histograms: list[NDArray[np.int64]], plan: PaperPlan
) -> BestSplit | None:
    """Return the best split in a noisy histogram of each feature (Algorithm 1, lines 11 and 12)."""
    categorical = [isinstance(f, Categorical) for f in plan.schema.features.values()]
    noisy_histograms: list[NDArray[np.int64]] = [np.empty((0, 0), np.int64)] * len(categorical)
    with_quantiles = [needs_paper_quantiles(feature) for feature in plan.schema.features.values()]
    for epsilon, kind, what in (
        (plan.budget.numeric_node, True, "features with quantile bins"),
        (plan.budget.categorical_node, False, "features with declared codes"),
    ):
        chosen = [place for place, flag in enumerate(with_quantiles) if flag is kind]
        if not chosen:
            continue
        noisy = node.ledger.release(
            TruncatedGeometric(epsilon),
            np.concatenate([exact_histograms[place] for place in chosen]),
            purpose=f"class histograms of {what}",
            node=node.number,
            times=len(chosen),
        )
        ends = np.cumsum([len(exact_histograms[place]) for place in chosen])[:-1]
        for place, histogram in zip(chosen, np.split(noisy, ends), strict=True):
            noisy_histograms[place] = histogram
    return best_gini_split(noisy_histograms, categorical)


def _make_paper_tree_children(
    level: list[_Node],
    outcomes: list[BestSplit | NDArray[np.int64]],
    builder: TreeBuilder,
    records: ClassCounts,
    cuts: Cuts,
    plan: PaperPlan,
) -> list[_Node]:
    """Add splits and leaves to the tree, and return the children (Algorithm 1, lines 13 to 15)."""
    features = np.full(len(level), -1, dtype=np.int32)
    children = np.zeros((len(level), max(records.n_codes)), dtype=np.int32)
    next_level: list[_Node] = []
    for place, (node, outcome) in enumerate(zip(level, outcomes, strict=True)):
        if not isinstance(outcome, BestSplit):
            builder.leaf(node.number, _draw_paper_tree_label(node, outcome, plan))
            continue
        features[place] = outcome.feature
        children[place] = len(next_level) + 1
        children[place, outcome.left_codes] = len(next_level)
        edges = cuts[outcome.feature]
        if edges is None:
            numbers = builder.split_categories(node.number, outcome.feature, outcome.left_codes)
        else:
            threshold = float(edges[outcome.left_codes[-1]])
            numbers = builder.split_numeric(node.number, outcome.feature, threshold)
        parts = node.ledger.parallel(2)
        next_level += [_Node(n, part) for n, part in zip(numbers, parts, strict=True)]
    records.descend(features, children)
    return next_level


def _draw_paper_tree_label(node: _Node, exact_counts: NDArray[np.int64], plan: PaperPlan) -> int:
    """Return a label drawn by permute-and-flip (Algorithm 1, lines 8 and 9)."""
    label: int = node.ledger.release(
        PermuteAndFlip(plan.budget.leaf, monotone=True),
        exact_counts,
        purpose="leaf label",
        node=node.number,
    )
    return label
