"""DiffPID3 and DiffP-C4.5 [FS10]: splits by the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_integer, check_one_of
from privatree.baselines.growing._coding import CUT, GRID, MULTIWAY, Coding
from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.baselines.growing._labellers import NoisyCounts
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._pruning import prune_by_errors
from privatree.baselines.growing._rules import Choice, FewRecords, Recipe, draw_size
from privatree.baselines.growing._scores import GINI, MAX, Score, entropy_score


@dataclass(frozen=True)
class DiffPID3(PublishedMethod):
    """DiffP-ID3 of Friedman and Schuster (2010).

    A node splits on all categories of one feature, drawn by its score, once on a path. It is a leaf
    if its noisy size is too small for the noise. Numbers need declared cuts. The paper's gain ratio
    has no bound, and is left out.

    Parameters
    ----------
    criterion : {"max", "gini", "entropy"}, default="max"
        Score of a split: records of the largest class of each child, Gini impurity, or information
        gain.
    max_records : int, default=1000000
        A public bound on the number of records, for the sensitivity of the entropy. The guarantee
        holds for more records, too.

    Notes
    -----
    Range: every score moves in one direction, by at most its sensitivity, so that a draw costs half
    of what the paper counts.
    Guarantee: (3d + 2)/(4d + 4) epsilon, with d the depth. The paper also charges for a size at the
    last level, which is not needed.
    Cost: e = epsilon/(2d + 2) for a size and a leaf, and e/2 for a draw.

    Examples
    --------
    >>> DiffPID3(criterion="gini").title
    'DiffPID3'
    """

    title = "DiffPID3"

    criterion: str = "max"
    max_records: int = 1_000_000

    def check(self) -> None:
        check_one_of("criterion", self.criterion, ("max", "gini", "entropy"))
        check_integer("max_records", self.max_records, 1, 2**40)

    @property
    def score(self) -> Score:
        return {"max": MAX, "gini": GINI}.get(self.criterion) or entropy_score(self.max_records)

    def guarantee(self, job: Job) -> Guarantee:
        return Guarantee(job.epsilon * (3 * job.max_depth + 2) / (4 * job.max_depth + 4))

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        coding, e = Coding.public(job.schema), job.epsilon / (2 * job.max_depth + 2)
        chooser = partial(Choice.draw, mechanism=self.score.draw(e), score=self.score)
        parts = coding.candidates(MULTIWAY), chooser, NoisyCounts(e), FewRecords(e)
        return coding, Recipe(job.max_depth, *parts)


@dataclass(frozen=True)
class DiffPC45(DiffPID3):
    """DiffP-C4.5 of Friedman and Schuster (2010): DiffP-ID3 with numbers and pruning.

    Before a node draws a feature, each numeric one draws a threshold, here one of a public grid. A
    number may be split again. The tree is pruned by its noisy counts, as in C4.5. The parameters
    are those of :class:`DiffPID3`.

    Notes
    -----
    Guarantee and cost: with k numeric features, e = epsilon/((2 + k) d + 2) for a size and a leaf,
    and e/2 for each of k + 1 draws of a node.

    Examples
    --------
    >>> DiffPC45().title
    'DiffP-C4.5'
    """

    title = "DiffP-C4.5"

    def _share(self, job: Job) -> tuple[Coding, Fraction]:
        coding = Coding.public(job.schema, GRID)
        return coding, job.epsilon / ((2 + coding.n_numeric) * job.max_depth + 2)

    def guarantee(self, job: Job) -> Guarantee:
        coding, e = self._share(job)
        return Guarantee(job.max_depth * (e + (coding.n_numeric + 1) * e / 2) + 2 * e)

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        coding, e = self._share(job)
        chooser = partial(threshold_then_feature, score=self.score, epsilon=e)
        parts = coding.candidates(MULTIWAY, of_numbers=CUT), chooser, partial(_label, epsilon=e)
        return coding, Recipe(job.max_depth, *parts, FewRecords(e))

    def grow(self, job: Job) -> list[Grown]:
        return [one._replace(tree=prune_by_errors(one)) for one in super().grow(job)]


def threshold_then_feature(choice: Choice, score: Score, epsilon: Fraction) -> int:
    """Draw a threshold for each numeric feature, then one of the features; each by its score.

    Notes
    -----
    Cost: that of a draw, for each numeric feature and once more.
    """
    draw, exact_scores = score.draw(epsilon), choice.exact_scores(score)
    positions, places = choice.candidates.positions[choice.allowed], list[int]()
    for position in np.unique(positions):
        own, drawn = np.flatnonzero(positions == position), 0
        if choice.candidates.coding.cuts[position] is not None:
            drawn = choice.node.release(draw, exact_scores[own], "threshold of a numeric feature")
        places.append(int(own[drawn]))
    return places[int(choice.node.release(draw, exact_scores[places], "split"))]


def _label(node: OpenNode, exact_totals: NDArray[np.int64], epsilon: Fraction) -> Leaf:
    """Release the class counts of a leaf, and its size unless the stop rule did."""
    if node.noisy_size is None:
        draw_size(node, exact_totals, epsilon)
    return NoisyCounts(epsilon)(node, exact_totals)
