"""Every way in which the learner's own code can run, with its probability.

The code runs as it is; only its draws are taken from a *script*. After each run the last draw that
has an outcome left takes the next one, until there is none: all executions, as one turns over the
cards of every deck. The law of a draw is the one its mechanism states; the program itself is
checked against that law by chi-square.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.model import TreeBuilder
from privatree.privacy import Ledger, Mechanism, Randomness, SequentialMechanism
from privatree.privacy.mechanisms import Draw, Geometric, LogWeights, TruncatedGeometric

Result = TypeVar("Result")


class Script:
    """The outcomes of the draws of one execution.

    Parameters
    ----------
    prescribed : sequence of int
        For each of the first draws which of its possible outcomes to take; later draws take their
        first.
    """

    def __init__(self, prescribed: Sequence[int] = ()) -> None:
        self._prescribed = prescribed
        self._taken: list[int] = []
        self._n_possible: list[int] = []
        self.log_probability = 0.0
        self.transcript: list[Hashable] = []
        """All that was drawn and built, in order."""

    def choose(self, log_probabilities: NDArray[np.float64]) -> int:
        """An outcome that is possible."""
        possible = np.flatnonzero(log_probabilities > -np.inf).tolist()
        place = len(self._taken)
        taken = self._prescribed[place] if place < len(self._prescribed) else 0
        self._taken.append(taken)
        self._n_possible.append(len(possible))
        self.log_probability += float(log_probabilities[possible[taken]])
        self.transcript.append(possible[taken])
        return int(possible[taken])

    def following(self) -> list[int] | None:
        """What to prescribe for the next execution; None after the last."""
        following = list(self._taken)
        while following and following[-1] + 1 == self._n_possible[len(following) - 1]:
            following.pop()
        if not following:
            return None
        following[-1] += 1
        return following


def executions(run: Callable[[Script], Result]) -> Iterator[tuple[Script, Result]]:
    """Run in every possible way."""
    prescribed: list[int] | None = []
    while prescribed is not None:
        script = Script(prescribed)
        yield script, run(script)
        prescribed = script.following()


class ScriptedLedger(Ledger):
    """Charges what the ledger inside charges; what is drawn stands in a script.

    Parameters
    ----------
    ledger : Ledger
        Keeps the account.
    script : Script
        Says what is drawn.
    counts : sequence of int
        The noisy counts to go through, increasing, from 0 to the largest: the least stands for all
        below it and the largest for all above.
    """

    def __init__(self, ledger: Ledger, script: Script, counts: Sequence[int]) -> None:
        self._ledger, self._script, self._counts = ledger, script, counts

    @property
    def remaining(self) -> Fraction:
        """The epsilon that can still be spent on these records."""
        return self._ledger.remaining

    def parallel(self, count: int) -> tuple[Ledger, ...]:
        """Ledgers for disjoint parts of these records, with the same script."""
        parts = self._ledger.parallel(count)
        return tuple(ScriptedLedger(part, self._script, self._counts) for part in parts)

    def release(
        self,
        mechanism: Mechanism,
        exact: Any,
        *,
        purpose: str,
        node: int | None = None,
        times: int = 1,
    ) -> Any:
        """Charge, then take the outcome from the script."""
        scripted = _Scripted(mechanism, self._script, self._counts)
        return self._ledger.release(scripted, exact, purpose=purpose, node=node, times=times)

    def open_draw(
        self, mechanism: SequentialMechanism, *, purpose: str, node: int | None = None
    ) -> Draw:
        """Charge, then take the choices from the script."""
        draw = self._ledger.open_draw(mechanism, purpose=purpose, node=node)
        return ScriptedDraw(draw, self._script)


class _Scripted:
    """A mechanism that draws what the script says, by the law of another one."""

    def __init__(self, mechanism: Mechanism, script: Script, counts: Sequence[int]) -> None:
        self.name, self.epsilon = mechanism.name, mechanism.epsilon
        self._mechanism, self._script, self._counts = mechanism, script, counts

    def release(self, exact: Any, randomness: Randomness) -> Any:
        mechanism = self._mechanism
        if isinstance(mechanism, Geometric):
            return np.array([self._count(mechanism, count) for count in exact.tolist()])
        raise TypeError(f"the law of {mechanism.name} is not known here.")

    def _count(self, mechanism: Geometric, exact_count: int) -> int:
        law = TruncatedGeometric(
            mechanism.epsilon, mechanism.sensitivity, self._counts[0], self._counts[-1]
        )
        logs = law.log_probability(np.array(self._counts), exact_count)
        return self._counts[self._script.choose(logs)]


class ScriptedDraw(Draw):
    """Draws what a script says, by the law of another draw. Nothing is counted: it is replayed.

    Parameters
    ----------
    draw : Draw
        That of the mechanism.
    script : Script
        Says what is drawn.
    """

    def __init__(self, draw: Draw, script: Script) -> None:
        self._real: Draw = draw._real if isinstance(draw, ScriptedDraw) else draw
        self._script = script

    def draw(self, weights: LogWeights) -> int:
        """What the script says."""
        return self._script.choose(self._real.log_probabilities(weights))

    def draw_by_score(self, exact_scores: NDArray[np.int64]) -> int:
        """What the script says."""
        return self._script.choose(self._real.log_probabilities_by_score(exact_scores))

    def expect(self, n_choices: int) -> None:
        """Whatever the script says can be drawn."""


class ScriptedBuilder(TreeBuilder):
    """Writes down what is built of a tree."""

    def __init__(self, schema: Any, script: Script) -> None:
        super().__init__(schema)
        self._script = script
        self.built: dict[int, tuple[Hashable, ...]] = {}
        """For each finished node its label, or its split and its two children."""

    def split_numeric(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        """Write down a split of a number."""
        children = super().split_numeric(node, feature, threshold)
        self._write(node, (int(feature), float(threshold), *children))
        return children

    def split_categories(
        self, node: int, feature: int, left_codes: Iterable[int]
    ) -> tuple[int, int]:
        """Write down a split of categories."""
        left = tuple(left_codes)
        children = super().split_categories(node, feature, left)
        self._write(node, (int(feature), left, *children))
        return children

    def leaf(self, node: int, label: int, probability: Sequence[float] | None = None) -> None:
        """Write down a leaf."""
        super().leaf(node, label, probability)
        self._write(node, (int(label), None if probability is None else tuple(probability)))

    def _write(self, node: int, what: tuple[Hashable, ...]) -> None:
        self.built[node] = what
        self._script.transcript.append((node, what))
