"""What a partition answers: from its own records, sorted, with its own seed."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from privatree.robustness.dpa._voter import ABSTAINING, Voter, train_voter

CLASSES = np.array(["a", "b", "c"])
ROWS = np.array([[2.0, 0.0], [1.0, 5.0], [1.0, np.nan], [1.0, 4.0], [1.0, 4.0]])
CODES = np.array([0, 2, 0, 2, 0])


class Witness(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on and answers as it was told."""

    def __init__(self, answer: str = "c", fails: str = "", random_state: int | None = None):
        self.answer = answer
        self.fails = fails
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "Witness":
        if self.fails == "fit":
            raise ZeroDivisionError
        if self.fails == "memory":
            raise MemoryError
        self.seen_ = X.tolist(), y.tolist()
        return self

    def predict(self, X: Any) -> Any:
        if self.fails == "predict":
            raise ZeroDivisionError
        return np.full(len(X), self.answer)


def train(base: Any, seed: int = 0, rows: Any = ROWS, codes: Any = CODES) -> Voter:
    found = train_voter(base, seed, rows, codes, CLASSES)
    assert isinstance(found, Voter)
    return found


def votes(voter: Voter, n: int = 2) -> list[list[int]]:
    counted = np.zeros((n, 3), dtype=np.int32)
    voter.add_votes(np.zeros((n, 2)), CLASSES, counted)
    return counted.tolist()


def test_records_come_sorted_by_value_and_then_by_label() -> None:
    rows, labels = train(Witness()).model.seen_
    assert labels == ["a", "c", "c", "a", "a"]
    assert rows[:3] == [[1.0, 4.0], [1.0, 4.0], [1.0, 5.0]]
    assert np.isnan(rows[3][1])  # last of its kind
    assert rows[4] == [2.0, 0.0]


def test_the_order_of_the_records_does_not_matter() -> None:
    expected = str(train(Witness()).model.seen_)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(ROWS))
        assert str(train(Witness(), rows=ROWS[order], codes=CODES[order]).model.seen_) == expected


def test_every_seed_is_the_number_of_the_partition() -> None:
    assert train(Witness(random_state=99), 5).model.random_state == 5
    nested = make_pipeline(
        StandardScaler(), BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    )
    rows, codes = np.arange(20.0).reshape(-1, 1), np.arange(20) % 2
    model = train(nested, 7, rows, codes).model
    assert model[-1].random_state == model[-1].estimator.random_state == 7
    assert nested[-1].random_state is None


def test_it_votes_for_what_its_model_says() -> None:
    assert votes(train(Witness("c"))) == [[0, 0, 1], [0, 0, 1]]


def test_a_class_that_its_records_do_not_have_is_nobody_s_vote() -> None:
    assert votes(train(Witness("b"))) == [[0, 0, 0], [0, 0, 0]]


def test_one_class_needs_no_training_and_no_record_is_no_vote() -> None:
    base = Witness(fails="fit")
    assert votes(train(base, rows=ROWS[:2], codes=np.array([1, 1]))) == [[0, 1, 0], [0, 1, 0]]
    assert votes(train(base, rows=ROWS[:0], codes=CODES[:0])) == [[0, 0, 0], [0, 0, 0]]
    assert votes(ABSTAINING) == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("fails", ["fit", "predict"])
def test_a_failure_is_handed_back(fails: str) -> None:
    found = train_voter(Witness(fails=fails), 0, ROWS, CODES, CLASSES)
    assert isinstance(found, ZeroDivisionError)


def test_a_lack_of_memory_is_not_the_partition_s_doing() -> None:
    with pytest.raises(MemoryError):
        train_voter(Witness(fails="memory"), 0, ROWS, CODES, CLASSES)
