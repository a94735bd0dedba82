"""Simplifies trees by released values alone: post-processing, which costs no privacy.

A drawn tree can have a side that hardly any record reaches, or two sides that predict the same.
Neither tells a reader anything. The labels, or values, and the noisy counts of the leaves decide
what is left out. The records are not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.model import MAX_NOISY_COUNT, NodeDraft, Tree, assemble_tree, tree_nodes
from privatree.privacy.mechanisms import Geometric
from privatree.schema import Target

SUPPORT_THRESHOLD = 1
"""A side has support if its noisy size, times the budget of a count, is at least this number.

With more noisy counts than two in a leaf, the number grows as their noise does."""
MAX_THRESHOLD_SHARE = Fraction(1, 400)
"""Largest threshold, as a share of the noisy size, at which sides without support are dropped."""
EQUAL_WITHIN = 2.0
"""Two leaves are alike if what they predict differs by less than this many standard errors."""


class Simplified(NamedTuple):
    """A simpler tree."""

    tree: Tree
    new_numbers: dict[int, int]
    """The number in the new tree of each drawn node whose spends are still listed."""


@dataclass(frozen=True)
class _Part:
    """A part of a tree: a leaf, or a split with two parts below."""

    node: NodeDraft
    drawn: tuple[int, ...]
    """Numbers of the drawn nodes whose spends belong to this node."""
    n_counts: int
    """Number of noisy counts in the sum of a leaf's counts."""
    children: tuple[_Part, ...] = ()

    def class_counts(self) -> NDArray[np.int64]:
        """Return the sum of the noisy class counts of all leaves, which can be negative."""
        if not self.children:
            return np.array(self.node.noisy_counts or [0])
        left, right = (part.class_counts() for part in self.children)
        return left + right

    def support(self) -> int:
        return int(self.class_counts().sum())

    def support_errors(self) -> list[int]:
        """Return the bounds on the noise in the counts of all leaves."""
        if not self.children:
            return [self.node.support_error]
        return [error for part in self.children for error in part.support_errors()]

    def total_n_counts(self) -> int:
        return self.n_counts + sum(part.total_n_counts() for part in self.children)


def simplify_tree(tree: Tree, leaf_epsilon: Fraction, noisy_size: int) -> Simplified:
    """Return a tree without unsupported sides, in which sides that predict the same are merged.

    Parameters
    ----------
    tree : Tree
        The drawn tree.
    leaf_epsilon : Fraction
        Budget of the noisy counts of a leaf; 0 if the leaves have none.
    noisy_size : int
        The noisy or declared number of records.
    """
    edges = None if tree.edges is None else tree.edges.tolist()
    leaves: _Leaves = _ClassLeaves(leaf_epsilon)
    if tree.schema.target is not None:
        leaves = _NumberLeaves(leaf_epsilon, edges, tree.schema.target)
    simplifier = _Simplifier(leaves, leaf_epsilon, noisy_size)
    nodes, new_numbers = _number_nodes(simplifier.simplify(_part_below(tree_nodes(tree), 0)))
    return Simplified(assemble_tree(tree.schema, nodes, edges), new_numbers)


class _Leaves(Protocol):
    """What is known of the leaves of a tree of one kind."""

    support_threshold: Fraction

    def are_alike(self, one: _Part, other: _Part) -> bool:
        """Return whether two leaves predict the same, but for noise."""

    def put_together(self, one: _Part, other: _Part) -> _Part:
        """Return two leaves that are alike as one leaf."""

    def with_counts_of(self, leaf: _Part, other: _Part) -> _Part:
        """Return a leaf with the counts of another part added to its own."""


class _Simplifier:
    def __init__(self, leaves: _Leaves, leaf_epsilon: Fraction, noisy_size: int) -> None:
        self._leaves = leaves
        self._threshold: Fraction | None = None
        least = leaves.support_threshold
        if leaf_epsilon and MAX_THRESHOLD_SHARE * noisy_size * leaf_epsilon >= least:
            self._threshold = least / leaf_epsilon

    def simplify(self, part: _Part) -> _Part:
        if not part.children:
            return part
        left, right = (self.simplify(child) for child in part.children)
        for kept, dropped in ((left, right), (right, left)):
            if self._threshold and dropped.support() < self._threshold <= kept.support():
                if not kept.children:
                    kept = self._leaves.with_counts_of(kept, dropped)
                return replace(kept, drawn=part.drawn + kept.drawn)
        if self._are_alike(left, right):
            together = self._put_together(left, right)
            return replace(together, drawn=part.drawn + together.drawn)
        return replace(part, children=(left, right))

    def _are_alike(self, one: _Part, other: _Part) -> bool:
        """Return whether two parts have equal splits, and leaves that are alike."""
        if _question(one.node) != _question(other.node):
            return False
        if one.children:
            return all(map(self._are_alike, one.children, other.children))
        return self._leaves.are_alike(one, other)

    def _put_together(self, one: _Part, other: _Part) -> _Part:
        """Return two parts that are alike as one part. Their spends are equal, too."""
        if one.children:
            both = map(self._put_together, one.children, other.children)
            return replace(one, children=tuple(both))
        return self._leaves.put_together(one, other)


