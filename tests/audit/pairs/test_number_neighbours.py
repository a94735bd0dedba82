from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from privatree import PrivaTreeRegressor
from privatree.audit import Neighbours, audit, known_pairs
from privatree.audit._outcome_words import outcome_describer
from privatree.audit._views import VIEWS, observe_training, train_for_views

PAIRS = known_pairs(numbers=True)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=list(PAIRS))
def test_a_pair_differs_in_one_record(pair: Neighbours) -> None:
    first, second = pair.sizes
    assert second == first + 1
    assert pair.schema.target is not None
    assert pair.second.X.iloc[:first]["f"].tolist() == pair.first.X["f"].tolist()
    assert np.array_equal(pair.second.y[:first], pair.first.y)


def test_what_is_seen_of_a_tree_of_numbers() -> None:
    pair = PAIRS["other-side"]
    learner = PrivaTreeRegressor(1000.0, schema=pair.schema, max_depth=1, random_state=0)
    trained = train_for_views(learner, pair.first.X, pair.first.y)
    seen = dict(
        zip(VIEWS, observe_training(VIEWS, pair.first.X.iloc[[0, -1]], trained), strict=True)
    )
    assert seen["values"] == (0, 20)
    assert seen["tree"] == (0, (0,), (0,), (20,))
    assert seen["probabilities"] is None
    say = outcome_describer("tree", pair.schema, [seen["tree"]])
    assert say(seen["tree"]) == "if f in {0} then about 0 else about 100"
    assert outcome_describer("root", pair.schema, [])((10,)) == "a leaf that predicts about 50"


class ExactMean(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the exact mean of all targets."""

    def __init__(self, epsilon: float = 1.0) -> None:
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any) -> ExactMean:
        self.mean_ = float(np.nansum(y) / max(1, len(y)))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_an_exact_mean_is_refuted() -> None:
    report = audit(ExactMean(), PAIRS["far-target"], runs=60, progress=False)
    assert report.refuted


def test_our_regressor_is_not_refuted() -> None:
    """By default, a regressor is audited with the pairs of numbers."""
    learner = PrivaTreeRegressor(1.0, random_state=0)
    report = audit(learner, runs=8, progress=False)
    assert {finding.pair for finding in report.findings} == {*PAIRS}
    assert not report.refuted
