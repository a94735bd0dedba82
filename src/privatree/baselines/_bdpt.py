"""BDPT [Guan20], a single tree, as the paper [Vos23] ran it.

Half of epsilon is divided evenly over the levels and pays for splits. The other half is divided
over the depths i = 0, ..., d in proportion to 2^(i/3). At depth i it pays for the noisy size of a
node that is split, or for the noisy class counts of a leaf. ``docs/proofs/baselines.md`` says what
this guarantees.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.baselines._one_against_rest import Coding, OpenNode, Rules
from privatree.baselines._published_tree import PublishedTreeClassifier
from privatree.privacy import Leak, positive_fraction
from privatree.privacy.mechanisms import Exponential, Laplace
from privatree.schema import Numeric, Schema

GROUP_SIZE = 5
"""Number of neighbouring distinct values of a numeric feature that count as one category."""

VALUES_OF_RECORDS = Leak(
    "numeric values of records",
    f"a numeric feature is split at every {GROUP_SIZE}th distinct value of the records, so the "
    "thresholds of the tree are such values. Declare cuts for every numeric feature.",
)
NOISY_SENSITIVITY = Leak(
    "sensitivity at a noisy size",
    "splits are drawn as if a node had as many records as a noisy count says. Where that is too "
    "many, the noise is too small for the records that are there.",
)


class BDPTClassifier(PublishedTreeClassifier):
    """BDPT, the tree of Guan and others (2020), with splits of one category against the rest.

    This class reproduces the paper's comparison. **Its epsilon does not hold**: ``privacy_`` says
    why. Five neighbouring distinct values of a numeric feature count as one category.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget as the method counts it.
    max_depth : int, default=4
        Number of splits on every path, 1 to 10. The tree may be twice as deep, because a split of
        one group of numbers against the rest takes two thresholds.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is inferred from the data, which
        is a leak and causes a warning. A numeric feature with declared ``cuts`` is grouped by these
        cuts.
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
    Sensitivity: 1 for a count. For the Gini score, it is computed from the noisy size of the node.
    Guarantee: no finite epsilon is proved; see ``docs/proofs/baselines.md``.
    Cost: epsilon on every path, as the method counts it.

    Memory: the table of counts has nodes x classes x codes entries. At depth 10, 20 numeric columns
    of 20,000 distinct values take about 1.3 GB at the last level.

    Examples
    --------
    >>> import warnings
    >>> from privatree import datasets
    >>> from privatree.baselines import BDPTClassifier
    >>> frame, labels, schema = datasets.load("nursery")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = BDPTClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> model.score(frame, labels) > 0.99
    True
    """

    _method = "BDPT"

    def _make_learner(
        self, schema: Schema, columns: list[NDArray[Any]]
    ) -> tuple[Coding, Rules, list[Leak]]:
        numeric = {
            position: feature
            for position, feature in enumerate(schema.features.values())
            if isinstance(feature, Numeric)
        }
        cuts = {place: bdpt_cuts(feature, columns[place]) for place, feature in numeric.items()}
        from_records = any(feature.cuts is None for feature in numeric.values())
        leaks = [VALUES_OF_RECORDS, NOISY_SENSITIVITY] if from_records else [NOISY_SENSITIVITY]
        rules = BDPTRules.of(positive_fraction("epsilon", self.epsilon), self.max_depth)
        return Coding.of(schema, cuts), rules, leaks


def bdpt_cuts(feature: Numeric, exact_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the upper end of every group of a numeric feature except the last.

    These are the declared cuts, if there are any. Otherwise a group begins at every fifth distinct
    value of the records, and its upper end is the float before the first value of the next group.
    """
    if feature.cuts is not None:
        return np.array(feature.cuts, dtype=np.float64)
    firsts = np.unique(exact_values)[GROUP_SIZE::GROUP_SIZE]
    return np.nextafter(firsts, -np.inf)


@dataclass(frozen=True)
class BDPTRules:
    """The rules of BDPT: splits by the exponential mechanism, labels by noisy counts."""

    max_depth: int
    split: Fraction
    """Epsilon of a split."""
    count: tuple[Fraction, ...]
    """Epsilon of a count, for each depth."""

    @classmethod
    def of(cls, epsilon: Fraction, max_depth: int) -> BDPTRules:
        """Return the rules with epsilon divided. The deepest count gets the rounding error."""
        growth = 2 ** (1 / 3)
        whole = (1 - growth ** (max_depth + 1)) / (1 - growth)
        count = [epsilon / 2 * Fraction(growth**depth / whole) for depth in range(max_depth)]
        return cls(
            max_depth=max_depth,
            split=epsilon / 2 / max_depth,
            count=(*count, epsilon / 2 - sum(count)),
        )

    def candidates(self, node: OpenNode, n_candidates: int) -> NDArray[np.int64]:
        return np.arange(n_candidates)

    def choose(self, node: OpenNode, exact_scores: NDArray[np.float64], exact_size: int) -> int:
        """Draw a split by the exponential mechanism; the sensitivity depends on the noisy size."""
        (noisy_size,) = node.ledger.release(
            Laplace(self.count[node.depth]),
            np.array([exact_size]),
            purpose="size of a node",
            node=node.numbers[0],
        )
        place: int = node.ledger.release(
            Exponential(self.split, 2 * bdpt_gini_sensitivity(max(float(noisy_size), 1.0))),
            exact_scores,
            purpose="split",
            node=node.numbers[0],
        )
        return place

    def label(self, node: OpenNode, exact_counts: NDArray[np.int64]) -> int:
        """Return the class with the largest noisy count; in a tie, the first of them."""
        noisy_counts = node.ledger.release(
            Laplace(self.count[node.depth]),
            exact_counts,
            purpose="class counts of a leaf",
            node=node.numbers[0],
        )
        return int(np.argmax(noisy_counts))


def bdpt_gini_sensitivity(size: float) -> Fraction:
    """Return how much one more record can change the Gini score of a node with `size` records.

    The result is 1 - (n/(n + 1))^2 - (1/(n + 1))^2 = 2 n/(n + 1)^2, where n is `size`.
    """
    n = Fraction(size)
    return 2 * n / (n + 1) ** 2
