"""Differentially private mechanisms, one a file, each with its proof in ``docs/proofs/``.

A mechanism is a frozen value that holds its epsilon. ``release(exact, randomness)`` draws; the law
it draws from is there beside it, for tests and audits. Learners do not call ``release`` themselves:
they hand the mechanism to a :class:`~privatree.privacy.ledger.Ledger`, which charges first.
"""

from privatree.privacy.mechanisms.approximate_quantiles import ApproximateQuantiles
from privatree.privacy.mechanisms.exponential import Exponential
from privatree.privacy.mechanisms.exponential_by_parts import ExponentialByParts, Parts, Weights
from privatree.privacy.mechanisms.gaussian import Gaussian
from privatree.privacy.mechanisms.geometric import Geometric
from privatree.privacy.mechanisms.joint_exponential_quantiles import JointExponentialQuantiles
from privatree.privacy.mechanisms.laplace import Laplace
from privatree.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from privatree.privacy.mechanisms.quantile_grid import ValueCounts
from privatree.privacy.mechanisms.truncated_geometric import TruncatedGeometric

__all__ = [
    "ApproximateQuantiles",
    "Exponential",
    "ExponentialByParts",
    "Gaussian",
    "Geometric",
    "JointExponentialQuantiles",
    "Laplace",
    "Parts",
    "PermuteAndFlip",
    "TruncatedGeometric",
    "ValueCounts",
    "Weights",
]
