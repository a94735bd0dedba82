"""DPGDF [Xin19], a single tree, as the paper [Vos23] ran it: on categories only.

Half of epsilon is divided evenly over the levels and pays for splits by permute-and-flip. The other
half pays for labels by an exponential mechanism. Its sensitivity, the smooth sensitivity of [FI17],
is computed from the records. ``docs/proofs/baselines.md`` says what this guarantees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.baselines._one_against_rest import Coding, OpenNode, Rules
from privatree.baselines._published_tree import PublishedTreeClassifier
from privatree.privacy import Leak, positive_fraction
from privatree.privacy.mechanisms import Exponential, PermuteAndFlip
from privatree.schema import Schema

GINI_SENSITIVITY = Fraction(1, 2)

SMOOTH_SENSITIVITY = Leak(
    "labels by the records' own sensitivity",
    "the noise of a label shrinks with the exact lead of the largest class, and an exponential "
    "mechanism does not hide by how much: one record can make a minority label as much less likely "
    "as you like.",
)

_MIN_EXPONENT = -300.0
"""Logarithm of the smallest sensitivity. Smaller sensitivities would make no difference: a minority
label is practically impossible already, with a probability of about exp(-epsilon e^300)."""


class DPGDFClassifier(PublishedTreeClassifier):
    """DPGDF, a tree of Xin and others (2019), with splits of one category against the rest.

    This class reproduces the paper's comparison. **Its epsilon does not hold**: ``privacy_`` says
    why. Numeric features are ignored, as in the paper. Without a feature of two or more
    categories, the tree is a single leaf.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget as the method counts it.
    max_depth : int, default=4
        Number of splits on every path, 1 to 10; fewer if the categories run out.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is inferred from the data, which
        is a leak and causes a warning.
    random_state : int, numpy generator or None, default=None
        Seed of the noise, for tests and papers only. None draws fresh noise.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        The claimed epsilon, the leaks, and every spend.
    schema_ : Schema
        The schema that the tree was trained with.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Notes
    -----
    Neighbours: datasets that differ by one record added or removed.
    Sensitivity: 1/2 for the Gini score. For a label, it is computed from the records.
    Guarantee: none for the tree. Its splits alone are epsilon/2-DP; see
    ``docs/proofs/baselines.md``.
    Cost: epsilon on every path, as the method counts it.

    Examples
    --------
    >>> import warnings
    >>> from privatree import datasets
    >>> from privatree.baselines import DPGDFClassifier
    >>> frame, labels, schema = datasets.load("vote")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = DPGDFClassifier(10.0, schema=schema, random_state=0).fit(frame, labels)
    >>> model.score(frame, labels) > 0.9
    True
    """

    _method = "DPGDF"
    _notes = ("Only features with two or more categories are used; numeric ones are ignored.",)

    def _make_learner(
        self, schema: Schema, columns: list[NDArray[Any]]
    ) -> tuple[Coding, Rules, list[Leak]]:
        rules = DPGDFRules.of(positive_fraction("epsilon", self.epsilon), self.max_depth)
        return Coding.of(schema, cuts={}), rules, [SMOOTH_SENSITIVITY]


@dataclass(frozen=True)
class DPGDFRules:
    """The rules of DPGDF: splits by permute-and-flip, labels by smooth sensitivity."""

    max_depth: int
    split: Fraction
    """Epsilon of a split."""
    leaf: Fraction
    """Epsilon of a label."""

    @classmethod
    def of(cls, epsilon: Fraction, max_depth: int) -> DPGDFRules:
        return cls(max_depth, split=epsilon / 2 / max_depth, leaf=epsilon / 2)

    def candidates(self, node: OpenNode, n_candidates: int) -> NDArray[np.int64]:
        """Return the candidates that were not chosen above the node."""
        return np.setdiff1d(np.arange(n_candidates), sorted(node.used))

    def choose(self, node: OpenNode, exact_scores: NDArray[np.float64], exact_size: int) -> int:
        place: int = node.ledger.release(
            PermuteAndFlip(self.split, GINI_SENSITIVITY),
            exact_scores,
            purpose="split",
            node=node.numbers[0],
        )
        return place

    def label(self, node: OpenNode, exact_counts: NDArray[np.int64]) -> int:
        """Draw a label. A class has score 1 if its count is the largest, and otherwise 0."""
        label: int = node.ledger.release(
            Exponential(self.leaf, 2 * dpgdf_smooth_sensitivity(exact_counts, self.leaf)),
            (exact_counts == exact_counts.max()).astype(np.int64),
            purpose="leaf label",
            node=node.numbers[0],
        )
        return label


def dpgdf_smooth_sensitivity(exact_counts: NDArray[np.int64], epsilon: Fraction) -> Fraction:
    """Return exp(-epsilon * (largest count - second largest)), which depends on the records."""
    second, largest = np.sort(exact_counts)[-2:]
    return Fraction(math.exp(max(-float(largest - second) * float(epsilon), _MIN_EXPONENT)))
