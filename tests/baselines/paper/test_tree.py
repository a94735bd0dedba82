"""Algorithm 1: what it draws, what it pays for, and that without noise it is CART on bins."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from privatree.baselines.paper import (
    PaperPlan,
    UnbinnedColumns,
    divide_paper_budget,
    grow_paper_tree,
)
from privatree.baselines.paper import _tree as paper_tree
from privatree.baselines.paper._gini import best_gini_split
from privatree.errors import BudgetExceededError
from privatree.privacy import Ledger, Randomness
from privatree.privacy.mechanisms import (
    JointExponentialQuantiles,
    PermuteAndFlip,
    TruncatedGeometric,
)
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    {
        "a": Numeric(0, 1),
        "b": Categorical(["p", "q", "r"]),
        "c": Numeric(0, 10, cuts=[2, 4, 6]),
    },
    ["no", "yes"],
)


def records(n, seed=0):
    rng = np.random.default_rng(seed)
    columns = [rng.random(n), rng.integers(0, 3, n).astype(np.uint8), rng.random(n) * 10]
    score = columns[0] + 0.4 * (columns[1] == 1) + 0.1 * columns[2] + rng.normal(0, 0.1, n)
    return columns, (score > 1.1).astype(np.int32)


def plan(epsilon, n, **changes):
    settings = {"max_depth": 3, "private_quantiles": True, "stop_when_pure": True, "n_bins": 10}
    settings |= changes
    budget = divide_paper_budget(
        Fraction(epsilon),
        n_records=n,
        n_classes=2,
        max_depth=settings["max_depth"],
        max_leaf_error=0.01,
        private_quantiles=settings["private_quantiles"],
    )
    return PaperPlan(schema=SCHEMA, budget=budget, **settings)


def ledger_for(p, seed=0):
    return Ledger(p.budget.for_a_record(1, 2, p.max_depth), Randomness(seed))


def grown(p, columns, labels, seed=0):
    ledger = ledger_for(p, seed)
    return grow_paper_tree(UnbinnedColumns(columns, labels, 2), p, ledger), ledger


def test_without_noise_it_is_greedy_gini_on_bins():
    columns, labels = records(3000)
    p = plan(10**6, 3000, private_quantiles=False)
    tree, _ = grown(p, columns, labels)
    cuts = [np.quantile(columns[0], np.arange(1, 10) / 10), None, np.array([2.0, 4.0, 6.0])]
    codes = [
        np.searchsorted(cuts[0], columns[0]),
        columns[1],
        np.searchsorted(cuts[2], columns[2]),
    ]

    def check(node, chosen, depth):
        y = labels[chosen]
        counts = np.bincount(y, minlength=2)
        if depth == 0 or len(y) < 2 or counts.min() == 0:
            assert tree.feature[node] == -1
            assert counts[tree.label[node]] == counts.max()
            return
        histograms = [np.zeros((size, 2), dtype=int) for size in (10, 3, 4)]
        for histogram, code in zip(histograms, codes, strict=True):
            np.add.at(histogram, (code[chosen], y), 1)
        expected = best_gini_split(histograms, [False, True, False])
        assert tree.feature[node] == expected.feature
        left = np.isin(codes[expected.feature], expected.left_codes)
        if expected.feature == 1:
            assert list(tree.left_codes(node)) == expected.left_codes.tolist()
        else:
            assert tree.threshold[node] == cuts[expected.feature][expected.left_codes[-1]]
        check(tree.left[node], chosen & left, depth - 1)
        check(tree.right[node], chosen & ~left, depth - 1)

    check(0, np.ones(3000, dtype=bool), 3)


@pytest.mark.parametrize("private_quantiles", [True, False])
def test_a_full_tree_spends_exactly_what_a_record_pays(private_quantiles):
    columns, labels = records(2000)
    p = plan(2, 2000, private_quantiles=private_quantiles, stop_when_pure=False)
    tree, ledger = grown(p, columns, labels)
    assert tree.depth == 3
    assert ledger.total.epsilon == p.budget.for_a_record(1, 2, 3)
    assert ledger.total.epsilon == 3 * (2 - p.budget.leaf) + p.budget.leaf
    spends = list(ledger.spends())
    assert sum(s.purpose == "leaf label" for s in spends) == tree.n_leaves
    assert sum("histograms" in s.purpose for s in spends) == 2 * (tree.n_nodes - tree.n_leaves)
    assert sum("joint" in s.mechanism for s in spends) == private_quantiles
    for spend in spends:
        if spend.node is not None:
            assert (tree.feature[spend.node] < 0) == (spend.purpose == "leaf label")


def test_nothing_is_drawn_beyond_the_budget():
    columns, labels = records(2000)
    p = plan(2, 2000, stop_when_pure=False)
    short = Ledger(p.budget.for_a_record(1, 2, 3) - Fraction(1, 10**9), Randomness(0))
    with pytest.raises(BudgetExceededError):
        grow_paper_tree(UnbinnedColumns(columns, labels, 2), p, short)


def test_the_purity_stop_is_the_printed_one_and_can_be_dropped():
    columns, _ = records(500)
    one_class = np.ones(500, dtype=np.int32)
    tree, _ = grown(plan(1, 500), columns, one_class)
    assert tree.n_nodes == 1
    tree, _ = grown(plan(1, 500, stop_when_pure=False), columns, one_class)
    assert tree.n_nodes > 1
    one_record = [column[:1] for column in columns]
    tree, _ = grown(plan(1, 1), one_record, one_class[:1])
    assert tree.n_nodes == 1


def test_declared_cuts_are_the_only_thresholds_of_their_feature():
    columns, labels = records(3000)
    tree, _ = grown(plan(100, 3000), columns, labels)
    used = tree.threshold[tree.feature == 2]
    assert set(used) <= {2.0, 4.0, 6.0}


def test_the_same_seed_gives_the_same_tree_and_another_seed_another():
    columns, labels = records(2000)
    trees = [grown(plan(0.5, 2000), columns, labels, seed)[0] for seed in (1, 1, 2)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


# --- nothing but released values decides ---------------------------------------------------------


class ScriptedLedger:
    """Pays for nothing and releases what the script says, whatever the records are.

    So a tree grown with it is a function of released values, the plan and *whatever else the
    learner looked at*: two datasets that give different trees have been looked at.
    """

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.asked = []

    def release(self, mechanism, exact, *, purpose, node=None, times=1):
        self.asked.append((mechanism, np.array(exact), times))
        if isinstance(mechanism, PermuteAndFlip):
            return int(self._rng.integers(len(exact)))
        return self._rng.integers(0, 30, np.shape(exact))

    def release_all(self, mechanisms, exact, *, purpose, threads=1):
        self.asked += [(m, np.array(e), 1) for m, e in zip(mechanisms, exact, strict=True)]
        return [np.sort(self._rng.random(len(m.quantiles))) for m in mechanisms]

    def parallel(self, count):
        return (self,) * count


def differ_by_data():
    """Many records, few, none, one class only, constant features."""
    columns, labels = records(300)
    yield columns, labels
    yield [c[:3] for c in columns], labels[:3]
    yield [c[:0] for c in columns], labels[:0]
    yield columns, np.ones_like(labels)
    yield [np.full_like(c, c[0]) for c in columns], labels


def trees_of_all_datasets(seed, **changes):
    p = plan(1, 300, stop_when_pure=False, **changes)
    return [
        grow_paper_tree(UnbinnedColumns(columns, labels, 2), p, ScriptedLedger(seed))
        for columns, labels in differ_by_data()
    ]


def looks_at_exact_values():
    """Whether some dataset gives another tree although the same values were released."""
    return any(
        tree != trees[0]
        for seed in range(25)
        for trees in [trees_of_all_datasets(seed)]
        for tree in trees
    )


@pytest.mark.slow
def test_the_tree_depends_on_released_values_only():
    assert not looks_at_exact_values()
    assert len({str(trees_of_all_datasets(seed)[0]) for seed in range(25)}) > 5


def test_printed_stops_do_look_at_exact_values(monkeypatch):
    real = paper_tree._choose_paper_tree_splits
    monkeypatch.setattr(
        paper_tree,
        "_choose_paper_tree_splits",
        lambda level, r, p: real(level, r, dataclasses.replace(p, stop_when_pure=True)),
    )
    assert looks_at_exact_values()


def leaf_where_empty(real):
    def mutant(node, exact_histograms, p):
        return None if exact_histograms[0].sum() == 0 else real(node, exact_histograms, p)

    return mutant


def exact_numeric_histograms(real):
    def mutant(node, exact_histograms, p):
        real(node, exact_histograms, p)
        return best_gini_split(exact_histograms, [False, True, False])

    return mutant


def exact_cuts(real):
    def mutant(unbinned, p, ledger):
        cuts = real(unbinned, p, ledger)
        if len(unbinned.columns[0]):
            cuts[0] = np.unique(np.quantile(unbinned.columns[0], [0.25, 0.5, 0.75]))
        return cuts

    return mutant


@pytest.mark.parametrize(
    ("function", "mutant"),
    [
        ("_noisy_paper_tree_split", leaf_where_empty),
        ("_noisy_paper_tree_split", exact_numeric_histograms),
        ("_draw_paper_tree_cuts", exact_cuts),
    ],
)
def test_mutants_that_look_are_caught(monkeypatch, function, mutant):
    monkeypatch.setattr(paper_tree, function, mutant(getattr(paper_tree, function)))
    assert looks_at_exact_values()


def asked_for(columns, labels, p):
    ledger = ScriptedLedger(0)
    tree = grow_paper_tree(UnbinnedColumns(columns, labels, 2), p, ledger)
    return tree, ledger.asked


def pays_what_the_plan_says(p):
    """Whether every mechanism asked for has the epsilon, sensitivity and input it should."""
    columns, labels = records(300)
    tree, asked = asked_for(columns, labels, p)
    leaves = [(m, e) for m, e, _ in asked if isinstance(m, PermuteAndFlip)]
    histograms = [(m, e, times) for m, e, times in asked if isinstance(m, TruncatedGeometric)]
    quantiles = [(m, e) for m, e, _ in asked if isinstance(m, JointExponentialQuantiles)]
    assert len(asked) == len(leaves) + len(histograms) + len(quantiles)
    return (
        all(m == PermuteAndFlip(p.budget.leaf, monotone=True) for m, _ in leaves)
        and sum(e.sum() for _, e in leaves) == len(labels)  # each record is in one leaf
        and len(leaves) == tree.n_leaves
        and all(
            m == TruncatedGeometric(epsilon) and times == n_features
            for (m, _, times), (epsilon, n_features) in zip(
                histograms,
                [(p.budget.numeric_node, 1), (p.budget.categorical_node, 2)] * 99,
                strict=False,
            )
        )
        and all(e.sum() % len(labels) == 0 for _, e, _ in histograms[:2])
        and [m.epsilon for m, _ in quantiles] == [p.budget.quantiles]
        and all(m.rate == p.budget.quantiles / 4 for m, _ in quantiles)  # for a replaced record
    )


def half_noise_labels(real):
    def mutant(node, exact_counts, p):
        return node.ledger.release(
            PermuteAndFlip(p.budget.leaf, Fraction(1, 2), monotone=True), exact_counts, purpose=""
        )

    return mutant


def full_budget_at_every_node(real):
    def mutant(node, exact_histograms, p):
        dear = dataclasses.replace(p.budget, numeric_node=p.max_depth * p.budget.numeric_node)
        return real(node, exact_histograms, dataclasses.replace(p, budget=dear))

    return mutant


@pytest.mark.parametrize(
    ("function", "mutant"),
    [
        ("_draw_paper_tree_label", half_noise_labels),
        ("_noisy_paper_tree_split", full_budget_at_every_node),
    ],
)
def test_mechanisms_get_their_budgets_and_mutants_are_caught(monkeypatch, function, mutant):
    p = plan(2, 300, stop_when_pure=False)
    assert pays_what_the_plan_says(p)
    monkeypatch.setattr(paper_tree, function, mutant(getattr(paper_tree, function)))
    assert not pays_what_the_plan_says(p)
