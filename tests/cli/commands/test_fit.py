import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_command import run

import privatree
from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)


def table(n_rows=2000):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, n_rows)
    ward = rng.choice(["east", "west"], n_rows)
    label = np.where((age > 60) == (ward == "east"), "yes", "no")
    return pd.DataFrame({"age": age, "ward": ward, "ill": label})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the same records in several forms."""
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.to_csv("data.csv", index=False)
    frame.to_csv("data.csv.gz", index=False)
    frame.assign(id=frame.index).to_parquet("data.parquet")
    (tmp_path / "parts").mkdir()
    for part in range(3):
        frame.iloc[part * 700 : (part + 1) * 700].to_csv(f"parts/part-{part}.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    return tmp_path


def fit(monkeypatch, *arguments, schema="schema.toml", epsilon="5"):
    """Train with the options that every call needs, unless they are given."""
    chosen = [] if schema is None else ["--schema", schema]
    return run(
        monkeypatch, "fit", "--target", "ill", "--epsilon", epsilon, "-o", "model.json", *chosen,
        *arguments,
    )  # fmt: skip


def test_it_saves_a_model_and_prints_tree_and_statement(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.csv") == 0
    printed = capsys.readouterr()
    model = privatree.load("model.json")
    assert model.schema_ == SCHEMA.with_target("ill")
    assert model.privacy_.epsilon == 5
    assert printed.out == (
        "Saved model.json. Use it with: privatree predict model.json DATA\n"
        "Epsilon 5 holds for a whole record. If a person can have several, name the column that "
        "says who: --unit COLUMN.\n\n"
        f"predicts      ill\n\n{privatree.export_text(model)}\n\n{model.privacy_}\n"
    )
    assert printed.err == ""
    frame = table()
    assert model.score(frame[["age", "ward"]], frame["ill"]) > 0.9


def test_it_prints_no_exact_figure_of_the_records(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.csv", "--seed", "0", epsilon="0.001") == 0
    printed = capsys.readouterr()
    saved = (folder / "model.json").read_text()
    for figure in (2000, *table()["ill"].value_counts()):
        assert not re.search(rf"(?<![\d.]){figure}(?![\d.])", printed.out + printed.err + saved)
    assert "accuracy" not in printed.out


@pytest.mark.parametrize("share", ["25%", " 25 %", "0.25", ".25"])
def test_a_held_out_part_gives_private_scores(folder, monkeypatch, capsys, share):
    options = ["--seed", "3", "--holdout", share, "--score-epsilon", "2"]
    assert fit(monkeypatch, "data.csv", *options) == 0
    printed = capsys.readouterr().out
    frame = table()
    learner = PrivaTreeClassifier(5.0, schema=SCHEMA.with_target("ill"), random_state=3)
    learner.fit(frame[["age", "ward"]], frame["ill"], holdout=0.25, score_epsilon=2.0)
    saved = privatree.load("model.json")
    assert saved.to_dict() == learner.model_.to_dict()
    assert printed.endswith(f"\n\n{saved.privacy_}\n\n{saved.scores_}\n")
    assert run(monkeypatch, "show", "model.json") == 0
    assert str(saved.scores_) in capsys.readouterr().out


def test_scores_are_charged_with_the_model(folder, monkeypatch, capsys):
    privatree.privacy.BudgetStore.create("budget.db", 8.0)
    options = ["--budget", "budget.db", "--holdout", "20%", "--score-epsilon", "6"]
    assert fit(monkeypatch, "data.csv", *options, epsilon="1") == 0
    assert "Charged epsilon 6 to budget.db: 2 of 8 is left." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--holdout", "a fifth"], "--holdout must be a share such as 20% or 0.2, got 'a fifth'."),
        (["--holdout", "0%"], "--holdout must be a share from 0.001 to 0.999, got 0.0."),
        (["--holdout", "20"], "--holdout must be a share from 0.001 to 0.999, got 20.0."),
        (
            ["--score-epsilon", "1"],
            "--score-epsilon must be used with --holdout, the share of the records that the model "
            "is scored with. Pass --holdout 20%, say.",
        ),
        (["--holdout", "0.2", "--score-epsilon", "0"], "--score-epsilon must be > 0, got 0.0."),
    ],
)
def test_a_wrong_held_out_part_is_refused_before_anything_is_read(
    folder, monkeypatch, capsys, options, message
):
    assert fit(monkeypatch, "no-such-file.csv", *options) == 2
    assert capsys.readouterr().err == f"privatree: {message}\n"


def test_quiet(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.parquet", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert privatree.load("model.json").schema_ == SCHEMA.with_target("ill")


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        ["data.csv"], ["data.csv.gz"], ["data.parquet"], ["parts"], ["parts/part-*.csv"],
        ["parts/part-0.csv", "parts/part-[12].csv"],
    ],
)  # fmt: skip
def test_the_same_seed_gives_the_same_tree_from_every_form(folder, monkeypatch, data):
    frame = table()
    expected = PrivaTreeClassifier(5.0, schema=SCHEMA.with_target("ill"), random_state=3)
    expected.fit(frame[["age", "ward"]], frame["ill"])
    assert fit(monkeypatch, *data, "--seed", "3") == 0
    found = privatree.load("model.json")
    assert found.to_dict() == expected.model_.to_dict()
    assert found.privacy_.seeded


def test_columns_that_are_not_in_the_schema_are_ignored_in_one_line(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.parquet") == 0
    assert capsys.readouterr().err == "Not in the schema, so ignored: 'id'.\n"


class Recorder:
    """Takes the place of the learner and tells what it was given."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def check_parameters(self):
        pass

    def fit(self, source):
        raise privatree.ParameterError(repr(self.parameters))


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ("", {}),
        ("--max-depth 7", {"max_depth": 7}),
        ("--max-depth none", {"max_depth": None}),
        ("--lookahead 2 --n-bins 32", {"lookahead": 2, "n_bins": 32}),
        ("--lookahead auto --n-bins auto", {}),
        ("--dataset-size 1000", {"dataset_size": 1000}),
        ("--dataset-size private", {}),
        ("--schedule robust --neighbours replace", {"schedule": "robust", "neighbours": "replace"}),
        ("--robust-levels 2", {"robust_levels": 2}),
        ("--zoom", {"zoom": True}),
        ("--probability-share 0.25 --seed 1", {"probability_share": 0.25, "random_state": 1}),
        ("--unit who", {"schema": replace(SCHEMA, unit="who")}),
        ("--weight w --max-weight 5", {"max_sample_weight": 5.0}),
        ("--class-weight balanced", {"class_weight": "balanced"}),
        ("--class-weight yes=5", {"class_weight": {"yes": 5.0}}),
    ],
)
def test_options_become_parameters(folder, monkeypatch, capsys, options, changed):
    monkeypatch.setattr(privatree, "PrivaTreeClassifier", Recorder, raising=False)
    assert fit(monkeypatch, "data.csv", *options.split()) == 2
    parameters = {
        "epsilon": 5.0, "n_bins": "auto", "dataset_size": "private", "neighbours": "add-remove",
        "class_weight": None, "max_sample_weight": 1.0, "random_state": None,
        "max_depth": 4, "lookahead": "auto", "schedule": "accuracy", "robust_levels": 3,
        "probability_share": "auto", "simplify": True, "zoom": False, "schema": SCHEMA,
    }  # fmt: skip
    assert capsys.readouterr().err == f"privatree: {' '.join(repr(parameters | changed).split())}\n"


