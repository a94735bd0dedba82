"""Whole trees of small learners: how often each is grown, and how often it should be.

Enumeration takes siblings to be independent, so only here could noise that they share be seen.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import chi2

from privatree import Numeric, Schema
from privatree.audit import Universe, exact_law, shape_of
from privatree.learners.tree import grow_tree
from privatree.privacy import Ledger, Randomness

RUNS = 400
MIN_EXPECTED = 10.0
FALSE_ALARM = 1e-7

SMALL = {((0, 0), 0): 1, ((0, 1), 1): 1, ((1, 0), 0): 1, ((1, 1), 1): 1}
MIXED = {((0, 0), 0): 2, ((0, 1), 1): 1, ((1, 2), 1): 2, ((1, 0), 0): 1, ((1, 1), 1): 1}
THREE = {((0, 0), 0): 2, ((0, 1), 1): 1, ((1, 2), 2): 2, ((1, 0), 0): 1, ((1, 1), 2): 1}
BALANCED = dict.fromkeys(Universe.of(2, 2).kinds, 1)
FEW_COUNTS = {"lookahead": 1, "dataset_size": 12, "largest_count": 12}
DECLARED = {"dataset_size": 2000, "largest_count": 2000}
FEW = {"dataset_size": 20, "largest_count": 2000}  # many trees are likely

# name: universe, records, epsilon, depth, the plan
LEARNERS: dict[str, tuple[Universe, Any, int, int, dict[str, Any]]] = {
    "splits": (Universe.of(2, 2), SMALL, 3, 2, FEW_COUNTS),
    "splits, three classes": (
        Universe.of(2, "3", n_classes=3),
        THREE,
        2,
        2,
        {"lookahead": 1, "largest_count": 1},
    ),
    "splits below splits": (
        Universe.of(2, 2),
        BALANCED,
        128,
        3,
        {"lookahead": 1, "dataset_size": 3, "largest_count": 3},
    ),
    "splits below splits, robust": (
        Universe.of(2, "3"),
        MIXED,
        3,
        3,
        {"robust_levels": 3, "largest_count": 1},
    ),
    "robust": (Universe.of(2, 2), SMALL, 2, 2, {"robust_levels": 2, "largest_count": 3}),
    "two levels": (Universe.of(3, 2), SMALL, 1, 2, {"lookahead": 2} | FEW),
    "three levels": (Universe.of(2, "3"), MIXED, 1, 3, {"lookahead": 3} | DECLARED),
    "zoom": (
        Universe(Schema({"x": Numeric(0, 1)}, [0, 1]), 16, zoom_levels=2),
        {((2,), 0): 30, ((9,), 1): 30},
        2,
        1,
        DECLARED,
    ),
    "probabilities": (
        Universe.of(2, 2),
        SMALL,
        2,
        1,
        {"probability_share": Fraction(1, 2), "largest_count": 1},
    ),
}


@cache
def law_of(name: str) -> dict[Any, float]:
    """The exact law."""
    u, records, epsilon, depth, settings = LEARNERS[name]
    return exact_law(u, u.plan(epsilon, depth, **settings), u.table(records))


def grown(name: str, seed: int | None = 3, runs: int = RUNS) -> Counter[Any]:
    """How often each tree was grown."""
    u, records, epsilon, depth, settings = LEARNERS[name]
    plan, table = u.plan(epsilon, depth, **settings), u.table(records)
    randomness = Randomness(seed)
    return Counter(
        _as_enumerated(
            shape_of(
                grow_tree(
                    u.records(table), u.cells, plan, u.schema, Ledger(plan.epsilon, randomness)
                )
            )
        )
        for _ in range(runs)
    )


def _as_enumerated(shape: Any) -> Any:
    """Make negative counts of leaves 0: enumeration has one outcome for all counts up to 0."""
    if len(shape) == 4:
        return *shape[:2], *map(_as_enumerated, shape[2:])
    label, probability, counts = shape
    return label, probability, counts and tuple(max(0, count) for count in counts)


def chi_square_ratio(observed: Counter[Any], law: dict[Any, float]) -> float:
    """The statistic over its limit: above 1 with probability 10^-7 if the law is the right one.

    Cells are the trees, the most probable first, merged with the next where few are expected.
    """
    if not observed.keys() <= law.keys():
        return np.inf
    runs = observed.total()
    cells = [[0.0, 0.0]]
    for shape, probability in sorted(law.items(), key=lambda item: -item[1]):
        if cells[-1][1] >= MIN_EXPECTED:
            cells.append([0.0, 0.0])
        cells[-1][0] += observed[shape]
        cells[-1][1] += runs * probability
    if cells[-1][1] < MIN_EXPECTED:
        count, mean = cells.pop()
        cells[-1][0] += count
        cells[-1][1] += mean
    if len(cells) < 4:
        raise ValueError("too few different trees for a test.")
    counts, means = np.array(cells).T
    statistic = np.sum((counts - means) ** 2 / means)
    return float(statistic / chi2.isf(FALSE_ALARM, len(cells) - 1))
