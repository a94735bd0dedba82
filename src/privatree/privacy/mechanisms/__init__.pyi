from privatree.privacy.mechanisms._dense_interval import DenseInterval, Interval
from privatree.privacy.mechanisms._exponential import Exponential
from privatree.privacy.mechanisms._gaussian import Gaussian
from privatree.privacy.mechanisms._geometric import Geometric
from privatree.privacy.mechanisms._joint_exponential_quantiles import JointExponentialQuantiles
from privatree.privacy.mechanisms._laplace import Laplace
from privatree.privacy.mechanisms._permute_and_flip import PermuteAndFlip
from privatree.privacy.mechanisms._quantile_grid import ValueCounts
from privatree.privacy.mechanisms._sequential_exponential import (
    Draw,
    LogWeights,
    SequentialExponential,
)
from privatree.privacy.mechanisms._truncated_geometric import TruncatedGeometric

__all__ = [
    "DenseInterval",
    "Draw",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Interval",
    "JointExponentialQuantiles",
    "Laplace",
    "LogWeights",
    "PermuteAndFlip",
    "SequentialExponential",
    "TruncatedGeometric",
    "ValueCounts",
]
