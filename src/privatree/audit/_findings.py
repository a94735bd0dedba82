"""From what was seen of both tables' trainings to the best bound of a pair.

What is counted is fixed before it is counted: events that theory names, and one that is learned
from the first half of the trainings and counted in the second. How many they are is fixed, too,
and they share the probability of a wrong bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privatree.audit._events import Event, Outcomes, learned_event, loss_bounds
from privatree.audit._outcomes import View, shows_something
from privatree.audit._report import Finding
from privatree.audit._wording import in_words
from privatree.audit.pairs._neighbours import Neighbours
from privatree.errors import ParameterError

Seen = Mapping[str, tuple[Outcomes, Outcomes]]
"""Of each view what it showed of the first table's trainings, and of as many of the second's."""


@dataclass(frozen=True)
class Counting:
    """How outcomes of a pair become a bound.

    Parameters
    ----------
    pair : Neighbours
        The tables.
    failure_probability : float
        That the bound is above the real epsilon: at most this.
    delta : float, default=0.0
        Of the claim.
    changes : int, default=1
        How many neighbours apart the tables are, as the claim counts: 1 or 2.
    """

    pair: Neighbours
    failure_probability: float
    delta: float = 0.0
    changes: int = 1

    @property
    def share(self) -> float:
        """The failure probability of each event: of each that is named, and of the learned one."""
        return self.failure_probability / (len(self.pair.events) + 1)

    def finding(self, seen: Seen, views: Mapping[str, View]) -> Finding:
        """The event that shows most."""
        learned = self.learned({name: _halves(both)[0] for name, both in seen.items()}, views)
        candidates = [
            *(self._counted(event, seen[event.view]) for event in self.pair.events),
            self._counted(learned, _halves(seen[learned.view])[1], learned=True),
        ]
        return max(candidates, key=lambda finding: finding.lower_bound)

    def learned(self, seen: Seen, views: Mapping[str, View]) -> Event:
        """The event that promises most, of all that the views show in some trainings."""
        best, promised = None, -math.inf
        for name, (first, second) in seen.items():
            if not shows_something(name, {*first, *second}):
                continue
            promise, event = learned_event(
                name,
                views[name].words,
                first,
                second,
                self.share,
                self.delta,
                in_words(name, self.pair.schema, (*first, *second)),
                has_parts=views[name].has_parts,
            )
            if promise > promised:
                best, promised = event, promise
        if best is None:
            raise ParameterError(
                "views must show something of a model: none of them does.", "views"
            )
        return best

    def _counted(
        self, event: Event, seen: tuple[Outcomes, Outcomes], *, learned: bool = False
    ) -> Finding:
        runs = len(seen[0])
        of_first, of_second = (event.count(outcomes) for outcomes in seen)
        often, seldom = (
            (of_first, of_second) if event.likelier == "first" else (of_second, of_first)
        )
        (bound,) = loss_bounds(
            np.array([often]),
            np.array([seldom]),
            runs,
            self.share,
            self.delta,
            changes=self.changes,
        )
        return Finding(
            pair=self.pair.name,
            after=self.pair.after,
            lower_bound=float(bound),
            event=event.words,
            learned=learned,
            counts=(of_first, of_second),
            runs=runs,
            sizes=self.pair.sizes,
            changes=self.changes,
        )


def _halves(
    both: tuple[Outcomes, Outcomes],
) -> tuple[tuple[Outcomes, Outcomes], tuple[Outcomes, Outcomes]]:
    first, second = both
    half = len(first) // 2
    return (first[:half], second[:half]), (first[half:], second[half:])
