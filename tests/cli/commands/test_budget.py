"""The budget on the command line: made, charged by fit, shown; mistakes cost nothing."""

import json
import os
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from run_command import run

import privatree
from privatree import Categorical, Numeric, Schema
from privatree.cli import _output
from privatree.estimators import _privatree as estimators
from privatree.estimators._charges import Charges
from privatree.privacy import BudgetStore

SCHEMA = Schema(
    {"age": Numeric(0, 100, integer=True), "ward": Categorical(["east", "west"])}, ["no", "yes"]
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with records, their schema and a budget of 1."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, ward = rng.integers(0, 100, 200), rng.choice(["east", "west"], 200)
    label = np.where(age > 60, "yes", "no")
    pd.DataFrame({"age": age, "ward": ward, "ill": label}).to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    BudgetStore.create("patients.db", 1, dataset="patients of 2030")
    return tmp_path


def fit(monkeypatch, *arguments, epsilon="0.1", output="model.json", budget="patients.db"):
    return run(
        monkeypatch, "fit", "data.csv", "--target", "ill", "--schema", "schema.toml",
        "--epsilon", epsilon, "-o", output, "--budget", budget, *arguments,
    )  # fmt: skip


# --- create -------------------------------------------------------------------------------------


def test_create(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "budget", "create", "patients.db", "--epsilon", "0.3") == 0
    assert capsys.readouterr() == (
        "Created patients.db. Charge it with: privatree fit ... --budget patients.db\n",
        "",
    )
    account = BudgetStore("patients.db").read()
    assert (account.epsilon, account.neighbours) == (Fraction(3, 10), "add-remove")
    assert account.dataset == "patients"
    options = ("--neighbours", "replace", "--dataset", "Patients, 2030")
    assert run(monkeypatch, "budget", "create", "b.db", "--epsilon", "2", *options) == 0
    account = BudgetStore("b.db").read()
    assert (account.neighbours, account.dataset) == ("replace", "Patients, 2030")


# --- fit ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fit_charges_the_budget_and_says_what_is_left(folder, monkeypatch, capsys):
    assert fit(monkeypatch) == 0
    printed = capsys.readouterr()
    assert printed.err == "Charged epsilon 0.1 to patients.db: 0.9 of 1 is left.\n"
    assert printed.out.startswith("Saved model.json.")
    (charge,) = BudgetStore("patients.db").charges
    assert (charge.epsilon, charge.purpose) == (Fraction(1, 10), "PrivaTreeClassifier")
    assert charge.note == "model.json"
    assert fit(monkeypatch, "--quiet", "--seed", "1", output="b.json") == 0
    assert capsys.readouterr() == ("", "")
    assert BudgetStore("patients.db").remaining == Fraction(4, 5), "a seeded model costs the same"


def test_ten_models_of_a_tenth_are_the_whole_budget(folder, monkeypatch, capsys):
    store = BudgetStore("patients.db")
    for _ in range(9):
        store.charge(0.1, purpose="model")
    assert fit(monkeypatch) == 0
    assert capsys.readouterr().err == "Charged epsilon 0.1 to patients.db: 0 of 1 is left.\n"
    os.unlink("model.json")
    assert fit(monkeypatch) == 2
    assert capsys.readouterr().err == (
        "privatree: PrivaTreeClassifier: epsilon=0.1 was requested, but nothing of the budget "
        "is left. Nothing was drawn.\n"
    )
    assert not (folder / "model.json").exists()
    assert len(store.charges) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "2"], "only 1 of the budget is left. Nothing was drawn. Lower epsilon.\n"),
        (["--neighbours", "replace"], "cannot be added up. Train with neighbours='add-remove'.\n"),
        (["--budget", "no.db"], "Otherwise run privatree budget create.\n"),
        (["--budget", "data.csv"], "charge again what was spent since then.\n"),
        (["--budget", "."], "is not a file. Pass the path of a budget file.\n"),
        (["-o", "patients.db"], "patients.db: is also an input file. Choose another "
         "output.\n"),
        (["-o", "patients.db-journal"], "patients.db-journal: must not be the name of the "
         "budget's journal. Name another file.\n"),
        (["-o", "no/model.json"], "there is no folder no. Create it first.\n"),
        (["--target", "sick"], "lacks 'sick'.\n"),
        (["--schema", "no.toml"], "no.toml: No such file or directory.\n"),
        (["--max-depth", "99"], "must be an integer from 1 to 16, got 99.\n"),
        (["--seed", "-1"], "--seed must be >= 0, got -1.\n"),
        (["--probability-share", "1"], '--probability-share must be "auto", or 0, or from 1e-6 to '
         "1 - 1e-6, got 1.0.\n"),
    ],
)  # fmt: skip
def test_a_mistake_costs_nothing(folder, monkeypatch, capsys, arguments, message):
    before = (folder / "patients.db").read_bytes()
    assert fit(monkeypatch, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.endswith(message)
    assert printed.err.startswith("privatree: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert (folder / "patients.db").read_bytes() == before
    assert sorted(os.listdir(folder)) == ["data.csv", "patients.db", "schema.toml"]


def test_without_a_schema_no_budget_is_enough(folder, monkeypatch, capsys):
    arguments = ("--target", "ill", "--epsilon", "0.1", "-o", "model.json", "--infer-schema")
    assert run(monkeypatch, "fit", "data.csv", *arguments, "--budget", "patients.db") == 2
    assert capsys.readouterr().err == (
        "privatree: --budget must be used without --infer-schema: no finite epsilon covers a model "
        "whose schema was inferred. Pass a confirmed --schema.\n"
    )
    assert BudgetStore("patients.db").remaining == 1


def test_an_output_that_cannot_be_written_costs_nothing(folder, monkeypatch, capsys):
    def refuse(*, dir):
        raise PermissionError(13, "Permission denied", str(dir / "xyz"))

    with monkeypatch.context() as patch:  # root may write everywhere
        patch.setattr(_output, "TemporaryFile", refuse)
        assert fit(monkeypatch) == 2
    assert capsys.readouterr().err == (
        "privatree: model.json: cannot be written (Permission denied). Name a file in another "
        "folder.\n"
    )
    assert BudgetStore("patients.db").remaining == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_costs_nothing(folder, monkeypatch, capsys):
    (folder / "locked").mkdir(mode=0o555)
    assert fit(monkeypatch, output="locked/model.json") == 2
    assert capsys.readouterr().err.endswith("Permission denied. Name a file in another folder.\n")
    assert BudgetStore("patients.db").remaining == 1


def test_a_model_that_cannot_be_saved_after_all_is_printed_and_stays_charged(
    folder, monkeypatch, capsys
):
    """It was drawn: to take the charge back, one would have to believe that nobody saw it."""

    def full(self, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(privatree.PrivaTreeClassifier, "save", full)
    assert fit(monkeypatch) == 2
    printed = capsys.readouterr()
    assert printed.err == (
        "Charged epsilon 0.1 to patients.db: 0.9 of 1 is left.\n"
        "privatree: model.json: cannot be written (No space left on device). Epsilon was spent on "
        "the model, so the model was printed: save the standard output.\n"
    )
    assert json.loads(printed.out)["format"] == "privatree-model"
    assert BudgetStore("patients.db").remaining == Fraction(9, 10)


def test_whoever_interrupts_a_training_learns_that_it_was_charged(folder, monkeypatch, capsys):
    def interrupted(*arguments):
        BudgetStore("patients.db").charge(0.1, purpose="somebody else's model")
        raise KeyboardInterrupt

    monkeypatch.setattr(estimators, "grow_tree", interrupted)
    assert fit(monkeypatch) == 130
    assert "no model, but epsilon 0.1 stays charged to patients.db." in capsys.readouterr().err
    assert not (folder / "model.json").exists()
    monkeypatch.setattr(estimators.Randomness, "from_random_state", interrupted)  # before a charge
    assert fit(monkeypatch) == 130
    assert "charge" not in capsys.readouterr().err


def test_a_budget_that_cannot_be_read_afterwards_costs_no_model(folder, monkeypatch, capsys):
    grow = estimators.grow_tree

    def grow_and_lose(*arguments):
        os.unlink("patients.db")
        return grow(*arguments)

    monkeypatch.setattr(estimators, "grow_tree", grow_and_lose)
    assert fit(monkeypatch) == 0
    assert capsys.readouterr().err == "Charged epsilon 0.1 to patients.db.\n"
    assert privatree.load("model.json").privacy_.epsilon == 0.1


# --- show and charges ---------------------------------------------------------------------------


@pytest.fixture
def charged(folder):
    BudgetStore("patients.db", note="a.json").charge(0.25, purpose="PrivaTreeClassifier")
    BudgetStore("patients.db", note="[red]b[/red].json").charge(Fraction(1, 3), purpose="[bold]")
    return BudgetStore("patients.db").read()


def test_show(charged, monkeypatch, capsys):
    assert run(monkeypatch, "budget", "show", "patients.db") == 0
    assert capsys.readouterr() == (
        "Budget of patients of 2030\n"
        "  epsilon     1\n"
        "  spent       0.583334 in 2 charges\n"
        "  left        0.416666\n"
        "  neighbours  one record added or removed\n"
        f"  created     {charged.created:%Y-%m-%d %H:%M} UTC\n",
        "",
    )


def test_show_as_json_names_an_amount_that_can_be_charged(charged, monkeypatch, capsys):
    assert run(monkeypatch, "budget", "show", "patients.db", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {
        "dataset": "patients of 2030",
        "neighbours": "add-remove",
        "unit": None,
        "created": charged.created.isoformat(),
        "epsilon": 1.0,
        "spent": pytest.approx(7 / 12, rel=1e-15),
        "remaining": 0.416666666666666,
        "delta": 0.0,
        "spent_delta": 0.0,
        "remaining_delta": 0.0,
        "charges": 2,
    }
    BudgetStore("patients.db").charge(shown["remaining"], purpose="all that is left")


def test_charges(charged, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    assert run(monkeypatch, "budget", "charges", "patients.db") == 0
    printed = capsys.readouterr()
    rows = [" ".join(line.split()) for line in printed.out.splitlines() if line.strip()]
    times = [f"{charge.time:%Y-%m-%d %H:%M:%S}" for charge in charged.charges]
    assert rows[0] == "no. time (UTC) epsilon left purpose note"
    assert rows[2:] == [
        f"1 {times[0]} 0.25 0.75 PrivaTreeClassifier a.json",
        f"2 {times[1]} 0.333334 0.416666 [bold] [red]b[/red].json",
    ]
    assert printed.err == ""


def test_charges_as_json(charged, monkeypatch, capsys):
    assert run(monkeypatch, "budget", "charges", "patients.db", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["epsilon"], shown["remaining"]) == (1.0, 0.416666666666666)
    assert shown["charges"][0] == {
        "number": 1,
        "time": charged.charges[0].time.isoformat(),
        "epsilon": 0.25,
        "delta": 0.0,
        "purpose": "PrivaTreeClassifier",
        "note": "a.json",
    }
    assert [charge["number"] for charge in shown["charges"]] == [1, 2]


def test_nothing_charged_yet(folder, monkeypatch, capsys):
    assert run(monkeypatch, "budget", "charges", "patients.db") == 0
    assert capsys.readouterr().out == "patients.db: nothing has been charged yet.\n"
    assert run(monkeypatch, "budget", "charges", "patients.db", "--json") == 0
    assert json.loads(capsys.readouterr().out)["charges"] == []
    assert run(monkeypatch, "budget", "show", "patients.db") == 0
    assert "  spent       0 in 0 charges\n" in capsys.readouterr().out


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "no.db"], "Otherwise run privatree budget create.\n"),
        (["charges", "data.csv"], "charge again what was spent since then.\n"),
        (["show", "."], "is not a file. Pass the path of a budget file.\n"),
        (["create", "patients.db", "--epsilon", "5"], "patients.db: exists already. Use this "
         "budget, or choose another path for other records: a second budget for the same records "
         "would double what can be spent.\n"),
        (["create", "no/a.db", "--epsilon", "5"], "/no. Create it first.\n"),
        (["create", "a.db", "--epsilon", "0"], "epsilon must be > 0, got 0.0.\n"),
        (["create", "a.db", "--epsilon", "nan"], "epsilon must be a finite number, got nan.\n"),
        (["create", "a.db", "--epsilon", "1e10"], "epsilon must be at most 1e+09: more "
         "gives no privacy.\n"),
        (["create", "a.db", "--epsilon", "1", "--delta", "1"], "delta must be at least 0 and below "
         "1, got 1.0.\n"),
        (["create", "a.db", "--epsilon", "1", "--delta", "-1e-6"], "delta must be at least 0 and "
         "below 1, got -1e-06.\n"),
        (["create", "a.db", "--epsilon", "1", "--delta", "nan"], "delta must be a finite number, "
         "got nan.\n"),
        (["create", "a.db"], "Missing option '--epsilon'. See privatree budget create --help.\n"),
        (["create", "a.db", "--epsilon", "1", "--neighbours", "x"], "budget create --help.\n"),
        (["spend", "a.db"], "No such command 'spend'. See privatree budget --help.\n"),
        ([], "Missing command. See privatree budget --help.\n"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(folder, monkeypatch, capsys, arguments, message):
    assert run(monkeypatch, "budget", *arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.endswith(message)
    assert printed.err.startswith("privatree: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert sorted(os.listdir(folder)) == ["data.csv", "patients.db", "schema.toml"]
    assert BudgetStore("patients.db").remaining == 1


def test_help_teaches(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    for command, words in {
        "create": ("Example: privatree budget create", "e^E", "add up", "second budget", "--delta"),
        "show": ("Example: privatree budget show", "left"),
        "charges": ("Example: privatree budget charges", "--json"),
    }.items():
        assert run(monkeypatch, "budget", command, "--help") == 0
        out = capsys.readouterr().out
        for word in words:
            assert word in out
    assert run(monkeypatch, "fit", "--help") == 0
    assert "privatree budget create" in " ".join(capsys.readouterr().out.split())


# --- a training that stops ------------------------------------------------------------------------


@pytest.fixture
def confirmed(tmp_path, monkeypatch):
    """A drafted and confirmed schema of 2,000 records, a budget of 1, and a misspelt class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 2000)
    label = np.where(age > 60, "yes", "no")
    pd.DataFrame({"age": age, "ill": label}).to_csv("data.csv", index=False)
    assert run(monkeypatch, "schema", "draft", "data.csv", "--target", "ill", "-o", "a.toml") == 0
    Schema.from_toml("a.toml").confirmed().to_toml("schema.toml")
    pd.DataFrame({"age": age, "ill": np.char.title(label)}).to_csv("data.csv", index=False)
    BudgetStore.create("patients.db", 1)
    return tmp_path


def test_a_misspelt_class_costs_three_percent_and_says_so_in_one_line(
    confirmed, monkeypatch, capsys
):
    capsys.readouterr()
    assert fit(monkeypatch, epsilon="1") == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    (line,) = said.splitlines()
    assert line.startswith("privatree: there must be at least min_records = 1,000 records with")
    assert "(± 100)" in line
    assert "the wrong target, a misspelt class, an empty file and a wrong path" in line
    assert "epsilon 0.03 was spent on this number and charged to the budget" in line
    assert not (confirmed / "model.json").exists()
    assert run(monkeypatch, "budget", "show", "patients.db", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["spent"], shown["remaining"], shown["charges"]) == (0.03, 0.97, 1)
    assert run(monkeypatch, "budget", "charges", "patients.db") == 0
    assert "number of" in capsys.readouterr().out


def test_min_records_can_be_given_and_taken_away(confirmed, monkeypatch, capsys):
    assert fit(monkeypatch, "--min-records", "none", "--seed", "1", epsilon="0.5") == 0
    (charge,) = BudgetStore("patients.db").charges
    assert (charge.purpose, charge.epsilon) == ("PrivaTreeClassifier", Fraction(1, 2))
    assert "So few records had a label" in capsys.readouterr().out
    assert fit(monkeypatch, "--min-records", "500", "--seed", "1", epsilon="0.5") == 2
    assert "min_records = 500" in capsys.readouterr().err
    assert BudgetStore("patients.db").remaining == Fraction(485, 1000)


def test_enough_records_are_charged_in_two_steps(folder, monkeypatch, capsys):
    assert fit(monkeypatch, "--min-records", "10", "--seed", "1", epsilon="0.5") == 0
    charges = BudgetStore("patients.db").charges
    assert [(c.purpose.split(": ")[1], c.epsilon) for c in charges] == [
        ("number of records", Fraction(15, 1000)),
        ("tree", Fraction(485, 1000)),
    ]
    assert "Charged epsilon 0.5 to patients.db: 0.5 of 1 is left." in capsys.readouterr().err


# --- units ----------------------------------------------------------------------------------------


def test_a_budget_of_units_says_so_everywhere(folder, monkeypatch, capsys):
    create = ("budget", "create", "visits.db", "--epsilon", "1", "--unit", "patient_id")
    assert run(monkeypatch, *create) == 0
    BudgetStore("visits.db").charge(0.25, purpose="model", unit="patient_id")
    capsys.readouterr()
    assert run(monkeypatch, "budget", "show", "visits.db") == 0
    said = "  neighbours  all records of one patient_id added or removed\n"
    assert said in capsys.readouterr().out
    assert run(monkeypatch, "budget", "charges", "visits.db") == 0
    assert capsys.readouterr().out.startswith("Each charge is for all records of one patient_id.\n")
    for command in ("show", "charges"):
        assert run(monkeypatch, "budget", command, "visits.db", "--json") == 0
        assert json.loads(capsys.readouterr().out)["unit"] == "patient_id"


# --- delta ----------------------------------------------------------------------------------------


@pytest.fixture
def with_delta(folder, monkeypatch, capsys):
    """A budget of epsilon 3 and delta 1e-5, with two charges."""
    create = ("budget", "create", "visits.db", "--epsilon", "3", "--delta", "1e-5")
    assert run(monkeypatch, *create) == 0
    assert capsys.readouterr().err == ""
    BudgetStore("visits.db", note="a.json").charge(1, delta=1e-6, purpose="an ensemble")
    BudgetStore("visits.db", note="b.json").charge(0.5, purpose="a tree")
    return BudgetStore("visits.db").read()


def test_a_budget_with_a_delta_shows_it(with_delta, monkeypatch, capsys):
    assert (with_delta.epsilon, with_delta.delta) == (3, Fraction(1, 10**5))
    assert run(monkeypatch, "budget", "show", "visits.db") == 0
    assert capsys.readouterr().out == (
        "Budget of visits\n"
        "  epsilon     3\n"
        "  spent       1.5 in 2 charges\n"
        "  left        1.5\n"
        "  delta       1e-05: 1e-06 is spent and 9e-06 left\n"
        "  neighbours  one record added or removed\n"
        f"  created     {with_delta.created:%Y-%m-%d %H:%M} UTC\n"
    )


def test_charges_with_a_delta(with_delta, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    assert run(monkeypatch, "budget", "charges", "visits.db") == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [" ".join(line.split()) for line in lines if line.strip()]
    times = [f"{charge.time:%Y-%m-%d %H:%M:%S}" for charge in with_delta.charges]
    assert rows[0] == "no. time (UTC) epsilon left delta purpose note"
    assert rows[2:] == [
        f"1 {times[0]} 1 2 1e-06 an ensemble a.json",
        f"2 {times[1]} 0.5 1.5 0 a tree b.json",
    ]


def test_delta_as_json_names_an_amount_that_can_be_charged(with_delta, monkeypatch, capsys):
    store = BudgetStore("visits.db")
    store.charge(0.5, delta=Fraction(1, 3 * 10**6), purpose="an odd share")
    for command in ("show", "charges"):
        assert run(monkeypatch, "budget", command, "visits.db", "--json") == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["delta"] == 1e-5
        assert shown["spent_delta"] == pytest.approx(4e-6 / 3, rel=1e-15)
        assert shown["remaining_delta"] == 8.66666666666666e-06
    assert [charge["delta"] for charge in shown["charges"]][:2] == [1e-6, 0.0]
    store.charge(0.5, delta=shown["remaining_delta"], purpose="all that is left")


def test_a_large_delta_is_warned_of(folder, monkeypatch, capsys):
    create = ("budget", "create", "a.db", "--epsilon", "1", "--delta", "0.01")
    assert run(monkeypatch, *create) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("Warning: --delta 0.01 gives hardly any privacy: ")
    assert printed.err.count("\n") == 1
    assert printed.out.startswith("Created a.db.")


def test_fit_charges_a_budget_with_a_delta(with_delta, monkeypatch, capsys):
    assert fit(monkeypatch, budget="visits.db") == 0
    assert capsys.readouterr().err == (
        "Charged epsilon 0.1 to visits.db: epsilon 1.4 of 3 and delta 9e-06 of 1e-05 are left.\n"
    )
    charge = BudgetStore("visits.db").charges[-1]
    assert (charge.epsilon, charge.delta) == (Fraction(1, 10), 0)


@pytest.fixture
def fit_with_delta(monkeypatch):
    """A learner that charges a delta, too."""
    make = Charges.__init__

    def make_with_delta(self, budget, epsilon, neighbours, unit, plan, *_, **names):
        make(self, budget, epsilon, neighbours, unit, plan, 1e-6, **names)

    monkeypatch.setattr(Charges, "__init__", make_with_delta)


def test_fit_says_which_delta_it_charged(with_delta, fit_with_delta, monkeypatch, capsys):
    assert fit(monkeypatch, budget="visits.db") == 0
    assert capsys.readouterr().err == (
        "Charged epsilon 0.1 and delta 1e-06 to visits.db: epsilon 1.4 of 3 and delta 8e-06 of "
        "1e-05 are left.\n"
    )


def test_an_interrupted_fit_says_which_delta_stays_charged(
    with_delta, fit_with_delta, monkeypatch, capsys
):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(estimators, "grow_tree", interrupted)
    assert fit(monkeypatch, budget="visits.db") == 130
    said = "no model, but epsilon 0.1 and delta 1e-06 stay charged to visits.db."
    assert said in capsys.readouterr().err


def test_a_budget_without_a_delta_refuses_one(folder, fit_with_delta, monkeypatch, capsys):
    assert fit(monkeypatch) == 2
    assert capsys.readouterr().err == (
        "privatree: PrivaTreeClassifier: delta=1e-06 was requested, but the budget has no delta. "
        "Nothing was drawn. Train with delta=0, or use another budget, made with a delta.\n"
    )
    assert BudgetStore("patients.db").charges == []
    assert not (folder / "model.json").exists()
