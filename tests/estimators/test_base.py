"""What every classifier does with a schema: never forget that it was read from records, and ignore
columns that it does not declare."""

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import privatree
from privatree import Categorical, Numeric, PaperPrivaTreeClassifier, PrivaTreeClassifier, Schema
from privatree.baselines import BDPTClassifier, DPGDFClassifier, RandomTreeClassifier
from privatree.errors import (
    CertificateError,
    ModelFormatError,
    ParameterError,
    PrivacyLeakWarning,
    SchemaError,
)
from privatree.privacy import Budget, BudgetStore
from privatree.robustness import DPAClassifier, accuracy_certificate, claimed_accuracy_certificate

LEARNERS = [
    PrivaTreeClassifier,
    lambda epsilon, **more: PaperPrivaTreeClassifier(epsilon, stop_when_pure=False, **more),
    RandomTreeClassifier,
    BDPTClassifier,
    DPGDFClassifier,
]
IDS = ["privatree", "paper", "random", "bdpt", "dpgdf"]
FINITE = ["privatree", "paper", "random"]
"""Those that guarantee something with a schema."""

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "job": Categorical(["nurse", "cook"])}, ["no", "yes"]
)
EVERY_MARK = [
    *((name, mark) for name in ("age",) for mark in ("kind", "low", "high", "integer")),
    *(("age", mark) for mark in ("cuts", "missing")),
    *(("job", mark) for mark in ("kind", "categories", "missing")),
    ("classes", "classes"),
]


def marked(place, mark):
    """The schema with a single mark."""
    if place == "classes":
        return Schema(SCHEMA.features, SCHEMA.classes, classes_confirmed=False)
    feature = SCHEMA.to_dict()["features"][place] | {"unconfirmed": [mark]}
    content = SCHEMA.to_dict()
    content["features"][place] = feature
    return Schema.from_dict(content)


def table(n=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(0, 100, n), "job": rng.choice(["nurse", "cook"], n)})
    return frame, np.where(frame["age"] > 50, "yes", "no")


def leaks_of(caught):
    return [w for w in caught if w.category is PrivacyLeakWarning]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize(("place", "mark"), EVERY_MARK)
@pytest.mark.parametrize("learner", LEARNERS, ids=IDS)
def test_one_unconfirmed_entry_leaves_no_finite_epsilon_and_warns_once(learner, place, mark):
    estimator = learner(1.0, schema=marked(place, mark), random_state=0)
    with pytest.warns(PrivacyLeakWarning) as caught:
        privacy = estimator.fit(*table()).privacy_
    (warning,) = leaks_of(caught)
    assert warning.filename == __file__
    named = "classes" if place == "classes" else f"'{place}': {mark}"
    assert f"nobody has confirmed: {named}. " in str(warning.message)
    assert privacy.epsilon == math.inf
    assert privacy.leaks[0].name == "schema read from the data"
    assert f"are public: {named}. " in privacy.leaks[0].explanation
    assert "infinite: no guarantee" in str(privacy)
    assert estimator.schema_ == marked(place, mark)


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize("learner", LEARNERS[:3], ids=FINITE)
def test_an_inferred_schema_gives_no_epsilon_unless_somebody_confirms_it(learner):
    frame, labels = table()
    with pytest.warns(PrivacyLeakWarning):
        schema = Schema.infer(frame, labels)
    with pytest.warns(PrivacyLeakWarning, match="classes; 'age'; 'job'") as caught:
        leaking = learner(1.0, schema=schema, random_state=0).fit(frame, labels)
    assert len(leaks_of(caught)) == 1
    with pytest.warns(PrivacyLeakWarning):
        without = learner(1.0, random_state=0).fit(frame, labels)
    assert leaking.privacy_ == without.privacy_
    assert math.isinf(leaking.privacy_.epsilon)
    vouched = learner(1.0, schema=schema.confirmed(), random_state=0).fit(frame, labels)
    assert math.isfinite(vouched.privacy_.epsilon)
    assert vouched.privacy_.leaks == ()


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize("learner", LEARNERS[:3], ids=FINITE)
def test_a_learner_that_forgets_is_not_released(learner, monkeypatch):
    """The net below: no model of such a schema can hold a finite epsilon."""
    for module in (
        privatree.estimators._training,
        privatree.baselines.paper._estimator,
        privatree.baselines._random_tree,
    ):
        monkeypatch.setattr(module, "schema_leaks", lambda schema: ())
    estimator = learner(1.0, schema=marked("age", "high"), random_state=0)
    with (
        pytest.warns(PrivacyLeakWarning),
        pytest.raises(ModelFormatError, match="must be infinite where entries of the schema"),
    ):
        estimator.fit(*table())


