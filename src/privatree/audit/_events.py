"""Events that tell two datasets apart: named by theory, or learned from trainings.

An event is learned from trainings that are not counted afterwards. Half of these trainings give
each outcome a score: the smoothed log-likelihood ratio of the two datasets. The other half is used
to choose a threshold for the score. An outcome can have parts, such as one prediction for each of
several records. Then a second score adds up the scores of the parts, as in naive Bayes. It is
useful if the same outcome rarely occurs twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privatree.repetition import clopper_pearson_lower, clopper_pearson_upper

Outcomes = Sequence[Hashable]
Score = Callable[[Hashable], float]
_Side = Literal["first", "second"]

_SMOOTHING = 0.5
_TIE = 1e-6
_SHOWN = 3
"""Largest number of outcomes that the description of an event lists."""
_WIDTH = 160
"""Largest number of characters in the description of an outcome."""


@dataclass(frozen=True)
class Event:
    """An observation of a trained model that is more probable on one of two datasets.

    Parameters
    ----------
    view : str
        Name of the view that shows the event: one of :data:`privatree.audit._views.VIEWS`, or one
        of your own.
    words : str
        The event as a sentence.
    happens : callable
        Takes what the view shows; returns whether the event happened. If training failed, every
        view shows a tuple that begins with "error". If the model lacks what the view looks at, the
        view shows None.
    likelier : {"first", "second"}
        Dataset on which the event is expected more often.

    Examples
    --------
    >>> event = Event("labels", "the prediction is 1", lambda labels: labels == ("1",), "second")
    >>> event.count([("0",), ("1",), ("1",)])
    2
    """

    view: str
    words: str
    happens: Callable[[Hashable], bool]
    likelier: _Side

    def count(self, outcomes: Outcomes) -> int:
        """Count the outcomes in which the event happened."""
        return sum(bool(self.happens(outcome)) for outcome in outcomes)


def event_bounds(
    often: NDArray[np.int64],
    seldom: NDArray[np.int64],
    runs: int,
    failure_probability: float,
    delta: float = 0.0,
    *,
    changes: int = 1,
) -> NDArray[np.float64]:
    """Return lower bounds on epsilon, one for each event, from its counts.

    If a learner is (epsilon, delta)-private, p <= e^epsilon q + delta for the probabilities p and q
    of any event. p is bounded from below and q from above, by Clopper and Pearson [CP34]. With
    ``changes=2``, the two datasets are neighbours of a third dataset, but not of each other. Then
    p <= e^(2 epsilon) q + (1 + e^epsilon) delta.

    ``often`` and ``seldom`` are counts over ``runs`` trainings on each dataset. Each bound is wrong
    with a probability of at most ``failure_probability``. Negative bounds are raised to 0.
    """
    p = clopper_pearson_lower(often, runs, failure_probability / 2)
    q = clopper_pearson_upper(seldom, runs, failure_probability / 2)
    beyond_delta = np.maximum(p - delta, 0.0)
    if changes == 1:
        ratio = beyond_delta / q
    else:  # the root of q z^2 + delta z + delta = p
        ratio = (np.sqrt(delta**2 + 4.0 * q * beyond_delta) - delta) / (2.0 * q)
    return np.log(np.maximum(ratio, 1.0))


def learned_event(
    view: str,
    words: str,
    first: Outcomes,
    second: Outcomes,
    failure_probability: float,
    delta: float,
    describe: Callable[[Hashable], str],
    *,
    has_parts: bool = False,
) -> tuple[float, Event]:
    """Return the bound that can be expected from the best event of a view, and this event.

    ``first`` and ``second`` are the outcomes of equally many trainings on each dataset. These
    trainings must not be counted later. ``describe`` puts an outcome into words. With
    ``has_parts``, an outcome is a tuple whose entries are also scored one by one.
    """
    half = len(first) // 2
    for_order, for_place = (first[:half], second[:half]), (first[half:], second[half:])
    scores: list[Score] = [_event_score(*for_order)]
    if has_parts:
        scores.append(_event_score_by_part(*for_order))
    promises = [_event_threshold(score, *for_place, failure_probability, delta) for score in scores]
    best = max(range(len(scores)), key=lambda place: promises[place][0])
    score, (promise, threshold, likelier) = scores[best], promises[best]

    def happens(outcome: Hashable) -> bool:
        return (score(outcome) >= threshold) == (likelier == "first")

    if best == 1:
        what = (
            f"{words}, weighed one by one as other trainings of both tables taught, speak for the "
            f"{likelier} one"
        )
    else:
        happened = Counter(outcome for outcome in (*first, *second) if happens(outcome))
        frequent_first = [outcome for outcome, _ in happened.most_common()]
        what = f"{words}: {_list_event_outcomes(frequent_first, describe)}"
    return promise, Event(view, what, happens, likelier)


def _event_score(first: Outcomes, second: Outcomes) -> Score:
    of_first, of_second = Counter(first), Counter(second)
    ratios = {
        outcome: math.log((of_first[outcome] + _SMOOTHING) / (of_second[outcome] + _SMOOTHING))
        for outcome in of_first.keys() | of_second.keys()
    }
    return lambda outcome: ratios.get(outcome, 0.0)


def _event_score_by_part(first: Outcomes, second: Outcomes) -> Score:
    """Return a function that adds up the scores of the parts of an outcome."""
    columns = [
        _event_score(*both) for both in zip(_event_parts(first), _event_parts(second), strict=False)
    ]

    def score(outcome: Hashable) -> float:
        parts = outcome if isinstance(outcome, tuple) else ()
        return sum(of_part(part) for of_part, part in zip(columns, parts, strict=False))

    return score


def _event_parts(outcomes: Outcomes) -> list[tuple[Hashable, ...]]:
    return list(zip_longest(*(o for o in outcomes if isinstance(o, tuple))))


def _event_threshold(
    score: Score, first: Outcomes, second: Outcomes, failure_probability: float, delta: float
) -> tuple[float, float, _Side]:
    """Return the largest bound over all thresholds, its threshold, and the likelier dataset."""
    of_first = np.sort([score(outcome) for outcome in first])
    of_second = np.sort([score(outcome) for outcome in second])
    thresholds = np.unique(np.concatenate([of_first, of_second]))
    runs = len(of_first)
    above_first = runs - np.searchsorted(of_first, thresholds)
    above_second = runs - np.searchsorted(of_second, thresholds)
    # If there are too few runs for any bound, prefer the largest difference.
    gaps = _TIE * (above_first - above_second) / runs
    for_first = gaps + event_bounds(above_first, above_second, runs, failure_probability, delta)
    for_second = gaps + event_bounds(
        runs - above_second, runs - above_first, runs, failure_probability, delta
    )
    likelier: _Side = "first" if for_first.max() >= for_second.max() else "second"
    bounds = for_first if likelier == "first" else for_second
    place = int(bounds.argmax())
    return float(bounds[place]), float(thresholds[place]), likelier


def _list_event_outcomes(outcomes: Sequence[Hashable], describe: Callable[[Hashable], str]) -> str:
    """Return a short list of the outcomes in words."""
    if not outcomes:
        return "something that was not seen before"
    texts = [describe(outcome) for outcome in outcomes[:_SHOWN]]
    shown = [text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…" for text in texts]
    if len(outcomes) > _SHOWN:
        shown.append(f"one of {len(outcomes) - _SHOWN} others")
    return "; or ".join(shown)
