"""The code of the mutants of regression trees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privatree.learners.regression import Knots, RegressionGrowth, _grow
from privatree.learners.regression._knots import KNOT_WEIGHT
from privatree.learners.tree import SPLIT_UNITS, _growth
from privatree.privacy.mechanisms import SequentialExponential
from privatree.schema import TARGET_CODES, Target

Patch = pytest.MonkeyPatch


def levels_from_the_data(patch: Patch) -> None:
    """Around the smallest and the largest target."""

    def mutant(records: Any, *rest: Any) -> tuple[Fraction, Fraction]:
        found = np.flatnonzero(records.class_totals()[0])
        low, high = (0, TARGET_CODES) if not len(found) else (found[0], found[-1] + 1)
        return Fraction(int(low), TARGET_CODES), Fraction(int(high), TARGET_CODES)

    patch.setattr(_grow, "draw_target_interval", mutant)


def knots_kept_by_exact_counts(patch: Patch) -> None:
    real, release = Knots.leaf_value, RegressionGrowth._release_leaf
    exact: list[Any] = []

    def remember(growth: Any, leaf: Any, exact_sums: Any, *rest: Any) -> None:
        exact[:] = [exact_sums]
        release(growth, leaf, exact_sums, *rest)

    def mutant(knots: Knots, noisy_sums: Any, level: int, epsilon: Fraction) -> Any:
        outside = np.ones(len(noisy_sums), dtype=np.bool_)
        outside[list(knots.window)] = False
        few = exact[0] < 4 * KNOT_WEIGHT
        return real(knots, np.where(outside & few, 0, noisy_sums), level, epsilon)

    patch.setattr(RegressionGrowth, "_release_leaf", remember)
    patch.setattr(Knots, "leaf_value", mutant)


def sensitivity_of_level_sums_halved(patch: Patch) -> None:
    real = _grow.release_counts

    def mutant(*arguments: Any) -> Any:
        *others, sensitivity = arguments
        is_sums = others[4] == "level sums before a split"
        return real(*others, (sensitivity + 1) // 2 if is_sums else sensitivity)

    patch.setattr(_grow, "release_counts", mutant)


def rate_not_divided_by_the_range(patch: Patch) -> None:
    """Of subtrees: the range of a split is at least one unit of a level."""
    patch.setattr(
        _growth,
        "SequentialExponential",
        lambda epsilon, most: SequentialExponential(
            epsilon, most if most > SPLIT_UNITS // 2 else 1
        ),
    )


def target_coded_by_the_data(patch: Patch) -> None:
    def mutant(target: Target, values: Any) -> Any:
        numbers = np.asarray(values, dtype=np.float64)
        width = numbers.max() - numbers.min()
        shares = (numbers - numbers.min()) / (width or 1.0)
        return np.minimum(shares * TARGET_CODES, TARGET_CODES - 1).astype(np.int32)

    patch.setattr(Target, "code_of", mutant)
