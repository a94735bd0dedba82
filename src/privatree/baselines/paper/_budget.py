"""How the paper divides its budget (equations 5 to 8 of [Vos23]), and the cost for a record."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize_scalar


@dataclass(frozen=True)
class PaperBudget:
    """Epsilon of one leaf, of the quantiles of one feature, and of its histogram at one node."""

    leaf: Fraction
    quantiles: Fraction
    numeric_node: Fraction
    categorical_node: Fraction

    def for_a_record(self, n_numeric: int, n_categorical: int, max_depth: int) -> Fraction:
        """Return the epsilon of a whole record by sequential composition.

        Every record is in every feature's quantiles and histograms, so the costs of m
        features add up: m (epsilon - leaf) + leaf. The paper counts the cost of one feature only.
        """
        numeric = n_numeric * (self.quantiles + max_depth * self.numeric_node)
        return numeric + n_categorical * max_depth * self.categorical_node + self.leaf

    def for_a_replaced_record(self, n_numeric: int, n_categorical: int, max_depth: int) -> Fraction:
        """Return the epsilon of a replaced record: one record is removed and another is added.

        The quantiles are already private for replaced records, so they do not count twice.
        """
        twice = 2 * self.for_a_record(n_numeric, n_categorical, max_depth)
        return twice - n_numeric * self.quantiles


def divide_paper_budget(
    epsilon: Fraction,
    *,
    n_records: int,
    n_classes: int,
    max_depth: int,
    max_leaf_error: float,
    private_quantiles: bool,
) -> PaperBudget:
    """Return how Algorithm 1 divides epsilon, or PrivaTree* if the quantiles are not private."""
    leaf = epsilon / 2
    if n_records > 0:
        enough = paper_budget_of_leaf(n_records, n_classes, max_depth, max_leaf_error)
        leaf = min(leaf, enough)  # eq. 6
    rest = epsilon - leaf
    if not private_quantiles:
        return PaperBudget(leaf, Fraction(0), rest / max_depth, rest / max_depth)
    share = rest / (1 + max_depth)  # eq. 7
    return PaperBudget(leaf, share, share, rest / max_depth)  # eq. 8


def paper_budget_of_leaf(
    n_records: int, n_classes: int, max_depth: int, max_leaf_error: float
) -> Fraction:
    """Return the budget at which noisy labels lower the accuracy by `max_leaf_error` (eq. 5)."""
    leaves = Fraction(2) ** int(max_depth)
    worst_error = leaves * Fraction(worst_paper_label_error(n_classes)) / n_records
    return worst_error / Fraction(max_leaf_error)


def worst_paper_label_error(n_classes: int) -> float:
    """Return the maximum over p in (0, 1) of 2 log(1/p) (1 - (1 - (1 - p)^K) / (K p)): eq. 5."""

    def negative_error(p: float) -> float:
        never_chosen = -np.expm1(n_classes * np.log1p(-p)) / (n_classes * p)
        return float(2 * np.log(p) * (1 - never_chosen))

    found = minimize_scalar(
        negative_error, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}
    )
    return float(-found.fun)
