"""A task's score is what anybody gets who splits, trains and counts by the same seeds."""

import json
import math
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.tree import DecisionTreeClassifier

from privatree import Categorical, PaperPrivaTreeClassifier, PrivaTreeClassifier
from privatree.baselines import methods
from privatree.baselines.methods import Method, _registry
from privatree.baselines.methods._method import PRIVATE
from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.running import _tasks as tasks
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import CrossValidated, RandomSplit, task_number

load = cache(datasets.load)
OURS = {"privatree-paper": PaperPrivaTreeClassifier, "privatree": PrivaTreeClassifier}


def trained(method: str, dataset: str, epsilon: float | None, seed: int, rows: Any) -> Any:
    """Return the fitted classifier and its features, without the code of the tasks."""
    records = load(dataset)
    features: Any = records.frame
    labels = records.labels.iloc[rows]
    if method == "decision-tree":
        columns = [
            [list(f.categories).index(v) for v in features[name]]
            if isinstance(f, Categorical)
            else features[name]
            for name, f in records.schema.features.items()
        ]
        features = np.array(columns, dtype=float).T
        classifier: Any = DecisionTreeClassifier(max_depth=4, random_state=seed)
        return classifier.fit(features[rows], labels), features
    classifier = OURS[method](epsilon, max_depth=4, schema=records.schema, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classifier.fit(features.iloc[rows], labels), features


def share_right(classifier: Any, features: Any, dataset: str, rows: Any) -> float:
    labels = load(dataset).labels.tolist()
    chosen = features.iloc[rows] if hasattr(features, "iloc") else features[rows]
    predicted = list(classifier.predict(chosen))
    return sum(labels[row] == one for row, one in zip(rows, predicted, strict=True)) / len(rows)


@pytest.mark.parametrize("dataset", ["vote", "breast-w"])
@pytest.mark.parametrize(
    ("method", "epsilon"),
    [("decision-tree", None), ("privatree-paper", 0.1), ("privatree", 0.1), ("privatree", 1.0)],
)
def test_cross_validation_is_what_it_says(dataset: str, method: str, epsilon: float | None) -> None:
    labels = load(dataset).labels
    scores, expected = [], []
    for repeat, fold in ((0, 0), (0, 4), (2, 1), (3, 3)):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
        train, test = list(folds.split(np.zeros(len(labels)), labels))[fold]
        classifier, features = trained(method, dataset, epsilon, 5 * repeat + fold, train)
        expected.append(share_right(classifier, features, dataset, test))
        scores.append(CrossValidated(dataset, method, epsilon, 4, repeat, fold).run().accuracy)
    assert scores == pytest.approx(expected, abs=1e-12)
    assert len(set(expected)) > 1


@pytest.mark.parametrize("method", ["privatree-paper", "privatree"])
def test_a_random_split_is_what_it_says(method: str) -> None:
    labels = load("vote").labels
    scores, expected = [], []
    for repeat in range(4):
        train, test = train_test_split(
            np.arange(232), test_size=47, random_state=repeat, stratify=labels
        )
        classifier, features = trained(method, "vote", 0.1, repeat, train)
        expected.append(share_right(classifier, features, "vote", test))
        scores.append(RandomSplit("vote", method, 0.1, 4, repeat).run().accuracy)
    assert scores == pytest.approx(expected, abs=1e-12)
    assert len(set(expected)) > 1


def test_neither_the_process_nor_the_order_matters() -> None:
    chosen: list[Any] = [
        *(CrossValidated("vote", "privatree-paper", 0.1, 4, 1, fold) for fold in range(3)),
        CrossValidated("breast-w", "privatree", 0.1, 4, 1, 0),
        CrossValidated("vote", "bdpt", 0.5, 2, 1, 2),
        RandomSplit("vote", "privatree", 0.1, 4, 1),
    ]
    here = [task.run().accuracy for task in chosen]
    assert [task.run().accuracy for task in chosen] == here
    code = (
        "import json\n"
        "from privatree.reproduction.running._tasks import CrossValidated, RandomSplit\n"
        f"print(json.dumps([task.run().accuracy for task in {chosen[::-1]!r}]))"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert there.returncode == 0, there.stderr
    assert json.loads(there.stdout)[::-1] == here


def test_records_come_from_the_data_folder(tmp_path: Path) -> None:
    records = load("vote")
    task = CrossValidated("vote", "decision-tree", None, 4, 0, 0, data_dir=tmp_path)
    shuffled = np.random.default_rng(0).permutation(records.labels)
    records.frame.assign(target=shuffled).to_parquet(tmp_path / "vote.parquet")
    assert task.run().accuracy < 0.8 < CrossValidated(*task.key[:2], None, 4, 0, 0).run().accuracy


def test_other_data_than_meant_are_refused() -> None:
    mark = load("vote").fingerprint
    meant = CrossValidated("vote", "decision-tree", None, 4, 0, 0, fingerprint=mark)
    other = CrossValidated("vote", "decision-tree", None, 4, 0, 0, fingerprint="another")
    assert meant.run().accuracy == CrossValidated(*meant.key[:2], None, 4, 0, 0).run().accuracy
    for refuse in (other.prepare, other.run):
        with pytest.raises(ParameterError, match="vote: its data has changed"):
            refuse()


# --- keys ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    [
        CrossValidated("vote", "bdpt", 0.25, 3, 7, 4, data_dir=Path("x"), fingerprint="mark"),
        RandomSplit("vote", "bdpt", 0.25, 3, 7, data_dir=Path("x"), fingerprint="mark"),
    ],
)
def test_the_key_is_what_the_fields_name(task: Any) -> None:
    assert task.key == tuple(str(getattr(task, name)) for name in task.fields)
    assert {*task.fields, "data_dir", "fingerprint"} == set(vars(task))


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(None, ""), (1.0, "1"), (10, "10"), (0.1, "0.1"), (0.001, "0.001"), (1e-7, "1e-07")],
)
def test_epsilon_is_written_shortly(epsilon: float | None, text: str) -> None:
    assert task_number(epsilon) == text
    assert CrossValidated("vote", "bdpt", epsilon, 4, 0, 0).key[2] == text


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_two_epsilons_are_never_taken_for_one(epsilon: float) -> None:
    assert float(task_number(epsilon)) == epsilon
    assert task_number(math.nextafter(epsilon, 0)) != task_number(epsilon)


