from fractions import Fraction

import numpy as np
import pytest

from privatree.counting import BinnedRecords, FineCells
from privatree.errors import ParameterError, TooFewRecordsError
from privatree.learners.regression import N_CLASSES, RegressionPlan, grow_regression_tree
from privatree.privacy import Ledger, Randomness
from privatree.schema import TARGET_CODES, Categorical, Numeric, Schema, Target

SCHEMA = Schema(
    {"x": Numeric(0, 1), "kind": Categorical([*"abc"]), "noise": Numeric(0, 9, integer=True)},
    target=Target(-1000, 1000),
)
CELLS = FineCells.from_schema(SCHEMA, 16, 0)


def some_records(n_records, schema=SCHEMA, weights=None, full_weight=1):
    """The target is 10 for x < 1/2 and kind a, 30 for x < 1/2 otherwise, 50 for larger x."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, n, n_records) for n in CELLS.plain.n_codes], axis=1)
    means = np.where(codes[:, 0] >= 8, 50, np.where(codes[:, 1] == 0, 10, 30))
    targets = means + rng.normal(0, 2, n_records)
    records = BinnedRecords(
        codes.astype(np.uint8),
        CELLS.plain.n_codes,
        schema.target.code_of(targets).astype(np.uint16),
        TARGET_CODES,
        weights=weights,
        full_weight=full_weight,
    )
    return records, targets


def grow(records, epsilon=10, schema=SCHEMA, seed=0, max_depth=2, **settings):
    plan = RegressionPlan(
        epsilon=Fraction(epsilon),
        n_classes=N_CLASSES,
        numeric_codes=(16, 10),
        categorical_codes=(3,),
        max_depth=max_depth,
        **settings,
    )
    ledger = Ledger(plan.epsilon, Randomness(seed))
    return grow_regression_tree(records, CELLS, plan, schema, ledger), ledger


@pytest.mark.parametrize("settings", [{}, {"lookahead": 1}, {"robust_levels": 2}])
def test_it_finds_means_of_simple_data(settings):
    records, targets = some_records(20_000)
    tree, ledger = grow(records, **settings)
    values = tree.value[tree.feature < 0]
    assert sorted(values) == pytest.approx(
        [10, 30, 50] if len(values) == 3 else [10, 30, 50, 50], abs=1
    )
    assert tree.support.sum() == pytest.approx(len(targets), rel=0.01)
    assert ledger.remaining == 0


def test_shares_of_a_leaf_are_where_its_targets_are():
    records, _ = some_records(20_000)
    tree, _ = grow(records)
    centres = (tree.edges[1:] + tree.edges[:-1]) / 2
    for leaf in np.flatnonzero(tree.feature < 0):
        assert tree.shares[leaf].sum() == pytest.approx(1)
        assert tree.shares[leaf] @ centres == pytest.approx(tree.value[leaf], abs=20)
    assert (tree.edges[0], tree.edges[-1]) == (-1000, 1000)


def test_medians_release_nothing_at_the_leaves():
    records, _ = some_records(20_000)
    tree, ledger = grow(records, leaf_means=False)
    assert tree.support is None
    assert tree.edges is None
    assert sorted(set(tree.value[tree.feature < 0].round())) == pytest.approx([10, 30, 50], abs=4)
    assert "knot sums of a leaf" not in {spend.purpose for spend in ledger.spends()}


def test_spends_are_named_and_those_of_a_path_add_up():
    records, _ = some_records(20_000)
    _, ledger = grow(records, lookahead=1, max_depth=2)
    found = {spend.purpose for spend in ledger.spends()}
    assert found == {
        "number of records",
        "interval of the target",
        "level sums before a split",
        "split",
        "last level with values",
        "knot sums of a leaf",
    }
    assert ledger.total.epsilon == 10


@pytest.mark.parametrize("n_records", [0, 1])
def test_no_records_give_one_leaf_in_the_range(n_records):
    tree, _ = grow(some_records(n_records)[0], epsilon=1)
    assert tree.n_nodes == 1
    assert -1000 <= tree.value[0] <= 1000


def test_the_same_seed_gives_the_same_tree_and_weights_of_one_change_nothing():
    trees = [grow(some_records(3000)[0])[0] for _ in range(2)]
    assert trees[0] == trees[1]
    records, _ = some_records(3000, weights=np.full(3000, 4, dtype=np.int32), full_weight=4)
    weighed, _ = grow(records)
    assert weighed.value[0] != weighed.value[0]  # the root is split
    assert sorted(weighed.value[weighed.feature < 0]) == pytest.approx(
        sorted(trees[0].value[trees[0].feature < 0]), abs=2
    )


@pytest.mark.parametrize(
    "target",
    [
        Target(0, 60, integer=True),
        Target(0, 1e6, log=True),
        Target(0, 20),
        Target(-1e6, 1e6),
        Target(45, 45.001),
    ],
)
def test_values_lie_in_any_range(target):
    schema = Schema(SCHEMA.features, target=target)
    records, _ = some_records(5000, schema)
    tree, _ = grow(records, schema=schema)
    values = tree.value[tree.feature < 0]
    assert values.min() >= target.low
    assert values.max() <= target.high
    assert (np.diff(tree.edges) > 0).all()
    assert tree.shares[tree.feature < 0].sum(axis=1) == pytest.approx(1)


def test_a_declared_interval_costs_nothing():
    records, _ = some_records(5000)
    _, ledger = grow(records, interval=(Fraction(1, 2), Fraction(11, 20)))
    assert "interval of the target" not in {spend.purpose for spend in ledger.spends()}
    assert ledger.total.epsilon == 10


def test_too_few_records_end_the_training():
    with pytest.raises(TooFewRecordsError, match="min_records = 1,000"):
        grow(some_records(10)[0], min_records=1000)


def test_a_schema_of_classes_is_refused():
    schema = Schema(SCHEMA.features, ["no", "yes"])
    with pytest.raises(ParameterError, match="schema must have a target"):
        grow(some_records(10)[0], schema=schema)
