"""The demo for a number; that for classes is in ``test_commands.py``."""

import re

import pytest
from run_command import run

import privatree
from privatree import Numeric, Target, datasets

NUMBERS = [
    name
    for name, feature in datasets.load("adult").schema.features.items()
    if isinstance(feature, Numeric)
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def figures(printed, name):
    """The error and the R2 of a line of the comparison."""
    pattern = rf"^  {name}.*?  +mean absolute error +([\d.e+]+), R² +(-?[\d.]+)$"
    found = re.search(pattern, printed, flags=re.MULTILINE)
    return tuple(map(float, found.groups()))


def private_score(printed, name):
    """The estimate of a private score."""
    found = re.search(
        rf"^  {name}(?:, cut at \S+)? +(-?[\d.e+]+)  +\S+ to \S+$", printed, flags=re.MULTILINE
    )
    return float(found[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "plain", "shown"),
    [
        ("tree", "a tree without privacy", "└─ no:  predict "),
        ("boost", "boosted trees without privacy", "The prediction is "),
    ],
)
def test_it_predicts_a_number(folder, monkeypatch, capsys, model, plain, shown):
    options = ["--target", "hours-per-week", "--epsilon", "1", "--model", model]
    assert run(monkeypatch, "demo", *options, "-o", "demo.json") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Predicting hours-per-week of persons in the 1994 US census.\n\n")
    assert shown in printed
    learner = "PrivaBoostRegressor" if model == "boost" else "PrivaTreeRegressor"
    assert f"\nPrivacy statement of {learner}\n" in printed
    assert 6.5 < private_score(printed, "mean absolute error") < 8.5
    assert private_score(printed, "R²") < figures(printed, plain)[1] + 0.4
    assert figures(printed, "always 40, the median") == pytest.approx((7.25, -0.01), abs=0.01)
    saved = privatree.load("demo.json")
    assert saved.schema_.target == Target(1, 99, integer=True, name="hours-per-week")
    assert "hours-per-week" not in saved.schema_.features
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.parametrize("target", NUMBERS)
def test_any_number_of_the_data_can_be_predicted(monkeypatch, capsys, target):
    assert run(monkeypatch, "demo", "--target", target, "--max-depth", "1") == 0
    printed = capsys.readouterr().out
    assert figures(printed, "always")[0] > 0
    assert re.search(r"^  mean absolute error.* to ", printed, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("hours-per-weak", " Did you mean 'hours-per-week'?"),
        ("education", " Did you mean 'education-num'?"),
        ("race", ""),
        ("target", ""),
    ],
)
def test_what_is_no_number_of_the_data_is_refused(folder, monkeypatch, capsys, target, hint):
    assert run(monkeypatch, "demo", "--target", target) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "privatree: --target must be a numeric column of the bundled data, one of "
        f"{', '.join(NUMBERS)}, got {target!r}.{hint}\n"
    )
    assert not (folder / "report.html").exists()


@pytest.mark.slow
def test_help_names_every_column_that_can_be_predicted(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    assert run(monkeypatch, "demo", "--help") == 0
    shown = re.sub(r"[\s│]+", " ", capsys.readouterr().out).replace("- ", "-")
    assert all(name in shown for name in NUMBERS)
