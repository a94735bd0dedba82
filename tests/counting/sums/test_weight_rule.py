"""Signed weights: whole numbers from a record's own score and class, at most the full one."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privatree.counting.sums import FINE_STEPS, FULL_SIGNED_WEIGHT, ResidualRule, WeightRule


def signed(rule, scores, labels, weights=None):
    kind = np.int16 if weights is None else np.int64
    found = np.empty(len(labels), dtype=kind)
    rule.sign_records(np.array(scores, np.int32), np.array(labels), weights, 0, len(labels), found)
    return found


@pytest.mark.parametrize("twice_scale", [3, 4])
def test_two_classes(twice_scale):
    step, n_rounds = 0.3, 20
    rule = WeightRule.of_round(step, n_rounds, (-1, 1), twice_scale)
    margins = np.arange(-n_rounds, n_rounds + 1)
    found = signed(rule, margins[:, np.newaxis], np.ones(len(margins), np.uint8))
    expected = [
        round(255 * min(1.0, twice_scale / 2 / (1 + math.exp(step * margin)))) for margin in margins
    ]
    assert found.tolist() == expected
    assert found.max() == FULL_SIGNED_WEIGHT
    assert (np.diff(found) <= 0).all()
    others = signed(rule, -margins[:, np.newaxis], np.zeros(len(margins), np.uint8))
    assert others.tolist() == [-weight for weight in expected]


def test_weights_multiply():
    rule = WeightRule.of_round(0.5, 3, (-1, 1), 4)
    weights = np.array([1, 2**24], dtype=np.int32)
    found = signed(rule, [[-3], [-3]], np.array([1, 1], np.uint8), weights)
    assert found.tolist() == [255, 255 * 2**24]


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_many_classes_are_whole_numbers_of_the_softmax(n_classes):
    rng = np.random.default_rng(n_classes)
    code = np.where(np.arange(n_classes) < n_classes // 2, 1, -1)
    step, n_rounds = 0.4, 12
    rule = WeightRule.of_round(step, n_rounds, tuple(code), 3)
    scores = rng.integers(-n_rounds, n_rounds + 1, (300, n_classes))
    labels = rng.integers(0, n_classes, 300).astype(np.uint8)
    found = signed(rule, scores, labels)
    for row, label, weight in zip(scores, labels, found.tolist(), strict=True):
        powers = [round(2**30 * math.exp(step / 2 * (score - row.max()))) for score in row]
        mean = Fraction(int(np.dot(code, powers)), sum(powers))
        error = Fraction(3, 4) * (int(code[label]) - mean)
        size = min(255, math.floor(abs(error) * 255 + Fraction(1, 2)))
        assert weight == (size if error > 0 else -size)
        assert weight * code[label] >= 0
    assert np.abs(found).max() == FULL_SIGNED_WEIGHT


def test_extreme_scores_neither_overflow_nor_exceed_the_full_weight():
    rule = WeightRule.of_round(2.0, 500, (1, -1, -1), 4)
    found = signed(rule, [[500, -500, -500], [-500, 500, -500]], np.array([0, 0], np.uint8))
    assert found.tolist() == [0, 255]
    steep = WeightRule.of_round(100.0, 200, (-1, 1), 4)
    assert steep.table[[0, -1]].tolist() == [255, 0]


def test_residuals_are_rounded_and_clipped_in_whole_numbers():
    rule = ResidualRule(start=1000 * FINE_STEPS, scale=30 * FINE_STEPS + 7)
    targets = np.array([0, 990, 999, 1000, 1001, 1030, 1031, 65_535], np.uint16)
    for score in (0, -3 * FINE_STEPS, 11):
        found = signed(rule, np.full((len(targets), 1), score), targets)
        for target, weight in zip(targets.tolist(), found.tolist(), strict=True):
            residual = target * FINE_STEPS + FINE_STEPS // 2 - rule.start - score
            size = min(255, math.floor(Fraction(255 * abs(residual), rule.scale) + Fraction(1, 2)))
            assert weight == (size if residual > 0 else -size)


def test_residuals_of_the_largest_predictions_do_not_overflow():
    rule = ResidualRule(start=0, scale=1)
    scores = np.array([[2**31 - 1], [-(2**31)]])
    assert signed(rule, scores, np.array([0, 65_535], np.uint16)).tolist() == [-255, 255]
