import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privatree import ParameterError
from privatree.repetition import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    lower_confidence_bound,
    upper_confidence_bound,
)

SCORES = [0.80, 0.82, 0.81, 0.83, 0.79] * 40


def test_the_vector_of_the_design():
    assert lower_confidence_bound(SCORES, 0.99) == pytest.approx(0.790960, abs=5e-7)
    geometric = 0.01 ** (1 / 200) * math.exp(np.mean(np.log(SCORES)))
    assert geometric == pytest.approx(0.791441, abs=5e-7)
    assert upper_confidence_bound([1 - x for x in SCORES], 0.99) == pytest.approx(
        1 - 0.790960, abs=5e-7
    )


def test_it_is_the_largest_mean_whose_wealth_reaches_the_threshold():
    scores = np.array([0.2, 0.9, 0.0, 1.0, 0.7])
    bets = np.concatenate([[1.0], 1 - np.logspace(-4, -0.1, 15)])
    weights = np.concatenate([[0.5], np.full(15, 1 / 30)])

    def wealth(mean):
        return weights @ np.prod(1 - bets[:, None] + bets[:, None] * scores / mean, axis=1)

    bound = lower_confidence_bound(scores, 0.9)
    assert wealth(bound) >= 10
    assert wealth(bound * (1 + 1e-8)) < 10


# --- how often it fails, exactly ------------------------------------------------------------------

LAWS = [
    (low, high, share)
    for low, high in ((0.0, 1.0), (0.3, 0.9), (0.75, 0.8))
    for share in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
]


def worst_failure(bound, n_scores, confidence):
    """The largest probability, over laws with two values, that the bound is above the mean."""
    failures = []
    for low, high, share in LAWS:
        mean = low + share * (high - low)
        failures.append(
            sum(
                binom.pmf(n_high, n_scores, share)
                for n_high in range(n_scores + 1)
                if bound([high] * n_high + [low] * (n_scores - n_high), confidence) > mean + 1e-12
            )
        )
    return max(failures)


@pytest.mark.parametrize("confidence", [0.7, 0.95])
@pytest.mark.parametrize("n_scores", [1, 6, 15])
def test_it_fails_no_more_often_than_it_says(n_scores, confidence):
    assert worst_failure(lower_confidence_bound, n_scores, confidence) <= 1 - confidence


@pytest.mark.parametrize(
    "mutant",
    [
        lambda scores, confidence: lower_confidence_bound(scores, 1e-6),
        lambda scores, confidence: (1 - confidence) ** (1 / len(scores)) * np.mean(scores),
    ],
    ids=["confidence not applied", "arithmetic mean"],
)
def test_a_wrong_bound_is_caught(mutant):
    assert worst_failure(mutant, 6, 0.95) > 0.05


# --- whatever the scores --------------------------------------------------------------------------


@given(
    st.lists(st.one_of(st.sampled_from([0.0, 1.0, 5e-324]), st.floats(0, 1)), min_size=1),
    st.sampled_from([1e-9, 0.5, 0.99, 1 - 1e-12]),
)
@settings(max_examples=40)
@example([0.0], 0.99)
@example([1.0], 0.99)
@example([0.0] * 5000 + [1.0], 0.99)
def test_bounds_are_numbers_on_their_side_of_the_average(scores, confidence):
    lower = lower_confidence_bound(scores, confidence)
    upper = upper_confidence_bound(scores, confidence)
    assert 0 <= lower <= np.mean(scores) <= upper + 1e-15
    assert upper <= 1


def test_more_scores_and_less_confidence_bring_it_nearer():
    found = [lower_confidence_bound([0.8] * n, 0.99) for n in (1, 10, 100, 1000)]
    assert found == sorted(found)
    assert found[-1] > 0.79
    assert lower_confidence_bound([0.8] * 9, 0.9) > lower_confidence_bound([0.8] * 9, 0.99)


@pytest.mark.parametrize("scores", [[], [[0.5]], [1.5], [-0.1], [float("nan")]])
def test_other_scores_are_refused(scores):
    with pytest.raises(ParameterError, match="scores must be"):
        lower_confidence_bound(scores, 0.99)


@pytest.mark.parametrize("confidence", [0, 1, 99, float("nan"), "0.9", True, None])
def test_other_confidences_are_refused(confidence):
    with pytest.raises(ParameterError, match="confidence must be between 0 and 1"):
        lower_confidence_bound([0.5], confidence)


# --- Clopper and Pearson --------------------------------------------------------------------------


def test_clopper_pearson_vector_and_ends():
    assert clopper_pearson_lower([900, 0], 1000, 0.01) == pytest.approx([0.875814, 0], abs=5e-7)
    assert clopper_pearson_lower([7], 7, 0.01) == pytest.approx([0.01 ** (1 / 7)])
    assert clopper_pearson_upper([7, 0], 7, 0.01) == pytest.approx([1, 1 - 0.01 ** (1 / 7)])
    assert clopper_pearson_upper(100, 1000, 0.01) == pytest.approx(1 - 0.875814, abs=5e-7)


@pytest.mark.parametrize("trials", [1, 7, 40])
def test_clopper_pearson_fails_no_more_often_than_it_says(trials):
    counts = np.arange(trials + 1)
    lower, upper = (
        bound(counts, trials, 0.05) for bound in (clopper_pearson_lower, clopper_pearson_upper)
    )
    failures, failures_of_too_low_a_count = [], []
    for probability in np.linspace(0.01, 0.99, 99):
        law = binom.pmf(counts, trials, probability)
        failures += [law[lower > probability].sum(), law[upper < probability].sum()]
        higher = np.append(lower[1:], 1.0)  # the mutant: one success too many
        failures_of_too_low_a_count.append(law[higher > probability].sum())
    assert max(failures) <= 0.05
    assert max(failures_of_too_low_a_count) > 0.05


def test_clopper_pearson_refuses_what_is_no_count():
    for arguments in (([3], 2, 0.01), ([-1], 2, 0.01), ([0], 0, 0.01), ([1], 2, 0.0)):
        with pytest.raises(ParameterError):
            clopper_pearson_lower(*arguments)