@pytest.mark.filterwarnings("ignore::privatree.PrivacyLeakWarning")
def test_the_marks_survive_whatever_happens_to_the_estimator(tmp_path):
    frame, labels = table()
    estimator = PrivaTreeClassifier(1.0, schema=marked("age", "high"), random_state=0)
    copies = [clone(estimator), pickle.loads(pickle.dumps(estimator))]
    search = GridSearchCV(estimator, {"max_depth": [1]}, cv=2).fit(frame, labels)
    copies.append(search.best_estimator_)
    for copied in copies:
        copied.fit(frame, labels)
        assert math.isinf(copied.privacy_.epsilon)
        copied.save(tmp_path / "model.json")
        loaded = privatree.load(tmp_path / "model.json")
        assert loaded.schema_.unconfirmed == (("features", "age", "high"),)
        assert math.isinf(loaded.privacy_.epsilon)


def test_a_file_cannot_promise_a_finite_epsilon_for_marked_entries(tmp_path):
    model = PrivaTreeClassifier(1.0, schema=SCHEMA, random_state=0).fit(*table()).model_
    content = model.to_dict()
    content["schema"]["features"]["age"]["unconfirmed"] = ["high"]
    with pytest.raises(ModelFormatError, match="must be infinite where entries of the schema"):
        privatree.Model.from_dict(content)
    content["privacy"]["epsilon"] = "infinity"
    assert privatree.Model.from_dict(content).schema_ == marked("age", "high")


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_budget_is_not_charged_for_a_schema_that_came_from_the_records(kind, tmp_path):
    path = tmp_path / "b.db"
    budget = Budget(5) if kind == "memory" else BudgetStore.create(path, epsilon=5)
    estimator = PrivaTreeClassifier(1.0, schema=marked("age", "high"), budget=budget)
    with pytest.raises(ParameterError, match=r"Unconfirmed: 'age': high. Check each"):
        estimator.fit(*table())
    assert float(budget.remaining) == 5


@pytest.mark.parametrize("learner", [PrivaTreeClassifier, RandomTreeClassifier], ids=IDS[::2][:2])
def test_no_certificate_rests_on_it(learner):
    frame, labels = table()
    estimator = learner(0.1, schema=marked("classes", "classes"))
    with pytest.raises(CertificateError, match="everything is confirmed") as caught:
        accuracy_certificate(estimator, frame, labels, frame, labels, poisoned=[1], refits=5)
    assert "delete its mark" in str(caught.value)


def test_no_claimed_certificate_rests_on_it():
    frame, labels = table()
    estimator = PaperPrivaTreeClassifier(0.1, schema=marked("age", "low"))
    with pytest.raises(CertificateError, match="everything is confirmed"):
        claimed_accuracy_certificate(
            estimator, frame, labels, frame, labels, poisoned=[1], refits=5, claimed_by="somebody"
        )


def test_no_radius_rests_on_it():
    with pytest.raises(
        ParameterError, match=r"schema must have no unconfirmed entries, .*'age': low"
    ):
        DPAClassifier(n_partitions=5, schema=marked("age", "low")).fit(*table())


def test_the_statement_reads_well():
    names = {f"column {n}": Numeric(0, 9) for n in range(40)}
    schema = Schema(names, ["no", "yes"]).all_unconfirmed()
    frame = pd.DataFrame(dict.fromkeys(names, range(10)))
    model = PrivaTreeClassifier(1.0, schema=schema, max_depth=1, lookahead=1, random_state=0)
    with pytest.warns(PrivacyLeakWarning):
        model.fit(frame, ["no", "yes"] * 5)
    text = " ".join(str(model.privacy_).split())
    assert (
        "schema read from the data: these entries were taken from the records, and nobody has "
        "confirmed that they are public: classes; 'column 0'; 'column 1'"
    ) in text
    assert "'column 29'; and 10 more columns. Check each against public knowledge" in text


# --- columns that the schema does not declare -----------------------------------------------------


