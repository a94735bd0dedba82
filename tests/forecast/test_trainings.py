import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.forecast import Setting
from privatree.forecast._trainings import _auc, compare_on_records


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(600), "b": pd.Categorical(rng.choice(["u", "v"], 600))})
    y = np.where(X["a"] + 0.2 * rng.normal(size=600) > 0.5, "yes", "no")
    schema = Schema({"a": Numeric(0, 1), "b": Categorical(["u", "v"])}, ["no", "yes"])
    return (X[:400], y[:400]), (X[400:], y[400:]), schema


def test_both_learners_are_scored_on_the_same_test_records(records):
    (X, y), (test_X, test_y), schema = records
    found = compare_on_records(*records, Setting(400, (0.01, 2.0)), 7)

    def coded(frame):
        return frame.assign(b=frame["b"].cat.codes)

    plain = DecisionTreeClassifier(max_depth=4, random_state=0).fit(coded(X), y)
    assert found.plain.accuracy == plain.score(coded(test_X), test_y)
    auc = roc_auc_score(test_y, plain.predict_proba(coded(test_X))[:, 1])
    assert found.plain.auc == pytest.approx(auc)
    private = PrivaTreeClassifier(2.0, schema=schema, random_state=7).fit(X, y)
    assert found.private[1].accuracy == private.score(test_X, test_y)
    auc = roc_auc_score(test_y, private.predict_proba(test_X)[:, 1])
    assert found.private[1].auc == pytest.approx(auc)
    assert found.private[0].accuracy < found.private[1].accuracy


def test_the_auc_is_the_mean_over_the_classes_that_occur():
    y = np.array(["a", "a", "b", "b"])
    sure = np.array([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.7, 0.2, 0.1]])
    classes = np.array(["a", "b", "c"])
    a, b = roc_auc_score(y == "a", sure[:, 0]), roc_auc_score(y == "b", sure[:, 1])
    assert _auc(y, sure, classes) == (a + b) / 2
    assert _auc(y[:2], sure[:2], classes) == 0.5
