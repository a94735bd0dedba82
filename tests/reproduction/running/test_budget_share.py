"""Shares of epsilon become exactly that budget; with Algorithm 1's own shares it is Algorithm 1."""

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privatree import PaperPrivaTreeClassifier
from privatree.baselines.paper import PaperBudget, divide_paper_budget
from privatree.errors import ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.running import _budget_share as budget_share
from privatree.reproduction.running._budget_share import BudgetShare


@pytest.mark.parametrize(
    ("dataset", "epsilon", "depth", "shares"),
    [
        ("vote", 0.1, 3, (0, 10, 10)),  # categories only: half for nodes, half for leaves
        ("breast-w", 1.0, 4, (2, 8, 10)),  # numbers only: a half in fifths, one for the quantiles
    ],
)
def test_with_the_shares_of_algorithm_1_it_is_algorithm_1(
    dataset: str, epsilon: float, depth: int, shares: tuple[int, int, int]
) -> None:
    frame, labels, schema, *_ = datasets.load(dataset)
    scores, expected = [], []
    for repeat in range(4):
        model = PaperPrivaTreeClassifier(
            epsilon, max_depth=depth, schema=schema, random_state=repeat
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.fit(frame, labels).predict(frame)
        right = sum(one == other for one, other in zip(predicted, labels, strict=True))
        expected.append(right / len(labels))
        scores.append(BudgetShare(dataset, epsilon, depth, *shares, repeat).run().accuracy)
    assert scores == pytest.approx(expected, abs=1e-12)
    assert len(set(expected)) > 1


class _SeenError(Exception):
    pass


def planned(monkeypatch: pytest.MonkeyPatch, task: BudgetShare) -> tuple[Any, Any]:
    """The plan and the ledger with which the tree would be grown."""

    def look(unbinned: Any, plan: Any, ledger: Any) -> None:
        raise _SeenError(plan, ledger)

    monkeypatch.setattr(budget_share, "grow_paper_tree", look)
    with pytest.raises(_SeenError) as seen:
        task.run()
    return seen.value.args[0], seen.value.args[1]


def test_shares_are_twentieths_of_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, ledger = planned(monkeypatch, BudgetShare("adult", 0.3, 3, 4, 9, 7, 0))
    epsilon = Fraction(0.3)
    node = epsilon * 9 / 20 / 3
    assert plan.budget == PaperBudget(epsilon * 7 / 20, epsilon * 4 / 20, node, node)
    assert (plan.max_depth, plan.n_bins) == (3, 10)
    assert plan.private_quantiles
    assert plan.stop_when_pure
    # 6 numeric and 8 categorical features, of which a record is in all
    assert ledger.remaining == epsilon * (6 * 4 + 14 * 9 + 7) / 20


def test_the_rule_of_algorithm_1_is_among_the_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, _ = planned(monkeypatch, BudgetShare("breast-w", 1.0, 4, 2, 8, 10, 0))
    own = divide_paper_budget(
        Fraction(1),
        n_records=683,
        n_classes=2,
        max_depth=4,
        max_leaf_error=0.01,
        private_quantiles=True,
    )
    assert plan.budget.leaf == own.leaf
    assert plan.budget.quantiles == own.quantiles
    assert plan.budget.numeric_node == own.numeric_node


@pytest.mark.parametrize("shares", [(0, 0, 20), (0, 20, 0), (20, 0, 0), (0, 7, 13), (7, 13, 0)])
@pytest.mark.parametrize("dataset", ["vote", "breast-w"])
def test_a_share_may_be_zero(
    monkeypatch: pytest.MonkeyPatch, dataset: str, shares: tuple[int, int, int]
) -> None:
    task = BudgetShare(dataset, 0.1, 3, *shares, 0)
    assert 0.0 <= task.run().accuracy <= 1.0
    budget = planned(monkeypatch, task)[0].budget
    parts = (budget.quantiles, budget.numeric_node * 3, budget.leaf)
    for part, share in zip(parts, shares, strict=True):
        assert part == (Fraction(0.1) * share / 20 if share else Fraction(1, 10**9))


def test_what_has_no_budget_is_noise_and_what_has_all_is_not() -> None:
    """Without a budget for labels half are wrong on average; with plenty for all they are not."""
    means = [
        np.mean([BudgetShare("vote", 200.0, 2, *shares, r).run().accuracy for r in range(40)])
        for shares in ((0, 20, 0), (0, 10, 10))
    ]
    # Either label with probability 1/2 at each leaf: a standard error of at most .5 / sqrt(40).
    assert abs(means[0] - 0.5) < 5 * 0.5 / 40**0.5
    assert means[1] > 0.93


def test_the_repeat_is_the_seed() -> None:
    def score(repeat: int) -> float:
        return BudgetShare("vote", 0.1, 3, 0, 10, 10, repeat).run().accuracy

    assert score(1) == score(1)
    assert len({score(repeat) for repeat in range(6)}) > 2


def test_records_come_from_the_data_folder(tmp_path: Path) -> None:
    records = datasets.load("vote")
    one_class = records.frame.assign(target=["yes"] * 200 + ["no"] * 32)
    one_class.to_parquet(tmp_path / "vote.parquet")
    score = BudgetShare("vote", 500.0, 1, 0, 0, 20, 0, data_dir=tmp_path).run()
    assert 0.8 < score.accuracy < 1.0
    assert score.fit_seconds > 0


def test_other_data_than_meant_are_refused() -> None:
    task = BudgetShare("vote", 0.1, 3, 1, 2, 17, 5, fingerprint="another")
    for refuse in (task.prepare, task.run):
        with pytest.raises(ParameterError, match="vote: its data has changed"):
            refuse()


def test_the_key_is_what_the_fields_name() -> None:
    task = BudgetShare("vote", 0.1, 3, 1, 2, 17, 5, data_dir=Path("x"), fingerprint="mark")
    assert task.key == ("vote", "0.1", "3", "1", "2", "17", "5")
    assert task.key == tuple(str(getattr(task, name)) for name in task.fields)
    assert {*task.fields, "data_dir", "fingerprint"} == set(vars(task))
    assert task.weight < BudgetShare("pol", 0.1, 3, 1, 2, 17, 5).weight
