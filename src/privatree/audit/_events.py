"""Events that tell two tables apart: named by theory, or learned from trainings.

An event is learned from trainings that are not counted afterwards: on some of them outcomes are put
in the order in which they speak for the first table (smoothed likelihood ratio), on others a place
in that order is chosen. Where an outcome has parts, such as one prediction for each of several
records, the parts can be weighed one by one instead, as in naive Bayes: whole outcomes may be too
many to be seen twice.
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

_SMOOTHING = 0.5
_TIE = 1e-6
_SHOWN = 3
_WIDTH = 160


@dataclass(frozen=True)
class Event:
    """Something that can be seen of a model.

    Parameters
    ----------
    view : str
        By which view it is seen (:data:`privatree.audit._outcomes.VIEWS`, or one of your own).
    words : str
        What happens, as a sentence.
    happens : callable
        Takes what the view shows, and says whether it is so. If training fails, every view shows
        a tuple that begins with "error"; None, if the model has nothing of the kind.
    likelier : {"first", "second"}
        The table from which it is expected to come more often.
    """

    view: str
    words: str
    happens: Callable[[Hashable], bool]
    likelier: Literal["first", "second"]

    def count(self, outcomes: Outcomes) -> int:
        """How often it happens."""
        return sum(bool(self.happens(outcome)) for outcome in outcomes)


def loss_bounds(
    often: NDArray[np.int64],
    seldom: NDArray[np.int64],
    runs: int,
    failure_probability: float,
    delta: float = 0.0,
    *,
    changes: int = 1,
) -> NDArray[np.float64]:
    """Lower bounds on epsilon, each from how often an event came from two tables.

    If a learner is (epsilon, delta)-private, p <= e^epsilon q + delta for the probabilities p and q
    of any event. p is bounded from below and q from above, by Clopper and Pearson [CP34]. Over a
    table between two others, p <= e^(2 epsilon) q + (1 + e^epsilon) delta.

    Parameters
    ----------
    often, seldom : arrays of int
        How often each event came from the table for which it speaks, and from the other.
    runs : int
        Trainings of each table.
    failure_probability : float
        Probability that one of these bounds is above epsilon: at most this.
    delta : float, default=0.0
        The learner's.
    changes : int, default=1
        1 if the tables are neighbours, 2 if there is one between them.

    Returns
    -------
    ndarray
        At least 0, which always holds.
    """
    p = clopper_pearson_lower(often, runs, failure_probability / 2)
    q = clopper_pearson_upper(seldom, runs, failure_probability / 2)
    beyond_delta = np.maximum(p - delta, 0.0)
    if changes == 1:
        ratio = beyond_delta / q
    else:  # the root of q z^2 + delta z + delta = p
        ratio = (np.sqrt(delta**2 + 4.0 * q * beyond_delta) - delta) / (2.0 * q)
    return np.log(np.maximum(ratio, 1.0))


@dataclass(frozen=True)
class _Learned:
    """A score above (or below) a threshold."""

    score: Score
    threshold: float
    likelier: Literal["first", "second"]

    def __call__(self, outcome: Hashable) -> bool:
        above = self.score(outcome) >= self.threshold
        return above == (self.likelier == "first")


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
    """The event by which a view tells two tables apart best.

    Parameters
    ----------
    view : str
        The name of the view.
    words : str
        What it shows.
    first, second : sequence of hashable
        What it showed of as many trainings of each table, none of which may be counted later.
    failure_probability : float
        Of the bound that will be made from the event.
    delta : float
        The learner's.
    describe : callable
        An outcome in words.
    has_parts : bool, default=False
        Whether an outcome is a tuple of which each place says something by itself.

    Returns
    -------
    float
        The bound that these trainings promise.
    Event
        Learned from them.
    """
    half = len(first) // 2
    for_order, for_place = (first[:half], second[:half]), (first[half:], second[half:])
    scores: list[Score] = [_by_whole(*for_order)]
    if has_parts:
        scores.append(_by_parts(*for_order))
    promises = [_placed(score, *for_place, failure_probability, delta) for score in scores]
    best = max(range(len(scores)), key=lambda place: promises[place][0])
    promise, rule = promises[best]
    happening = Counter(o for o in (*first, *second) if rule(o))
    if best == 1:
        what = (
            f"{words}, weighed one by one as other trainings of both tables taught, speak for the "
            f"{rule.likelier} one"
        )
    else:
        what = f"{words}: {_one_of([outcome for outcome, _ in happening.most_common()], describe)}"
    return promise, Event(view, what, rule, rule.likelier)


def _by_whole(first: Outcomes, second: Outcomes) -> Score:
    of_first, of_second = Counter(first), Counter(second)
    ratios = {
        outcome: math.log((of_first[outcome] + _SMOOTHING) / (of_second[outcome] + _SMOOTHING))
        for outcome in of_first.keys() | of_second.keys()
    }
    return lambda outcome: ratios.get(outcome, 0.0)


def _by_parts(first: Outcomes, second: Outcomes) -> Score:
    """An error is a tuple, too; places that an outcome does not have say nothing."""
    columns = [_by_whole(*both) for both in zip(_columns(first), _columns(second), strict=False)]

    def score(outcome: Hashable) -> float:
        parts = outcome if isinstance(outcome, tuple) else ()
        return sum(of_part(part) for of_part, part in zip(columns, parts, strict=False))

    return score


def _columns(outcomes: Outcomes) -> list[tuple[Hashable, ...]]:
    return list(zip_longest(*(o for o in outcomes if isinstance(o, tuple))))


def _placed(
    score: Score, first: Outcomes, second: Outcomes, failure_probability: float, delta: float
) -> tuple[float, _Learned]:
    """The best threshold of a score, and the bound there."""
    of_first = np.sort([score(outcome) for outcome in first])
    of_second = np.sort([score(outcome) for outcome in second])
    thresholds = np.unique(np.concatenate([of_first, of_second]))
    runs = len(of_first)
    above_first = runs - np.searchsorted(of_first, thresholds)
    above_second = runs - np.searchsorted(of_second, thresholds)
    # Where there are too few runs for any bound, the largest difference promises most.
    gaps = _TIE * (above_first - above_second) / runs
    for_first = gaps + loss_bounds(above_first, above_second, runs, failure_probability, delta)
    for_second = gaps + loss_bounds(
        runs - above_second, runs - above_first, runs, failure_probability, delta
    )
    if for_first.max() >= for_second.max():
        place = int(for_first.argmax())
        return float(for_first[place]), _Learned(score, float(thresholds[place]), "first")
    place = int(for_second.argmax())
    return float(for_second[place]), _Learned(score, float(thresholds[place]), "second")


def _one_of(outcomes: Sequence[Hashable], describe: Callable[[Hashable], str]) -> str:
    """A list that stays short, the most frequent first."""
    if not outcomes:
        return "something that was not seen before"
    texts = [describe(outcome) for outcome in outcomes[:_SHOWN]]
    shown = [text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…" for text in texts]
    if len(outcomes) > _SHOWN:
        shown.append(f"one of {len(outcomes) - _SHOWN} others")
    return "; or ".join(shown)
