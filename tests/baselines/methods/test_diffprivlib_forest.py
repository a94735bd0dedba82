import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema
from privatree.audit import audit, known_pairs
from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.baselines.methods._method import CLAIMED

METHOD = methods.get("diffprivlib-forest")
SCHEMA = Schema({"x": Numeric(-5, 5), "c": Categorical(["a", "b", "c"])}, [0, 1])


def test_its_epsilon_is_a_claim_and_tables_say_so():
    assert (METHOD.id, METHOD.group, METHOD.claimed) == ("diffprivlib-forest", CLAIMED, True)
    assert METHOD.private
    assert METHOD.delta == 0.0
    assert "by position" in METHOD.caveat


def test_without_its_library_it_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("privatree.baselines.methods._method.find_spec", lambda name: None)
    assert METHOD.missing == "diffprivlib-forest needs diffprivlib"


def test_it_is_told_what_is_public_and_reads_none_of_it():
    pytest.importorskip("diffprivlib")
    forest = METHOD.classifier(Training(SCHEMA, 2.0, 3, 7))
    assert (forest.epsilon, forest.max_depth, forest.random_state) == (2.0, 3, 7)
    frame = pd.DataFrame({"x": np.linspace(-1, 1, 50), "c": pd.Categorical(list("ab") * 25)})
    numbers = METHOD.encode(frame, SCHEMA)
    trained = forest.fit(numbers, np.arange(50) % 2)  # a warning, of ranges read, were an error
    assert trained.predict(numbers).shape == (50,)
    assert np.array_equal(trained.model_.bounds, [[-5, 0], [5, 2]])
    assert trained.model_.classes.tolist() == [0, 1]


def test_labels_may_be_text():
    pytest.importorskip("diffprivlib")
    schema = Schema(SCHEMA.features, ["yes", "no"])
    x = np.linspace(-5, 5, 400)
    labels = np.where(x > 0, "yes", "no")
    rows = np.column_stack([x, np.zeros(400)])
    forest = METHOD.classifier(Training(schema, 100.0, 3, 0)).fit(rows, labels)
    assert forest.classes_.tolist() == ["yes", "no"]
    assert np.mean(forest.predict(rows) == labels) > 0.8
    likelier = forest.classes_[np.argmax(forest.predict_proba(rows), axis=1)]
    assert np.mean(likelier == forest.predict(rows)) > 0.9


def test_rows_dealt_by_position_give_it_away():
    pytest.importorskip("diffprivlib")
    pair = known_pairs()["first-row"].encoded(METHOD.encode)
    report = audit(lambda pair: METHOD.classifier(Training(pair.schema, 1.0, 4, 0)), pair, runs=150)
    assert report.refuted
    assert report.lower_bound > 2
    assert "at least seven predict the class of the row at their place" in report.event
