"""BDPT [Guan20], a single tree, as the paper [Vos23] ran it.

Half of epsilon is divided evenly over the levels and pays for splits. The other half is divided
over the depths i = 0, ..., d in proportion to 2^(i/3). At depth i it pays for the noisy size of a
node that is split, or for the noisy class counts of a leaf. ``docs/proofs/baselines.md`` says what
this guarantees.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree.baselines._published_tree import BaselineClassifier, PublishedEstimator
from privatree.baselines.growing._coding import ONE, Coding
from privatree.baselines.growing._labellers import NoisyCounts
from privatree.baselines.growing._method import Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import Choice, Recipe, draw_size
from privatree.baselines.growing._scores import NORMALISED_GINI
from privatree.privacy import Leak
from privatree.privacy.mechanisms import Exponential
from privatree.schema import Numeric

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


@dataclass(frozen=True)
class BDPT(PublishedMethod):
    """The rules of BDPT."""

    title = "BDPT"

    def guarantee(self, job: Job) -> Guarantee:
        numeric = (f for f in job.schema.features.values() if isinstance(f, Numeric))
        from_records = any(feature.cuts is None for feature in numeric)
        leaks = (VALUES_OF_RECORDS, NOISY_SENSITIVITY) if from_records else (NOISY_SENSITIVITY,)
        return Guarantee(None, leaks=leaks)

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        cuts = {
            position: bdpt_cuts(feature, job.columns[position])
            for position, feature in enumerate(job.schema.features.values())
            if isinstance(feature, Numeric)
        }
        coding = Coding.of(job.schema, cuts)
        draw = AtNoisySize.of(job.epsilon, job.max_depth)
        labeller = NoisyCounts(draw.of_size, probabilities=False)
        return coding, Recipe(job.max_depth, coding.candidates(ONE), draw, labeller, reuse=True)


@dataclass(frozen=True)
class AtNoisySize:
    """A draw by the Gini score, whose sensitivity is computed from the noisy size of the node."""

    epsilon: Fraction
    of_size: tuple[Fraction, ...]
    """Epsilon of a size, or of the counts of a leaf, for each depth."""

    @classmethod
    def of(cls, epsilon: Fraction, max_depth: int) -> AtNoisySize:
        """Return the draw with epsilon divided. The deepest count gets the rounding error."""
        growth = 2 ** (1 / 3)
        whole = (1 - growth ** (max_depth + 1)) / (1 - growth)
        counts = [epsilon / 2 * Fraction(growth**depth / whole) for depth in range(max_depth)]
        return cls(epsilon / 2 / max_depth, (*counts, epsilon / 2 - sum(counts)))

    def __call__(self, choice: Choice) -> int:
        size = draw_size(choice.node, choice.exact_totals, self.of_size[choice.node.depth])
        mechanism = Exponential(self.epsilon, 2 * gini_sensitivity(max(size, 1.0)))
        return choice.draw(mechanism, NORMALISED_GINI)


def gini_sensitivity(size: float) -> Fraction:
    """Return how much one more record can change the Gini score of a node with `size` records.

    The result is 1 - (n/(n + 1))^2 - (1/(n + 1))^2 = 2 n/(n + 1)^2, where n is `size`.
    """
    n = Fraction(size)
    return 2 * n / (n + 1) ** 2


def bdpt_cuts(feature: Numeric, exact_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the upper end of every group of a numeric feature except the last.

    These are the declared cuts, if there are any. Otherwise a group begins at every fifth distinct
    value of the records, and its upper end is the float before the first value of the next group.
    """
    if feature.cuts is not None:
        return np.array(feature.cuts, dtype=np.float64)
    firsts = np.unique(exact_values)[GROUP_SIZE::GROUP_SIZE]
    return np.nextafter(firsts, -np.inf)


class BDPTClassifier(PublishedEstimator, BaselineClassifier):
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

    method = BDPT()
