"""Every possible execution of the learner's own code, with its probability.

The code runs unchanged, but a *script* decides the outcome of every draw. The scripts go through
all combinations of outcomes, as nested loops would. The probability of an outcome is the one that
the mechanism states. Chi-square tests elsewhere check that the samplers have these probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.model import TreeBuilder
from privatree.privacy import Ledger, Mechanism, Randomness, SequentialMechanism
from privatree.privacy.mechanisms import (
    DenseInterval,
    Draw,
    Geometric,
    LogWeights,
    TruncatedGeometric,
)

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

    ``counts`` are the possible noisy counts, increasing from 0 to the largest. The first count also
    stands for all smaller counts, and the last count for all larger ones.
    """

    def __init__(self, ledger: Ledger, script: Script, counts: Sequence[int]) -> None:
        self._ledger, self._script, self._counts = ledger, script, counts

    @property
    def remaining(self) -> Fraction:
        return self._ledger.remaining

    def parallel(self, count: int) -> tuple[Ledger, ...]:
        parts = self._ledger.parallel(count)
        return tuple(ScriptedLedger(part, self._script, self._counts) for part in parts)

    def release(self, mechanism: Mechanism, exact: Any, **charge: Any) -> Any:
        scripted = _ScriptedMechanism(mechanism, self._script, self._counts)
        return self._ledger.release(scripted, exact, **charge)

    def open_draw(self, mechanism: SequentialMechanism, **charge: Any) -> Draw:
        return ScriptedDraw(self._ledger.open_draw(mechanism, **charge), self._script)


class _ScriptedMechanism:
    """A mechanism with the probabilities of another one, whose outcomes a script decides."""

    def __init__(self, mechanism: Mechanism, script: Script, counts: Sequence[int]) -> None:
        self.name, self.epsilon = mechanism.name, mechanism.epsilon
        self._mechanism, self._script, self._counts = mechanism, script, counts

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

    def _scripted_count(self, mechanism: Geometric, exact_count: int) -> int:
        law = TruncatedGeometric(
            mechanism.epsilon, mechanism.sensitivity, self._counts[0], self._counts[-1]
        )
        logs = law.log_probability(np.array(self._counts), exact_count)
        return self._counts[self._script.choose_outcome(logs)]


class ScriptedDraw(Draw):
    """A draw with the probabilities of another one, whose outcomes a script decides."""

    def __init__(self, draw: Draw, script: Script) -> None:
        self._real: Draw = draw._real if isinstance(draw, ScriptedDraw) else draw
        self._script = script

    def draw(self, weights: LogWeights) -> int:
        return self._script.choose_outcome(self._real.log_probabilities(weights))

    def draw_by_score(self, exact_scores: NDArray[np.int64]) -> int:
        return self._script.choose_outcome(self._real.log_probabilities_by_score(exact_scores))

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

    def _write_to_transcript(self, node: int, what: tuple[Hashable, ...]) -> None:
        self.built[node] = what
        self._script.transcript.append((node, what))