def test_larger_data_weighs_more() -> None:
    weights = [RandomSplit(name, "bdpt", 1.0, 4, 0).weight for name in ("vote", "adult", "Higgs")]
    assert 0 < weights[0] < weights[1] < weights[2]


def test_a_slower_method_weighs_more() -> None:
    assert methods.get("dp-ebm").effort > methods.get("bdpt").effort == 1.0
    for kind, rest in ((CrossValidated, (0, 0)), (RandomSplit, (0,))):
        slow, usual = (kind("vote", name, 1.0, 4, *rest).weight for name in ("dp-ebm", "bdpt"))
        assert slow == pytest.approx(methods.get("dp-ebm").effort * usual)


# --- what a method is given ---------------------------------------------------------------------


class Watched:
    """A method that writes down what it is given; its clock says 9 s for coding, 2 s for a fit."""

    def __init__(self) -> None:
        self.now = 0.0
        self.trainings: list[Any] = []
        self.fitted: list[tuple[Any, Any]] = []
        self.tested: list[Any] = []
        self.compiling = 0.0
        self.fails: Exception | None = None

    def encode(self, frame: pd.DataFrame, schema: Any) -> pd.DataFrame:
        self.now += 9.0
        return frame.assign(extra=1)

    def classifier(self, training: Any) -> "Watched":
        self.trainings.append(training)
        self.now += 9.0
        return self

    def fit(self, X: Any, y: Any) -> None:
        if self.fails is not None:
            raise self.fails
        self.fitted.append((X, y))
        self.now += 2.0 + self.compiling
        self.compiling = 0.0

    def predict(self, X: Any) -> Any:
        self.now += 9.0
        self.tested.append(X)
        return np.full(len(X), "democrat")


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    found = Watched()
    method = Method("watched", "watched", PRIVATE, found.classifier, encode=found.encode)
    monkeypatch.setitem(_registry._METHODS, "watched", method)
    monkeypatch.setattr(tasks, "_timed_before", set())
    monkeypatch.setattr(tasks, "time", SimpleNamespace(perf_counter=lambda: found.now))
    tasks._task_features.cache_clear()
    return found


