"""The range of every score, over all small tables, and the published draws at their real cost."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from privatree.baselines.growing._coding import CUT, MULTIWAY, ONE, Coding, public_cuts
from privatree.baselines.growing._scores import (
    GINI,
    MAX,
    NORMALISED_GINI,
    entropy_score,
    gradient_score,
    information_gain,
)
from privatree.privacy.mechanisms import Exponential
from privatree.schema import Numeric

CODING = Coding((0, 1), (None, np.array([0.5, 1.5])), (2, 3))
ALL = {kind: CODING.candidates(kind) for kind in (ONE, MULTIWAY, CUT)}
SCORES = {
    "max": (MAX, 2, (0.0, 1.0)),
    "max of three classes": (MAX, 3, (0.0, 1.0)),
    "gini": (GINI, 2, (-2.0, 0.0)),
    "gini of three classes": (GINI, 3, (-2.0, 0.0)),
    "entropy": (entropy_score(4), 2, (-math.log2(5) - 1 / math.log(2), 0.0)),
    "entropy beyond its bound": (entropy_score(1), 3, (-1 - 1 / math.log(2), 0.0)),
    "gradient": (gradient_score(0.0), 2, (-3.0, 1.0)),
    "regularised gradient": (gradient_score(0.1), 2, (-3.0, 1.0)),
    "normalised gini": (NORMALISED_GINI, 2, (-0.5, 0.5)),
}


def counts_of(records, n_classes):
    counts = np.zeros((n_classes, 5), dtype=np.int64)
    for first, second, label in records:
        counts[label, first] += 1
        counts[label, 2 + second] += 1
    return counts, counts[:, :2].sum(axis=1)


def changes_of_one_child(score, n_classes):
    """Changes of a child's number by one record more, for all counts up to a few of each class."""
    top = 14 if n_classes == 2 else 6
    grid = np.stack(np.meshgrid(*[np.arange(float(top))] * n_classes), -1).reshape(-1, n_classes)
    more = np.eye(n_classes)
    return np.concatenate(
        [score.of_children((grid + one).T) - score.of_children(grid.T) for one in more]
    )


@pytest.mark.parametrize("name", SCORES)
def test_one_record_moves_a_child_by_what_the_lemma_says(name):
    score, n_classes, (low, high) = SCORES[name]
    if score.normalised:
        score, (low, high) = GINI, (-2.0, 0.0)
    found = changes_of_one_child(score, n_classes)
    assert low - 1e-9 <= found.min()
    assert found.max() <= high + 1e-9


@pytest.mark.parametrize("name", SCORES)
def test_one_record_moves_all_splits_by_what_the_lemma_says(name):
    """All tables of up to two records with two features, and all records more."""
    score, n_classes, (low, high) = SCORES[name]
    kinds, widest = list(product(range(2), range(3), range(n_classes))), 0.0
    for size in range(3 if n_classes == 2 else 2):
        for records in combinations_with_replacement(kinds, size):
            before = counts_of(records, n_classes)
            for more in kinds:
                after = counts_of((*records, more), n_classes)
                here = [c.scores(score, *after) - c.scores(score, *before) for c in ALL.values()]
                change = np.concatenate(here)
                assert low - 1e-9 <= change.min()
                assert change.max() <= high + 1e-9
                widest = max(widest, change.max() - change.min())
    assert widest <= score.score_range + 1e-9
    assert math.isclose(high - low, float(score.score_range))


def test_a_range_that_is_too_small_would_show():
    """Mutants: a gain taken for monotone, and ranges halved."""
    gradient = changes_of_one_child(gradient_score(0.0), 2)
    assert gradient.min() < -2
    assert gradient.max() == pytest.approx(1)
    assert changes_of_one_child(GINI, 2).min() < -1.6
    entropy = entropy_score(10)
    assert changes_of_one_child(entropy, 2).min() < -float(entropy.score_range) / 2
    assert changes_of_one_child(MAX, 3).max() == 1


