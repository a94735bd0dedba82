"""Labels of leaves, from noisy counts, by a smooth sensitivity, or from a noisy value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.privacy import Leak
from privatree.privacy.mechanisms import Exponential, Laplace

SMOOTH_SENSITIVITY = Leak(
    "labels by the records' own sensitivity",
    "the noise of a label shrinks with the exact lead of the largest class, and an exponential "
    "mechanism does not hide by how much: one record can make a minority label as much less likely "
    "as you like.",
)

_MIN_EXPONENT = -300.0
"""Logarithm of the smallest sensitivity. Smaller sensitivities would make no difference: a minority
label is practically impossible already, with a probability of about exp(-epsilon e^300)."""


def leaf_of_counts(noisy_counts: NDArray[np.float64]) -> Leaf:
    """Return the class with the largest noisy count; in a tie, the first of them.

    Probabilities are shares of the positive counts, and all alike if there are none.
    """
    positive = np.maximum(noisy_counts, 0.0)
    shares = (
        positive / positive.sum() if positive.any() else np.full(len(positive), 1.0) / len(positive)
    )
    return Leaf(int(np.argmax(noisy_counts)), tuple(shares.tolist()))


@dataclass(frozen=True)
class NoisyCounts:
    """The class with the largest noisy count, with the counts' shares as probabilities.

    Notes
    -----
    Neighbours: one record more or less in the leaf.
    Sensitivity: 1.
    Guarantee and cost: ``epsilon``, or what ``epsilon`` has at the node's depth.
    """

    epsilon: Fraction | tuple[Fraction, ...]
    probabilities: bool = True

    def __call__(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        each = self.epsilon
        share = each[node.depth] if isinstance(each, tuple) else each
        node.noisy_counts = node.release(Laplace(share), exact_totals, "class counts of a leaf")
        leaf = leaf_of_counts(node.noisy_counts)
        return leaf if self.probabilities else Leaf(leaf.label)


@dataclass(frozen=True)
class SmoothLabel:
    """A label by an exponential mechanism with the smooth sensitivity of [FI17].

    A class has score 1 if its count is the largest, and otherwise 0. ``docs/proofs/baselines.md``
    says what this guarantees: nothing without a cap, and little with it.
    """

    epsilon: Fraction
    cap: Fraction | None = None
    """Largest exponent; None for no limit."""
    cost: Fraction | None = None
    """What a label costs with the cap. Without one, the ledger has what the method counts."""

    def __call__(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        is_largest = (exact_totals == exact_totals.max()).astype(np.int64)
        return Leaf(node.release(self.mechanism(exact_totals), is_largest, "leaf label"))

    def mechanism(self, exact_totals: NDArray[np.int64]) -> Exponential:
        """Return the draw. Its exponent depends on the records."""
        score_range = 2 * smooth_sensitivity(exact_totals, self.epsilon)
        if self.cap is not None:
            score_range = max(score_range, self.epsilon / self.cap)
        cost = self.cost or self.epsilon
        return Exponential(cost, score_range * cost / self.epsilon)


def smooth_sensitivity(exact_totals: NDArray[np.int64], epsilon: Fraction) -> Fraction:
    """Return exp(-epsilon * (largest count - second largest)), which depends on the records."""
    second, largest = np.sort(exact_totals)[-2:]
    return Fraction(math.exp(max(-float(largest - second) * float(epsilon), _MIN_EXPONENT)))


@dataclass(frozen=True)
class NoisyValue:
    """The value of a leaf of a boosted tree, and the class that its sign stands for.

    The value is the sum of the gradients, 1 and -1, over the number of records plus
    ``regularisation``.

    Notes
    -----
    Neighbours: one record more or less in the leaf.
    Sensitivity: 1/(1 + regularisation).
    Guarantee and cost: ``epsilon``.
    """

    epsilon: Fraction
    regularisation: Fraction
    n_classes: int = 2
    positive: int = 1
    """Class of the gradients 1, of ``n_classes``. The other classes share the rest."""

    def __call__(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        size = float(exact_totals.sum() + self.regularisation)
        exact_value = float(exact_totals[1] - exact_totals[0]) / size if size else 0.0
        mechanism = Laplace(self.epsilon, 1 / (1 + self.regularisation))
        (noisy_value,) = node.release(mechanism, np.array([exact_value]), "value of a leaf")
        share = (1.0 + min(max(float(noisy_value), -1.0), 1.0)) / 2
        shares = np.full(self.n_classes, (1.0 - share) / (self.n_classes - 1))
        shares[self.positive] = share
        return Leaf(int(np.argmax(shares)), tuple(shares.tolist()))
