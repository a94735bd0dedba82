import json
import math

import numpy as np
import pandas as pd
import pytest
from run_command import run

from privatree import About, Model, Numeric, RegressionModel, Schema, Target
from privatree.evaluation import PrivateScores
from privatree.model import TreeBuilder
from privatree.privacy import BudgetStore, PrivacyStatement

BY_HAND = PrivacyStatement(learner="by hand", epsilon=1.0)


def class_model(about=None):
    """age <= 40 ? low : high."""
    schema = Schema({"age": Numeric(0, 100)}, ["low", "high"], about=about)
    builder = TreeBuilder(schema)
    young, old = builder.split_numeric(builder.root, 0, 40.0)
    builder.leaf(young, 0, [0.75, 0.25])
    builder.leaf(old, 1, [0.125, 0.875])
    return Model(schema, builder.build(), BY_HAND)


def number_model():
    schema = Schema({"age": Numeric(0, 100)}, target=Target(0, 60, name="days"))
    builder = TreeBuilder(schema)
    young, old = builder.split_numeric(builder.root, 0, 40.0)
    builder.value_leaf(young, 5.0)
    builder.value_leaf(old, 20.0)
    return RegressionModel(schema, builder.build(), BY_HAND)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    class_model().save("model.json")
    number_model().save("number.json")
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 4000)
    label = np.where((age > 40) ^ (rng.random(4000) < 0.1), "high", "low")
    days = np.where(age > 40, 20, 5) + rng.normal(0, 2, 4000)
    frame = pd.DataFrame({"age": age, "label": label, "days": days.round(2), "who": age // 2})
    frame.to_csv("data.csv", index=False)
    frame.to_parquet("data.parquet")
    with open("data.csv", "a", encoding="utf-8") as file:
        file.write("many,unknown,?,\n1,2\n")  # no label, and too few values: left out
    return tmp_path


def test_it_prints_a_table_and_writes_a_file(folder, monkeypatch, capsys):
    asked = ("score", "model.json", "data.csv", "--target", "label", "--epsilon", "1")
    assert run(monkeypatch, *asked, "-o", "scores.json") == 0
    printed = capsys.readouterr()
    scores = PrivateScores.load("scores.json")
    assert printed.out.startswith(str(scores))
    assert scores["accuracy"].low < 0.9 < scores["accuracy"].high
    assert "privatree report model.json --scores scores.json" in printed.out
    assert run(monkeypatch, *asked, "--json", "--seed", "3") == 0
    written = json.loads(capsys.readouterr().out)
    assert PrivateScores.from_dict(written).seeded


def test_the_target_that_the_model_names_is_the_default(folder, monkeypatch, capsys):
    assert run(monkeypatch, "score", "number.json", "data.parquet", "--epsilon", "5") == 0
    assert "R²" in capsys.readouterr().out
    class_model(About(target="label")).save("about.json")
    assert run(monkeypatch, "score", "about.json", "data.csv", "--epsilon", "5") == 0
    assert "accuracy" in capsys.readouterr().out
    assert run(monkeypatch, "score", "model.json", "data.csv", "--epsilon", "5") == 2
    assert "--target must be given" in capsys.readouterr().err


def test_the_format_of_csv_files_and_the_standard_input(folder, monkeypatch, capsys):
    text = (folder / "data.csv").read_text().replace(",", ";")
    asked = ("score", "model.json", "-", "--target", "label", "--epsilon", "5", "--delimiter", ";")
    assert run(monkeypatch, *asked, piped=text.encode()) == 0
    assert "accuracy" in capsys.readouterr().out


def test_the_budget_is_charged_and_units_are_named(folder, monkeypatch, capsys):
    BudgetStore.create("budget.db", 1.0, unit="who")
    asked = ("score", "model.json", "data.csv", "--target", "label", "--budget", "budget.db")
    assert run(monkeypatch, *asked, "--epsilon", "0.4", "--unit", "who") == 0
    printed = capsys.readouterr()
    assert "Charged epsilon 0.4 to budget.db: 0.6 of 1 is left." in printed.err
    assert "units" in printed.out
    for wrong, message in (
        (("--epsilon", "0.7", "--unit", "who"), "only 0.6 of the budget is left"),
        (("--epsilon", "0.1"), "unit"),
        (("--epsilon", "0"), "--epsilon must be > 0"),
        (("--epsilon", "0.1", "--unit", "nobody"), "lacks 'nobody'"),
        (("--epsilon", "0.1", "--unit", "who", "-o", "data.csv"), "is also an input file"),
        (("--epsilon", "0.1", "--unit", "who", "--seed", "-1"), "seed"),
        (("--epsilon", "0.1", "--unit", "who", "--max-weight", "2"), "--max-weight must be used"),
    ):
        assert run(monkeypatch, *asked, *wrong) == 2
        assert message in capsys.readouterr().err
    assert math.isclose(BudgetStore("budget.db").remaining, 0.6)


def test_the_page_shows_the_scores(folder, monkeypatch, capsys):
    asked = ("score", "model.json", "data.csv", "--target", "label", "--epsilon", "1")
    assert run(monkeypatch, *asked, "-o", "scores.json") == 0
    asked = ("report", "model.json", "-o", "page.html", "--scores")
    assert run(monkeypatch, *asked, "scores.json") == 0
    accuracy = PrivateScores.load("scores.json")["accuracy"].shown
    page = (folder / "page.html").read_text()
    assert accuracy[0] in page
    assert accuracy[1] in page
    capsys.readouterr()
    assert run(monkeypatch, *asked, "model.json") == 2
    assert "privatree-scores" in capsys.readouterr().err
