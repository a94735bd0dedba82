"""The ensemble learner for numeric targets, enumerated: its rounds, noisy counts, and the whole.

One table of residuals has one entry here (`_FINEST`), so that all outcomes can be gone through.
"""

import math
from collections import defaultdict
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from privatree.audit import Universe
from privatree.audit.exact._ensembles import (
    EnsembleCase,
    exact_ensemble_law,
    exact_ensemble_loss,
    log_ratios,
)
from privatree.learners.boosting import NumberBoosting
from privatree.model.ensemble import Step

TARGETS = (0, 40_000, 65_535)
Q = 255
WHOLE_RANGE = (Fraction(0), Fraction(1))
COUNTS = (0, 1024)
"""Noisy sums up to 0 or so many, and noisy counts up to none or so many: both are released."""


@pytest.fixture(autouse=True)
def _one_count_of_residuals(monkeypatch):
    monkeypatch.setattr("privatree.learners.boosting._boost_number._FINEST", 1)


def case_of(universe, epsilon, n_rounds=1, counts=COUNTS, **settings):
    plan = universe.boost_plan(
        epsilon,
        dataset_size=5,
        n_rounds=n_rounds,
        max_depth=1,
        draws_target_interval=False,
        **settings,
    )
    make = partial(NumberBoosting, declared_interval=WHOLE_RANGE)
    return EnsembleCase(universe, plan, counts=counts, make=make)


def signed_weight(target, start, scale):
    """The signed weight of a record, from its definition."""
    residual = Fraction(256 * target + 128 - start, scale)
    size = math.floor(abs(max(-1, min(1, residual))) * Q + Fraction(1, 2))
    return size if residual > 0 else -size


def by_counts(law):
    """The outcomes by the noisy counts, which come before the round."""
    found = defaultdict(dict)
    for outcome, log in law.log_probabilities.items():
        found[outcome.transcript[:3]][outcome] = log
    return list(found.values())


@pytest.mark.parametrize("records", [{}, {1: 1, 2: 3, 4: 2}])
def test_the_law_of_a_round_is_that_of_residuals(records):
    universe = Universe.of("2", targets=TARGETS)
    case = case_of(universe, 8)
    table = [records.get(place, 0) for place in range(len(universe.kinds))]
    rate = case.plan.rounds(5).round_epsilon / (2 * Q)
    scales = set()
    for outcomes in by_counts(exact_ensemble_law(case, tuple(table))):
        weights = {}
        for outcome in outcomes:
            step, start, (one,), *_ = outcome.released
            assert isinstance(one.function, Step)
            scale = one.amounts[0]  # of a single round
            scales.add(scale)
            score = sum(
                count
                * signed_weight(TARGETS[place], round(start / step), scale)
                * (1 if one.function.positive[code] else -1)
                for ((code,), place), count in zip(universe.kinds, table, strict=True)
            )
            weights[outcome] = math.exp(rate * score)
        total = math.fsum(map(math.exp, outcomes.values()))
        for outcome, weight in weights.items():
            share = math.exp(outcomes[outcome]) / total
            assert share == pytest.approx(weight / math.fsum(weights.values()), rel=1e-9)
    assert scales == {2**22, 2**23}  # that of the interval, and that of the residuals


@pytest.mark.parametrize("epsilon", [1, 8])
def test_a_round_has_its_range_and_no_more(epsilon):
    universe = Universe.of("2", targets=TARGETS)
    case = case_of(universe, epsilon)
    widest = 0.0
    table = universe.table({universe.kinds[0]: 2, universe.kinds[4]: 1})
    before = by_counts(exact_ensemble_law(case, table))
    for kind in universe.kinds[:3]:
        larger = tuple(map(sum, zip(table, universe.unit(kind), strict=True)))
        after = by_counts(exact_ensemble_law(case, larger))
        for logs, others in zip(before, after, strict=True):
            assert logs.keys() == others.keys()
            widest = max(widest, np.ptp([log - others[key] for key, log in logs.items()]))
    wanted = float(case.plan.rounds(5).round_epsilon)
    assert widest <= wanted * (1 + 1e-9)
    assert widest >= 0.99 * wanted


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 8])
def test_the_whole_learner_loses_at_most_epsilon(epsilon):
    universe = Universe.of("2", targets=TARGETS)
    case = case_of(universe, epsilon, n_rounds=2)
    table = universe.table({universe.kinds[1]: 1, universe.kinds[5]: 1})
    found = exact_ensemble_loss(case, [table], units=[universe.unit(universe.kinds[2])])
    assert found.loss <= float(case.plan.epsilon) * (1 + 1e-9)
    assert (
        found.recorded == case.plan.epsilon - 2 * case.plan.residual_epsilon
    )  # two tables of four
    assert found.loss >= 0.5 * float(case.plan.epsilon)


def test_an_interval_of_the_target_is_a_part_of_the_whole():
    universe = Universe.of("2", targets=(0, 65_535))
    plan = universe.boost_plan(64, dataset_size=5, n_rounds=1, max_depth=1)
    case = EnsembleCase(universe, plan, counts=COUNTS, make=NumberBoosting)
    found = exact_ensemble_loss(case, [universe.table({})], units=[universe.unit(((0,), 1))])
    assert plan.target_interval_epsilon < found.recorded < 64
    assert found.loss <= float(found.recorded) * (1 + 1e-9)


def test_a_unit_loses_no_more_than_one_record():
    universe = Universe.of("2", full_weight=2, targets=(0, 65_535))
    case = case_of(universe, 8)
    units = [universe.unit(((0,), 1)), universe.unit(((0,), 1), ((1,), 0))]
    losses = [exact_ensemble_loss(case, [universe.table({})], units=[unit]).loss for unit in units]
    assert max(losses) <= 8 * (1 + 1e-9)


def test_all_outcomes_are_gone_through():
    universe = Universe.of("2", targets=TARGETS)
    case = case_of(universe, 8, counts=(0, 1))  # both together are all noisy counts
    law = exact_ensemble_law(case, universe.table({universe.kinds[0]: 1}))
    assert law.total == pytest.approx(1.0, rel=1e-9)
    assert len(log_ratios(law, law)) == 2**3 * 4