def wide(frame):
    """The columns of the schema in another order, among others that nobody can read."""
    more = pd.DataFrame({"id": [object()] * len(frame), "day": pd.Timestamp("2020-01-01")})
    return pd.concat([more[["id"]], frame[["job", "age"]], more[["day"]]], axis=1)


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=IDS)
def test_columns_that_the_schema_does_not_declare_are_ignored(learner, tmp_path):
    frame, labels = table()
    estimator = learner(1.0, schema=SCHEMA, random_state=0)
    expected = clone(estimator).fit(frame, labels)
    estimator.fit(wide(frame), labels)
    assert estimator.tree_ == expected.tree_
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["job", "age"]
    estimator.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    narrow = pl.from_dict(frame.to_dict("list"))
    for model in (estimator, expected, loaded):
        for records in (frame, wide(frame), narrow, narrow.with_columns(more=1), narrow.to_arrow()):
            assert model.predict(records).tolist() == expected.predict(frame).tolist()
            assert model.apply(records).tolist() == expected.apply(frame).tolist()


def test_an_array_after_a_frame_has_the_columns_in_the_order_of_training():
    frame, labels = table()
    model = PrivaTreeClassifier(5.0, schema=SCHEMA, random_state=0).fit(wide(frame), labels)
    array = frame[["job", "age"]].to_numpy(dtype=object)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert model.predict(array).tolist() == model.predict(frame).tolist()
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 4 features, but PrivaTreeClassifier is expecting 2"),
    ):
        model.predict(wide(frame).to_numpy(dtype=object))
    with pytest.raises(SchemaError, match="X must have the 2 columns of the schema, got 4"):
        clone(model).fit(wide(frame).to_numpy(dtype=object), labels)


def test_a_stream_that_can_be_read_once_is_read_once():
    frame, labels = table()
    model = PrivaTreeClassifier(5.0, schema=SCHEMA, random_state=0).fit(frame, labels)
    batches = pa.Table.from_pandas(frame, preserve_index=False).to_batches(max_chunksize=50)
    stream = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    assert model.predict(stream).tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_a_column_that_is_not_there_is_looked_for(method):
    frame, labels = table()
    model = PrivaTreeClassifier(5.0, schema=SCHEMA, random_state=0).fit(frame, labels)
    wrong = frame.rename(columns={"age": "Age"}).assign(more=1)
    with pytest.raises(SchemaError, match=r"lacks 'age'\. .* Did you mean 'Age'\?"):
        model.fit(wrong, labels) if method == "fit" else model.predict(wrong)


def test_without_a_schema_columns_must_be_those_of_training():
    frame, labels = table()
    frame["job"] = frame["age"] * 0.5
    with pytest.warns(PrivacyLeakWarning):
        model = PrivaTreeClassifier(5.0, random_state=0).fit(frame, labels)
    for wrong in (frame[["job", "age"]], frame.assign(more=1)):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(wrong)


def test_partitions_ignore_them_too():
    frame, labels = table(400)
    model = DPAClassifier(n_partitions=5, schema=SCHEMA)
    expected = clone(model).fit(frame, labels).predict(frame)
    model.fit(wide(frame), labels)
    assert model.n_features_in_ == 2
    for records in (frame, wide(frame)):
        assert model.predict(records).tolist() == expected.tolist()


# --- missing values with a place of their own -----------------------------------------------------

SEPARATE = Schema(
    {"age": Numeric(0, 100, missing="separate"), "job": SCHEMA.features["job"]}, SCHEMA.classes
)


@pytest.mark.parametrize("learner", [*LEARNERS[1:], lambda _, schema: DPAClassifier(schema=schema)])
def test_a_learner_that_cannot_ask_about_missing_values_says_so(learner):
    with pytest.raises(ParameterError, match=r"missing=\"separate\" for \w+, got it for 'age'"):
        learner(1.0, schema=SEPARATE).fit(*table())


def test_the_learner_asks_about_missing_values():
    frame, _ = table(1000)
    frame["age"] = frame["age"].astype(float).mask(np.arange(1000) % 4 == 0)
    labels = np.where(frame["age"].isna(), "yes", "no")
    model = PrivaTreeClassifier(10, max_depth=2, schema=SEPARATE, random_state=0)
    assert model.fit(frame, labels).score(frame, labels) == 1
    assert privatree.export_text(model).startswith("age is missing\n")
    as_low = PrivaTreeClassifier(10, max_depth=2, schema=SCHEMA, random_state=0)
    assert as_low.fit(frame, labels).score(frame, labels) < 1
