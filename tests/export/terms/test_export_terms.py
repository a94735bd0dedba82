"""The files of terms have every digit, and what they say adds up to the score of the model."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up_terms import DEEP, FEATURES, FUNCTIONS, ensemble_of, number_ensemble_of
from random_ensembles import random_ensemble, random_records
from sklearn.exceptions import NotFittedError

from privatree import PrivaBoostClassifier, PrivaTreeClassifier, datasets
from privatree.errors import ParameterError
from privatree.export import export_terms
from privatree.export.terms import _terms_csv
from privatree.model.ensemble import Ensemble, Round, Step
from privatree.model.terms import ensemble_terms
from privatree.schema import Categorical, Numeric, Schema, Target

SCHEMAS = [
    *(Schema(FEATURES, classes) for classes in (("well", "ill"), ("a", "b", "c", "d"), (0, 1))),
    Schema(FEATURES, target=Target(0, 60, integer=True)),
    Schema(FEATURES, target=Target(0, 1e5, log=True)),
]


def is_missing(value: Any, feature: Any) -> bool:
    if isinstance(feature, Categorical):
        return value not in feature.categories
    return value is None or math.isnan(value)


def cell_in_json(axis: dict[str, Any], value: Any, feature: Any) -> int:
    """Where a value is, by what the file says of an axis."""
    if is_missing(value, feature):
        return int(axis["missing"])
    if "categories" in axis:
        (found,) = [k for k, cell in enumerate(axis["categories"]) if value in cell]
        return found
    ends = axis["edges"][1:-1]
    return sum(value > end for end in ends) + axis["has_missing_cell"]


def scores_in_json(written: dict[str, Any], record: dict[str, Any]) -> list[float]:
    scores = np.array(written["intercept"])
    for term in written["terms"]:
        values = term["values"]
        for axis in term["axes"]:
            name = axis["feature"]
            values = values[cell_in_json(axis, record[name], FEATURES[name])]
        scores = scores + np.array(values)
    return scores.tolist()


def scores_in_csv(rows: list[dict[str, str]], record: dict[str, Any]) -> list[float]:
    columns = [name for name in rows[0] if name.startswith("value of ")]
    fitting = [row for row in rows if all(fits(row, k, record) for k in (1, 2, 3))]
    assert [int(row["term"]) for row in fitting] == list(range(len(fitting)))  # one of each term
    return [sum(float(row[name]) for row in fitting) for name in columns]


def fits(row: dict[str, str], place: int, record: dict[str, Any]) -> bool:
    name = row.get(f"feature {place}")
    if not name:
        return True
    value, feature = record[name], FEATURES[name]
    missing = row[f"missing {place}"]
    if is_missing(value, feature):
        return missing in ("also", "only")
    if missing == "only":
        return False
    if isinstance(feature, Categorical):
        return row[f"category {place}"] == str(value)
    low, high = row[f"from {place}"], row[f"to {place}"]
    return (not low or float(low) < value) and (not high or value <= float(high))


def frame_of(records: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in records.items()})


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("seed", range(4))
def test_files_add_up_to_the_score(seed: int, schema: Schema) -> None:
    """Read without the library, for values of all kinds."""
    rng = random.Random(seed)
    drawn = random_ensemble(rng, schema, n_rounds=6)
    ensemble = replace(drawn, intervals={1: (0.0, 400.0)})
    terms = ensemble_terms(ensemble)
    records = random_records(rng, ensemble, 60)
    expected = terms.decision_function(frame_of(records)).reshape(60, -1)
    written = json.loads(export_terms(terms, "json"))
    rows = list(csv.DictReader(io.StringIO(export_terms(terms))))
    for number, scores in enumerate(expected.tolist()):
        record = {name: values[number] for name, values in records.items()}
        assert scores_in_json(written, record) == pytest.approx(scores, rel=1e-14, abs=1e-12)
        assert scores_in_csv(rows, record) == pytest.approx(scores, rel=1e-14, abs=1e-12)


def test_json_has_every_digit_and_every_part() -> None:
    terms = ensemble_terms(ensemble_of(*FUNCTIONS, DEEP))
    written = json.loads(export_terms(terms, "json"))
    assert (written["format"], written["version"]) == ("privatree-terms", 1)
    assert (written["classes"], written["scores"]) == (["well", "ill"], ["ill"])
    assert written["intercept"] == terms.intercept.tolist()
    assert written["left_out"] == {"terms": 0, "typical_change": 0.0, "largest_change": 0.0}
    for found, term in zip(written["terms"], terms, strict=True):
        assert tuple(found["features"]) == term.names
        assert found["strength"] == term.strength
        assert found["beyond_chance"] == term.beyond_chance
        np.testing.assert_array_equal(np.array(found["values"]), term.values)
        np.testing.assert_array_equal(np.array(found["band"]), term.band)
        for axis, known in zip(found["axes"], term.axes, strict=True):
            assert axis["measure"] == known.measure.tolist()
    (age,) = [term for term in written["terms"] if term["features"] == ["age"]]
    assert age["axes"][0]["has_missing_cell"]
    assert age["axes"][0]["missing"] == 0
    (town,) = [term for term in written["terms"] if term["features"] == ["town"]]
    assert town["axes"][0]["categories"][-1] == [None]


def test_rows_of_a_term_have_its_measure() -> None:
    terms = ensemble_terms(ensemble_of(*FUNCTIONS, DEEP, classes=("a", "b", "c")))
    header, *rows = csv.reader(io.StringIO(export_terms(terms)))
    assert header[0] == "term"
    figures = ("value", "effect", "band")
    assert header[-9:] == [f"{what} of {label}" for what in figures for label in "abc"]
    for row in rows[1:]:
        values, effects = (np.array(row[start : start + 3], float) for start in (-9, -6))
        assert effects == pytest.approx(values - values.mean(), abs=1e-12)
    for found, term in zip(json.loads(export_terms(terms, "json"))["terms"], terms, strict=True):
        np.testing.assert_array_equal(np.array(found["effect"]), term.effect)
    measures: dict[str, float] = {}
    for row in rows:
        measures[row[0]] = measures.get(row[0], 0.0) + float(row[header.index("measure")])
    assert list(measures) == [str(k) for k in range(len(terms) + 1)]
    assert measures == pytest.approx(dict.fromkeys(measures, 1.0))


@pytest.mark.slow
def test_monotone_terms_have_no_band() -> None:
    frame, labels, schema = datasets.load("breast-w")
    model = PrivaBoostClassifier(
        1.0, rounds=6, max_depth=1, schema=schema, random_state=0,
        monotonic_cst=dict.fromkeys(schema.names, 1),
    ).fit(frame, labels)  # fmt: skip
    written = json.loads(export_terms(model, "json"))
    assert {(term["band"], term["beyond_chance"]) for term in written["terms"]} == {(None, None)}
    rows = csv.DictReader(io.StringIO(export_terms(model)))
    assert {row["band of malignant"] for row in rows} == {""}


def test_weak_pairs_are_left_out_and_the_file_says_what_that_changes() -> None:
    ensemble = ensemble_of()
    written = json.loads(export_terms(ensemble, "json", max_pairs=1))
    terms = ensemble_terms(ensemble).with_pairs(1)
    assert [tuple(term["features"]) for term in written["terms"]] == [t.names for t in terms]
    assert written["left_out"] == {
        "terms": len(terms.left_out),
        "typical_change": terms.typical_change,
        "largest_change": terms.largest_change,
    }
    assert export_terms(ensemble_terms(ensemble), "json", max_pairs=1) == export_terms(
        terms, "json"
    )


def test_names_that_could_break_a_file() -> None:
    names = ['a"b', "x,y\n", "=1+1", "é🙂"]
    schema = Schema(
        {names[0]: Numeric(0, 1), names[1]: Categorical(["é", 'q"', "a,b"])}, [names[2], names[3]]
    )
    functions = Step(0, 1, (0.5,)), Step(1, positive=b"\1\0\0")
    ensemble = Ensemble(schema, 0.5, tuple(Round(one, (-1, 1)) for one in functions))
    rows = list(csv.DictReader(io.StringIO(export_terms(ensemble))))
    assert {row["feature 1"] for row in rows} == {"", names[0], names[1]}
    assert {row["category 1"] for row in rows} == {"", "é", 'q"', "a,b"}
    assert json.loads(export_terms(ensemble, "json"))["classes"] == names[2:]


def test_two_classes_have_values_that_are_effects() -> None:
    """So they are written once."""
    header = export_terms(ensemble_of()).splitlines()[0].split(",")
    assert header[-2:] == ["value of ill", "band of ill"]
    assert all(
        "effect" not in term for term in json.loads(export_terms(ensemble_of(), "json"))["terms"]
    )


def test_an_ensemble_that_says_nothing() -> None:
    ensemble = ensemble_of(Step(0, 1, ()))
    assert json.loads(export_terms(ensemble, "json"))["terms"] == []
    assert len(export_terms(ensemble).splitlines()) == 2


def test_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble = ensemble_of()
    with pytest.raises(ParameterError, match='form must be "csv" or "json"') as caught:
        export_terms(ensemble, "xml")  # type: ignore[arg-type]
    assert caught.value.parameter == "form"
    with pytest.raises(ParameterError) as caught:
        export_terms(ensemble, max_pairs=-1)
    assert caught.value.parameter == "max_pairs"
    with pytest.raises(NotFittedError):
        export_terms(PrivaBoostClassifier(1.0))
    monkeypatch.setattr(_terms_csv, "_MAX_ROWS", 5)
    with pytest.raises(ParameterError, match="at most 5 rows") as caught:
        export_terms(ensemble)
    assert caught.value.parameter == "form"
    export_terms(ensemble, "json")


def test_a_tree_has_no_terms() -> None:
    frame, labels, schema = datasets.load("vote")
    tree = PrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    with pytest.raises(TypeError, match="must be an ensemble, which is a sum of terms"):
        export_terms(tree)


@pytest.mark.parametrize(
    ("log", "name"), [(False, "prediction"), (True, "logarithm of 1 plus the prediction")]
)
def test_of_a_number_the_values_are_parts_of_the_prediction(log: bool, name: str) -> None:
    ensemble = number_ensemble_of(target=Target(0, 1e6, log=log))
    header = export_terms(ensemble).splitlines()[0].split(",")
    assert header[-2:] == [f"value of {name}", f"band of {name}"]
    written = json.loads(export_terms(ensemble, "json"))
    assert (written["classes"], written["scores"]) == ([], [name])
