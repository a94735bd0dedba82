import numpy as np
import pytest
from sklearn.base import BaseEstimator

from privatree import Numeric, ParameterError, PrivaTreeClassifier, Schema
from privatree.privacy import Budget
from privatree.repetition import refit, refit_without_budget, refits_in_parts
from privatree.repetition._refits import BUDGET_LEFT_OUT

SCHEMA = Schema({"a": Numeric(0, 1)}, [0, 1])
X = np.linspace(0, 1, 60).reshape(-1, 1)
Y = (X[:, 0] > 0.5).astype(int)


def drawn_tree(model):
    return str(model.tree_.threshold), model.random_state  # NaN in leaves


def learner(**parameters):
    return PrivaTreeClassifier(1.0, schema=SCHEMA, max_depth=2, **parameters)


def test_a_seed_gives_the_same_refits_again_each_with_its_own_seed():
    first = refit(learner(random_state=5), X, Y, drawn_tree, 12)
    again = refit(learner(random_state=5), X, Y, drawn_tree, 12)
    other = refit(learner(random_state=6), X, Y, drawn_tree, 12)
    assert first == again
    assert len({seed for _, seed in first + other}) == 24
    assert len({thresholds for thresholds, _ in first}) > 1


def test_more_refits_begin_with_the_same_ones():
    few, many = (refit(learner(random_state=5), X, Y, drawn_tree, n) for n in (3, 8))
    assert many[:3] == few


def test_without_a_seed_the_noise_is_fresh():
    found = refit(learner(), X, Y, drawn_tree, 30)
    assert {seed for _, seed in found} == {None}
    assert len({thresholds for thresholds, _ in found}) > 1


def test_the_number_of_processes_changes_nothing():
    one, two = (refit(learner(random_state=5), X, Y, drawn_tree, 11, n_jobs=n) for n in (1, 2))
    assert one == two


def test_the_budget_is_neither_sent_nor_charged():
    budget = Budget(1.0)
    copy, notes = refit_without_budget(learner(budget=budget))
    assert (copy.budget, notes) == (None, (BUDGET_LEFT_OUT,))
    refit(copy, X, Y, drawn_tree, 3)
    assert budget.charges == []
    assert refit_without_budget(learner())[1] == ()


def test_a_learner_without_a_random_state_is_refitted_too():
    class Constant(BaseEstimator):
        def fit(self, X, y):
            return self

    assert refit(Constant(), X, Y, lambda model: 1, 7) == [1] * 7


def test_parts_come_in_order_and_a_training_of_ones_own_is_measured():
    def train(estimator, X, y):
        return estimator.random_state, len(y)

    parts = list(
        refits_in_parts(
            learner(random_state=5), [(X, Y)], lambda trained: trained, 11, train=train, at_once=4
        )
    )
    assert [(place, len(part)) for place, part in parts] == [(0, 4), (0, 4), (0, 3)]
    whole = [one for _, part in parts for one in part]
    assert whole == [(seed, 60) for _, seed in refit(learner(random_state=5), X, Y, drawn_tree, 11)]


def test_the_bar_is_shown_when_asked_for_and_on_a_terminal_only(capsys):
    refit(learner(random_state=0), X, Y, drawn_tree, 6)
    refit(learner(random_state=0), X, Y, drawn_tree, 6, progress=False)
    assert capsys.readouterr().err == ""
    refit(learner(random_state=0), X, Y, drawn_tree, 6, progress=True)
    shown = capsys.readouterr()
    assert "6/6" in shown.err
    assert shown.out == ""
    with pytest.raises(ParameterError, match="progress must be"):
        refit(learner(), X, Y, drawn_tree, 1, progress="yes")
