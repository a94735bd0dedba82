"""What was saved and loaded is a classifier that scikit-learn's own tools take."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import (
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import privatree
from privatree import Categorical, Model, Numeric, ParameterError, PrivaTreeClassifier, Schema

SCHEMA = Schema(
    {"age": Numeric(0, 100), "job": Categorical(["nurse", "cook"]), "noise": Numeric(0, 1)},
    ["healthy", "ill"],
)


def records(n: int = 2000) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Ill: nurses from 50 on, and one in twenty of the others."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "job": rng.choice(["nurse", "cook"], n),
            "noise": rng.uniform(0, 1, n),
        }
    )
    ill = ((frame["age"] > 50) & (frame["job"] == "nurse")) | (rng.uniform(size=n) < 0.05)
    return frame, np.where(ill, "ill", "healthy")


FRAME, LABELS = records()


@pytest.fixture(scope="module")
def fitted() -> PrivaTreeClassifier:
    estimator = PrivaTreeClassifier(
        20.0, max_depth=2, schema=SCHEMA, probability_share=0.3, random_state=0
    )
    return estimator.fit(FRAME, LABELS)


@pytest.fixture(scope="module")
def loaded(fitted: PrivaTreeClassifier, tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("model") / "model.json"
    fitted.save(path)
    return privatree.load(path)


# --- what it is -----------------------------------------------------------------------------------


def test_it_is_a_fitted_classifier(loaded: Model) -> None:
    assert isinstance(loaded, BaseEstimator)
    assert isinstance(loaded, ClassifierMixin)
    assert is_classifier(loaded)
    check_is_fitted(loaded)
    tags = get_tags(loaded)
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert loaded.classes_.tolist() == ["healthy", "ill"]
    assert loaded.n_features_in_ == 3
    assert loaded.feature_names_in_.tolist() == ["age", "job", "noise"]


def test_copies_are_equal_and_clone_keeps_it(fitted: PrivaTreeClassifier, loaded: Model) -> None:
    assert loaded == Model.from_dict(fitted.model_.to_dict())  # a file has amounts rounded up
    assert clone(loaded) is loaded
    for copied in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)):
        assert copied == loaded
        assert copied is not loaded
        assert copied.predict(FRAME).tolist() == fitted.predict(FRAME).tolist()
    assert loaded != object()


def test_it_cannot_be_trained(loaded: Model) -> None:
    for arguments in ((), (FRAME, LABELS)):
        with pytest.raises(ParameterError, match=r"cannot be trained again.*FrozenEstimator"):
            loaded.fit(*arguments)
    with pytest.raises(ParameterError, match="has no parameters, got 'epsilon'"):
        loaded.set_params(epsilon=2)
    assert loaded.set_params() is loaded
    assert loaded.get_params() == {}
    with pytest.raises(ValueError, match="cannot be trained again"):
        cross_val_score(loaded, FRAME, LABELS, cv=2)
    with pytest.raises(ValueError, match="has no parameters"):
        GridSearchCV(loaded, {"epsilon": [1]}, cv=2, error_score="raise").fit(FRAME, LABELS)


# --- tools ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_permutation_importance(loaded: Model, scoring: str | None, kind: str) -> None:
    frames = {
        "pandas": FRAME,
        "polars": pl.from_dict(FRAME.to_dict("list")),
        "numpy": FRAME.to_numpy(dtype=object),
    }
    found = permutation_importance(
        loaded, frames[kind], LABELS, scoring=scoring, n_repeats=2, random_state=0
    )
    age, job, noise = found.importances_mean
    assert min(age, job) > 0.05
    assert noise == 0


def test_partial_dependence(loaded: Model) -> None:
    found = partial_dependence(loaded, FRAME, ["age"], grid_resolution=20)
    (averages,) = found["average"]
    assert averages[-1] > averages[0] + 0.3
    found = partial_dependence(loaded, FRAME, ["job"], categorical_features=["job"])
    cooks, nurses = found["average"][0]
    assert nurses > cooks + 0.3


def test_partial_dependence_display(loaded: Model) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    display = PartialDependenceDisplay.from_estimator(
        loaded, FRAME, ["age", "job"], categorical_features=["job"], kind="average"
    )
    assert len(display.pd_results) == 2
    plt.close(display.figure_)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(loaded: Model, method: str) -> None:
    calibrated = CalibratedClassifierCV(FrozenEstimator(loaded), method=method).fit(FRAME, LABELS)
    assert calibrated.classes_.tolist() == ["healthy", "ill"]
    assert abs(calibrated.predict_proba(FRAME)[:, 1].mean() - np.mean(LABELS == "ill")) < 0.01
    assert calibrated.score(FRAME, LABELS) > 0.9


def test_it_is_the_last_step_of_a_pipeline(loaded: Model) -> None:
    pipeline = make_pipeline(FunctionTransformer(), loaded)
    assert pipeline.predict(FRAME).tolist() == loaded.predict(FRAME).tolist()
    assert pipeline.score(FRAME, LABELS) == loaded.score(FRAME, LABELS)
    assert pickle.loads(pickle.dumps(pipeline)).score(FRAME, LABELS) == pipeline.score(
        FRAME, LABELS
    )
    with pytest.raises(ParameterError, match="cannot be trained again"):
        pipeline.fit(FRAME, LABELS)
    frozen = make_pipeline(FunctionTransformer(), FrozenEstimator(loaded)).fit(FRAME, LABELS)
    assert frozen.score(FRAME, LABELS) == loaded.score(FRAME, LABELS)


def test_scores(fitted: PrivaTreeClassifier, loaded: Model) -> None:
    assert loaded.score(FRAME, LABELS) == fitted.score(FRAME, LABELS) > 0.9
    weights = np.where(LABELS == "ill", 3.0, 0.5)
    assert loaded.score(FRAME, LABELS, sample_weight=weights) == pytest.approx(
        fitted.score(FRAME, LABELS, sample_weight=weights)
    )
    for wrong in (weights[1:], np.zeros(len(weights))):
        with pytest.raises(ParameterError, match="sample_weight must have one number for each"):
            loaded.score(FRAME, LABELS, wrong)
    shares = loaded.predict_proba(FRAME)[:, 1]
    assert get_scorer("roc_auc")(loaded, FRAME, LABELS) == roc_auc_score(LABELS == "ill", shares)


# --- as scikit-learn's trees ----------------------------------------------------------------------


@pytest.mark.parametrize("which", ["fitted", "loaded"])
def test_methods_of_scikit_learns_trees(which: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(which)
    assert (model.get_depth(), model.get_n_leaves()) == (model.tree_.depth, model.tree_.n_leaves)
    assert_paths(model)
    np.testing.assert_array_equal(
        np.exp(model.predict_log_proba(FRAME)).round(12), model.predict_proba(FRAME).round(12)
    )
    assert model.feature_importances_.argmax() in (0, 1)  # the third feature is noise


def assert_paths(model: Any) -> None:
    passed = model.decision_path(FRAME)
    leaves, tree = model.apply(FRAME), model.tree_
    assert passed.shape == (len(FRAME), tree.n_nodes)
    assert passed.dtype.kind == "i"
    for row, leaf in zip(passed[:200], leaves, strict=False):
        nodes = row.indices.tolist()
        assert nodes[0] == 0
        assert nodes[-1] == leaf
        for parent, child in pairwise(nodes):
            assert child in (tree.left[parent], tree.right[parent])
    assert (passed.max(), passed.min()) == (1, 0)
    assert model.decision_path(FRAME.iloc[:0]).shape == (0, tree.n_nodes)


@pytest.mark.parametrize("share", ["auto", 0, 0.3])
def test_logarithms_of_probabilities_are_finite(share: Any) -> None:
    model = PrivaTreeClassifier(
        20.0, max_depth=1, schema=SCHEMA, probability_share=share, random_state=0
    )
    assert np.isfinite(model.fit(FRAME, LABELS).predict_log_proba(FRAME)).all()


def test_certain_leaves_have_a_logarithm_without_a_warning(loaded: Model) -> None:
    """Files of version 1 can have leaves without probabilities."""
    certain = replace(loaded.tree_, probability=None, noisy_counts=None, support_error=None)
    model = Model(schema_=loaded.schema_, tree_=certain, privacy_=loaded.privacy_)
    assert set(np.unique(model.predict_log_proba(FRAME))) == {-np.inf, 0.0}


def test_methods_of_a_tree_need_one() -> None:
    model = PrivaTreeClassifier(schema=SCHEMA)
    for method in (model.get_depth, model.get_n_leaves):
        with pytest.raises(NotFittedError):
            method()
    for method in (model.decision_path, model.predict_log_proba):
        with pytest.raises(NotFittedError):
            method(FRAME)
    assert not hasattr(model, "feature_importances_")


# --- start-up -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_commands_that_read_a_model_do_without_scikit_learn(loaded: Model, tmp_path: Path) -> None:
    """It takes a second to import, of which a command that takes half of one has no use."""
    loaded.save(tmp_path / "model.json")
    FRAME.head().to_csv(tmp_path / "new.csv", index=False)
    code = (
        "import sys; from privatree.cli._app import app\n"
        "for words in (['show', 'model.json'], ['predict', 'model.json', 'new.csv', '--proba'],\n"
        "              ['export', 'model.json', '--format', 'sql'],\n"
        "              ['report', 'model.json', '-o', 'page.html']):\n"
        "    app(words, standalone_mode=False)\n"
        "print('sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "healthy" in done.stdout
    assert done.stdout.splitlines()[-1] == "False"
