"""SQL, ONNX, JSON and scikit-learn's view predict what ``predict`` does: bundled data, all rows.

Beside the rows of each dataset there are some with missing, unknown, infinite and outlying values.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import privatree
from privatree import (
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaTreeClassifier,
    Schema,
    datasets,
)
from privatree.export import as_sklearn, export_json, export_onnx, export_sql
from privatree.schema import Categorical

LEARNERS = {  # lookahead=1: they should be quick to train, not good
    "two classes": PrivaTreeClassifier(8, lookahead=1, random_state=0),
    "more classes": PrivaTreeClassifier(8, lookahead=1, probability_share=0.2, random_state=1),
    "paper, two classes": PaperPrivaTreeClassifier(8, random_state=2),
    "paper, more classes": PaperPrivaTreeClassifier(8, max_depth=6, random_state=3),
    "ensemble, two classes": PrivaBoostClassifier(8, random_state=4),
    "ensemble, more classes": PrivaBoostClassifier(8, rounds=60, max_depth=1, random_state=5),
    "ensemble, three features": PrivaBoostClassifier(8, rounds=60, max_depth=3, random_state=6),
}


@dataclass(frozen=True)
class Trained:
    """The records of a dataset, strange ones included, and models by the name of their learner."""

    records: pd.DataFrame
    models: dict[str, Any]
    predicted: dict[str, Any]

    @property
    def trees(self) -> dict[str, Any]:
        return {name: one for name, one in self.models.items() if hasattr(one, "tree_")}


@pytest.fixture(scope="module", params=datasets.names())
def trained(request: pytest.FixtureRequest) -> Trained:
    frame, labels, schema = datasets.load(request.param)
    half = len(frame) // 2  # of the rows the second class becomes two: 3 classes in all
    many = labels.where((labels != schema.classes[1]) | (np.arange(len(frame)) < half), "other")
    schemas = {False: schema, True: Schema(schema.features, [*schema.classes, "other"])}
    models = {}
    for name, learner in LEARNERS.items():
        more = "more" in name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", privatree.PaperClaimWarning)
            model = clone(learner).set_params(schema=schemas[more])
            models[name] = model.fit(frame, many if more else labels)
    records = _with_strange_records(frame, schema)
    predicted = {name: model.predict(records) for name, model in models.items()}
    return Trained(records, models, predicted)


def _with_strange_records(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """As text and doubles; for each column 80 rows that are strange there, and 80 all over."""
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(
        {
            name: frame[name].astype(object if isinstance(feature, Categorical) else float)
            for name, feature in schema.features.items()
        }
    )
    strange = plain.sample(80 * (len(schema.features) + 1), replace=True, random_state=0)
    for place, feature in enumerate(schema.features.values()):
        rows = np.r_[80 * place : 80 * place + 80, 80 * len(schema.features) : len(strange)]
        if isinstance(feature, Categorical):
            pool = np.array([None, "unknown", "", *feature.categories], dtype=object)
        else:
            low, high = float(feature.low), float(feature.high)
            around = np.arange(low, high) + 0.5 if high - low < 50 else np.linspace(low, high, 50)
            pool = np.r_[np.nan, np.inf, -np.inf, low - 1, high + 1, around]
        strange.iloc[rows, place] = rng.choice(pool, len(rows))
    return pd.concat([plain, strange], ignore_index=True)


@pytest.mark.slow
def test_the_trees_are_worth_comparing(trained: Trained) -> None:
    assert max(model.tree_.n_leaves for model in trained.trees.values()) >= 4
    classes = {len(set(model.tree_.label.tolist()) - {-1}) for model in trained.trees.values()}
    assert max(classes) >= 2


@pytest.mark.slow
def test_the_ensembles_are_worth_comparing(trained: Trained) -> None:
    for name in trained.models.keys() - trained.trees.keys():
        assert trained.models[name].ensemble_.n_rounds >= 15
        assert len({*trained.predicted[name]}) >= 2


def _check(trained: Trained, got: dict[str, Any], n_models: int = len(LEARNERS)) -> None:
    assert len(got) == n_models
    for name, labels in got.items():
        assert len(labels) == len(trained.records)
        assert (np.asarray(labels) == trained.predicted[name]).all(), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "dialect"),
    [
        ("sqlite", None),
        ("duckdb", None),
        ("sqlite", "sqlite"),
        ("duckdb", "duckdb"),
        ("postgresql", "postgresql"),
        ("mariadb", "mariadb"),
    ],
)
def test_sql(trained: Trained, databases, database, dialect) -> None:
    found = [export_sql(model, dialect=dialect) for model in trained.models.values()]
    records = pa.Table.from_pandas(trained.records, preserve_index=False)
    rows = databases[database](records, f"SELECT {', '.join(found)} FROM t")
    _check(trained, dict(zip(trained.models, zip(*rows, strict=True), strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql", "mariadb"])
def test_probabilities_in_sql(trained: Trained, databases, dialect) -> None:
    records = pa.Table.from_pandas(trained.records[-2000:], preserve_index=False)
    for name in ("ensemble, two classes", "ensemble, more classes"):
        model = trained.models[name]
        rows = databases[dialect](
            records, export_sql(model, table="t", proba=True, dialect=dialect)
        )
        shares = np.array([row[-len(model.classes_) :] for row in rows])
        assert np.allclose(shares, model.predict_proba(trained.records[-2000:]))


@pytest.mark.slow
def test_onnx(trained: Trained) -> None:
    got, options = {}, onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    features = next(iter(trained.models.values())).schema_.features
    feeds = {
        name: trained.records[[name]].fillna("").to_numpy(dtype=object)
        if isinstance(feature, Categorical)
        else trained.records[[name]].to_numpy(dtype=float)
        for name, feature in features.items()
    }
    for name, model in trained.models.items():
        session = onnxruntime.InferenceSession(export_onnx(model), options)
        got[name], probabilities = session.run(None, feeds)
        wanted = model.predict_proba(trained.records)
        exact = name in trained.trees
        assert (probabilities == wanted).all() if exact else np.allclose(probabilities, wanted)
    _check(trained, got)


@pytest.mark.slow
def test_json(trained: Trained, tmp_path) -> None:
    got = {}
    for place, (name, model) in enumerate(trained.models.items()):
        path = tmp_path / f"{place}.json"
        path.write_text(export_json(model), encoding="utf-8")
        got[name] = privatree.load(path).predict(trained.records)
    _check(trained, got)


@pytest.mark.slow
def test_scikit_learn(trained: Trained) -> None:
    got = {}
    for name, model in trained.trees.items():
        view = as_sklearn(model)
        got[name] = view.predict(view.transform(trained.records))
    _check(trained, got, len(trained.trees))
