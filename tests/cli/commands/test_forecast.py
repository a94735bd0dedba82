import json

import pytest
from run_command import run

from privatree.forecast import _made_up, _trainings
from privatree.forecast._trainings import Repeat, Scores

USUAL = ("forecast", "--records", "8000", "--epsilon", "1,0.05", "--jobs", "1")


@pytest.fixture(autouse=True)
def trained(tmp_path, monkeypatch):
    """Trainings that take no time, and a list of their settings."""
    found = []

    def train_once(table, setting, repeat):
        found.append(setting)
        private = tuple(Scores(0.8 - 0.01 / e, 0.9 - 0.01 / e) for e in setting.epsilons)
        return Repeat(Scores(0.8, 0.9), private)

    monkeypatch.setenv("PRIVATREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_trainings, "train_once", train_once)
    monkeypatch.setattr(_made_up, "N_TABLES", 2)
    monkeypatch.chdir(tmp_path)
    return found


def test_it_prints_a_table(monkeypatch, capsys):
    assert run(monkeypatch, *USUAL) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("What privacy will probably cost: 8,000 records, 2 classes\n")
    assert "It read nothing of yours and costs no epsilon." in " ".join(printed.out.split())
    assert printed.err == ""


def test_it_prints_json_alone(monkeypatch, capsys):
    options = ["--classes", "3", "--features", "9", "--majority-share", "0.5", "--model", "boost"]
    assert run(monkeypatch, *USUAL, *options, "--seed", "4", "--without", "vote", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["setting"] == {
        "records": 8000,
        "epsilons": [0.05, 1.0],
        "classes": 3,
        "features": 9,
        "majority_share": 0.5,
        "model": "boost",
        "without": ["vote"],
        "seed": 4,
    }
    assert document["expected"][0]["accuracy"]["mean"] == pytest.approx(0.2)


def test_it_draws_a_picture(monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    assert run(monkeypatch, *USUAL, "-o", "picture.svg") == 0
    assert "What privacy will probably cost" in (tmp_path / "picture.svg").read_text()
    assert capsys.readouterr().out.startswith("What privacy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "a"], "--epsilon must be numbers with commas between them, such as "),
        (["--epsilon", "0"], "--epsilon must be a number from 1e-06 to 1000, got 0.0."),
        (["--epsilon", "nan"], "--epsilon must be a number from 1e-06 to 1000, got nan."),
        (["--records", "5"], "--records must be an integer of at least 100, got 5."),
        (["--records", "x"], "--records must be a whole number."),
        (["--majority-share", "2"], "--majority-share must be from 0.5 (equal classes) to 0.99,"),
        (["--without", "x"], "--without must have names of bundled datasets (adult, "),
        (["--jobs", "4"], "--jobs must be 1 or 2, got 4."),
        (["-o", "picture.pdf"], "--output must end in .png or .svg, got 'picture.pdf'."),
        (["-o", "none/picture.png"], "there is no folder none. Create it first."),
    ],
)
def test_a_mistake_is_one_clear_line(monkeypatch, capsys, trained, options, message):
    assert run(monkeypatch, *USUAL, *options) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert trained == []
