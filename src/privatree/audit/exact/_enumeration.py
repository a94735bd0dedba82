"""Every possible execution of the learner's own code, with its probability.

The code runs unchanged, but a *script* decides the outcome of every draw. The scripts go through
all combinations of outcomes, as nested loops would. The probability of an outcome is the one that
the mechanism states. Chi-square tests elsewhere check that the samplers have these probabilities.

The learner rounds noisy sums of weights to whole records. So an outcome is a whole number of
records, with the probability of all noisy sums that are rounded to it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting import LEAF, BinnedRecords, ClassCounts
from privatree.model import TreeBuilder
from privatree.privacy import (
    ComposedLedger,
    Ledger,
    Mechanism,
    Randomness,
    RangeGroup,
    SequentialMechanism,
)
from privatree.privacy.mechanisms import (
    DenseInterval,
    Draw,
    Geometric,
    LogWeights,
)
from privatree.privacy.samplers import LinkedCoins

Result = TypeVar("Result")


class Script:
    """The outcomes of the draws of one execution.

    ``prescribed`` says for each of the first draws which of its possible outcomes to take. Later
    draws take their first possible outcome.
    """

    def __init__(self, prescribed: Sequence[int] = ()) -> None:
        self._prescribed = prescribed
        self._taken: list[int] = []
        self._n_possible: list[int] = []
        self.log_probability = 0.0
        self.transcript: list[Hashable] = []
        """Everything that was drawn and built, in order."""

    def choose_outcome(self, log_probabilities: NDArray[np.float64]) -> int:
        """Return the position of the prescribed outcome, and note the outcome's probability."""
        possible = np.flatnonzero(log_probabilities > -np.inf).tolist()
        place = len(self._taken)
        taken = self._prescribed[place] if place < len(self._prescribed) else 0
        self._taken.append(taken)
        self._n_possible.append(len(possible))
        self.log_probability += float(log_probabilities[possible[taken]])
        self.transcript.append(possible[taken])
        return int(possible[taken])

    def next_prescription(self) -> list[int] | None:
        """Return the prescription of the next execution, or None after the last."""
        following = list(self._taken)
        while following and following[-1] + 1 == self._n_possible[len(following) - 1]:
            following.pop()
        if not following:
            return None
        following[-1] += 1
        return following


def run_every_execution(run: Callable[[Script], Result]) -> Iterator[tuple[Script, Result]]:
    prescribed: list[int] | None = []
    while prescribed is not None:
        script = Script(prescribed)
        yield script, run(script)
        prescribed = script.next_prescription()


class ScriptedLedger(Ledger):
    """A ledger that charges another ledger, but lets a script decide the outcome of every draw.

    ``counts`` are the possible noisy counts of records, increasing from 0 to the largest. The first
    count also stands for all smaller counts, and the last count for all larger ones. ``records``
    say what a record weighs.
    """

    def __init__(
        self, ledger: Ledger, script: Script, counts: Sequence[int], records: ClassCounts
    ) -> None:
        self._ledger, self._script, self._counts = ledger, script, counts
        self._records = records

    @property
    def remaining(self) -> Fraction:
        return self._ledger.remaining

    def parallel(self, count: int) -> tuple[Ledger, ...]:
        parts = self._ledger.parallel(count)
        given = self._script, self._counts, self._records
        return tuple(ScriptedLedger(part, *given) for part in parts)

    def release(self, mechanism: Mechanism, exact: Any, **charge: Any) -> Any:
        full_weight = self._records.full_weight
        scripted = _ScriptedMechanism(mechanism, self._script, self._counts, full_weight)
        return self._ledger.release(scripted, exact, **charge)

    def open_draw(self, mechanism: SequentialMechanism, **charge: Any) -> Draw:
        return ScriptedDraw(self._ledger.open_draw(mechanism, **charge), self._script)

    def compose(
        self, epsilon: Fraction, delta: Fraction, groups: Sequence[RangeGroup], *, factor: int = 1
    ) -> ComposedLedger:
        composed = self._ledger.compose(epsilon, delta, groups, factor=factor)
        return _ScriptedComposition(composed, self._script)


class _ScriptedComposition(ComposedLedger):
    """Draws that were charged for together, whose outcomes a script decides."""

    def __init__(self, composed: ComposedLedger, script: Script) -> None:
        self._composed, self._script = composed, script

    def release(self, mechanism: Mechanism, exact: Any, **charge: Any) -> Any:
        scripted = _ScriptedMechanism(mechanism, self._script, (0,), 1)
        return self._composed.release(scripted, exact, **charge)

    def open_draw(self, mechanism: SequentialMechanism, **charge: Any) -> Draw:
        return ScriptedDraw(self._composed.open_draw(mechanism, **charge), self._script)


class _ScriptedMechanism:
    """A mechanism with the probabilities of another one, whose outcomes a script decides."""

    def __init__(
        self, mechanism: Mechanism, script: Script, counts: Sequence[int], full_weight: int
    ) -> None:
        self.name, self.epsilon = mechanism.name, mechanism.epsilon
        self.is_bounded_range = getattr(mechanism, "is_bounded_range", False)
        self._mechanism, self._script, self._counts = mechanism, script, counts
        self._full_weight = full_weight

    def release(self, exact: Any, randomness: Randomness) -> Any:
        mechanism = self._mechanism
        if isinstance(mechanism, Geometric):
            return np.array([self._scripted_count(mechanism, count) for count in exact.tolist()])
        if isinstance(mechanism, DenseInterval):
            chosen = self._script.choose_outcome(mechanism.log_probabilities(exact))
            return mechanism.intervals[chosen]
        raise TypeError(
            f"the mechanism must be Geometric or DenseInterval, got {type(mechanism).__name__}."
        )

    def _scripted_count(self, mechanism: Geometric, exact_sum: int) -> int:
        counts = np.array(self._counts)
        logs = log_probability_of_records(mechanism, counts, exact_sum, self._full_weight)
        return self._counts[self._script.choose_outcome(logs)] * self._full_weight


