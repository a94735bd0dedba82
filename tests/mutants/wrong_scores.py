"""The code of the mutants of private scores."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privatree.evaluation import _counts, _draws, _error_knots, _plan

Patch = pytest.MonkeyPatch


def noise_on_rates(patch: Patch) -> None:
    """Shares in thousandths get noise, as if a record changed one of them by one of n."""
    real = _draws._draw

    def mutant(ledger: Any, exact: Any, epsilon: Any, sensitivity: int, *rest: Any) -> Any:
        n = max(int(exact.sum()), 1)
        return real(ledger, 1000 * exact // n, epsilon, max(1, 1000 // n), *rest)

    patch.setattr(_draws, "_draw", mutant)


def noise_of_half_the_scale(patch: Patch) -> None:
    real = _draws._draw

    def mutant(ledger: Any, exact: Any, epsilon: Fraction, *rest: Any) -> Any:
        return real(ledger, exact, 2 * epsilon, *rest)

    patch.setattr(_draws, "_draw", mutant)


def each_table_for_the_whole_epsilon(patch: Patch) -> None:
    """As if the tables had different records in them."""
    real = _plan.ClassPlan.tables.func

    def mutant(plan: Any) -> Any:
        return tuple(replace(table, share=Fraction(1)) for table in real(plan))

    patch.setattr(_plan.ClassPlan, "tables", property(mutant))


def weights_of_units_ignored(patch: Patch) -> None:
    """Every record of a unit weighs as much as a unit."""
    real = _counts.ScoreQuery.new_partial

    class Unweighed:
        def __init__(self, weigher: Any) -> None:
            self.full_weight = weigher.full_weight

        def weigh(self, batch: Any, labels: Any) -> Any:
            return np.where(labels >= 0, self.full_weight, 0)

    def mutant(query: Any) -> Any:
        weigher = query.weigher
        return real(query if weigher is None else replace(query, weigher=Unweighed(weigher)))

    patch.setattr(_counts.ScoreQuery, "new_partial", mutant)


def one_cell_of_all_classes(patch: Patch) -> None:
    """A record is taken to change one cell, though each class has a table of its own."""
    real = _plan.ClassPlan.tables.func

    def mutant(plan: Any) -> Any:
        return tuple(replace(table, cells_of_a_record=1) for table in real(plan))

    patch.setattr(_plan.ClassPlan, "tables", property(mutant))


def limit_from_exact_errors(patch: Patch) -> None:
    """The largest error decides which knots there are."""
    real = _draws._draw_limit

    def mutant(ledger: Any, knots: Any, exact: Any, *rest: Any) -> Any:
        real(ledger, knots, exact, *rest)
        there = np.flatnonzero(knots.octaves(exact))
        return _error_knots.LimitedKnots(knots, int(there[0]) if len(there) else 0)

    patch.setattr(_draws, "_draw_limit", mutant)
