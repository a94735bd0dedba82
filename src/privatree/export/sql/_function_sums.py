"""Functions of many rounds, added up: step functions by feature, and branches by question.

A sum has far fewer terms than there are rounds, because rounds often ask the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privatree.model.ensemble import Branch, RoundFunction, Step
from privatree.schema import Categorical, Schema


@dataclass(frozen=True, eq=False)
class StepSum:
    """A sum of step functions of one feature: whole numbers in place of signs.

    For a number, `values` has the value for each number of `cuts` that are below it. For a category
    feature, `values` has the value for each category code, and `cuts` is None.
    """

    feature: int
    values: NDArray[np.int64]
    cuts: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class BranchSum:
    """A sum of branches with the question of `branch`."""

    branch: Branch
    left: FunctionSum
    right: FunctionSum


@dataclass(frozen=True, eq=False)
class FunctionSum:
    """A constant, step functions of different features, and branches with different questions."""

    constant: int
    steps: tuple[StepSum, ...]
    branches: tuple[BranchSum, ...]


def add_functions(terms: Sequence[tuple[int, RoundFunction]], schema: Schema) -> FunctionSum:
    """Return the sum of functions that fit the schema, each times a whole number."""
    features = list(schema.features.values())
    steps: dict[int, list[tuple[int, Step]]] = {}
    branches: dict[tuple[int, float | None, bytes | None], list[tuple[int, Branch]]] = {}
    for times, function in terms:
        if isinstance(function, Step):
            steps.setdefault(function.feature, []).append((times, function))
        else:
            question = (function.feature, function.threshold, function.goes_left)
            branches.setdefault(question, []).append((times, function))
    constant, added = 0, []
    for position in sorted(steps):
        is_category = isinstance(features[position], Categorical)
        found = (_add_category_steps if is_category else _add_number_steps)(steps[position])
        if (found.values == found.values[0]).all():
            constant += int(found.values[0])
        else:
            added.append(found)
    return FunctionSum(
        constant,
        tuple(added),
        tuple(
            BranchSum(
                same[0][1],
                add_functions([(times, branch.left) for times, branch in same], schema),
                add_functions([(times, branch.right) for times, branch in same], schema),
            )
            for same in branches.values()
        ),
    )


def _add_category_steps(steps: list[tuple[int, Step]]) -> StepSum:
    signs = (
        times * (2 * np.frombuffer(step.positive or b"", np.uint8).astype(np.int64) - 1)
        for times, step in steps
    )
    return StepSum(steps[0][1].feature, np.sum([*signs], axis=0))


def _add_number_steps(steps: list[tuple[int, Step]]) -> StepSum:
    cuts = np.unique(np.concatenate([np.array(step.switches, float) for _, step in steps]))
    changes = np.zeros(len(cuts) + 1, dtype=np.int64)
    for times, step in steps:
        switched = np.searchsorted(cuts, np.array(step.switches, float)) + 1
        changes[0] += times * step.first
        changes[switched[::2]] -= 2 * times * step.first
        changes[switched[1::2]] += 2 * times * step.first
    changed = np.flatnonzero(changes[1:])  # at the other cuts, switches cancel each other
    values = np.cumsum(changes)
    kept = np.concatenate(([0], changed + 1))
    return StepSum(steps[0][1].feature, values[kept], cuts[changed])