def test_the_options_work_with_the_learner(folder, monkeypatch):
    assert fit(
        monkeypatch, "data.csv", "--max-depth", "none", "--lookahead", "1", "--n-bins", "16",
        "--dataset-size", "1000", "--schedule", "robust", "--neighbours", "replace",
        "--probability-share", "0.2",
    ) == 0  # fmt: skip
    privacy = privatree.load("model.json").privacy_
    assert privacy.epsilon == 5
    assert privacy.neighbours == "replace"


# --- what records hold is no error --------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        "", "\n", "30,east,no", "x,y,z", "30", ",,,,,,\n,", '"', "\x00", "30,east,maybe",
        "1e999,east,no\n-1e999,west,yes", '30,"ea\nst",no', "nan,nan,nan",
    ],
)  # fmt: skip
def test_any_content_trains_without_a_word(folder, monkeypatch, capsys, rows):
    (folder / "odd.csv").write_bytes(f"age,ward,ill\n{rows}".encode() + b"\n\xff,\xff,\xff\n")
    assert fit(monkeypatch, "odd.csv") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "Privacy statement" in printed.out


# --- without a schema ---------------------------------------------------------------------------


def test_without_a_schema_it_refuses(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "data.csv", schema=None) == 2
    err = capsys.readouterr().err
    assert err.startswith("privatree: fit needs --schema: ")
    assert "--infer-schema" in err
    assert "privatree schema draft" in err
    assert err.count("\n") == 1
    assert not (folder / "model.json").exists()


