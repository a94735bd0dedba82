"""An ensemble as text: how its rounds add up, and a list of all rounds."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from privatree.export.text._shown_values import category_set_text, name_text, shown_thresholds
from privatree.export.text._tree_text import branching_lines
from privatree.model.ensemble import Branch, Ensemble, Round, RoundFunction, Step, nodes_of
from privatree.schema import Categorical

_MAX_SHOWN_CLASSES = 4


def ensemble_text(ensemble: Ensemble) -> str:
    """Return how the rounds of an ensemble add up, and the function of each round."""
    writer = _RoundWriter(ensemble)
    lines = [size_line(ensemble), *_sum_lines(ensemble)]
    for number, one in enumerate(ensemble.rounds, start=1):
        lines += writer.round_lines(number, one)
    return "\n".join(lines)


def size_line(ensemble: Ensemble) -> str:
    """Return the number of rounds, of features of a function, and of all features in use."""
    n_rounds, n_used = ensemble.n_rounds, len(ensemble.used_features)
    n_features = len(ensemble.schema.features)
    rounds = "1 round" if n_rounds == 1 else f"{n_rounds:,} rounds"
    asked = "one feature" if ensemble.depth == 1 else f"at most {ensemble.depth} features"
    return f"{rounds}, each with a function of {asked}; {n_used} of {n_features} features are used."


def _sum_lines(ensemble: Ensemble) -> list[str]:
    target = ensemble.schema.target
    if target is not None:
        learned = "the logarithm of 1 plus the prediction" if target.log else "the prediction"
        return [
            f"Begin with {ensemble.start:.6g}. A round adds its amount, or subtracts it: + or -.",
            f"The sum is {learned}, clipped to the range from {target.low:.6g} to "
            f"{target.high:.6g}.",
        ]
    classes = [name_text(label) for label in ensemble.schema.classes]
    if len(classes) == 2:
        return [
            f"The sum of all rounds times {ensemble.step:.6g} is the log-odds of {classes[1]}.",
            f"Predict {classes[1]} if the sum is above 0, and {classes[0]} otherwise.",
        ]
    return [
        "Each class has a sum. A round adds its function to the sums of the classes it raises, and",
        "subtracts it from the others. Predict the class with the largest sum (the first of "
        "equals).",
        f"The probabilities are the softmax of the sums times {ensemble.step / 2:.6g}.",
    ]


class _RoundWriter:
    """Writer of rounds. A threshold has the same text in all rounds."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._classes, self._step = ensemble.schema.classes, ensemble.step
        self._features = list(ensemble.schema.features.items())
        thresholds: dict[int, set[float]] = {}
        for one in ensemble.rounds:
            for node in nodes_of(one.function):
                found = thresholds.setdefault(node.feature, set())
                if isinstance(node, Step):
                    found.update(node.switches)
                elif node.threshold is not None:
                    found.add(node.threshold)
        self._thresholds: dict[int, dict[float, str]] = {}
        for position, numbers in thresholds.items():
            feature = self._features[position][1]
            if not isinstance(feature, Categorical):
                self._thresholds[position] = shown_thresholds(feature, numbers)

    def round_lines(self, number: int, one: Round) -> list[str]:
        def children(node: RoundFunction) -> tuple[RoundFunction, RoundFunction] | None:
            return (node.left, node.right) if isinstance(node, Branch) else None

        first, *below = branching_lines(one.function, self._node_text, children)
        return [f"round {number}{self._raised_text(one)}: {first}", *below]

    def _raised_text(self, one: Round) -> str:
        """Return which classes a round raises, or its amount; empty for two classes."""
        if not self._classes:
            return f" (amount {self._step * one.amounts[0]:.4g})"
        if len(self._classes) == 2:
            return ""
        signs = zip(self._classes, one.amounts, strict=True)
        raised = [name_text(label) for label, sign in signs if sign > 0]
        more = len(raised) - _MAX_SHOWN_CLASSES
        shown = ", ".join(raised[:_MAX_SHOWN_CLASSES]) + (f" and {more} more" if more > 0 else "")
        return f" (raises {shown or 'no class'})"

    def _node_text(self, node: RoundFunction) -> str:
        return self._question(node) if isinstance(node, Branch) else self._step_text(node)

    def _question(self, branch: Branch) -> str:
        name, feature = self._features[branch.feature]
        shown = name_text(name)
        if isinstance(feature, Categorical):
            return f"{shown} {category_set_text(feature, _mask(branch.goes_left))}"
        if branch.threshold is None or branch.threshold == -math.inf:
            return f"{shown} is missing"
        text = self._thresholds[branch.feature][branch.threshold]
        return f"{shown} {'is missing or ' * feature.separates_missing}<= {text}"

    def _step_text(self, step: Step) -> str:
        name, feature = self._features[step.feature]
        shown = name_text(name)
        if isinstance(feature, Categorical):
            mask = _mask(step.positive)
            if mask.all() or not mask.any():
                return _constant_text(1 if mask.all() else -1)
            return f"+1 if {shown} {category_set_text(feature, mask)}, else -1"
        if not step.switches:
            return _constant_text(step.first)
        pieces = self._pieces(step, shown, feature.separates_missing)
        by_sign = {sign: pieces[place::2] for place, sign in enumerate((step.first, -step.first))}
        sign = 1 if len(by_sign[1]) <= len(by_sign[-1]) else -1  # whichever is shorter
        return f"{sign:+d} if {' or '.join(by_sign[sign])}, else {-sign:+d}"

    def _pieces(self, step: Step, name: str, separates_missing: bool) -> list[str]:
        """Return the conditions of the intervals between switches, from the lowest upwards."""
        texts = [self._thresholds[step.feature].get(number, "") for number in step.switches]
        if not texts[0]:  # minus infinity: only missing values are below it
            if len(texts) == 1:
                return [f"{name} is missing", f"{name} is not missing"]
            pieces = [f"{name} is missing", f"{name} <= {texts[1]}"]
            texts = texts[1:]
        else:
            pieces = [f"{name} {'is missing or ' * separates_missing}<= {texts[0]}"]
        pieces += [f"{low} < {name} <= {high}" for low, high in pairwise(texts)]
        return [*pieces, f"{name} > {texts[-1]}"]


def _mask(entries: bytes | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.frombuffer(entries or b"", dtype=np.uint8) > 0


def _constant_text(sign: int) -> str:
    return f"{sign:+d} for all records"
