"""Every public estimator passes scikit-learn's own estimator checks."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

import privatree
from privatree import (
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    datasets,
)

# All warnings are the estimator's duty here: no check passes a schema.
pytestmark = pytest.mark.filterwarnings("ignore::privatree.PrivacyLeakWarning")

ESTIMATORS = [
    PrivaTreeClassifier(),
    PrivaTreeClassifier(10.0, schedule="robust", probability_share=0.2),
    PrivaTreeClassifier(10.0, max_depth=None, neighbours="replace", n_bins=16),
    PrivaBoostClassifier(),
    PrivaBoostClassifier(10.0, delta=0, max_depth=3, neighbours="replace", n_bins=16),
    PrivaBoostRegressor(),
    PrivaBoostRegressor(10.0, delta=0, max_depth=3, neighbours="replace", n_bins=16),
    PrivaTreeRegressor(),
    PrivaTreeRegressor(10.0, schedule="robust", leaf_values="median", zoom=True),
    PrivaTreeRegressor(10.0, max_depth=None, neighbours="replace", n_bins=16),
    PaperPrivaTreeClassifier(),
    PaperPrivaTreeClassifier(quantiles="exact", stop_when_pure=False),
]


def test_every_public_estimator_is_checked() -> None:
    public = {name for name in privatree.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == public


CANNOT_HOLD = {
    "check_all_zero_sample_weights_error": "an error would tell something about the records",
    "check_sample_weight_equivalence_on_dense_data": "weights above max_sample_weight are clipped, "
    "and noise for sums of weights is drawn in other steps than noise for numbers of records",
}


def cannot_hold(estimator: Any) -> dict[str, str]:
    return CANNOT_HOLD if has_fit_parameter(estimator, "sample_weight") else {}


# No other check is excluded. scikit-learn itself skips the one on array-API input unless the
# variable SCIPY_ARRAY_API is set.
@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=cannot_hold)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


CLASSIFIERS = [PrivaTreeClassifier, PrivaBoostClassifier, PaperPrivaTreeClassifier]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_pipeline_grid_search_and_clone(classifier: Any) -> None:
    frame, labels, _ = datasets.load("breast-w")
    name = f"{classifier.__name__.lower()}__epsilon"
    search = GridSearchCV(
        make_pipeline(StandardScaler(), classifier(max_depth=2, random_state=0)),
        {name: [0.001, 100.0]},
        cv=3,
    ).fit(frame, labels)
    assert search.best_params_ == {name: 100.0}
    assert search.best_score_ > 0.9


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_cross_validation_with_a_schema(classifier: Any) -> None:
    frame, labels, schema = datasets.load("nursery")
    model = clone(classifier(1.0, schema=schema, random_state=0))
    assert cross_val_score(model, frame, labels, cv=3).mean() > 0.99


def test_units_and_weights_are_routed() -> None:
    """Folds are dealt by unit, and each training gets the ids and weights of its own records."""
    frame, labels, schema = datasets.load("breast-w")
    ids = np.arange(len(frame)) // 3
    with config_context(enable_metadata_routing=True):
        model = PrivaTreeClassifier(10.0, schema=schema, random_state=0)
        model.set_fit_request(sample_weight=True, units=True).set_score_request(sample_weight=False)
        found = cross_validate(
            model,
            frame,
            labels,
            cv=GroupKFold(3),
            params={"groups": ids, "units": ids, "sample_weight": np.ones(len(frame))},
            return_estimator=True,
        )
    folds = GroupKFold(3).split(frame, labels, ids)
    for (train, _), fitted in zip(folds, found["estimator"], strict=True):
        assert fitted.privacy_.unit == "unit"
        n_units = len(np.unique(ids[train]))
        assert n_units < len(train) / 2
        assert abs(fitted.privacy_.noisy_records - n_units) <= 2 * fitted.privacy_.records_error
        assert "have weights from 0 to 1" in " ".join(fitted.privacy_.notes)
    assert found["test_score"].mean() > 0.85


def test_units_are_not_routed_unless_asked_for() -> None:
    frame, labels, schema = datasets.load("breast-w")
    with config_context(enable_metadata_routing=True):
        model = PrivaTreeClassifier(10.0, schema=schema, random_state=0)
        with pytest.raises(UnsetMetadataPassedError, match="units"):
            cross_validate(
                model,
                frame,
                labels,
                params={"units": np.arange(len(frame))},
                error_score="raise",
            )


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1] * 20),
        np.array([-3.0, 2.0] * 20),
        np.array(["no", "yes"] * 20),
        np.array([True, False] * 20),
        pd.Series(["b", "a"] * 20, dtype="category"),
        pd.Series([1, 2] * 20, dtype="Int64"),
        ["x", "y"] * 20,
    ],
    ids=lambda labels: f"{type(labels).__name__}-{getattr(labels, 'dtype', 'list')}",
)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_any_label_type_comes_back(classifier: Any, labels: Any) -> None:
    X = np.array([[0.0], [1.0]] * 20)
    model = classifier(1000.0, random_state=0).fit(X, labels)
    assert set(model.predict(X).tolist()) <= set(np.asarray(labels).tolist())
    assert model.score(X, np.asarray(labels)) == 1.0