def test_a_large_child_stays_in_the_range():
    for size in (1, 2, 10, 1000, 10**6):
        for ones in {0, 1, size // 2, size - 1, size}:
            before = np.array([[size - ones], [ones]], dtype=float)
            for label in range(2):
                after = before.copy()
                after[label] += 1
                for score, (low, high) in (
                    (MAX, (0, 1)),
                    (GINI, (-2, 0)),
                    (gradient_score(0.1), (-3, 1)),
                    (entropy_score(999), (-float(entropy_score(999).score_range), 0)),
                ):
                    change = float((score.of_children(after) - score.of_children(before))[0])
                    assert low - 1e-3 <= change <= high + 1e-3


def test_entropy_is_that_of_the_definition_and_information_gain_too():
    counts = np.array([[3, 0, 1], [1, 2, 1]])
    entropies = [4 * (2 - 0.75 * math.log2(3)), 0.0, 2.0]
    found = entropy_score(100).of_children(counts.astype(float))
    assert found == pytest.approx([-one for one in entropies], abs=1e-12)
    assert information_gain(counts) == pytest.approx((8 - sum(entropies)) / 8)
    assert information_gain(np.zeros((2, 3), dtype=int)) == 0


@pytest.mark.parametrize(
    ("score", "share"),
    [
        (MAX, Fraction(1, 2)),
        (GINI, Fraction(1, 2)),
        (entropy_score(10), Fraction(1, 2)),
        (NORMALISED_GINI, 1),
        (gradient_score(0), Fraction(2, 3)),
    ],
)
def test_a_published_draw_has_the_published_exponent_and_its_real_cost(score, share):
    draw = score.draw(Fraction(1, 5))
    assert draw.epsilon / draw.score_range == Fraction(1, 5) / (2 * score.sensitivity)
    assert draw.epsilon == share * Fraction(1, 5)


def largest_loss(score, mechanism, n_classes=2, size=3):
    """Largest log-ratio of the probabilities of a split, over all small neighbouring tables."""
    candidates, worst = CODING.candidates(MULTIWAY, of_numbers=CUT), 0.0
    kinds = list(product(range(2), range(3), range(n_classes)))
    for n in range(size):
        for records in combinations_with_replacement(kinds, n):
            before = candidates.scores(score, *counts_of(records, n_classes))
            for more in kinds:
                after = candidates.scores(score, *counts_of((*records, more), n_classes))
                laws = [mechanism.log_probabilities(scores) for scores in (before, after)]
                worst = max(worst, np.abs(laws[0] - laws[1]).max())
    return worst


@pytest.mark.parametrize("score", [MAX, GINI, entropy_score(4), NORMALISED_GINI, gradient_score(0)])
def test_the_splits_of_neighbours_differ_by_what_a_draw_costs_at_most(score):
    draw = score.draw(Fraction(16))
    loss = largest_loss(score, draw)
    assert 0.2 * draw.epsilon < loss <= draw.epsilon + 1e-9
    # Mutants: the exponent of a draw that costs more.
    sharper = Exponential(draw.epsilon * 5, draw.score_range)
    assert largest_loss(score, sharper) > draw.epsilon


def test_the_max_score_uses_up_its_budget():
    draw = MAX.draw(Fraction(16))
    assert largest_loss(MAX, draw) > 0.9 * draw.epsilon
    assert largest_loss(MAX, Exponential(2 * draw.epsilon, MAX.score_range)) > 1.8 * draw.epsilon


@pytest.mark.parametrize(
    ("feature", "n_bins", "cuts"),
    [
        (Numeric(0, 10), 5, [2, 4, 6, 8]),
        (Numeric(0, 3, integer=True), 10, [0.5, 1.5, 2.5]),
        (Numeric(0, 100, integer=True), 4, [25.5, 50.5, 75.5]),
        (Numeric(0, 10, cuts=[3]), 5, [3]),
        (Numeric(0, 10), 1, []),
        (Numeric(7, 7), 5, []),
    ],
)
def test_cuts_follow_from_the_schema(feature, n_bins, cuts):
    assert public_cuts(feature, n_bins).tolist() == cuts
