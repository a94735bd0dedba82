"""The whole learner: released functions, seeds, memory and passes, monotone features."""

from fractions import Fraction

import numpy as np
import pytest

from privatree import Categorical, Numeric, PrivaBoostClassifier, Schema
from privatree.audit import Universe
from privatree.counting import Candidates
from privatree.counting.sums import CodeBranch, CodeSplit, CodeStep
from privatree.errors import TooFewRecordsError
from privatree.learners.boosting import Boosting, boost
from privatree.learners.boosting._released import released_function
from privatree.model.ensemble import Ensemble, Round
from privatree.privacy import Ledger, Randomness
from privatree.sources import CsvSource

SCHEMA = Schema(
    {
        "a": Numeric(0, 9, integer=True, missing="separate"),
        "b": Categorical(["x", "y", "z"], missing="separate"),
        "c": Numeric(0, 1, integer=True),
    },
    [0, 1],
)
CANDIDATES = Candidates.from_schema(SCHEMA, 256)


def random_function(rng, depth):
    feature = int(rng.integers(3))
    n_codes, cuts = CANDIDATES.n_codes[feature], CANDIDATES.cuts[feature]
    if depth == 1 or rng.random() < 0.2:
        return CodeStep(feature, rng.choice([-1, 1], n_codes).astype(np.int8))
    goes_left = np.arange(n_codes) == rng.integers(n_codes)
    if cuts is not None:
        goes_left = np.arange(n_codes) <= rng.integers(n_codes - 1)
    sides = random_function(rng, depth - 1), random_function(rng, depth - 1)
    return CodeBranch(CodeSplit(feature, goes_left), *sides)


def value(function, codes):
    if isinstance(function, CodeStep):
        return int(function.signs[codes[function.feature]])
    goes_left = function.split.goes_left[codes[function.split.feature]]
    return value(function.left if goes_left else function.right, codes)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_released_functions_are_the_drawn_ones(depth):
    rng = np.random.default_rng(depth)
    codes = np.stack([rng.integers(0, n, 200) for n in CANDIDATES.n_codes], axis=1)
    values = codes.astype(np.float64)
    values[:, 0] = np.where(codes[:, 0] == 0, np.nan, codes[:, 0] - 1)  # the first code: missing
    for _ in range(40):
        function = random_function(rng, depth)
        released = released_function(function, CANDIDATES, SCHEMA)
        ensemble = Ensemble(SCHEMA, 1.0, (Round(released, (-1, 1)),))
        found = ensemble.margins(values, [0, 1, 2])[:, 0]
        assert found.tolist() == [value(function, row) for row in codes]


def some_records(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 10, n), rng.integers(0, 3, n), rng.integers(0, 2, n)])
    y = ((X[:, 0] > 4) ^ (X[:, 2] == 1)).astype(int)
    rows = [[int(a), "xyz"[b], int(c)] for a, b, c in X]
    return rows, y


@pytest.mark.parametrize(
    "settings", [{}, {"max_depth": 3, "delta": 0}, {"class_weight": "balanced"}]
)
def test_memory_and_files_give_the_same_model(tmp_path, settings):
    rows, y = some_records()
    lines = ["a,b,c,y", *(f"{a},{b},{c},{label}" for (a, b, c), label in zip(rows, y, strict=True))]
    path = tmp_path / "records.csv"
    path.write_text("\n".join(lines) + "\n")
    learner = PrivaBoostClassifier(epsilon=0.5, schema=SCHEMA, random_state=3, rounds=6, **settings)
    memory = learner.fit(np.array(rows, dtype=object), y).ensemble_
    files = learner.fit(CsvSource(path, target="y")).ensemble_  # its classes are text
    assert memory is not files
    assert memory.rounds == files.rounds
    assert memory.step == files.step
    assert len(set(memory.rounds)) > 2


def test_a_stopped_training_has_spent_the_size_only():
    universe = Universe.of(3)
    plan = universe.boost_plan(2, min_records=10_000, max_depth=1)
    ledger = Ledger(plan.epsilon, Randomness(0))
    records = universe.records(universe.table({((0,), 0): 5}))
    with pytest.raises(TooFewRecordsError):
        boost(records, universe.cells, plan, universe.schema, ledger, (0,))
    assert [spend.epsilon for spend in ledger.spends()] == [plan.size_epsilon]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_monotone_features_are_monotone(depth):
    schema = Schema({"a": Numeric(0, 9, integer=True), "b": Numeric(0, 9, integer=True)}, [0, 1])
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 10, (500, 2)), rng.integers(0, 2, 500)
    learner = PrivaBoostClassifier(
        epsilon=2.0, schema=schema, random_state=1, max_depth=depth, monotonic_cst=[1, 0], rounds=30
    )
    grid = np.array([[a, b] for b in range(10) for a in range(10)])
    scores = learner.fit(X, y).decision_function(grid).reshape(10, 10)
    assert (np.diff(scores, axis=1) >= 0).all()
    assert len(set(scores.ravel())) > 3


def test_all_draws_are_charged_to_the_ledger():
    universe = Universe.of(4, "3")
    for delta in (0, Fraction(1, 1000)):
        plan = universe.boost_plan(2, delta=delta, n_rounds=5, balances_classes=True)
        ledger = Ledger(plan.epsilon, Randomness(0), delta=plan.delta)
        records = universe.records(universe.table({((0, 0), 0): 30, ((3, 1), 1): 30}))
        boost(records, universe.cells, plan, universe.schema, ledger, (0, 0))
        assert ledger.remaining == 0
        purposes = [spend.purpose for spend in ledger.spends()]
        assert purposes == [
            "number of records",
            "class counts for balanced weights",
            *["round"] * 5,
        ]


def test_rounds_before_are_what_weights_follow_from():
    universe = Universe.of("2")
    plan = universe.boost_plan(2, dataset_size=4, n_rounds=3, max_depth=1)
    records = universe.records(universe.table({((0,), 0): 2, ((1,), 1): 2}))
    ledger = Ledger(plan.epsilon, Randomness(0))
    boosting = Boosting(records, universe.cells, plan, universe.schema, ledger, (0,), None)
    boosting.add_function(CodeStep(0, np.array([-1, 1], np.int8)), [-1, 1])
    assert boosting._sums._scores[:, 0].tolist() == [-1, -1, 1, 1]
    assert boosting.ensemble().n_rounds == 1
