"""The exact law of regression trees: private and sharp, in every stage and as a whole."""

import math
from fractions import Fraction

import pytest

from privatree.audit import Universe, exact_law, exact_privacy_loss, shape_of
from privatree.learners.regression import _levels, grow_regression_tree
from privatree.privacy import Ledger, Randomness
from privatree.schema import TARGET_CODES

TOLERANCE = 1e-9
LOW, MIDDLE, HIGH = 0, TARGET_CODES // 2, TARGET_CODES - 1

SIZE, INTERVAL, LEAF = "number of records", "interval of the target", "knot sums of a leaf"
SUMS, SPLIT = "level sums before a split", "split"
ONE, TWO = "last level with values", "last 2 levels with their values"


@pytest.fixture(autouse=True)
def few_levels(monkeypatch):
    """Two levels inside the interval, so that there are few outcomes."""
    monkeypatch.setattr(_levels, "_STEPS", 2)
    monkeypatch.setattr(_levels, "_DOUBLINGS", (1,))


# name: values of each feature, depth, number of records times epsilon (None: it is not declared),
# the plan, stages that there are. From 193 records times epsilon on, there are several intervals.
DECLARED = {"interval": (Fraction(0), Fraction(1))}
MEDIANS = {"leaf_means": False}
LEARNERS = {
    "one leaf": ((2,), 1, None, DECLARED, {(SIZE, 0), (ONE, 0), (LEAF, 0)}),
    "four intervals": ((2,), 1, 200, MEDIANS, {(INTERVAL, 0), (ONE, 0)}),
    "one level": ((3,), 1, 130, DECLARED, {(ONE, 0), (LEAF, 0)}),
    "two levels": ((2, 2), 2, 130, DECLARED | MEDIANS, {(TWO, 0)}),
    "a category": (("3",), 1, 130, DECLARED | MEDIANS, {(ONE, 0)}),
    "an upper split": (
        (3,),
        2,
        130,
        DECLARED | MEDIANS | {"lookahead": 1},
        {(SUMS, 0), (SPLIT, 0), (ONE, 0), (ONE, 1)},
    ),
    "robust": (
        (3,),
        2,
        130,
        DECLARED | {"robust_levels": 2},
        {(SUMS, 0), (SPLIT, 0), (ONE, 1), (LEAF, 0)},
    ),
}
FEW = 14
"""Records at the lowest target that are fewer than an interval needs."""


def found_loss(name, epsilon, tables):
    """What enumeration finds at some tables, a function of the universe."""
    sizes, depth, size, settings, _ = LEARNERS[name]
    u = Universe.of(*sizes, targets=(LOW, MIDDLE, HIGH))
    largest = 2 if size is None else 2**20
    if size is not None:
        settings = settings | {"dataset_size": math.ceil(size / epsilon)}
    plan = u.regression_plan(epsilon, depth, largest_count=largest, **settings)
    return exact_privacy_loss(u, plan, tables(u), counts=(0, largest))


def piled(u):
    """One table, in which many records have a high target and fewer have a low one."""
    codes = [codes for codes, target in u.kinds if target == 0]
    return [u.table({(codes[-1], 2): 160, (codes[-2], 0): 100})]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_whole_learner_and_each_stage_lose_epsilon_and_no_more(name):
    few = {"four intervals": lambda u: [u.table({((0,), 0): FEW})]}
    found = found_loss(name, 8, few.get(name, piled))
    assert found.decision is None
    assert found.loss <= 8 + TOLERANCE
    assert found.recorded == 8
    assert found.stages.keys() == LEARNERS[name][-1]
    assert max(found.stages.values()) <= 1 + TOLERANCE
    assert min(found.stages.values()) >= 0.99


@pytest.mark.parametrize("name", ["one leaf", "a category"])
def test_the_learner_at_every_small_table(name):
    found = found_loss(name, Fraction(1, 2), lambda u: list(u.tables(1)))
    assert found.decision is None
    assert found.loss <= 0.5 + TOLERANCE
    assert found.recorded == Fraction(1, 2)
    assert max(found.stages.values()) <= 1 + TOLERANCE


def test_the_law_adds_up_to_one_and_holds_the_tree_that_is_grown():
    u = Universe.of(2, targets=(LOW, HIGH))
    table = u.table({((0,), 0): 2, ((1,), 1): 1})
    plan = u.regression_plan(1, 1, largest_count=2, dataset_size=2, leaf_means=False)
    law = exact_law(u, plan, table)
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=TOLERANCE)
    ledger = Ledger(plan.epsilon, Randomness(1))
    tree = grow_regression_tree(u.records(table), u.candidates, plan, u.schema, ledger)
    assert shape_of(tree) in law


# --- units ----------------------------------------------------------------------------------------

FULL = 6
UNIT = ((2,), 0), ((1,), 2), ((0,), 0)
UNIT_LEARNERS = {
    "one level": (1, DECLARED, {(ONE, 0), (LEAF, 0)}),
    "an upper split": (
        2,
        DECLARED | MEDIANS | {"lookahead": 1},
        {(SUMS, 0), (SPLIT, 0), (ONE, 0), (ONE, 1)},
    ),
    "robust": (2, DECLARED | {"robust_levels": 2}, {(SUMS, 0), (SPLIT, 0), (ONE, 1), (LEAF, 0)}),
}


@pytest.mark.parametrize("n_records", [1, 2, 3])
@pytest.mark.parametrize("name", UNIT_LEARNERS)
def test_all_records_of_a_unit_together_lose_epsilon_and_no_more(name, n_records):
    """A record weighs 6, so the records of a unit of one, two or three weigh 6, 3 or 2 each."""
    depth, settings, stages = UNIT_LEARNERS[name]
    u = Universe.of(3, targets=(LOW, MIDDLE, HIGH), full_weight=FULL)
    plan = u.regression_plan(8, depth, largest_count=2**20, dataset_size=17, **settings)
    units = [u.unit(*UNIT[:n_records])]
    found = exact_privacy_loss(u, plan, piled(u), units=units, counts=(0, 2**20))
    assert found.decision is None
    assert found.loss <= 8 + TOLERANCE
    assert found.recorded == 8
    assert set(found.stages) == stages
    assert max(found.stages.values()) <= 1 + TOLERANCE
    if name == "one level" and n_records < 3:
        assert found.loss >= 0.99 * 8


def test_the_interval_of_units_loses_no_more_than_it_costs():
    u = Universe.of(2, targets=(LOW, MIDDLE, HIGH), full_weight=FULL)
    plan = u.regression_plan(8, 1, largest_count=2**20, dataset_size=25, **MEDIANS)
    units = [u.unit(*[((0,), target) for target in (2, 1, 0)][:n]) for n in (1, 2, 3)]
    found = exact_privacy_loss(u, plan, [u.table({((0,), 0): FEW})], units=units, counts=(0, 2**20))
    assert found.loss <= 8 + TOLERANCE
    assert set(found.stages) == {(INTERVAL, 0), (ONE, 0)}
    assert 0.8 < found.stages[INTERVAL, 0] <= 1 + TOLERANCE