@pytest.mark.parametrize("data", ["data.csv", "parts", "data.parquet"])
def test_infer_schema_warns_in_one_line_and_states_no_finite_epsilon(
    folder, monkeypatch, capsys, data
):
    assert fit(monkeypatch, data, "--infer-schema", schema=None) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("Warning: No schema was given, so the ranges of 'age'")
    assert printed.err.count("\n") == 1
    assert "infinite: no guarantee" in printed.out
    assert np.isinf(privatree.load("model.json").privacy_.epsilon)


# --- a schema with unconfirmed entries ----------------------------------------------------------


def test_unconfirmed_entries_are_refused_by_name(folder, monkeypatch, capsys):
    Schema(
        {
            "age": Numeric(0, 97, integer=True, unconfirmed=["high"]),
            "ward": Categorical(["east", "west"], unconfirmed=["kind", "categories"]),
        },
        ["no", "yes"],
        classes_confirmed=False,
    ).to_toml("draft.toml")
    assert fit(monkeypatch, "data.csv", schema="draft.toml") == 2
    printed = capsys.readouterr()
    assert printed.err == (
        "privatree: draft.toml: these entries were read from the data and must be confirmed: "
        "classes; 'age': high; 'ward'. Check each against public knowledge and delete its line "
        '"unconfirmed", or pass --infer-schema (then no finite epsilon holds).\n'
    )
    assert printed.out == ""
    assert not (folder / "model.json").exists()


def test_unconfirmed_entries_pass_with_infer_schema_and_no_epsilon_holds(
    folder, monkeypatch, capsys
):
    draft = Schema({"age": Numeric(0, 97, unconfirmed=["high"])}, ["no", "yes"])
    draft.to_toml("draft.toml")
    assert fit(monkeypatch, "data.csv", "--infer-schema", schema="draft.toml") == 0
    printed = capsys.readouterr()
    ignored, warning = printed.err.splitlines()
    assert ignored == "Not in the schema, so ignored: 'ward'."
    assert warning.startswith("Warning: The schema has entries that were read from the records")
    assert "'age': high. " in warning
    assert "infinite: no guarantee" in printed.out
    model = privatree.load("model.json")
    assert model.schema_ == draft.with_target("ill")
    assert np.isinf(model.privacy_.epsilon)


def test_a_budget_is_never_charged_for_unconfirmed_entries(folder, monkeypatch, capsys):
    Schema({"age": Numeric(0, 97)}, ["no", "yes"], classes_confirmed=False).to_toml("draft.toml")
    assert run(monkeypatch, "budget", "create", "b.db", "--epsilon", "10") == 0
    for options, message in (([], "must be confirmed"), (["--infer-schema"], "no finite epsil")):
        assert fit(monkeypatch, "data.csv", "--budget", "b.db", *options, schema="draft.toml") == 2
        assert message in capsys.readouterr().err
    assert privatree.privacy.BudgetStore("b.db").charges == []


