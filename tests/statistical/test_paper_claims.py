"""What docs/proofs/paper-tree.md says of Algorithm 1, seen in the running program.

Example 1: constant features. The loss of one record is exactly the sum over features, far above
the claimed epsilon. Example 2: the purity stop has no finite loss.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from privatree.baselines.paper import (
    PaperPlan,
    UnbinnedColumns,
    divide_paper_budget,
    grow_paper_tree,
)
from privatree.privacy import Ledger, Randomness
from privatree.privacy.mechanisms import PermuteAndFlip, TruncatedGeometric
from privatree.schema import Categorical, Schema


def plan_for(n_features, n_records, stop_when_pure):
    schema = Schema({f"f{j}": Categorical([0, 1]) for j in range(n_features)}, [0, 1])
    budget = divide_paper_budget(
        Fraction(1),
        n_records=n_records,
        n_classes=2,
        max_depth=1,
        max_leaf_error=0.01,
        private_quantiles=True,
    )
    return PaperPlan(schema, budget, 1, 10, True, stop_when_pure)


def count_events(event, columns, labels, plan, runs):
    budget = plan.budget.for_a_record(0, len(columns), 1)
    source = Randomness(7)
    records = UnbinnedColumns(columns, labels, 2)
    return sum(event(grow_paper_tree(records, plan, Ledger(budget, source))) for _ in range(runs))


def in_constant_features(m):
    """D: 100 records, all features 0, classes balanced. D': one more, all features 1, class 1."""
    labels = np.array([0, 1] * 50 + [1], dtype=np.int32)
    columns = [np.array([0] * 100 + [1], dtype=np.uint8) for _ in range(m)]
    return [([c[:n] for c in columns], labels[:n]) for n in (100, 101)]


def law_of_a_single_leaf_labelled_0(plan, columns, labels):
    """Exact, but for the chance below 10^-10 that a count of 50 becomes 0."""
    empty = 0.0
    geometric = TruncatedGeometric(plan.budget.categorical_node)
    for column in columns:
        for label in (0, 1):
            exact_count = int(np.sum((column == 1) & (labels == label)))
            empty += geometric.log_probability(np.array([0]), exact_count)[0]
    exact_totals = np.bincount(labels)
    leaf = PermuteAndFlip(plan.budget.leaf, monotone=True).log_probabilities(exact_totals)
    return empty + leaf[0]


@pytest.mark.parametrize("m", [1, 2, 6, 14])
def test_the_loss_of_a_record_is_the_sum_over_features(m):
    losses = [
        law_of_a_single_leaf_labelled_0(plan_for(m, len(labels), False), columns, labels)
        for columns, labels in in_constant_features(m)
    ]
    leaf = 0.5
    assert losses[0] - losses[1] == pytest.approx(m * (1 - leaf) + leaf, abs=1e-9)
    assert m < 2 or losses[0] - losses[1] > 1  # the paper claims 1


def test_the_program_follows_that_law():
    runs = 1700  # what passes for one of the two tables does not pass for the other
    for columns, labels in in_constant_features(2):
        plan = plan_for(2, len(labels), False)
        seen = count_events(
            lambda tree: tree.n_nodes == 1 and tree.label[0] == 0, columns, labels, plan, runs
        )
        probability = math.exp(law_of_a_single_leaf_labelled_0(plan, columns, labels))
        assert binom.ppf(1e-8, runs, probability) <= seen <= binom.isf(1e-8, runs, probability)


@pytest.mark.parametrize("stop_when_pure", [True, False])
def test_the_purity_stop_tells_neighbours_apart(stop_when_pure):
    runs = 400
    labels = np.array([0] * 10 + [1], dtype=np.int32)
    codes = np.array([0, 1] * 5 + [1], dtype=np.uint8)
    plan = plan_for(1, 11, stop_when_pure)
    splits = [
        count_events(lambda tree: tree.n_nodes > 1, [codes[:n]], labels[:n], plan, runs)
        for n in (10, 11)
    ]
    if stop_when_pure:
        assert splits[0] == 0
        assert splits[1] >= binom.ppf(1e-8, runs, 0.949)
    else:  # then an empty side is the only reason for a leaf, and hardly more likely on one
        assert splits[0] >= binom.ppf(1e-8, runs, 0.936)
