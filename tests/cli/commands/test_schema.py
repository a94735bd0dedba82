import json
import tomllib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_command import run

import privatree
from privatree import Categorical, Numeric, Schema, datasets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 93, 300),
            "ward": rng.choice(["east", "west"], 300),
            "name": [f"Person {n}" for n in range(300)],
        }
    )
    frame["ill"] = np.where(frame["age"] > 60, "yes", "no")
    frame.to_csv("data.csv", index=False)
    frame.to_parquet("data.parquet")
    (tmp_path / "parts").mkdir()
    frame[:150].to_csv("parts/a.csv", index=False)
    frame[150:].to_csv("parts/b.csv", index=False)
    return tmp_path


def draft(monkeypatch, *arguments):
    return run(monkeypatch, "schema", "draft", "--target", "ill", *arguments)


def edited(path):
    """What a person does who agrees with everything."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(
        "".join(line for line in lines if not line.startswith("unconfirmed = ")), encoding="utf-8"
    )


# --- draft --------------------------------------------------------------------------------------

EXPECTED = Schema(
    {"age": Numeric(18, 92, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)
DRAFTED = replace(EXPECTED, min_records=100).with_target("ill").all_unconfirmed()


@pytest.mark.parametrize("data", ["data.csv", "data.parquet", "parts", "parts/*.csv"])
def test_a_draft_from_every_form(folder, monkeypatch, capsys, data):
    assert draft(monkeypatch, data, "-o", "schema.toml") == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Wrote schema.toml: 2 columns, 1 left out, 2 classes. All ")
    assert printed.err.count("\n") == 1
    assert Schema.from_toml("schema.toml") == DRAFTED
    assert "Person" not in (folder / "schema.toml").read_text()


def test_without_a_file_it_is_printed(folder, monkeypatch, capsys):
    assert draft(monkeypatch, "data.csv") == 0
    printed = capsys.readouterr()
    assert Schema.from_dict(tomllib.loads(printed.out)) == DRAFTED
    assert "--schema schema.toml --epsilon 1" in printed.out
    assert printed.err == ""


def test_an_edited_schema_is_not_overwritten(folder, monkeypatch, capsys):
    (folder / "schema.toml").write_text("precious")
    assert draft(monkeypatch, "data.csv", "-o", "schema.toml") == 2
    assert capsys.readouterr().err == (
        "privatree: schema.toml: exists, and may have been edited. Name another file, delete "
        "this one first, or pass --force.\n"
    )
    assert (folder / "schema.toml").read_text() == "precious"
    assert draft(monkeypatch, "data.csv", "-o", "schema.toml", "--force") == 0
    assert Schema.from_toml("schema.toml").names == ("age", "ward")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, ["no.csv"], "no.csv: No such file or directory.\n"),
        (None, ["data.csv", "-o", "data.csv"], "is also an input file. Choose another "
         "output.\n"),
        (None, ["data.csv", "-o", "no/s.toml"], "there is no folder no. Create it first.\n"),
        ("", ["odd.csv"], "lacks 'ill'. The file is empty.\n"),
        ("age;ill\n1;no\n2;yes\n", ["odd.csv", "--delimiter", ","], "lacks 'ill'. Its columns are "
         "separated by semicolons: pass --delimiter ';' (delimiter=\";\" in Python).\n"),
        ("age,ward,ill\n1,K\xf6ln,no\n2,Bonn,yes\n", ["odd.csv", "--encoding", "utf-8"], "odd.csv: "
         "must be utf-8 text, but some bytes are not. Pass --encoding, such as latin-1.\n"),
        (None, ["data.csv", "--delimiter", "ab"], "--delimiter must be one ASCII character and "
         "not a line break, got 'ab'.\n"),
        (None, ["data.csv", "--quote", ";", "--delimiter", ";"], "--delimiter, quote and escape "
         "must be different characters, got [';', ';'].\n"),
        (None, ["data.csv", "--encoding", "utf-7"], "--encoding must store each line break as a "
         "separate byte, but utf-7 does not. Convert the file to UTF-8.\n"),
        ("age,age,ill\n1,2,no\n", ["odd.csv"], "got 'age' twice. Rename or delete one of the "
         "columns.\n"),
        ("age,il\n1,no\n", ["odd.csv"], "lacks 'ill'. Did you mean 'il'?\n"),
        ("age,ill\n", ["odd.csv"], "odd.csv: must have at least one record, got none.\n"),
        ("age,ill\n1,no\n2,no\n", ["odd.csv"], "--target ill: y must hold at least two classes, "
         "got 1 class. Pass more records, or a schema that declares every class.\n"),
        ("age,ill\n1,0.5\n2,1.5\n", ["odd.csv"], "continuous values.\n"),
        ("ill\nno\nyes\n", ["odd.csv"], "write the schema by hand.\n"),
        ("age,ill\n2020-01-01,no\n2021-01-01,yes\n", ["odd.csv"], "write the schema by hand.\n"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(folder, monkeypatch, capsys, content, arguments, message):
    if content is not None:
        (folder / "odd.csv").write_text(content, encoding="cp1252")
    before = sorted(folder.iterdir())
    assert draft(monkeypatch, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.endswith(message)
    assert printed.err.startswith("privatree: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert sorted(folder.iterdir()) == before


def test_blanks_in_the_file_do_not_get_into_the_schema(folder, monkeypatch):
    (folder / "odd.csv").write_text("age, ward, ill\n1, east, no\n2, west, yes\n")
    assert draft(monkeypatch, "odd.csv", "-o", "schema.toml") == 0
    expected = Schema(
        {"age": Numeric(1, 2, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
    )
    assert Schema.from_toml("schema.toml").confirmed() == expected.with_target("ill")


# --- the unit -----------------------------------------------------------------------------------


@pytest.fixture
def visits(folder):
    frame = pd.read_csv("data.csv")
    frame.insert(0, "patient_id", [f"SECRET-{n // 3}" for n in range(len(frame))])
    frame.drop(columns="name").to_csv("visits.csv", index=False)
    return folder


def test_a_draft_proposes_whose_record_a_row_is(visits, monkeypatch, capsys):
    assert draft(monkeypatch, "visits.csv", "-o", "schema.toml") == 0
    assert capsys.readouterr().err.startswith(
        "Wrote schema.toml: 2 columns, 2 classes, unit 'patient_id'. All values in this file "
    )
    drafted = Schema.from_toml("schema.toml")
    assert drafted == replace(EXPECTED, unit="patient_id").with_target("ill").all_unconfirmed()
    text = (visits / "schema.toml").read_text()
    assert "# Is there a column that says who this is?" in text
    assert "SECRET" not in text
    fit = ("fit", "visits.csv", "--target", "ill", "--schema", "schema.toml", "--epsilon", "1",
           "-o", "model.json", "--quiet")  # fmt: skip
    assert run(monkeypatch, *fit) == 2
    assert "must be confirmed: classes; unit; " in capsys.readouterr().err
    edited(visits / "schema.toml")
    assert run(monkeypatch, *fit) == 0
    assert privatree.load("model.json").privacy_.unit == "patient_id"


def test_a_user_says_whose_record_a_row_is(visits, monkeypatch, capsys):
    assert draft(monkeypatch, "visits.csv", "--unit", "ward", "-o", "schema.toml") == 0
    drafted = Schema.from_toml("schema.toml")
    assert (drafted.unit, drafted.unit_confirmed) == ("ward", True)
    assert drafted.names == ("age",)
    capsys.readouterr()
    for unit in ("who", "ill"):
        assert draft(monkeypatch, "visits.csv", "--unit", unit) == 2
        assert capsys.readouterr().err.startswith(
            "privatree: --unit must name a column of the data that is not the target, got "
        )


# --- from a draft to a model --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", datasets.names())
@pytest.mark.filterwarnings("error")
def test_draft_edit_check_and_fit_every_bundled_dataset(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    frame, labels, schema = datasets.load(name)
    frame, labels = frame[:3000], labels[:3000]
    frame.assign(target=labels).to_csv("data.csv", index=False)
    usual = ["data.csv", "--target", "target"]
    assert run(monkeypatch, "schema", "draft", *usual, "-o", "schema.toml") == 0
    drafted = Schema.from_toml("schema.toml")
    assert drafted.names == schema.names
    capsys.readouterr()

    training = ["--schema", "schema.toml", "--epsilon", "2", "--max-depth", "2", "-o", "model.json"]
    assert run(monkeypatch, "fit", *usual, *training) == 2
    refusal = capsys.readouterr().err
    assert "classes; " in refusal
    assert all(repr(column) in refusal for column in schema.names)
    assert run(monkeypatch, "certify", *usual, "--schema", "schema.toml", "--epsilon", "1") == 2
    assert capsys.readouterr().err == refusal.replace(
        ", or pass --infer-schema (then no finite epsilon holds)", ""
    )

    edited(tmp_path / "schema.toml")
    assert Schema.from_toml("schema.toml") == drafted.confirmed()
    assert run(monkeypatch, "schema", "check", "schema.toml", *usual) == 0
    assert capsys.readouterr().out == (
        "Not private: this output reveals single records. Keep it to yourself.\n\n"
        f"{len(frame)} records\nEvery value fits.\n"
    )
    assert run(monkeypatch, "fit", *usual, *training, "--seed", "0", "-q") == 0
    assert capsys.readouterr().err == ""
    model = privatree.load("model.json")
    assert model.privacy_.epsilon == 2
    assert model.schema_ == drafted.confirmed()
    majority = labels.value_counts().iloc[0] / len(labels)
    assert model.score(frame.astype(object), labels) > 0.6 * majority


@pytest.mark.parametrize("left", ["classes", "age", "ward"])
def test_one_line_that_is_left_is_enough_to_refuse(folder, monkeypatch, capsys, left):
    assert draft(monkeypatch, "data.csv", "-o", "schema.toml") == 0
    marked = Schema.from_toml("schema.toml")
    features = {
        name: marked.features[name] if name == left else feature
        for name, feature in marked.confirmed().features.items()
    }
    Schema(features, marked.classes, left != "classes").to_toml("schema.toml")
    capsys.readouterr()
    usual = ["data.csv", "--target", "ill", "--schema", "schema.toml", "--epsilon", "1"]
    for command in (["fit", "-o", "model.json"], ["certify"]):
        assert run(monkeypatch, *command, *usual) == 2
        named = left if left == "classes" else repr(left)
        assert f"must be confirmed: {named}. Check each" in capsys.readouterr().err
    assert not (folder / "model.json").exists()


# --- check --------------------------------------------------------------------------------------


def test_check_shows_what_does_not_fit_and_says_that_it_is_not_private(folder, monkeypatch, capsys):
    Schema(
        {"age": Numeric(20, 92, unconfirmed=["high"]), "ward": Categorical(["east"])}, ["no", "Yes"]
    ).to_toml("schema.toml")
    assert run(monkeypatch, "schema", "check", "schema.toml", "data.csv", "--target", "ill") == 0
    frame = pd.read_csv("data.csv")
    n_young, n_west = int((frame["age"] < 20).sum()), int((frame["ward"] == "west").sum())
    n_ill = int((frame["ill"] == "yes").sum())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Not private: this output reveals single records. Keep it to yourself."
    assert lines[2] == "300 records"
    assert lines[3].split() == f"'age' {n_young} below the range, such as 19, 18".split()
    assert lines[4].split() == f"'ward' {n_west} not a category, such as 'west'".split()
    assert lines[5].split() == f"'ill' {n_ill} not a class: left out, such as 'yes'".split()
    assert lines[6:] == [
        "Everything else fits.",
        "Not in the schema, so ignored: 'name'.",
        "Not yet confirmed in schema.toml: 'age': high. Check each against public knowledge and "
        'delete its line "unconfirmed".',
    ]


def test_check_counts_the_records_of_the_unit_that_an_option_names(folder, monkeypatch, capsys):
    (folder / "visits.csv").write_text("age,who,ill\n20,a,no\n30,a,yes\n40,b,no\n")
    Schema({"age": Numeric(0, 99)}, ["no", "yes"]).to_toml("schema.toml")
    usual = ["schema", "check", "schema.toml", "visits.csv", "--target", "ill"]
    assert run(monkeypatch, *usual, "--unit", "who", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == {"column": "who", "units": 2, "typical": 1, "largest": 2}
    assert found["ignored"] == []
    assert run(monkeypatch, *usual, "--unit", "age") == 2
    assert "the unit 'age' must not be a feature of the schema" in capsys.readouterr().err


def test_check_as_json(folder, monkeypatch, capsys):
    EXPECTED.all_unconfirmed().to_toml("schema.toml")
    (folder / "odd.csv").write_text("age,ward,ill,id\n99, east,no,1\n20,west\n")
    assert run(
        monkeypatch, "schema", "check", "schema.toml", "odd.csv", "--target", "ill", "--json"
    ) == 0  # fmt: skip
    assert json.loads(capsys.readouterr().out) == {
        "note": "Not private: this output reveals single records. Keep it to yourself.",
        "records": 2,
        "ragged_rows": 1,
        "usable": 1,
        "misfits": [{"column": "age", "what": "above the range", "records": 1, "examples": ["99"]}],
        "ignored": ["id"],
        "not_utf8": [],
        "trimmed": {"ward": 1},
        "unit": None,
        "possible_units": [],
        "unconfirmed": [list(place) for place in EXPECTED.all_unconfirmed().unconfirmed],
    }


def test_check_names_missing_columns_with_what_may_be_meant(folder, monkeypatch, capsys):
    EXPECTED.to_toml("schema.toml")
    (folder / "odd.csv").write_text("Age,ward,ill\n1,east,no\n")
    assert run(monkeypatch, "schema", "check", "schema.toml", "odd.csv", "--target", "ill") == 0
    out = capsys.readouterr().out
    assert "not in odd.csv: fit will raise an error. Did you mean 'Age'?" in out


def test_check_notes_blanks_and_other_encodings(folder, monkeypatch, capsys):
    EXPECTED.to_toml("schema.toml")
    content = "age,ward,ill,note\n20, east,no,\xe4\n30,west , no,\n40,west,yes,\n"
    (folder / "odd.csv").write_text(content, encoding="cp1252")
    assert run(monkeypatch, "schema", "check", "schema.toml", "odd.csv", "--target", "ill") == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "3 records",
        "Every value fits.",
        "Not in the schema, so ignored: 'note'.",
        "Blanks around values of 'ward' (2), 'ill' (1): trimmed here, not in Python frames.",
        "odd.csv: has bytes that are not text in its encoding, so letters beyond a to z are "
        "damaged. Pass --encoding.",
    ]


def test_draft_and_check_count_alike(folder, monkeypatch, capsys):
    """Words for "no value" and other words: the same numbers in both."""
    ages = ["NA", " n/a ", "", "unknown", "?", *map(str, [*range(20, 80)] * 2)]
    rows = [f"{age},{'yes' if n % 2 else 'no'}\n" for n, age in enumerate(ages)]
    (folder / "odd.csv").write_text("age,ill\n" + "".join(rows))
    assert draft(monkeypatch, "odd.csv", "-o", "schema.toml") == 0
    written = (folder / "schema.toml").read_text().replace("\n# ", " ")
    assert "2 records with text that is not a number: it counts as missing. 3 records with a " in (
        written
    )
    capsys.readouterr()
    run(monkeypatch, "schema", "check", "schema.toml", "odd.csv", "--target", "ill")
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("  'age'  2  not a number: counts as missing, such as ")
    assert 'missing = "separate"' in written  # so the others fit
    with_value = (folder / "schema.toml").read_text()
    (folder / "schema.toml").write_text(with_value.replace('missing = "separate"', "missing = 50"))
    run(monkeypatch, "schema", "check", "schema.toml", "odd.csv", "--target", "ill")
    assert "  'age'  3  missing, such as 'NA', 'n/a'" in capsys.readouterr().out


def test_check_needs_files(folder, monkeypatch, capsys):
    EXPECTED.to_toml("schema.toml")
    for arguments in (["no.toml", "data.csv"], ["schema.toml", "no.csv"]):
        assert run(monkeypatch, "schema", "check", *arguments, "--target", "ill") == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("draft", ["Example: privatree schema draft", "unconfirmed", "--force", "not private"]),
        ("check", ["Example: privatree schema check", "clipped", "--json", "not private"]),
    ],
)
def test_help_teaches(monkeypatch, capsys, command, words):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(monkeypatch, "schema", command, "--help") == 0
    out = capsys.readouterr().out
    for word in words:
        assert word in out


# --- records that can be used ---------------------------------------------------------------------


def test_check_says_that_nearly_no_label_is_known(folder, monkeypatch, capsys):
    replace(EXPECTED, min_records=100).to_toml("schema.toml")
    lines = ["age,ward,ill", *["1,east,No"] * 19, "1,east,no"]
    (folder / "odd.csv").write_text("\n".join(lines))
    check = ("schema", "check", "schema.toml", "odd.csv", "--target", "ill")
    assert run(monkeypatch, *check) == 0
    printed = capsys.readouterr().out
    assert "But only 1 of 20 records can be used" in printed
    assert "Check the spelling of the classes and the target." in printed
    assert "declares min_records = 100, and only 1 records can be used" in printed
    (folder / "odd.csv").write_text("age,ward,ill\n")
    assert run(monkeypatch, *check) == 0
    assert "But only 0 of 0 records can be used" in capsys.readouterr().out
    assert run(monkeypatch, "schema", "check", "schema.toml", "data.csv", "--target", "ill") == 0
    assert "can be used" not in capsys.readouterr().out
