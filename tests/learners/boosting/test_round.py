"""The running learner draws functions by the exact law, in floats and in decimals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from privatree.audit import Universe
from privatree.audit.exact._ensembles import (
    EnsembleCase,
    exact_ensemble_law,
    hashable_function,
)
from privatree.learners.boosting import Boosting, _boost
from privatree.learners.boosting._round import RoundLaw
from privatree.privacy import Ledger, Randomness
from privatree.schema import Categorical, Numeric, Schema

MIXED = Universe(
    Schema(
        {
            "a": Numeric(0, 1, integer=True, missing="separate"),
            "b": Categorical(["x", "y", "z"]),
            "c": Numeric(0, 1, integer=True, missing="separate"),
        },
        [0, 1],
    )
)
# name: universe, depth, directions, draws in floats
CASES = {
    "steps": (MIXED, 1, (0, 0, 1), 3000),
    "roots": (Universe.of(2, "2"), 2, (0, 0), 3000),
    "public splits": (Universe.of(2), 3, (0,), 3000),
}


def drawn(universe, plan, directions, table, n, seed, monkeypatch):
    """Functions of a first round, each drawn by a learner of its own."""
    functions, randomness = [], Randomness(seed)
    real = _boost.draw_function

    def noted(*given):
        found = real(*given)
        functions.append(hashable_function(found))
        return found

    monkeypatch.setattr(_boost, "draw_function", noted)
    for _ in range(n):
        ledger = Ledger(plan.epsilon, randomness)
        records = universe.records(table)
        Boosting(
            records, universe.cells, plan, universe.schema, ledger, directions, None
        ).run_round()
    return functions


@pytest.mark.slow
@pytest.mark.parametrize("in_decimals", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_running_learner_has_the_exact_law(monkeypatch, name, in_decimals):
    universe, depth, directions, n = CASES[name]
    plan = universe.boost_plan(1, dataset_size=1, n_rounds=1, max_depth=depth)
    table = tuple(np.random.default_rng(0).integers(0, 2, len(universe.kinds)).tolist())
    law = {}
    case = EnsembleCase(universe, plan, directions, n_drawn=1)
    for outcome, log in exact_ensemble_law(case, table).log_probabilities.items():
        law[outcome.drawn[0]] = law.get(outcome.drawn[0], 0.0) + math.exp(log)
    if in_decimals:
        monkeypatch.setattr(RoundLaw, "error", lambda law, depth: math.inf)
        n //= 5
    found = drawn(universe, plan, directions, table, n, 7, monkeypatch)
    assert set(found) <= law.keys()
    # Functions that are expected less than five times count as one.
    likely = [function for function, p in law.items() if n * p >= 5]
    observed = [found.count(function) for function in likely]
    expected = [n * law[function] for function in likely]
    if len(likely) < len(law):
        observed, expected = [*observed, n - sum(observed)], [*expected, n - sum(expected)]
    assert len(likely) > 3
    assert stats.chisquare(observed, expected).pvalue > 1e-6


def test_a_round_is_one_draw_that_is_closed_at_the_end(monkeypatch):
    opened = []
    real = Ledger.open_draw
    monkeypatch.setattr(
        Ledger,
        "open_draw",
        lambda *given, **more: opened.append(real(*given, **more)) or opened[-1],
    )
    for depth in (1, 2, 3):
        universe = Universe.of(4, "3")
        plan = universe.boost_plan(2, dataset_size=40, n_rounds=4, max_depth=depth)
        ledger = Ledger(plan.epsilon, Randomness(depth))
        records = universe.records(universe.table({((1, 0), 1): 20, ((3, 2), 0): 20}))
        boosting = Boosting(records, universe.cells, plan, universe.schema, ledger, (0, 0), None)
        for _ in range(4):
            boosting.run_round()
        assert ledger.remaining == 0
        assert [spend.epsilon for spend in ledger.spends()] == [Fraction(1, 2)] * 4
    assert len(opened) == 12
    assert all(draw.is_closed for draw in opened)
