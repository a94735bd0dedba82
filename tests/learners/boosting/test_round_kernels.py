"""Weights in floats beside those in decimals: within the error bound, and within the floats."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from privatree import Categorical, Numeric, PrivaBoostClassifier, Schema
from privatree.counting import Candidates
from privatree.learners.boosting._measure import root_measure, step_measure
from privatree.learners.boosting._round_decimal import PreciseWeights
from privatree.learners.boosting._round_kernels import (
    relative_error,
    round_decay,
    sweep_chain,
    weigh_features,
    weigh_roots_of_feature,
    weigh_steps,
)
from privatree.privacy.samplers import precision

SCHEMA = Schema(
    {
        "number": Numeric(0, 255, integer=True),
        "missing": Numeric(0, 30, integer=True, missing="separate"),
        "rising": Numeric(0, 40, integer=True),
        "falling": Numeric(0, 9, integer=True, missing="separate"),
        "kind": Categorical([f"c{place}" for place in range(40)]),
        "skewed": Numeric(0, 1e6),
        "constant": Numeric(0, 0),
    },
    [0, 1],
)
CANDIDATES = Candidates.from_schema(SCHEMA, 256)
MEASURE = step_measure(CANDIDATES, [0, 0, 1, -1, 0, 0, 0])
N_CODES = int(CANDIDATES.offsets[-1])
SMALLEST, LARGEST = 2.0**-850, 2.0**850


def even_and_odd(size):
    return np.where(np.arange(N_CODES) % 2, size, -size).astype(np.int64)


def some_sums(size, seed):
    rng = np.random.default_rng(seed)
    return (rng.integers(-1000, 1001, N_CODES) * size // 1000).astype(np.int64)


SUMS = {
    "none": np.zeros(N_CODES, np.int64),
    "small": some_sums(500, 1),
    "medium": some_sums(50_000, 2),
    "large": some_sums(10**8, 3),
    "huge": some_sums(2**52, 4),
    "even and odd": even_and_odd(100 * 255),
    "even and odd, large": even_and_odd(10**7),
    "even and odd, small": even_and_odd(900),
    "one sign": np.full(N_CODES, 10**7, np.int64),
    "all halves": np.full(N_CODES, 510 * 8, np.int64),  # about the score at which a power halves
}
RATES = {"small": Fraction(6, 51_000), "large": Fraction(25, 510), "tiny": Fraction(1, 10**12)}


def decay_of(rate, sums):
    return round_decay(rate, int(np.abs(sums).sum()))


def relative_errors(scores, factors, precise, weights):
    for score, factor, weight in zip(scores.tolist(), factors.tolist(), weights, strict=True):
        if not weight:
            assert factor == 0.0
            continue
        assert SMALLEST <= factor <= LARGEST
        yield float(abs(Decimal(factor) * precise.power(score) / weight - 1))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", SUMS)
def test_weights_of_features_are_within_their_error(name, rate):
    sums, rate = SUMS[name], RATES[rate]
    powers, n = decay_of(rate, sums), len(MEASURE.kind)
    scores, factors = np.zeros(n, np.int64), np.zeros(n)
    room = np.zeros(300, np.int64), np.zeros(300)
    weigh_features(sums, MEASURE, powers, room, scores, factors)
    bound = relative_error(256, n, 0, 1)
    with localcontext(precision(60)):
        precise = PreciseWeights(rate, MEASURE, 60)
        weights = precise.weigh_features(sums)
        errors = list(relative_errors(scores, factors, precise, weights))
        score, factor = weigh_steps(sums, MEASURE, powers)
        whole = Decimal(factor) * precise.power(int(score)) / sum(weights)
    assert len(errors) == 6
    assert max(errors) < bound / 3
    assert abs(float(whole - 1)) < bound / 3


@pytest.mark.parametrize("name", SUMS)
def test_shares_of_a_chain_are_within_their_error(name):
    sums, rate = SUMS[name], RATES["small"]
    ends = np.empty((2, 256))
    sweep_chain(sums, MEASURE, 0, 256, decay_of(rate, sums), ends)
    assert ends.max(axis=0).min() > 2.0**-110
    assert ends.max() <= 1.0
    with localcontext(precision(60)):
        found = PreciseWeights(rate, MEASURE, 60).sweep_chain(sums, 0)
        shares = np.array([float(up / (up + down)) for up, down in found])
    assert ends[0] / ends.sum(axis=0) == pytest.approx(shares, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("name", ["medium", "large", "even and odd", "all halves"])
@pytest.mark.parametrize("feature", [1, 4])
def test_weights_of_roots_are_within_their_error(name, feature):
    small = Schema({key: SCHEMA.features[key] for key in ("kind", "missing", "rising")}, [0, 1])
    candidates = Candidates.from_schema(small, 256)
    measure = step_measure(candidates, [0, 0, 1])
    feature = {1: 1, 4: 0}[feature]
    roots = root_measure(candidates, [feature])
    n_codes = int(candidates.offsets[-1])
    size = int(np.abs(SUMS[name]).max())
    rng = np.random.default_rng(5)
    rows = rng.integers(-size, size, (roots.rows.n_rows, n_codes)) // roots.rows.n_rows
    sums, rate = rows.sum(axis=0), RATES["small"]
    n = int(roots.n_candidates[feature])
    scores, factors = np.zeros(n, np.int64), np.zeros(n)
    weigh_roots_of_feature(
        rows,
        sums,
        roots.is_category[feature],
        (1 - 0.6) * roots.measure[feature, :n],
        measure,
        round_decay(rate, int(np.abs(rows).sum())),
        scores,
        factors,
    )
    with localcontext(precision(60)):
        precise = PreciseWeights(rate, measure, 60)
        weights = precise.weigh_roots(sums, rows, roots, 0.6)[:-1]
        errors = list(relative_errors(scores, factors, precise, weights))
    assert len(errors) == n
    assert max(errors) < relative_error(41, 3, n, 2) / 3


@pytest.mark.slow
def test_what_records_hold_does_not_make_a_training_fail():
    """Even and odd numbers: every switch is worth its price, and there are hundreds."""
    schema = Schema({"x": Numeric(0, 255, integer=True)}, [0, 1])
    X = np.tile(np.arange(256), 60)[:, np.newaxis]
    y = X[:, 0] % 2
    model = PrivaBoostClassifier(epsilon=8.0, schema=schema, random_state=0, max_depth=1, rounds=5)
    assert (model.fit(X, y).predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("epsilon", [1e-9, 1e-5, 1e6])
def test_tiny_and_huge_epsilons_train(epsilon):
    schema = Schema({"x": Numeric(0, 9, integer=True), "y": Categorical(["a", "b", "c"])}, [0, 1])
    X = np.array([[place % 10, "abc"[place % 3]] for place in range(60)], dtype=object)
    for delta in (0, 1e-6):
        model = PrivaBoostClassifier(epsilon=epsilon, delta=delta, schema=schema, random_state=0)
        assert model.fit(X, [0, 1] * 30).ensemble_.n_rounds >= 1


def test_tables_of_powers_do_not_grow_at_tiny_rates():
    powers = round_decay(Fraction(1, 10**25), 255 * 1000)
    assert powers.half_score == powers.lift_score == 2**62
    assert powers.decays.high.size + powers.decays.low.size < 5000


def test_a_schema_without_any_choice_trains():
    schema = Schema({"x": Numeric(0, 0)}, [0, 1])
    for depth in (1, 2, 3):
        model = PrivaBoostClassifier(epsilon=8.0, schema=schema, random_state=0, max_depth=depth)
        assert set(model.fit(np.zeros((60, 1)), [0, 1, 1] * 20).predict([[0.0]])) == {1}
