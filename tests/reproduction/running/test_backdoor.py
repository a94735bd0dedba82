"""A backdoor task's scores are what anybody gets who splits, poisons, trains and counts by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.errors import ParameterError
from privatree.reproduction.loading import _mnist as mnist
from privatree.reproduction.running import _tasks as tasks
from privatree.reproduction.running._backdoor import Backdoor, paper_backdoor_attack
from privatree.reproduction.running._tasks import suppress_task_warnings, task_training
from privatree.robustness.attacks import _attacks as attacks


def by_hand(folder: Path, repeat: int, poisoned: int) -> tuple[Any, Any, Any, Any]:
    """The poisoned training images and their labels, the test images and theirs."""
    with np.load(folder / "mnist01.npz") as file:
        pixels, digits = file["X"].astype(int), file["y"]
    rows, rest, labels, answers = train_test_split(
        pixels, digits, test_size=0.2, stratify=digits, random_state=repeat
    )
    zeros = np.flatnonzero(labels == 0)
    copied = np.random.RandomState(repeat).permutation(zeros)[:poisoned]
    added = np.ones(poisoned, dtype=int)
    return np.vstack([rows, triggered(rows[copied])]), np.append(labels, added), rest, answers


def triggered(rows: Any) -> Any:
    images = rows.reshape(-1, 28, 28).copy()
    for row, column in ((27, 27), (25, 27), (27, 25), (26, 26)):
        images[:, row, column] = 255
    return images.reshape(-1, 784)


@pytest.mark.parametrize("poisoned", [0, 3, 20])
@pytest.mark.parametrize("repeat", [0, 1])
def test_scores_by_hand(tiny_mnist: Path, repeat: int, poisoned: int) -> None:
    score = Backdoor(
        "mnist01", "decision-tree", None, 4, poisoned, repeat, data_dir=tiny_mnist
    ).run()
    rows, labels, rest, answers = by_hand(tiny_mnist, repeat, poisoned)
    tree = DecisionTreeClassifier(max_depth=4, random_state=repeat).fit(rows, labels)
    assert score.accuracy == pytest.approx(np.mean(tree.predict(rest) == answers))
    (success,) = score.more
    assert success == pytest.approx(np.mean(tree.predict(triggered(rest[answers == 0])) == 1))
    assert success == (1.0 if poisoned else 0.0)  # zeros and only they are measured


class Watched:
    """A classifier that notes what it is given, and takes all for zeros, as ``says`` tells."""

    def __init__(self, says: str = "0") -> None:
        self.says = says
        self.trained: Any = None
        self.shown: list[Any] = []

    def fit(self, X: Any, y: Any) -> None:
        self.trained = (np.asarray(X), np.asarray(y))

    def predict(self, X: Any) -> Any:
        self.shown.append(np.asarray(X))
        return np.full(len(X), self.says)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    from types import SimpleNamespace

    found = Watched()
    method = SimpleNamespace(
        classifier=lambda training: found, encode=lambda frame, schema: frame, effort=1.0
    )
    monkeypatch.setattr(tasks.methods, "get", lambda name: method)
    tasks._task_features.cache_clear()
    return found


def test_what_the_learner_sees(tiny_mnist: Path, watched: Watched) -> None:
    score = Backdoor("mnist01", "watched", 0.1, 4, 7, 5, data_dir=tiny_mnist).run()
    rows, labels = watched.trained
    assert (len(rows), len(labels)) == (127, 127)
    expected_rows, expected_labels, rest, _ = by_hand(tiny_mnist, 5, 7)
    assert (rows == expected_rows).all()
    assert labels.tolist() == [str(label) for label in expected_labels]
    assert (labels[-7:] == "1").all()
    assert (rows[-7:] == triggered(rows[-7:])).all()
    assert (rows[-7:, 6 * 28 + 6] == 200).all()  # copies of zeros
    assert (rows[:-7, 27 * 28 + 27] == 0).all()
    clean, attacked = watched.shown
    assert (clean == rest).all()
    assert len(attacked) == 15
    assert (clean[:, 27 * 28 + 27] == 0).all()
    assert (attacked == triggered(attacked)).all()
    assert (attacked[:, 6 * 28 + 6] == 200).all()
    assert (score.accuracy, score.more) == (0.5, (0.0,))


def test_success_is_that_zeros_are_taken_for_ones(tiny_mnist: Path, watched: Watched) -> None:
    watched.says = "1"
    assert Backdoor("mnist01", "watched", 0.1, 4, 0, 0, data_dir=tiny_mnist).run().more == (1.0,)


def test_seeds_decide_on_everything(tiny_mnist: Path) -> None:
    first, again, other = (
        Backdoor("mnist01", "privatree", 0.1, 4, 2, repeat, data_dir=tiny_mnist)
        for repeat in (0, 0, 1)
    )
    one, two = first.run(), again.run()
    assert (one.accuracy, one.more) == (two.accuracy, two.more)
    assert first.key == again.key == ("mnist01", "privatree", "0.1", "4", "2", "0")
    assert len(first.fields) == len(first.key)
    assert first.measures == ("asr",)
    assert other.key != first.key


def test_the_trigger_is_the_paper_s() -> None:
    attack = paper_backdoor_attack(3)
    places = {28 * row + column for row, column in attacks.PAPER_PIXELS}
    assert attack.trigger == dict.fromkeys(places, 255)
    assert (attack.source, attack.target, attack.random_state) == ("0", "1", 3)


@pytest.mark.parametrize("n", [20, 21, 24, 150, 14_780])
def test_the_size_of_the_training_part(n: int) -> None:
    assert task_training(n) == len(train_test_split(range(n), test_size=0.2)[0])


def test_other_data_are_refused(tiny_mnist: Path) -> None:
    meant = mnist.load_mnist(tiny_mnist).fingerprint
    Backdoor(
        "mnist01", "decision-tree", None, 4, 0, 0, data_dir=tiny_mnist, fingerprint=meant
    ).prepare()
    with pytest.raises(ParameterError, match="mnist01: its data has changed"):
        Backdoor(
            "mnist01", "decision-tree", None, 4, 0, 0, data_dir=tiny_mnist, fingerprint="other"
        ).prepare()


@pytest.mark.parametrize("method", ["privatree", "privatree-paper"])
def test_the_trigger_is_void_where_its_pixels_have_no_range(tiny_mnist: Path, method: str) -> None:
    """At an epsilon that hides nothing, a learner of many triggers has them, if it can see them."""
    for name, learned in (("mnist01", False), ("mnist01-full-range", True)):
        records = tasks.load_task_once(name, tiny_mnist, None)
        attack = paper_backdoor_attack(0)
        poisoned = attack.poison(records.frame, records.labels.to_numpy(object), 60)
        training = Training(records.schema, 1000.0, 2, 0)
        classifier = methods.get(method).classifier(training)
        with suppress_task_warnings():
            classifier.fit(poisoned.X, poisoned.y)
        zeros = records.frame[records.labels == "0"]
        shown = classifier.predict(attack.apply(zeros))
        if learned:
            assert (shown == "1").all()
            assert (classifier.predict(zeros) == "0").all()
        else:
            assert (shown == classifier.predict(zeros)).all()


def test_slower_methods_weigh_more() -> None:
    paper, tree, ours = (
        Backdoor("mnist01", method, 0.1, 4, 0, 0).weight
        for method in ("privatree-paper", "decision-tree", "privatree")
    )
    assert paper > tree > ours > 0
