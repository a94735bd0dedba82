"""DPGDF [Xin19], a single tree, as the paper [Vos23] ran it: on categories only.

Half of epsilon is divided evenly over the levels and pays for splits by permute-and-flip. The other
half pays for labels by an exponential mechanism. Its sensitivity, the smooth sensitivity of [FI17],
is computed from the records. ``docs/proofs/baselines.md`` says what this guarantees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from privatree.baselines._published_tree import BaselineClassifier, PublishedEstimator
from privatree.baselines.growing._coding import ONE, Coding
from privatree.baselines.growing._labellers import SMOOTH_SENSITIVITY, SmoothLabel
from privatree.baselines.growing._method import Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import Choice, Recipe
from privatree.baselines.growing._scores import NORMALISED_GINI
from privatree.privacy.mechanisms import PermuteAndFlip


@dataclass(frozen=True)
class DPGDF(PublishedMethod):
    """The rules of DPGDF."""

    title = "DPGDF"

    def guarantee(self, job: Job) -> Guarantee:
        note = "Only features with two or more categories are used; numeric ones are ignored."
        return Guarantee(None, (note,), (SMOOTH_SENSITIVITY,))

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        coding, half = Coding.of(job.schema, cuts={}), job.epsilon / 2
        draw = PermuteAndFlip(half / job.max_depth, NORMALISED_GINI.sensitivity)
        chooser = partial(Choice.draw, mechanism=draw, score=NORMALISED_GINI)
        return coding, Recipe(job.max_depth, coding.candidates(ONE), chooser, SmoothLabel(half))


class DPGDFClassifier(PublishedEstimator, BaselineClassifier):
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

    method = DPGDF()
