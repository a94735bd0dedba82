"""The best lower bound on epsilon for a pair of datasets, from the outcomes of its trainings.

The events are fixed before they are counted: those that theory names, and one that is learned from
the first half of the trainings and counted in the second half. The allowed probability of a wrong
bound is divided among the events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privatree.audit._events import Event, Outcomes, event_bounds, learned_event
from privatree.audit._outcome_words import outcome_describer
from privatree.audit._report import Finding
from privatree.audit._views import View, view_shows_anything
from privatree.audit.pairs._neighbours import Neighbours
from privatree.errors import ParameterError

Seen = Mapping[str, tuple[Outcomes, Outcomes]]
"""For each view, the outcomes on the first dataset and equally many on the second dataset."""


@dataclass(frozen=True)
class Counting:
    """Computes a lower bound on epsilon from the outcomes of a pair.

    The bound is wrong with a probability of at most ``failure_probability``. ``changes`` is 2 if
    the datasets differ by a replaced record that counts as two changes, and otherwise 1.
    """

    pair: Neighbours
    failure_probability: float
    delta: float = 0.0
    changes: int = 1

    @property
    def failure_probability_per_event(self) -> float:
        """Allowed probability that the bound of one event is wrong."""
        return self.failure_probability / (len(self.pair.events) + 1)

    def best_finding(self, seen: Seen, views: Mapping[str, View]) -> Finding:
        """Return the finding of the event with the largest bound."""
        learned = self.learn_event(
            {name: _halves_for_finding(both)[0] for name, both in seen.items()}, views
        )
        candidates = [
            *(self._count_event(event, seen[event.view]) for event in self.pair.events),
            self._count_event(learned, _halves_for_finding(seen[learned.view])[1], learned=True),
        ]
        return max(candidates, key=lambda finding: finding.lower_bound)

    def learn_event(self, seen: Seen, views: Mapping[str, View]) -> Event:
        """Return the event, from any view, from which the largest bound can be expected."""
        best, promised = None, -math.inf
        for name, (first, second) in seen.items():
            if not view_shows_anything(name, {*first, *second}):
                continue
            promise, event = learned_event(
                name,
                views[name].words,
                first,
                second,
                self.failure_probability_per_event,
                self.delta,
                outcome_describer(name, self.pair.schema, (*first, *second)),
                has_parts=views[name].has_parts,
            )
            if promise > promised:
                best, promised = event, promise
        if best is None:
            raise ParameterError(
                "at least one view must return something other than None for the models, but all "
                "returned None.",
                "views",
            )
        return best

    def _count_event(
        self, event: Event, seen: tuple[Outcomes, Outcomes], *, learned: bool = False
    ) -> Finding:
        runs = len(seen[0])
        of_first, of_second = (event.count(outcomes) for outcomes in seen)
        often, seldom = (
            (of_first, of_second) if event.likelier == "first" else (of_second, of_first)
        )
        counts = np.array([often]), np.array([seldom])
        (bound,) = event_bounds(
            *counts, runs, self.failure_probability_per_event, self.delta, changes=self.changes
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
            unit=self.pair.schema.unit,
        )


def _halves_for_finding(
    both: tuple[Outcomes, Outcomes],
) -> tuple[tuple[Outcomes, Outcomes], tuple[Outcomes, Outcomes]]:
    first, second = both
    half = len(first) // 2
    return (first[:half], second[:half]), (first[half:], second[half:])
