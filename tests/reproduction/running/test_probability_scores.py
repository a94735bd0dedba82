"""AUC and log loss: scikit-learn's where it has them, and defined for folds without a class."""

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from privatree.reproduction.running._probability_scores import MIN_PROBABILITY, probability_scores
from privatree.reproduction.running._tasks import CrossValidated, RandomSplit


class Known:
    """A classifier whose probabilities are given."""

    def __init__(self, classes, probabilities):
        self.classes_, self._probabilities = np.array(classes), np.array(probabilities)

    def predict_proba(self, rows):
        return self._probabilities


def made_up(n_classes, n_records=60):
    rng = np.random.default_rng(n_classes)
    answers = np.array(list("abcd"[:n_classes]))[rng.integers(0, n_classes, n_records)]
    return answers, rng.dirichlet(np.ones(n_classes), n_records)


def test_two_classes():
    answers, probabilities = made_up(2)
    auc, loss = probability_scores(Known(["a", "b"], probabilities), None, answers)
    assert auc == roc_auc_score(answers == "b", probabilities[:, 1])
    assert loss == pytest.approx(log_loss(answers, probabilities))


def test_more_classes_are_each_against_the_rest():
    answers, probabilities = made_up(4)
    auc, loss = probability_scores(Known(list("abcd"), probabilities), None, answers)
    assert auc == pytest.approx(
        roc_auc_score(answers, probabilities, multi_class="ovr", average="macro")
    )
    assert loss == pytest.approx(log_loss(answers, probabilities))


def test_a_class_that_the_test_records_miss_is_left_out():
    answers, probabilities = made_up(3)
    kept = answers != "b"
    auc, _ = probability_scores(Known(list("abc"), probabilities[kept]), None, answers[kept])
    each = [
        roc_auc_score(answers[kept] == c, probabilities[kept, i]) for i, c in ((0, "a"), (2, "c"))
    ]
    assert auc == pytest.approx(np.mean(each))
    only = answers == "a"
    auc, loss = probability_scores(Known(list("abc"), probabilities[only]), None, answers[only])
    assert math.isnan(auc)
    assert loss == pytest.approx(-np.mean(np.log(probabilities[only, 0])))


def test_a_class_that_the_training_records_miss_has_no_probability():
    answers, probabilities = made_up(2)
    answers[:3] = "c"
    _, loss = probability_scores(Known(["a", "b"], probabilities), None, answers)
    rest = log_loss(answers[3:], probabilities[3:])
    assert loss == pytest.approx((-3 * math.log(MIN_PROBABILITY) + 57 * rest) / 60)


def test_a_certain_mistake_has_a_finite_loss():
    _, loss = probability_scores(Known([0, 1], [[1.0, 0.0], [0.0, 1.0]]), None, np.array([1, 1]))
    assert loss == pytest.approx(-math.log(MIN_PROBABILITY) / 2)


def test_without_probabilities_there_is_nothing():
    assert probability_scores(object(), None, np.array([1])) == ()


def test_folds_measure_them_and_random_splits_do_not():
    auc, loss = CrossValidated("vote", "privaboost", 1.0, 4, 0, 0).run().added
    assert auc > 0.9
    assert 0 < loss < 0.5
    assert CrossValidated("vote", "bdpt", 1.0, 4, 0, 0).run().added == ()
    assert RandomSplit("vote", "privaboost", 1.0, 4, 0).run().added == ()