# --- records from which no schema can be read ---------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age,ill\n1,no\n", "at least two classes"),
        ("age,ill\n", "0 sample"),
        ("age,ill\n1,no\n2,\n", "contains NaN"),
        ("age,ill\n2020-01-01,no\n2020-01-02,yes\n", "got a column of type date32"),
    ],
)
def test_records_from_which_no_schema_can_be_read(folder, monkeypatch, capsys, content, message):
    (folder / "odd.csv").write_text(content)
    assert fit(monkeypatch, "odd.csv", "--infer-schema", schema=None) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv"], "no.csv: No such file or directory.\n"),
        (["no*.csv"], "no*.csv: No such file or directory.\n"),
        (["schema.toml"], "the name of a data file must end in .csv or .tsv (also .gz or .zst), "
         ".xlsx, .parquet or .pq. Rename or convert the file.\n"),
        (["data.csv", "data.parquet"], "data must be all CSV files or all Parquet files, got both. "
         "Convert the files of one kind.\n"),
        (["data.csv", "data.csv"], "data.csv: is listed twice; its records would be "
         "counted twice. List it once.\n"),
        (["data.csv", "--target", "sick"], "must have every needed column, but lacks 'sick'.\n"),
        (["data.csv", "--target", "age"], "'age' must not be a feature of the schema. Remove it "
         "from the features.\n"),
        (["data.csv", "--schema", "no.toml"], "no.toml: No such file or directory.\n"),
        (["data.csv", "--schema", "data.csv"], "(at line 1, column 4)).\n"),
        (["data.csv", "--infer-schema"], "schema.toml: all entries are confirmed, so "
         "--infer-schema is not needed. Leave the option out, and epsilon holds.\n"),
        (["data.csv", "--target", "il"], "lacks 'il'. Did you mean 'ill'?\n"),
        (["data.csv", "-o", "no/model.json"], "there is no folder no. Create it first.\n"),
        (["data.csv", "-o", "parts"], "parts: is a folder. Name a file in it.\n"),
        (["data.csv", "-o", "data.csv"], "data.csv: is also an input file. Choose another "
         "output.\n"),
        (["data.csv", "-o", "schema.toml"], "is also an input file. Choose another output.\n"),
        (["data.csv", "--epsilon", "0"], "epsilon must be > 0, got 0.0.\n"),
        (["data.csv", "--max-depth", "deep"], "--max-depth must be a whole number or none, got "
         "'deep'.\n"),
        (["data.csv", "--max-depth", "99"], "must be an integer from 1 to 16, got 99.\n"),
        (["data.csv", "--n-bins", "1.5"], "--n-bins must be a whole number or auto, got '1.5'.\n"),
        (["data.csv", "--dataset-size", "auto"], "whole number or private, got 'auto'.\n"),
        (["data.csv", "--schedule", "best"], "got 'best'. See privatree fit --help.\n"),
        (["data.csv", "--schedule", "robst"], "Did you mean 'robust'? See privatree fit --help.\n"),
        ([], "Missing argument DATA. See privatree fit --help.\n"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(folder, monkeypatch, capsys, arguments, message):
    before = (folder / "data.csv").read_bytes()
    assert fit(monkeypatch, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.endswith(message)
    assert printed.err.startswith("privatree: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not (folder / "model.json").exists()
    assert (folder / "data.csv").read_bytes() == before


def test_a_parquet_type_that_contradicts_the_schema(folder, monkeypatch, capsys):
    table().assign(age="x").to_parquet("data.parquet")
    assert fit(monkeypatch, "data.parquet") == 2
    err = capsys.readouterr().err
    assert err.startswith("privatree: data.parquet: column 'age' has type ")
    assert err.count("\n") == 1


def test_help_teaches(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(monkeypatch, "fit", "--help") == 0
    out = capsys.readouterr().out
    for words in ("Example: privatree fit", "e^E", "public", "--infer-schema", "clipped"):
        assert words in out


# --- names ----------------------------------------------------------------------------------------


def named(monkeypatch, *options):
    return run(
        monkeypatch, "fit", "data.csv", "--target", "ill", "--schema", "schema.toml",
        "--epsilon", "1", "-o", "model.json", "--max-depth", "1", *options,
    )  # fmt: skip


def test_names_travel_from_schema_and_options_into_the_model_and_show(folder, monkeypatch, capsys):
    about = privatree.About(title="Old", owner="Ward 3", intended_use="Planning.")
    replace(SCHEMA, about=about).to_toml("schema.toml")
    options = ("--title", "Who is ill", "--description", "Stays.", "--date", "2026-11-18")
    assert named(monkeypatch, *options) == 0
    capsys.readouterr()
    expected = privatree.About(
        "Who is ill", "ill", "Stays.", "Planning.", owner="Ward 3", date="2026-11-18"
    )
    assert privatree.load("model.json").schema_.about == expected
    assert run(monkeypatch, "show", "model.json") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        "Who is ill\npredicts      ill\ndescription   Stays.\nintended use  Planning.\n"
        "owner         Ward 3\ndate          2026-11-18\n\n"
    )
    assert "\n  usable records              about " in shown
    assert named(monkeypatch, "--owner", "", "--intended-use", "Never.") == 0
    found = privatree.load("model.json").schema_.about
    assert (found.owner, found.intended_use) == (None, "Never.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--date", "today"), "--date must be a day such as 2026-11-18, got 'today'."),
        (("--title", "x" * 201), "--title must have at most 200 characters, got 201."),
        (("--intended-use", "x" * 5001), "--intended-use must have at most 5000 characters"),
        (("--min-records", "0"), "--min-records must be a whole number from 1 to 1099511627776"),
        (("--min-records", "many"), "--min-records must be a whole number or none, got 'many'."),
    ],
)
def test_wrong_names_are_one_line(folder, monkeypatch, capsys, options, message):
    assert named(monkeypatch, *options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"privatree: {message}")


def test_names_need_a_schema(folder, monkeypatch, capsys):
    assert run(
        monkeypatch, "fit", "data.csv", "--target", "ill", "--infer-schema", "--epsilon", "1",
        "-o", "model.json", "--title", "Who is ill",
    ) == 2  # fmt: skip
    assert "--title must be used with --schema" in capsys.readouterr().err
