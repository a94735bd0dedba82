"""DT-Diff, after Zhu and others [ZXXZ13]: like DiffGen, with one draw for each step."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privatree.baselines.greedy._diffgen import DiffGen
from privatree.baselines.growing._coding import Coding
from privatree.baselines.growing._method import Job
from privatree.baselines.growing._specialising import Specialisation
from privatree.privacy import Ledger


@dataclass(frozen=True)
class DTDiff(DiffGen):
    """DT-Diff of Zhu, Xiong, Xiang and Zhou (2013), after its abstract.

    We know that it generalises the records and specialises them again, and that the selection of
    *schemes* uses the budget fully. Our reading: a scheme is a value with a way to specialise it,
    which is a threshold of an interval, or the parts of a category. One draw chooses among all
    schemes, all of an interval together counting as much as one of a category. All else, and the
    parameters, are as for :class:`DiffGen`.

    Notes
    -----
    Guarantee: epsilon with "information", and 3/4 epsilon with "max".
    Cost: epsilon/2 for the counts; for h steps epsilon/(2h) a draw.

    Examples
    --------
    >>> DTDiff().title
    'DT-Diff'
    """

    title = "DT-Diff"

    def _plan(self, job: Job, coding: Coding) -> tuple[Fraction, int]:
        return job.epsilon / (2 * job.max_depth), job.max_depth

    def specialise(self, job: Job, general: Specialisation, ledger: Ledger) -> None:
        mechanism = self.mechanism(job, general)
        for _ in range(job.max_depth):
            ways = [(value, general.ways(value)) for value in general.values]
            schemes = [
                (value, parts, 1 / len(all_parts))
                for value, all_parts in ways
                for parts in all_parts
                if general.has_room(value, len(parts))
            ]
            if not schemes:
                return
            exact_scores = self.exact_scores(general, [parts for _, parts, _ in schemes])
            # A public measure of the schemes, as a public bonus on their scores.
            measure = np.log([share for *_, share in schemes])
            exact_scores += measure * float(mechanism.score_range / mechanism.epsilon)
            chosen = ledger.release(mechanism, exact_scores, purpose="scheme to specialise")
            general.specialise(*schemes[chosen][:2])