def test_folds_share_no_record_and_make_up_the_whole(watched: Watched) -> None:
    labels = load("vote").labels
    scores = [CrossValidated("vote", "watched", 1.0, 4, 0, fold).run() for fold in range(5)]
    fits = watched.fitted[1:]  # the first one is done twice
    for (X, y), tested in zip(fits, watched.tested, strict=True):
        assert "extra" in X
        assert "extra" in tested
        assert y.tolist() == labels[X.index].tolist()
        assert sorted([*X.index, *tested.index]) == list(range(232))
        assert len(tested) in (46, 47)
        assert abs((labels[tested.index] == "democrat").sum() - 124 / 5) < 1
    assert sorted(row for X in watched.tested for row in X.index) == list(range(232))
    right = [np.mean(labels[X.index] == "democrat") for X in watched.tested]
    assert [score.accuracy for score in scores] == pytest.approx(right)


def test_a_random_split_leaves_a_fifth_of_each_class(watched: Watched) -> None:
    labels = load("vote").labels
    RandomSplit("vote", "watched", 1.0, 4, 3).run()
    (X, y), (tested,) = watched.fitted[-1], watched.tested
    assert sorted([*X.index, *tested.index]) == list(range(232))
    assert len(X) == 185
    assert y.value_counts().to_dict() == {"democrat": 99, "republican": 86}
    train, test = train_test_split(np.arange(232), test_size=0.2, random_state=3, stratify=labels)
    assert X.index.tolist() == train.tolist()
    assert tested.index.tolist() == test.tolist()


def test_a_method_is_told_schema_epsilon_depth_and_seed(watched: Watched) -> None:
    schema = load("vote").schema
    for task in (
        CrossValidated("vote", "watched", 0.3, 2, 3, 1),
        RandomSplit("vote", "watched", 0.3, 7, 9),
        CrossValidated("vote", "watched", None, 4, 0, 0),
    ):
        task.run()
    told = [(t.epsilon, t.max_depth, t.seed) for t in watched.trainings[::2]]
    assert told == [(0.3, 2, 16), (0.3, 7, 9), (math.inf, 4, 0)]
    assert all(training.schema == schema for training in watched.trainings)


def test_only_the_fit_is_timed_and_compiling_is_not(watched: Watched) -> None:
    watched.compiling = 30.0
    task = CrossValidated("vote", "watched", 1.0, 4, 0, 0)
    first, again = task.run(), task.run()
    assert first == again
    assert first.fit_seconds == 2.0
    assert len(watched.fitted) == 3
    assert len({training.seed for training in watched.trainings}) == 1
    CrossValidated("vote", "watched", 1.0, 4, 1, 3).run()
    assert len(watched.fitted) == 4
    CrossValidated("vote", "watched", 0.5, 4, 1, 3).run()  # at another epsilon other code may run
    assert len(watched.fitted) == 6


@pytest.mark.parametrize(
    "task",
    [
        CrossValidated("breast-w", "watched", 1.0, 4, 0, 0),
        RandomSplit("breast-w", "watched", 1.0, 4, 0),
    ],
)
def test_data_is_read_and_coded_beforehand(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, task: Any
) -> None:
    tasks.load_task_once.cache_clear()
    task.prepare()
    assert watched.now == 9.0
    assert watched.trainings == []
    monkeypatch.setattr(datasets, "load", lambda *_: pytest.fail("it is read again"))
    task.run()
    assert len(watched.fitted) == 2


def test_a_long_fit_is_done_once(watched: Watched) -> None:
    watched.compiling = 100.0
    assert CrossValidated("vote", "watched", 1.0, 4, 0, 0).run().fit_seconds == 102.0
    assert len(watched.fitted) == 1


def test_what_is_wrong_with_a_method_is_not_hidden(watched: Watched) -> None:
    for error in (ValueError("no good"), UserWarning("look")):
        watched.fails = error
        with pytest.raises(type(error), match=str(error)):
            CrossValidated("vote", "watched", 1.0, 4, 0, 0).run()
    watched.fails = None
    assert isinstance(CrossValidated("vote", "watched", 1.0, 4, 0, 0).run(), Score)


def test_other_warnings_are_shown() -> None:
    with tasks.suppress_task_warnings(), pytest.raises(UserWarning, match="look"):
        warnings.warn("look", stacklevel=1)


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Did you mean 'privatree"):
        CrossValidated("vote", "privatre", 1.0, 4, 0, 0).run()
    with pytest.raises(ParameterError, match="Did you mean 'vote"):
        RandomSplit("votes", "privatree", 1.0, 4, 0).run()
    with pytest.raises((DatasetMissingError, ParameterError), match="folder"):
        RandomSplit("vote", "privatree", 1.0, 4, 0, data_dir=tmp_path / "none").run()
