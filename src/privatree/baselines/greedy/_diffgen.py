"""DiffGen [MCFY11]: a table is generalised, then specialised; its cells are leaves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import check_one_of
from privatree.baselines.growing._coding import GRID, Coding
from privatree.baselines.growing._method import Grown, Guarantee, Job, PublishedMethod
from privatree.baselines.growing._scores import information_gain
from privatree.baselines.growing._specialising import (
    OnDisjointRecords,
    Specialisation,
    Value,
    taxonomy_codes,
)
from privatree.baselines.growing._structures import count_leaves, label_by_noisy_counts
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Exponential


@dataclass(frozen=True)
class DiffGen(PublishedMethod):
    """DiffGen of Mohammed, Chen, Fung and Yu (2011), as a tree.

    At first every feature has one general value. Each step draws a value by its score and replaces
    it by its parts, in all leaves at once. A number's interval has drawn its threshold before, here
    one of a public grid. The leaves release noisy class counts. The paper trains C4.5 on these;
    here a leaf predicts its largest count. ``max_depth`` is the number of steps; the paper takes 10
    and more.

    Parameters
    ----------
    criterion : {"max", "information"}, default="max"
        Records of the largest class of each part, or information gain.
    taxonomies : dict, optional
        For names of features, nested lists of their categories: ``[["a", "b"], "c"]``. By default
        all categories are parts of one value.

    Notes
    -----
    Range: 1 for "max", so that a draw costs half of what the paper counts; 2 log K for
    "information".
    Guarantee: epsilon with "information" and 3/4 epsilon with "max", less one draw: no threshold is
    drawn after the last step.
    Cost: epsilon/2 for the counts; for h steps and k numeric features epsilon/(2k + 4h) a draw.

    Examples
    --------
    >>> DiffGen(criterion="information").title
    'DiffGen'
    """

    title = "DiffGen"

    criterion: str = "max"
    taxonomies: Mapping[str, Sequence[Any]] | None = None

    def check(self) -> None:
        check_one_of("criterion", self.criterion, ("max", "information"))

    def _plan(self, job: Job, coding: Coding) -> tuple[Fraction, int]:
        """Return what the paper charges for a draw, and the number of draws."""
        share = job.epsilon / (2 * coding.n_numeric + 4 * job.max_depth)
        return share, coding.n_numeric + 2 * job.max_depth - 1

    def guarantee(self, job: Job) -> Guarantee:
        share, n_draws = self._plan(job, Coding.public(job.schema, GRID))
        return Guarantee(n_draws * share / (2 if self.criterion == "max" else 1) + job.epsilon / 2)

    def grow(self, job: Job) -> list[Grown]:
        coding, names = Coding.public(job.schema, GRID), list(job.schema.features)
        taxonomies = {
            place: taxonomy_codes(job.schema, names[feature], self.taxonomies[names[feature]])
            for place, feature in enumerate(coding.features)
            if self.taxonomies is not None and names[feature] in self.taxonomies
        }
        records = coding.bin_records(job.columns, job.labels, len(job.schema.classes))
        general, ledger = (
            Specialisation(coding, records.class_counts()[0], taxonomies),
            self.ledger(job),
        )
        self.specialise(job, general, ledger)
        splits = general.write(job.schema)
        exact_counts = count_leaves(splits, job.columns, job.labels)
        tree = label_by_noisy_counts(splits, exact_counts, ledger, job.epsilon / 2)
        return [Grown(tree, tuple(ledger.spends()))]

    def exact_scores(
        self, general: Specialisation, ways: Sequence[Sequence[Value]]
    ) -> NDArray[np.float64]:
        """Return the score of each of several ways to specialise a value."""
        counts = map(general.counts, ways)
        if self.criterion == "max":
            return np.array([float(own.max(axis=0).sum()) for own in counts])
        return np.array([information_gain(own) for own in counts])

    def mechanism(self, job: Job, general: Specialisation) -> Exponential:
        """Return a draw at its real cost."""
        share, _ = self._plan(job, general.coding)
        if self.criterion == "max":
            return Exponential(share / 2, Fraction(1))
        n_classes = len(job.schema.classes)
        return Exponential(share, Fraction(math.nextafter(2 * math.log2(n_classes), math.inf)))

    def specialise(self, job: Job, general: Specialisation, ledger: Ledger) -> None:
        mechanism, drawn = self.mechanism(job, general), list[tuple[Value, tuple[Value, ...]]]()

        def offer(values: Sequence[Value], ledger: Ledger) -> None:
            """Add a way to specialise each value. The values must be of disjoint records."""
            ways = [general.ways(value) for value in values]
            offered = [(value, own) for value, own in zip(values, ways, strict=True) if own]
            exact = [self.exact_scores(general, own) for value, own in offered if value.codes]
            chosen = [0] * len(offered)
            if exact:
                draw = OnDisjointRecords(mechanism)
                chosen = ledger.release(draw, exact, purpose="threshold of an interval")
            drawn.extend((value, own[k]) for (value, own), k in zip(offered, chosen, strict=True))

        for value in general.values:
            offer([value], ledger)
        for step in range(job.max_depth):
            some = [one for one in drawn if general.has_room(one[0], len(one[1]))]
            if not some:
                return
            exact_scores = self.exact_scores(general, [parts for _, parts in some])
            one = some[ledger.release(mechanism, exact_scores, purpose="value to specialise")]
            drawn.remove(one)
            general.specialise(*one)
            if step < job.max_depth - 1:
                offer(one[1], ledger)
