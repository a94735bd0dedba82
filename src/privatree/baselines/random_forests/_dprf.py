"""dpRFMV and dpRFTA [BCCL14]: random thresholds, noisy class counts, two ways to vote."""

from __future__ import annotations

from dataclasses import dataclass

from privatree.baselines._random_tree import draw_random_tree_splits
from privatree.baselines.growing._method import Job
from privatree.baselines.random_forests._private_rdt import PrivateRDT
from privatree.model import Tree
from privatree.privacy import Randomness


@dataclass(frozen=True)
class DPRFMV(PrivateRDT):
    """The random forest dpRFMV of Bojarski, Choromanska, Choromanski and LeCun (2014).

    A node splits at a uniform threshold in what is left of the range of a random feature, with
    categories as numbers. The trees vote by their labels. What we could not check: that the noise
    is on both class counts, and that a threshold is in what is *left* of the range. The paper is
    about two classes; here there may be more. The parameters are those of :class:`PrivateRDT`.

    Notes
    -----
    Guarantee and cost: as for :class:`PrivateRDT`.

    Examples
    --------
    >>> DPRFMV().vote
    'majority'
    """

    title = "dpRFMV"
    vote = "majority"

    def draw_splits(self, job: Job, randomness: Randomness) -> Tree:
        return draw_random_tree_splits(job.schema, job.max_depth, randomness)


@dataclass(frozen=True)
class DPRFTA(DPRFMV):
    """The random forest dpRFTA: like :class:`DPRFMV`, but averages the class shares of the trees.

    The paper's third rule draws labels when it predicts, and is left out.

    Examples
    --------
    >>> DPRFTA().vote
    'average'
    """

    title = "dpRFTA"
    vote = "average"
