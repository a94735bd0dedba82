"""Intervals: by seeded simulation, with bounds that a correct program breaks below once in 1e6."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from privatree.evaluation._class_metrics import (
    NoisyCounts,
    accuracy,
    area_of_class,
    balanced_accuracy,
    brier_against_rest,
    macro_area,
    macro_area_against_rest,
    recall,
)
from privatree.evaluation._draws import noise_moments
from privatree.evaluation._error_knots import KNOT_UNIT, Knots
from privatree.evaluation._number_metrics import (
    KnotCounts,
    mean_absolute_error,
    root_mean_squared_error,
)
from privatree.evaluation._plan import SCORE_STEPS, step_middles
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Geometric

N_RUNS = 1000
LEAST = int(binom.ppf(1e-6, N_RUNS, 0.95))
"""An interval of 95% holds the true value at least so often in 1,000 runs."""
SHARES = np.array([[0.45, 0.15, 0.08, 0.02], [0.03, 0.07, 0.1, 0.1]])
PREDICTED = np.array([0, 0, 1, 1])
SCORES = np.array([0.1, 0.3, 0.6, 0.9])


def two_sided(rng, epsilon, shape):
    stop = -np.expm1(-epsilon)
    return (rng.geometric(stop, shape) - rng.geometric(stop, shape)).astype(float)


def noisy(n, epsilon, seed, shares=SHARES):
    rng = np.random.default_rng(seed)
    exact = rng.multinomial(n, shares.ravel() / shares.sum(), size=N_RUNS)
    exact = exact.reshape(N_RUNS, *shares.shape).astype(float)
    by_prediction = np.stack([exact[:, :, k == PREDICTED].sum(axis=2) for k in (0, 1)], axis=2)
    main = exact + two_sided(rng, 0.6 * epsilon, exact.shape)
    by_prediction += two_sided(rng, 0.4 * epsilon, by_prediction.shape)
    moments = noise_moments(0.6 * epsilon), noise_moments(0.4 * epsilon)
    return NoisyCounts(main, moments[0], PREDICTED, by_prediction, moments[1])


def held(interval, truth):
    return int(np.sum((interval.low <= truth) & (truth <= interval.high)))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 5])
@pytest.mark.parametrize("n", [200, 5000])
def test_intervals_hold_the_true_value(n, epsilon):
    table = noisy(n, epsilon, 1)
    truth = SHARES[0, :2].sum() + SHARES[1, 2:].sum()
    assert held(accuracy(table), truth) >= LEAST
    of_class = SHARES[1, 2:].sum() / SHARES[1].sum()
    assert held(recall(table, 1), of_class) >= LEAST
    above = (SCORES[:, None] > SCORES) + 0.5 * (SCORES[:, None] == SCORES)
    first, second = (row / row.sum() for row in SHARES)
    assert held(area_of_class(table, SCORES, 1), second @ above @ first) >= LEAST


@pytest.mark.parametrize(("n", "epsilon"), [(200, 0.05), (2000, 0.05), (2000, 0.5), (2000, 5)])
@pytest.mark.parametrize("wrong", [0.0, 0.01])
def test_the_balanced_accuracy_of_a_nearly_perfect_model_is_in_its_interval(n, epsilon, wrong):
    """Errors of all recalls are then on one side, or a class is hidden by noise."""
    shares = np.array([[0.5, 0.45, 0.0, 0.0], [0.05 * wrong, 0.0, 0.05 * (1 - wrong), 0.0]])
    found = balanced_accuracy(noisy(n, epsilon, 4, shares))
    assert held(found, 1 - wrong / 2) >= LEAST
    assert ((found.low >= 0) & (found.high <= 1)).all()


def test_an_estimate_is_within_the_range_of_its_metric():
    """Or a file of scores could not be loaded."""
    rng = np.random.default_rng(6)
    rest = np.zeros((N_RUNS, 26, 2, len(SCORE_STEPS) + 1))
    rest[:, :, 0, -1] = 3000.0  # what is surely a class is never one
    rest += two_sided(rng, 0.2, rest.shape)
    found = brier_against_rest(rest, noise_moments(0.2), step_middles())
    known = ~np.isnan(found.value)
    assert known.any()
    assert (found.value[known] <= found.high[known]).all()
    assert (found.low[known] <= found.value[known]).all()


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon"), [(2000, 0.5), (20_000, 0.5), (20_000, 5)])
def test_intervals_of_the_mean_area_of_several_classes_hold_the_true_value(n, epsilon):
    """From one table of leaves, and from a table of each class against the rest."""
    rng = np.random.default_rng(5)
    steps = step_middles()
    probabilities = rng.dirichlet([2, 2, 1], 12)
    rounded = steps[np.searchsorted(SCORE_STEPS, probabilities)]
    shares = (probabilities / 12).T
    exact = rng.multinomial(n, shares.ravel() / shares.sum(), size=N_RUNS)
    exact = exact.reshape(N_RUNS, 3, 12).astype(float)
    main = exact + two_sided(rng, epsilon, exact.shape)
    table = NoisyCounts(main, noise_moments(epsilon), probabilities.argmax(axis=1))
    truth = [areas_of(shares, scores).mean() for scores in (probabilities, rounded)]
    found = macro_area(table, probabilities)
    assert held(found, truth[0]) >= LEAST
    onehot = (rounded.T[:, :, None] == steps).astype(float)
    of_class = np.einsum("rkl,kls->rks", exact, onehot)
    rest = np.stack([np.einsum("rl,kls->rks", exact.sum(axis=1), onehot) - of_class, of_class], 2)
    noisy = rest + two_sided(rng, epsilon / 3, rest.shape)
    against = macro_area_against_rest(noisy, noise_moments(epsilon / 3), steps)
    assert held(against, truth[1]) >= LEAST
    if epsilon == 5:
        assert np.mean(found.high - found.low) < np.mean(against.high - against.low) < 0.03


def areas_of(shares, scores):
    """The true area of each class."""
    found = []
    for one, score in enumerate(scores.T):
        above = (score[:, None] > score) + 0.5 * (score[:, None] == score)
        positive, negative = shares[one], shares.sum(axis=0) - shares[one]
        found.append(positive @ above @ negative / positive.sum() / negative.sum())
    return np.array(found)


def test_intervals_are_about_as_wide_as_the_exact_binomial_one_without_noise():
    table = noisy(1000, 1e4, 2)
    found = accuracy(table)
    right = (table.counts * (np.arange(2)[:, None] == PREDICTED)).sum(axis=(1, 2))
    low, high = beta.ppf(0.025, right, 1001 - right), beta.ppf(0.975, right + 1, 1000 - right)
    ratio = (found.high - found.low) / (high - low)
    assert 1 <= ratio.mean() <= 1.08


def test_an_interval_is_the_whole_range_where_noise_could_explain_all_records():
    table = noisy(50, 0.01, 3)
    found = recall(table, 1)
    hidden = np.isnan(found.value)
    assert hidden.mean() > 0.9
    assert (found.low[hidden] == 0).all()
    assert (found.high[hidden] == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_intervals_of_errors_hold_the_true_value(epsilon):
    rng = np.random.default_rng(4)
    knots = Knots(64.0, two_sided=False)
    errors = np.abs(rng.normal(0, 3, 400))
    limit, n = knots.limited(1), 3000
    assert limit.limit == 32
    weights = np.zeros((len(errors), knots.n_knots), dtype=np.int64)
    for row, error in enumerate(errors):
        knots.add(np.array([error]), np.array([1]), weights[row])
    cells = np.array([limit.merge(row) for row in weights]) / KNOT_UNIT**2
    assert cells.sum(axis=1) == pytest.approx(1)
    assert cells @ limit.sizes**2 == pytest.approx(errors**2, rel=0.05, abs=0.05)
    counts = rng.multinomial(n, np.full(400, 1 / 400), size=N_RUNS) @ cells
    counts += two_sided(rng, epsilon, counts.shape)
    found = KnotCounts(counts, limit.values, noise_moments(epsilon))
    assert held(mean_absolute_error(found), errors.mean()) >= LEAST
    assert held(root_mean_squared_error(found), np.sqrt(np.mean(errors**2))) >= LEAST


@pytest.mark.slow
def test_moments_are_those_of_the_noise_that_is_drawn():
    mechanism = Geometric(fraction := Geometric(1).epsilon / 3, 2)
    values = np.arange(-2000, 2001)
    law = np.exp(mechanism.log_probability(values, 0))
    second, fourth = (law @ values.astype(float) ** power for power in (2, 4))
    variance, cumulant = noise_moments(float(mechanism.rate))
    assert variance == pytest.approx(second)
    assert cumulant == pytest.approx(fourth - 3 * second**2)
    drawn = mechanism.release(np.zeros(100_000, dtype=np.int64), Randomness(seed=0))
    assert np.var(drawn) == pytest.approx(variance, rel=0.05)
    assert fraction == mechanism.epsilon
