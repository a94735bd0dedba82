"""``privatree fit`` with units, weights of records and weights of classes."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_command import run

import privatree
from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.privacy import BudgetStore

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)
UNITS = replace(SCHEMA, unit="patient")
FORMS = ("data.csv", "data.parquet", "data.xlsx", "parts")


def visits(n_patients=300):
    """Records of patients with 1 to 5 visits each, and weights from 0 to 5."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(n_patients), rng.integers(1, 6, n_patients))
    age = rng.integers(0, 100, len(patient))
    return pd.DataFrame(
        {
            "patient": [f"P-{number:04}" for number in patient],
            "age": age,
            "ward": rng.choice(["east", "west"], len(patient)),
            "w": np.round(rng.uniform(0, 5, len(patient)), 2),
            "ill": np.where(age > 60, "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = visits()
    frame.to_csv("data.csv", index=False)
    frame.to_parquet("data.parquet")
    (tmp_path / "parts").mkdir()
    middle = len(frame) // 2
    frame[:middle].to_csv("parts/a.csv", index=False)
    frame[middle:][frame.columns[::-1]].to_csv("parts/b.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    UNITS.to_toml("units.toml")
    return tmp_path


def fit(monkeypatch, data, *arguments, schema="schema.toml"):
    return run(
        monkeypatch, "fit", data, "--target", "ill", "--epsilon", "2", "--max-depth", "2",
        "--seed", "3", "-o", "model.json", "--schema", schema, *arguments,
    )  # fmt: skip


def tree_of(schema, frame, **parameters):
    """The same training in memory, with the unit and the weights as arguments of ``fit``."""
    weights = parameters.pop("weights", None)
    learner = PrivaTreeClassifier(
        2.0, schema=schema.with_target("ill"), max_depth=2, random_state=3, **parameters
    )
    units = frame["patient"] if schema.unit else None
    features = frame[["age", "ward"]]
    return learner.fit(features, frame["ill"], sample_weight=weights, units=units).model_.to_dict()


@pytest.mark.parametrize("data", FORMS)
def test_units_from_every_form_of_file(folder, monkeypatch, data):
    if data == "data.xlsx":
        visits().to_excel(data, index=False)
    assert fit(monkeypatch, data, "--unit", "patient", "--quiet") == 0
    found = privatree.load("model.json")
    assert found.to_dict() == tree_of(UNITS, visits())
    assert found.schema_.unit == found.privacy_.unit == "patient"
    assert found.to_dict()["tree"] != tree_of(SCHEMA, visits())["tree"]


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_every_engine_gives_the_same_tree_with_units_and_weights(folder, monkeypatch, engine):
    options = ("--weight", "w", "--max-weight", "5", "--class-weight", "yes=5,no=1")
    assert fit(monkeypatch, "parts", "--engine", engine, *options, schema="units.toml") == 0
    expected = tree_of(
        UNITS, visits(), weights=visits()["w"], max_sample_weight=5.0,
        class_weight={"yes": 5, "no": 1},
    )  # fmt: skip
    assert privatree.load("model.json").to_dict() == expected


def test_a_unit_of_the_schema_needs_no_option_and_the_option_replaces_it(folder, monkeypatch):
    assert fit(monkeypatch, "data.csv", schema="units.toml") == 0
    assert privatree.load("model.json").to_dict() == tree_of(UNITS, visits())
    assert fit(monkeypatch, "data.csv", "--unit", "w", schema="units.toml") == 0
    assert privatree.load("model.json").privacy_.unit == "w"


def test_the_option_confirms_a_unit_that_was_guessed(folder, monkeypatch, capsys):
    replace(UNITS, unit_confirmed=False).to_toml("draft.toml")
    assert fit(monkeypatch, "data.csv", schema="draft.toml") == 2
    assert "must be confirmed: unit. Check" in capsys.readouterr().err
    assert fit(monkeypatch, "data.csv", "--unit", "patient", schema="draft.toml") == 0
    assert privatree.load("model.json").privacy_.epsilon == 2


def test_the_summary_says_for_whom_epsilon_holds(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.csv", "--unit", "patient", "--weight", "w") == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[1] == "Epsilon 2 holds for all records of one patient."
    assert printed.err == ""  # neither the unit nor the weight is ignored
    assert "P-0" not in printed.out + (folder / "model.json").read_text()
    replace(UNITS, classes_confirmed=False).to_toml("draft.toml")
    assert fit(monkeypatch, "data.csv", "--infer-schema", schema="draft.toml") == 0
    assert "holds for" not in capsys.readouterr().out


def test_the_statement_in_json_names_the_unit(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.csv", "--json", schema="units.toml") == 0
    assert json.loads(capsys.readouterr().out)["privacy"]["unit"] == "patient"


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("data.csv", "--unit pateint", "lacks 'pateint'. Did you mean 'patient'?\n"),
        ("data.parquet", "--unit who", "data.parquet: must have every needed column, but lacks "
         "'who'.\n"),
        ("data.parquet", "--unit w", "data.parquet: column 'w' must have whole numbers or text as "
         'ids of units, but has type double. Convert it to text, or to a type of whole numbers; '
         'with missing values, pandas has "Int64" for this.\n'),
        ("data.parquet", "--weight patient", "column 'patient' must have numbers as weights, but "),
        ("data.csv", "--weight weight", "must have every needed column, but lacks 'weight'.\n"),
        ("data.csv", "--unit age", "privatree: the unit 'age' must not be a feature of the schema"),
        ("data.csv", "--unit ill", "the target 'ill' must not be the unit of the schema. Name the "
         "column that says who a row is about.\n"),
        ("data.csv", "--weight age", "the weight 'age' must not be a feature"),
        ("data.csv", "--weight w --unit w", "unit and weight must be two columns"),
        ("data.csv", "--class-weight maybe=2,no=1", "--class-weight must have classes of the "
         "schema as keys, got 'maybe'. The classes are 'no', 'yes'.\n"),
        ("data.csv", "--class-weight no=-1", "--class-weight must have weights from 1e-100 to "
         "1e100, got -1.0.\n"),
        ("data.csv", "--class-weight no:1", "such as yes=5,no=1, got 'no:1'.\n"),
        ("data.csv", "--weight w --max-weight 0", "--max-weight must be a number from 1e-100 to "
         "1e100, got 0.0.\n"),
        ("data.csv", "--max-weight 5", "--max-weight must be used with --weight"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_charges_nothing(
    folder, monkeypatch, capsys, engine, data, options, message
):
    assert run(monkeypatch, "budget", "create", "b.db", "--epsilon", "10") == 0
    capsys.readouterr()
    arguments = (*options.split(), "--engine", engine, "--budget", "b.db")
    assert fit(monkeypatch, data, *arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.startswith("privatree: ")
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert BudgetStore("b.db").charges == []
    assert not (folder / "model.json").exists()


def test_units_and_weights_need_a_schema(folder, monkeypatch, capsys):
    for option in ("--unit", "--weight"):
        assert run(
            monkeypatch, "fit", "data.csv", "--target", "ill", "--epsilon", "1", "-o", "model.json",
            "--infer-schema", option, "w",
        ) == 2  # fmt: skip
        assert capsys.readouterr().err == (
            f"privatree: {option} must be used with --schema. Pass both.\n"
        )


# --- what the columns hold is no error ------------------------------------------------------------

ODD_WEIGHTS = ["x", "", "-3", "nan", "NA", "1e999", "5", "7", "-inf", "2,5"]
MEANT = [0, 0, 0, 0, 0, 5, 5, 5, 0, 0]


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("schema", ["schema.toml", "units.toml"])
def test_no_weight_in_a_csv_file_is_an_error(folder, monkeypatch, capsys, engine, schema):
    frame = visits()
    odd = [ODD_WEIGHTS[place % len(ODD_WEIGHTS)] for place in range(len(frame))]
    meant = [float(MEANT[place % len(MEANT)]) for place in range(len(frame))]
    frame.assign(w=odd).to_csv("odd.csv", index=False, quoting=1)
    options = ("--weight", "w", "--max-weight", "5", "--engine", engine)
    assert fit(monkeypatch, "odd.csv", *options, schema=schema) == 0
    assert "patient" not in (err := capsys.readouterr().err) or err.startswith("Not in the schema")
    expected = tree_of(
        Schema.from_toml(schema), frame, weights=np.array(meant), max_sample_weight=5.0
    )
    assert privatree.load("model.json").to_dict() == expected


def test_records_without_an_id_are_left_out(folder, monkeypatch, capsys):
    frame = visits()
    frame.loc[::3, "patient"] = None
    frame.to_csv("odd.csv", index=False)
    assert fit(monkeypatch, "odd.csv", schema="units.toml") == 0
    assert capsys.readouterr().err == "Not in the schema, so ignored: 'w'.\n"
    kept = frame[frame["patient"].notna()]
    assert privatree.load("model.json").to_dict() == tree_of(UNITS, kept)


def test_ids_that_are_numbers_in_one_file_and_text_in_another_are_the_same(folder, monkeypatch):
    frame = visits()
    numbers = frame["patient"].str.removeprefix("P-").astype(int)
    frame.assign(patient=numbers).to_parquet("numbers.parquet")
    assert fit(monkeypatch, "numbers.parquet", schema="units.toml") == 0
    from_numbers = privatree.load("model.json").to_dict()
    frame.assign(patient=numbers).to_csv("numbers.csv", index=False)
    assert fit(monkeypatch, "numbers.csv", schema="units.toml") == 0
    assert privatree.load("model.json").to_dict() == from_numbers == tree_of(UNITS, frame)
