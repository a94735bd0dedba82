"""What the quantile mechanism takes, and does with columns of every kind."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import JointExponentialQuantiles

DECILES = tuple(Fraction(k, 10) for k in range(1, 10))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**400), Fraction(1), Fraction(10**9)])
@pytest.mark.parametrize(
    "column",
    [[], [0.0], [1.0], [0.3] * 500, [0.0] * 50 + [1.0] * 50, [-9.0, np.inf, np.nan, -np.inf]],
)
def test_extreme_columns(neighbours: str, epsilon: Fraction, column: Any) -> None:
    mechanism = JointExponentialQuantiles(epsilon, DECILES, 0.0, 1.0, neighbours)
    edges = mechanism.release(np.array(column), Randomness(1))
    assert edges.shape == (9,)
    assert np.all(np.diff(edges) >= 0)
    assert edges[0] >= 0.0
    assert edges[-1] <= 1.0


def test_a_range_of_one_value() -> None:
    mechanism = JointExponentialQuantiles(Fraction(1), DECILES, 2.5, 2.5, "replace")
    assert mechanism.release(np.array([2.5, 7.0]), Randomness(1)).tolist() == [2.5] * 9


def test_quantiles_are_near_the_true_ones_when_epsilon_is_large() -> None:
    column = np.random.default_rng(3).normal(size=5000)
    mechanism = JointExponentialQuantiles(Fraction(20), DECILES, -10.0, 10.0, "add-remove")
    edges = mechanism.release(column, Randomness(2))
    ranks = np.searchsorted(np.sort(column), edges) / len(column)
    assert np.abs(ranks - np.arange(1, 10) / 10).max() < 0.002


def test_heavy_ties() -> None:
    column = np.repeat([0.1, 0.4, 0.7], [30_000, 50_000, 20_000])
    mechanism = JointExponentialQuantiles(
        Fraction(1), (Fraction(3, 10), Fraction(8, 10)), 0.0, 1.0, "replace"
    )
    first, second = mechanism.release(column, Randomness(4))
    assert 0.1 <= first < 0.4 <= second < 0.7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": Fraction(0)}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "epsilon must be a finite number"),
        ({"quantiles": ()}, "at least one"),
        ({"quantiles": (Fraction(1, 2), Fraction(1, 2))}, "strictly increasing"),
        ({"quantiles": (Fraction(0), Fraction(1, 2))}, "between 0 and 1"),
        ({"quantiles": (Fraction(0.1),)}, "common denominator"),
        ({"low": float("nan")}, "must be finite"),
        ({"low": -1e308, "high": 1e308}, "must be finite"),
        ({"low": 2.0}, "low must be <= high"),
        ({"neighbours": "both"}, "neighbours must be"),
        ({"cells": 1}, "cells must be"),
    ],
)
def test_parameters_are_checked(change: dict[str, Any], message: str) -> None:
    parameters = {
        "epsilon": Fraction(1),
        "quantiles": DECILES,
        "low": 0.0,
        "high": 1.0,
        "neighbours": "replace",
    }
    with pytest.raises(ParameterError, match=message):
        JointExponentialQuantiles(**(parameters | change))