def log_probability_of_records(
    mechanism: Geometric, counts: NDArray[np.int64], exact_sum: int, full_weight: int
) -> NDArray[np.float64]:
    """Return the logarithms of the probabilities that a noisy sum is rounded to these counts.

    A sum is rounded to the nearest multiple of `full_weight`, which is one record. The first of the
    counts stands for all counts below it, and the last for all counts above it.

    Notes
    -----
    The probability that the noise is k or more, or -k or less, is a^k/(1 + a) for k >= 0. All
    differences are taken without cancellation.
    """
    rate = float(mechanism.rate)
    lowest = counts * float(full_weight) - full_weight // 2
    highest = lowest + full_weight - 1
    lowest[0], highest[-1] = -np.inf, np.inf
    below, above = exact_sum - lowest, highest - exact_sum  # both at least 0 if the sum is between
    with np.errstate(all="ignore"):
        beside = np.minimum(below, above) * rate + np.log(-np.expm1(-rate * (below + above + 1)))
        between = np.log(-np.expm1(-rate * (below + 1)) - np.exp(-rate) * np.expm1(-rate * above))
    logs = np.where((below >= 0) & (above >= 0), between, beside)
    return np.asarray(logs - np.log1p(np.exp(-rate)))


_Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Codes, labels or target codes, and weights of some records."""


class ScriptedRecords(BinnedRecords):
    """Records that write what is done to their weights to the script's transcript.

    So the factors of the classes count as released. The records of leaves are kept, too.
    """

    def __init__(self, records: BinnedRecords, script: Script) -> None:
        vars(self).update(vars(records))
        self._script = script
        self._rows_of_leaves: dict[int, _Rows] = {}

    def weigh_classes(self, factors: Sequence[int], full_factor: int) -> None:
        self._script.transcript.append(("class factors", *factors, full_factor))
        super().weigh_classes(factors, full_factor)

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        nodes = zip(features, children, self.records_of_nodes(), strict=False)
        for feature, codes_to, (codes, labels, weights) in nodes:
            for child in np.unique(codes_to[codes_to <= LEAF]).tolist():
                here = codes_to[codes[:, feature]] == child
                self._rows_of_leaves[LEAF - child] = codes[here], labels[here], weights[here]
        super().descend(features, children)

    def records_of_nodes(self) -> Iterator[_Rows]:
        """Yield the records of each node, and then those of each leaf so far."""
        labels = self._labels if self._targets is None else self._targets
        weights = np.ones(len(labels), np.int64) if self._weights is None else self._weights
        for start, stop in pairwise(self._starts.tolist()):
            yield self._codes[start:stop], labels[start:stop], weights[start:stop]
        yield from (self._rows_of_leaves[leaf] for leaf in sorted(self._rows_of_leaves))


class ScriptedDraw(Draw):
    """A draw with the probabilities of another one, whose outcomes a script decides."""

    def __init__(self, draw: Draw, script: Script) -> None:
        self._real: Draw = draw._real if isinstance(draw, ScriptedDraw) else draw
        self._script = script

    def draw(self, weights: LogWeights) -> int:
        return self._script.choose_outcome(self._real.log_probabilities(weights))

    def draw_by_score(self, exact_scores: NDArray[np.int64]) -> int:
        return self._script.choose_outcome(self._real.log_probabilities_by_score(exact_scores))

    def draw_signs(self, coins: LinkedCoins) -> NDArray[np.bool_]:
        logs = self._real.log_probabilities_of_signs(coins)
        signs: list[int] = []
        for place in range(logs.shape[1]):
            before = signs[-1] if signs else 0
            signs.append(self._script.choose_outcome(logs[before, place]))
        return np.array(signs, dtype=np.bool_)

    def expect(self, n_choices: int) -> None:
        """Do nothing: the number of choices is not checked."""


class ScriptedBuilder(TreeBuilder):
    """A tree builder that also writes each node to the script's transcript."""

    def __init__(self, schema: Any, script: Script) -> None:
        super().__init__(schema)
        self._script = script
        self.built: dict[int, tuple[Hashable, ...]] = {}
        """Each node by its number: label, probabilities and counts, or split and children."""

    def split_numeric(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        children = super().split_numeric(node, feature, threshold)
        self._write_to_transcript(node, (int(feature), float(threshold), *children))
        return children

    def split_categories(
        self, node: int, feature: int, left_codes: Iterable[int]
    ) -> tuple[int, int]:
        left = tuple(left_codes)
        children = super().split_categories(node, feature, left)
        self._write_to_transcript(node, (int(feature), left, *children))
        return children

    def leaf(
        self,
        node: int,
        label: int,
        probability: Sequence[float] | None = None,
        noisy_counts: Sequence[int] | None = None,
        support_error: int = 0,
    ) -> None:
        super().leaf(node, label, probability, noisy_counts, support_error)
        shares, counts = (
            None if row is None else tuple(row) for row in (probability, noisy_counts)
        )
        self._write_to_transcript(node, (int(label), shares, counts))

    def value_leaf(
        self,
        node: int,
        value: float,
        noisy_count: int | None = None,
        support_error: int = 0,
        shares: Sequence[float] | None = None,
    ) -> None:
        super().value_leaf(node, value, noisy_count, support_error, shares)
        self._write_to_transcript(
            node, (float(value), noisy_count, None if shares is None else tuple(shares))
        )

    def _write_to_transcript(self, node: int, what: tuple[Hashable, ...]) -> None:
        self.built[node] = what
        self._script.transcript.append((node, what))