class _ClassLeaves:
    """Leaves with labels and, if they have a budget, probabilities."""

    support_threshold = Fraction(SUPPORT_THRESHOLD)

    def __init__(self, epsilon: Fraction) -> None:
        self._epsilon = epsilon

    def are_alike(self, one: _Part, other: _Part) -> bool:
        if one.node.label != other.node.label:
            return False
        if not self._epsilon:
            return True
        (p, p_variance), (q, q_variance) = self._class_shares(one), self._class_shares(other)
        return bool((np.abs(p - q) < EQUAL_WITHIN * np.sqrt(p_variance + q_variance)).all())

    def _class_shares(self, leaf: _Part) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the class shares of a leaf, and their variances from noise and sampling."""
        counts = np.maximum(leaf.node.noisy_counts or [], 0) + 1.0
        size = counts.sum()
        shares = counts / size
        noise = 2.0 * leaf.n_counts / len(counts) / float(self._epsilon) ** 2
        by_noise = noise * ((1 - shares) ** 2 + (len(shares) - 1) * shares**2) / size**2
        return shares, by_noise + shares * (1 - shares) / size

    def put_together(self, one: _Part, other: _Part) -> _Part:
        return self.with_counts_of(one, other) if self._epsilon else one

    def with_counts_of(self, leaf: _Part, other: _Part) -> _Part:
        n_counts = leaf.n_counts + other.total_n_counts()
        node = leaf.node._replace(
            noisy_counts=_sum_of_counts(leaf, other),
            support_error=Geometric(self._epsilon).error(n_counts),
        )
        return replace(leaf, node=with_probability(node), n_counts=n_counts)


class _NumberLeaves:
    """Leaves with values and, if they have a budget, a coarse distribution of the target.

    Of a target that is learned as logarithms, the logarithms are compared and averaged.
    """

    def __init__(self, epsilon: Fraction, edges: Sequence[float] | None, target: Target) -> None:
        self._epsilon, self._log = epsilon, target.log
        ends = np.array([target.low, target.high] if edges is None else edges, dtype=np.float64)
        ends = np.log1p(ends) if self._log else ends
        self._middles = (ends[1:] + ends[:-1]) / 2
        n_counts = max(2, len(self._middles))
        self.support_threshold = SUPPORT_THRESHOLD * Fraction(math.sqrt(n_counts / 2))

    def _place(self, leaf: _Part) -> float:
        return math.log1p(leaf.node.value) if self._log else leaf.node.value

    def are_alike(self, one: _Part, other: _Part) -> bool:
        difference = abs(self._place(one) - self._place(other))
        if not self._epsilon:
            return difference == 0
        return difference < EQUAL_WITHIN * math.sqrt(self._variance(one) + self._variance(other))

    def _variance(self, leaf: _Part) -> float:
        """Return the variance of the value of a leaf, from noise and sampling.

        Only places with a share of the records add noise.
        """
        size, shares = self._size(leaf), np.array(leaf.node.shares)
        distances = (self._middles - shares @ self._middles) ** 2
        by_noise = 2.0 / float(self._epsilon) ** 2 * distances[shares > 0].sum() / size**2
        return float(by_noise + shares @ distances / size)

    def _size(self, leaf: _Part) -> float:
        """Return the noisy number of records of a leaf, at least as many as its noise can be."""
        return max(float(leaf.support()), 1 / float(self._epsilon), 1.0)

    def put_together(self, one: _Part, other: _Part) -> _Part:
        if not self._epsilon:
            return one
        sizes = np.array([self._size(one), self._size(other)])
        weights = sizes / sizes.sum()
        place = float(weights @ [self._place(one), self._place(other)])
        shares = weights @ np.array([one.node.shares, other.node.shares])
        low, high = sorted((one.node.value, other.node.value))
        value = math.expm1(place) if self._log else place
        node = one.node._replace(value=min(max(value, low), high), shares=shares.tolist())
        return self.with_counts_of(replace(one, node=node), other)

    def with_counts_of(self, leaf: _Part, other: _Part) -> _Part:
        """Return a leaf with the counts of another part added to its own.

        Noise of the two is independent, so the bounds add up as standard deviations do.
        """
        error = math.ceil(math.hypot(leaf.node.support_error, *other.support_errors()))
        counts = _sum_of_counts(leaf, other)
        node = leaf.node._replace(noisy_counts=counts, support_error=error)
        return replace(leaf, node=node)


def _sum_of_counts(leaf: _Part, other: _Part) -> list[int]:
    counts = leaf.class_counts() + other.class_counts()
    clipped: list[int] = np.clip(counts, -MAX_NOISY_COUNT, MAX_NOISY_COUNT).tolist()
    return clipped


def with_probability(leaf: NodeDraft) -> NodeDraft:
    """Return a leaf with class probabilities, computed from its noisy counts."""
    shares = np.maximum(leaf.noisy_counts or [], 0) + 1.0  # no class is impossible
    shares[leaf.label] = shares.max()  # the drawn label stays the prediction
    return leaf._replace(probability=(shares / shares.sum()).tolist())


def _question(node: NodeDraft) -> tuple[object, ...]:
    numeric = node.feature >= 0 and node.goes_left is None
    return node.feature, node.threshold if numeric else node.goes_left


def _part_below(nodes: Sequence[NodeDraft], number: int) -> _Part:
    node = nodes[number]
    children = () if node.feature < 0 else (node.left, node.right)
    below = tuple(_part_below(nodes, child) for child in children)
    return _Part(node, (number,), len(node.noisy_counts or ()), below)


def _number_nodes(root: _Part) -> tuple[list[NodeDraft], dict[int, int]]:
    """Return the nodes, numbered level by level, and the new numbers of drawn nodes."""
    parts, nodes, new_numbers = [root], list[NodeDraft](), dict[int, int]()
    for number, part in enumerate(parts):  # grows on the way
        new_numbers |= dict.fromkeys(part.drawn, number)
        node = part.node
        if part.children:
            node = node._replace(left=len(parts), right=len(parts) + 1)
            parts.extend(part.children)
        nodes.append(node)
    return nodes, new_numbers
