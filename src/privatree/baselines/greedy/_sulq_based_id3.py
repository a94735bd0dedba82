"""SuLQ-based ID3 [FS10]: the split with the best noisy counts."""

from __future__ import annotations

from dataclasses import dataclass

from privatree.baselines.growing._coding import MULTIWAY, Coding
from privatree.baselines.growing._labellers import NoisyCounts
from privatree.baselines.growing._method import Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import ByNoisyCounts, FewRecords, Recipe

PUBLIC_BINS = 10


@dataclass(frozen=True)
class SuLQBasedID3(PublishedMethod):
    """SuLQ-based ID3 of Friedman and Schuster (2010), with Laplace noise.

    A node splits on all categories of the feature whose noisy counts have the least entropy, once
    on a path. It is a leaf if its noisy size is too small for the noise. The paper is not clear
    about numbers: here a number has its declared cuts, else ten equal parts of its public range.

    Notes
    -----
    Guarantee: (2d + 1)/(2d + 2) epsilon, with d the depth: the paper charges for a size at the last
    level, which is not needed.
    Cost: e = epsilon/(2d + 2) for a size, for all counts of a node and for a leaf.

    Examples
    --------
    >>> SuLQBasedID3().title
    'SuLQ-based ID3'
    """

    title = "SuLQ-based ID3"

    def guarantee(self, job: Job) -> Guarantee:
        return Guarantee(job.epsilon * (2 * job.max_depth + 1) / (2 * job.max_depth + 2))

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        coding, e = Coding.public(job.schema, PUBLIC_BINS), job.epsilon / (2 * job.max_depth + 2)
        parts = coding.candidates(MULTIWAY), ByNoisyCounts(e), NoisyCounts(e), FewRecords(e)
        return coding, Recipe(job.max_depth, *parts)
