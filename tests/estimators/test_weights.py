"""Units, sample weights and class weights of the classifier: what they change, and bad input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from people import SCHEMA, table
from sklearn.metrics import balanced_accuracy_score

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.errors import (
    BudgetExceededError,
    ParameterError,
    SchemaError,
    SourceError,
    TooFewRecordsError,
)
from privatree.privacy import Budget
from privatree.sources import ArrowSource, CsvSource

FRAME, LABELS = table(3000)
IDS = np.random.default_rng(1).integers(0, 900, 3000)
WEIGHTS = np.random.default_rng(2).random(3000)


def learner(epsilon=2.0, schema=SCHEMA, **settings):
    return PrivaTreeClassifier(epsilon, schema=schema, random_state=0, **settings)


def tree_of(fitted):
    return fitted.model_.to_dict()["tree"]


def test_a_record_of_weight_zero_or_without_id_is_left_out():
    kept = np.arange(3000) % 3 > 0
    wanted = tree_of(learner().fit(FRAME[kept], LABELS[kept], sample_weight=WEIGHTS[kept]))
    weights = np.where(kept, WEIGHTS, np.resize([0.0, -3.0, np.nan, -np.inf], 3000))
    assert tree_of(learner().fit(FRAME, LABELS, sample_weight=weights)) == wanted
    wanted = tree_of(learner().fit(FRAME[kept], LABELS[kept], units=IDS[kept]))
    ids = pd.Series(IDS, dtype="Int64").mask(~kept)
    assert tree_of(learner().fit(FRAME, LABELS, units=ids)) == wanted


def test_too_large_a_weight_counts_as_the_largest():
    weights = np.where(WEIGHTS > 0.5, 4.0, WEIGHTS)
    wanted = tree_of(learner(max_sample_weight=4).fit(FRAME, LABELS, sample_weight=weights))
    weights[WEIGHTS > 0.5] = np.resize([4.5, 1e300, np.inf], (WEIGHTS > 0.5).sum())
    found = learner(max_sample_weight=4).fit(FRAME, LABELS, sample_weight=weights)
    assert tree_of(found) == wanted


def test_units_of_one_record_are_records_of_weight_one():
    units = learner().fit(FRAME, LABELS, units=[f"person {n}" for n in range(3000)])
    weighted = learner().fit(FRAME, LABELS, sample_weight=np.ones(3000))
    assert tree_of(units) == tree_of(weighted)


def test_a_unit_counts_once_however_many_records_it_has():
    """Ten persons with 100 records each do not outvote a hundred persons with one each."""
    frame = pd.DataFrame({"age": [50] * 1100, "income": 0.0, "job": "clerk"})
    labels = ["yes"] * 1000 + ["no"] * 100
    ids = [n % 10 for n in range(1000)] + list(range(10, 110))
    assert (learner(100.0).fit(frame, labels).predict(frame) == "yes").all()
    found = learner(100.0).fit(frame, labels, units=ids)
    assert (found.predict(frame) == "no").all()
    assert abs(found.privacy_.noisy_records - 110) <= 5
    shares = found.predict_proba(frame)[0]
    assert shares[found.classes_.tolist().index("yes")] == pytest.approx(10 / 110, abs=0.05)


def test_the_statement_speaks_of_the_unit():
    schema = replace(SCHEMA, unit="patient_id")
    fitted = learner(schema=schema).fit(FRAME.assign(patient_id=IDS), LABELS)
    assert fitted.privacy_.unit == "patient_id"
    assert "all records of one patient_id" in str(fitted.privacy_)
    assert tree_of(fitted) == tree_of(learner().fit(FRAME, LABELS, units=IDS))
    assert learner().fit(FRAME, LABELS, units=IDS).privacy_.unit == "unit"
    assert learner().fit(FRAME, LABELS).privacy_.unit is None


def test_a_source_with_a_unit_of_its_own_says_so():
    schema = replace(SCHEMA, unit="patient_id")
    whole = FRAME.assign(target=LABELS, patient_id=0, household=IDS)
    fitted = learner(schema=schema).fit(ArrowSource(whole, target="target", unit="household"))
    assert fitted.privacy_.unit == fitted.schema_.unit == "household"


def test_ids_beside_a_column_of_ids_are_refused():
    schema = replace(SCHEMA, unit="patient_id")
    with pytest.raises(ParameterError, match="because X has the column 'patient_id'") as caught:
        learner(schema=schema).fit(FRAME.assign(patient_id=IDS), LABELS, units=IDS)
    assert caught.value.parameter == "units"
    assert learner(schema=schema).fit(FRAME, LABELS, units=IDS).privacy_.unit == "patient_id"


def test_spends_name_what_is_counted_and_leave_columns_alone():
    frame = pd.DataFrame({"records": FRAME["income"], "age": FRAME["age"]})
    schema = Schema({"records": Numeric(-1e6, 1e6), "age": Numeric(0, 100)}, ["no", "yes"])
    fitted = learner(1000.0, schema=schema, zoom=True).fit(frame, LABELS, units=IDS)
    purposes = {spend.purpose for spend in fitted.privacy_.spends}
    assert {"number of units", "interval of records"} <= purposes


def test_weights_must_be_the_records_own_and_the_statement_says_so():
    said = "it must not be computed from other records"
    weighted = learner().fit(FRAME, LABELS, sample_weight=WEIGHTS)
    assert any(said in text for text in weighted.privacy_.public)
    assert not any(said in text for text in learner().fit(FRAME, LABELS).privacy_.public)


def test_too_small_an_epsilon_is_refused_before_anything_is_charged():
    budget = Budget(2.0)
    with pytest.raises(ParameterError, match="epsilon must be larger for records with units"):
        learner(1e-8, budget=budget).fit(FRAME, LABELS, units=IDS)
    with pytest.raises(ParameterError, match=r"at least about 0\.00098"):
        learner(1e-4, class_weight="balanced").fit(FRAME, LABELS, units=IDS)
    assert not budget.charges
    for settings in ({"class_weight": "balanced"}, {"max_depth": None}, {"schedule": "robust"}):
        learner(1e-3, **settings).fit(FRAME, LABELS, units=IDS)


def test_an_empty_array_of_ids_is_no_error():
    nobody = learner().fit(FRAME[:0], LABELS[:0], units=np.array([]), sample_weight=np.array([]))
    assert nobody.privacy_.unit == "unit"


def test_ids_that_lost_letters_do_not_share_a_weight(tmp_path):
    """Bytes that are not UTF-8 become the same sign, so such ids are none."""
    row, others = (
        b"Ren\xe9,50,0,clerk,yes\n",
        b"".join(b"%d,%d,0,cook,no\n" % (n, n % 100) for n in range(300)),
    )
    content = b"who,age,income,job,target\n" + row + others
    (tmp_path / "one.csv").write_bytes(content)
    (tmp_path / "two.csv").write_bytes(content + b"Ren\xe8,50,0,clerk,no\n" * 50)
    trees = [
        tree_of(learner().fit(CsvSource(tmp_path / name, target="target", unit="who")))
        for name in ("one.csv", "two.csv")
    ]
    assert trees[0] == trees[1]


@pytest.mark.parametrize("in_memory", [False, True])
def test_records_that_come_after_the_units_were_added_up_are_noticed(in_memory):
    """Otherwise one unit could weigh more than a record."""
    whole = FRAME.assign(target=LABELS, who=IDS)
    more = pd.concat([whole, whole[whole["who"] == IDS[0]]])
    calls = iter([whole, more, more, more, more])
    source = ArrowSource(lambda: next(calls), target="target", unit="who", in_memory=in_memory)
    budget = Budget(2.0, unit="who")
    with pytest.raises(SourceError, match="must be the same in every pass"):
        learner(budget=budget).fit(source)
    assert not budget.charges


def test_replaced_units_make_the_number_of_units_public():
    one = learner(neighbours="replace").fit(FRAME, LABELS, units=IDS)
    stage = one.privacy_.schedule.sequences[0]
    n_units = len(np.unique(IDS))
    declared = learner(1.0, dataset_size=n_units).fit(FRAME, LABELS, units=IDS)
    assert stage == declared.privacy_.schedule.sequences[0]


def test_min_records_is_a_number_of_units():
    schema = replace(SCHEMA, min_records=2000)
    learner(schema=schema).fit(FRAME, LABELS)
    with pytest.raises(TooFewRecordsError, match="at least min_records = 2,000 units with a label"):
        learner(schema=schema).fit(FRAME, LABELS, units=IDS)


@pytest.mark.parametrize("class_weight", ["balanced", {"yes": 19}, {"no": 0.5, "yes": 9.5}])
def test_class_weights_find_the_rare_class(class_weight):
    rng = np.random.default_rng(3)
    frame, _ = table(20_000, seed=3)
    labels = np.where(rng.random(20_000) < np.where(frame["age"] > 80, 0.2, 0.015), "yes", "no")
    plain = learner(1.0).fit(frame, labels)
    weighted = learner(1.0, class_weight=class_weight).fit(frame, labels)
    before, after = (
        balanced_accuracy_score(labels, fitted.predict(frame)) for fitted in (plain, weighted)
    )
    assert after > before + 0.15
    purposes = {spend.purpose: float(spend.epsilon) for spend in weighted.privacy_.spends}
    cost = purposes.get("class counts for balanced weights")
    assert cost == (pytest.approx(0.02) if class_weight == "balanced" else None)


def test_balanced_weights_leave_the_total_at_epsilon():
    fitted = learner(1.0, class_weight="balanced").fit(FRAME, LABELS)
    assert float(fitted.privacy_.schedule.total) <= 1.0
    for path in fitted.privacy_.schedule.sequences:
        assert float(sum(stage.epsilon for stage in path)) <= 1.0 + 1e-12


@pytest.mark.parametrize(
    ("arguments", "parameter", "message"),
    [
        ({"sample_weight": np.ones(7)}, "sample_weight", "same number of rows"),
        ({"units": [1, 2, 3]}, "units", "same number of rows"),
        ({"units": IDS / 2}, "units", "whole numbers or text"),
        ({"units": IDS > 3}, "units", "whole numbers or text"),
        ({"sample_weight": IDS.astype(str)}, "sample_weight", "numbers as weights"),
    ],
    ids=["short weights", "short ids", "floats as ids", "booleans as ids", "text as weights"],
)
def test_bad_weights_and_ids_are_refused_and_nothing_is_charged(arguments, parameter, message):
    budget = Budget(2.0)
    with pytest.raises(ParameterError, match=message) as caught:
        learner(budget=budget).fit(FRAME, LABELS, **arguments)
    assert caught.value.parameter == parameter
    assert not budget.charges


def test_columns_beside_a_frame_have_one_dimension():
    for name in ("units", "sample_weight"):
        with pytest.raises(ValueError, match=f"{name} should be a 1d array"):
            learner().fit(FRAME, LABELS, **{name: np.ones((3000, 2), dtype=int)})


def test_a_unit_of_the_schema_must_be_found():
    schema = replace(SCHEMA, unit="patient_id")
    budget = Budget(2.0)
    with pytest.raises(ParameterError, match="'patient_id'") as caught:
        learner(schema=schema, budget=budget).fit(FRAME, LABELS)
    assert caught.value.parameter == "units"
    whole = FRAME.assign(target=LABELS)
    with pytest.raises(SchemaError, match="lacks 'patient_id'"):
        learner(schema=schema, budget=budget).fit(ArrowSource(whole, target="target"))
    assert not budget.charges


def test_a_source_names_its_own_columns():
    whole = FRAME.assign(target=LABELS, who=IDS, w=WEIGHTS, text="a")
    source = ArrowSource(whole, target="target", unit="who", weight="w")
    fitted = learner().fit(source)
    assert source.ignored == ("text",)
    assert fitted.privacy_.unit == "who"
    for name in ("units", "sample_weight"):
        with pytest.raises(ParameterError, match="must be None if X is a source"):
            learner().fit(source, **{name: IDS})
    for options, message in (
        ({"unit": "age"}, "must not be a feature"),
        ({"unit": "target"}, "must not be a feature or the target"),
        ({"unit": "who", "weight": "who"}, "unit and weight must be two columns"),
        ({"unit": "whom"}, "lacks 'whom'"),
        ({"unit": "w"}, "whole numbers or text as ids"),
        ({"weight": "text"}, "numbers as weights"),
    ):
        with pytest.raises(SchemaError, match=message):
            learner().fit(ArrowSource(whole, target="target", **options))
    with pytest.raises(ParameterError, match="unit must be the name of a column"):
        ArrowSource(whole, target="target", unit=3)


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"class_weight": "even"}, "class_weight"),
        ({"class_weight": [1, 2]}, "class_weight"),
        ({"class_weight": {"yes": 0}}, "class_weight"),
        ({"class_weight": {"yes": np.nan}}, "class_weight"),
        ({"class_weight": {"maybe": 2}}, "class_weight"),
        ({"max_sample_weight": 0}, "max_sample_weight"),
        ({"max_sample_weight": np.inf}, "max_sample_weight"),
        ({"max_sample_weight": "1"}, "max_sample_weight"),
    ],
)
def test_wrong_parameters(settings, parameter):
    with pytest.raises(ParameterError) as caught:
        learner(**settings).fit(FRAME, LABELS)
    assert caught.value.parameter == parameter


def test_a_budget_that_is_too_small_is_refused_with_units_too():
    with pytest.raises(BudgetExceededError):
        learner(budget=Budget(1.0, unit="unit")).fit(FRAME, LABELS, units=IDS)
