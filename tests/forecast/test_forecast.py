import json
from importlib import metadata

import pytest

from privatree import datasets
from privatree import forecast as package
from privatree.forecast import _cache, forecast
from privatree.forecast._result import Loss, TableScores


def test_each_table_that_counts_has_one_vote(trainings):
    made = forecast(150, (0.5, 1.0))
    assert set(trainings.calls) == {
        *((name, repeat) for name in datasets.names() for repeat in range(5)),
        (0, 0),
        (1, 0),
    }
    low, high = made.expected
    losses = [0.03, -0.01, 0.2, 0.05, 0.01]  # not those of mushroom and nursery, which are easy
    assert high.epsilon == 1.0
    assert high.accuracy.mean == pytest.approx(sum(losses) / 5)
    assert (high.accuracy.lowest, high.accuracy.highest) == pytest.approx((-0.01, 0.2))
    assert high.auc.mean == pytest.approx(2 * sum(losses) / 5)
    assert low.accuracy.mean == pytest.approx(2 * high.accuracy.mean)


def test_scores_of_a_table_are_means_over_its_repeats(trainings):
    scores = forecast(150, 1.0).tables
    (adult,) = [row for row in scores if row.table == "adult"]
    assert (adult.repeats, adult.bundled, adult.counts) == (5, True, True)
    assert adult.plain_accuracy == pytest.approx(0.82)
    assert adult.accuracy_lost == pytest.approx(0.03)
    assert adult.accuracy_deviation == pytest.approx(0.0, abs=1e-12)
    invented = [row for row in scores if not row.bundled]
    assert [row.table for row in invented] == ["made up 1", "made up 2"]
    assert invented[0].accuracy_deviation is None


@pytest.mark.parametrize(
    ("bundled", "accuracy", "auc", "counts"),
    [
        (True, 0.98, 0.98, False),
        (True, 0.99, 0.97, True),
        (True, 0.97, 1.0, True),
        (False, 1, 1, True),
    ],
)
def test_only_a_dataset_that_is_easy_in_every_way_does_not_count(bundled, accuracy, auc, counts):
    """With 99% of one class, every table has a high accuracy."""
    scores = TableScores("t", bundled, 1.0, 1, 0.5, 0.5, accuracy, auc, None, None)
    assert scores.counts is counts


def test_the_standard_error_is_that_of_the_mean_over_tables():
    loss = Loss.of([0.1, 0.2, 0.3, 0.4])
    assert loss.mean == pytest.approx(0.25)
    assert loss.standard_error == pytest.approx(0.0645497, abs=1e-6)


def test_the_same_call_trains_once(trainings, cache):
    made = forecast(150, (0.5, 1.0), features=7)
    n_trained = len(trainings.calls)
    assert forecast(150, (1.0, 0.5), features=7, n_jobs=2) == made
    assert len(trainings.calls) == n_trained
    assert len(list(cache.rglob("*.json"))) == 1
    assert forecast(150, (0.5, 1.0), features=7, cache=False) == made
    assert len(trainings.calls) == 2 * n_trained


@pytest.mark.parametrize(
    "other",
    [
        {"records": 151},
        {"epsilon": 2},
        {"classes": 3},
        {"features": 7},
        {"majority_share": 0.6},
        {"model": "boost"},
        {"without": "adult"},
        {"seed": 1},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_setting_is_another_forecast(trainings, other):
    usual = {"records": 150, "epsilon": 1}
    forecast(**usual)
    n_trained = len(trainings.calls)
    assert forecast(**usual | other).setting != forecast(**usual).setting
    assert len(trainings.calls) > n_trained


def test_another_version_is_another_forecast(trainings, monkeypatch):
    forecast(150, 1)
    n_trained = len(trainings.calls)
    for name in ("privatree", "scikit-learn"):
        if name == "privatree":
            monkeypatch.setattr(_cache, "__version__", "999")
        else:
            monkeypatch.setattr(_cache, "version", lambda n: metadata.version(n) + n)
        forecast(150, 1)
        n_trained, before = len(trainings.calls), n_trained
        assert n_trained > before


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: json.dumps(json.loads(text) | {"tables": []}),
        lambda text: json.dumps(json.loads(text) | {"key": {}}),
        lambda text: text.replace('"plain_auc"', '"plain"'),
        lambda text: text.replace('"accuracy": 0.', '"accuracy": "x", "b": 0.'),
        lambda text: json.dumps(json.loads(text) | {"left_out": 3}),
        lambda text: json.dumps(json.loads(text) | {"left_out": {"vote": 3}}),
        lambda text: text.replace('"epsilon": 1.0', '"epsilon": 7.0'),
        lambda text: text.replace('"bundled": false', '"bundled": true'),
    ],
)
def test_a_damaged_file_is_made_anew(trainings, cache, damage):
    made = forecast(150, 1)
    n_trained = len(trainings.calls)
    (path,) = cache.rglob("*.json")
    whole = path.read_text()
    assert damage(whole) != whole
    path.write_text(damage(whole))
    assert forecast(150, 1) == made
    assert len(trainings.calls) == 2 * n_trained
    assert path.read_text() == whole


def test_it_works_without_a_folder_to_write_to(trainings, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PRIVATREE_CACHE", str(tmp_path / "file" / "folder"))
    assert forecast(150, 1) == forecast(150, 1)


def test_a_progress_bar_counts_the_trainings(trainings, capsys):
    forecast(150, (0.5, 1), progress=True)
    assert "trainings" in capsys.readouterr().err
    forecast(150, (0.5, 1), cache=False, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(two_tables):
    made = forecast(100, (0.5, 5), without=("adult", "nursery"), cache=False)
    assert made == forecast(100, (0.5, 5), without=("adult", "nursery"), cache=False, n_jobs=2)
    strict, generous = made.expected
    assert strict.accuracy.mean > generous.accuracy.mean
    assert strict.auc.mean > generous.auc.mean


def test_the_function_and_its_package_have_the_same_name():
    assert package.forecast is forecast
