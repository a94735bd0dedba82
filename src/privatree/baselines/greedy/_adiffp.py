"""ADiffP, after Borhan [Bor18]: a split gets the budget that it needs, until too little is left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_number
from privatree.baselines.growing._coding import MULTIWAY, Coding
from privatree.baselines.growing._growth import Leaf, OpenNode
from privatree.baselines.growing._labellers import NoisyCounts
from privatree.baselines.growing._method import Guarantee, Job, PublishedMethod
from privatree.baselines.growing._rules import Choice, Recipe, draw_size
from privatree.baselines.growing._scores import MAX
from privatree.privacy.mechanisms import Exponential

_DOUBT = 0.05
"""Probability that a draw is worse than its price says."""


@dataclass(frozen=True)
class ADiffP(PublishedMethod):
    """A tree that sets the budget of each split as it grows, after Borhan's thesis (2018).

    We know the thesis from its abstract and a paragraph about it: that the budget of a split is
    computed as the tree grows, and that a branch ends when too little is left. The formula is our
    reading. A node releases its size, at epsilon/32. A split is drawn by the Max score, with the
    epsilon for which the expected loss is at most ``regret`` times this size. If half of epsilon
    would not be left then, the node is a leaf, and its class counts get all that is left. Numbers
    need declared cuts.

    Parameters
    ----------
    regret : float, default=0.05
        Share of a node's records that a split may lose against the best one.

    Notes
    -----
    Guarantee: epsilon-DP. Budgets follow from released numbers alone.
    Cost: all of epsilon on every path.

    Examples
    --------
    >>> ADiffP(regret=0.1).title
    'ADiffP'
    """

    title = "ADiffP"

    regret: float = 0.05

    def check(self) -> None:
        check_number("regret", self.regret, lambda r: 0 < r <= 1, "be above 0 and at most 1")

    def guarantee(self, job: Job) -> Guarantee:
        return Guarantee(job.epsilon)

    def rules(self, job: Job) -> tuple[Coding, Recipe]:
        coding, priced = Coding.public(job.schema), Priced(job.epsilon, self.regret)
        parts = coding.candidates(MULTIWAY), priced.choose, priced.label, priced.is_too_dear
        return coding, Recipe(job.max_depth, *parts)


@dataclass(frozen=True)
class Priced:
    """Draws whose epsilon follows from the noisy size of the node, as long as there is enough."""

    total: Fraction
    regret: float

    def _price(self, choice: Choice) -> Fraction:
        """Return the epsilon of a split."""
        wanted = math.log(len(choice.allowed)) - math.log(_DOUBT)
        return Fraction(wanted / (self.regret * max(choice.node.noisy_size or 0.0, 1e-9)))

    def is_too_dear(self, choice: Choice) -> bool:
        ledger, for_size = choice.node.ledger, self.total / 32
        if ledger.remaining - self.total / 2 < for_size:
            return True
        draw_size(choice.node, choice.exact_totals, for_size)
        return self._price(choice) > ledger.remaining - self.total / 2

    def choose(self, choice: Choice) -> int:
        return choice.draw(Exponential(self._price(choice), MAX.score_range), MAX)

    def label(self, node: OpenNode, exact_totals: NDArray[np.int64]) -> Leaf:
        return NoisyCounts(node.ledger.remaining)(node, exact_totals)
