"""DPGDF: its law on small tables, what holds of its splits, and what does not of its labels."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from privatree.baselines import DPGDFClassifier
from privatree.baselines.greedy._dpgdf import DPGDF
from privatree.baselines.growing._coding import ONE, Coding
from privatree.baselines.growing._growth import OpenNode
from privatree.baselines.growing._labellers import smooth_sensitivity
from privatree.baselines.growing._method import Job
from privatree.baselines.growing._scores import NORMALISED_GINI
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Exponential, PermuteAndFlip
from privatree.schema import Categorical, Numeric, Schema

pytestmark = pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")

SCHEMA = Schema({"a": Categorical([0, 1]), "b": Categorical([0, 1, 2])}, [0, 1])
NOTHING = Schema({"a": Numeric(0, 1)}, [0, 1])


def test_the_shares_add_up_on_every_path():
    X = np.column_stack([np.arange(60) % 2, np.arange(60) % 3])
    model = DPGDFClassifier(0.6, max_depth=3, schema=SCHEMA, random_state=0)
    spends = model.fit(X, np.arange(60) % 2).privacy_.spends
    splits = [spend for spend in spends if spend.purpose == "split"]
    labels = [spend for spend in spends if spend.purpose == "leaf label"]
    assert (len(splits), len(labels), len(spends)) == (7, 8, 15)
    assert {spend.epsilon for spend in splits} == {Fraction(0.6) / 6}
    assert {spend.epsilon for spend in labels} == {Fraction(0.6) / 2}


# --- splits -------------------------------------------------------------------------------------


def test_no_pair_comes_twice_on_a_path_and_paths_end_when_none_is_left():
    X = np.column_stack([np.arange(60) % 2, np.arange(60) % 3])
    for seed in range(20):
        model = DPGDFClassifier(0.1, max_depth=10, schema=SCHEMA, random_state=seed)
        tree = model.fit(X, np.arange(60) % 2).tree_
        ends = []
        waiting = [(0, frozenset())]
        while waiting:
            node, used = waiting.pop()
            if tree.feature[node] < 0:
                ends.append(len(used))
                continue
            (pair,) = [(int(tree.feature[node]), code) for code in tree.left_codes(node)]
            assert pair not in used
            waiting += [(int(c), used | {pair}) for c in (tree.left[node], tree.right[node])]
        assert ends == [5] * 32


def test_numbers_are_ignored():
    rng = np.random.default_rng(0)
    schema = Schema(
        {"n": Numeric(0, 1), "a": Categorical([0, 1]), "m": Numeric(0, 1), "o": Categorical([7])},
        [0, 1],
    )
    a = rng.integers(0, 2, 300)
    X = np.column_stack([a, a, a, np.full(300, 7)])
    model = DPGDFClassifier(100.0, schema=schema, random_state=0).fit(X, a)
    assert model.tree_.used_features == (1,)
    assert model.privacy_.notes[-1] == (
        "Only features with two or more categories are used; numeric ones are ignored."
    )
    assert DPGDFClassifier(schema=NOTHING).fit(X[:, :1], a).tree_.n_nodes == 1


def counts_of(records):
    """Of records (a, b, class), the array (class, code) with the codes side by side."""
    counts = np.zeros((2, 5), dtype=np.int64)
    totals = np.zeros(2, dtype=np.int64)
    for a, b, label in records:
        counts[label, a] += 1
        counts[label, 2 + b] += 1
        totals[label] += 1
    return counts, totals


def one_against_rest_scores(counts, totals):
    return Coding.of(SCHEMA, {}).candidates(ONE).scores(NORMALISED_GINI, counts, totals)


def test_splits_follow_the_law_of_permute_and_flip():
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, size, 30).astype(np.uint8) for size in (2, 3)]
    labels = ((columns[1] == 2) | (rng.random(30) < 0.2)).astype(np.int32)
    epsilon, runs = Fraction(12), 1200
    scores = one_against_rest_scores(*counts_of(zip(*columns, labels, strict=True)))
    law = np.exp(PermuteAndFlip(epsilon / 2, Fraction(1, 2)).log_probabilities(scores))
    seen, job = np.zeros(5, dtype=int), Job(SCHEMA, epsilon, 1, columns, labels, Randomness(4))
    for _ in range(runs):
        tree = DPGDF().grow(job)[0].tree
        (code,) = tree.left_codes(0)
        seen[code + (2 if tree.feature[0] == 1 else 0)] += 1
    for found, chance in zip(seen, law, strict=True):
        assert binom.ppf(1e-9, runs, chance) <= found <= binom.isf(1e-9, runs, chance)
    assert binom.sf(seen.max() - 1, runs, 0.3) < 1e-9  # an even choice would not pass


@pytest.mark.parametrize("used", [frozenset(), frozenset({2})])
def test_the_splits_of_neighbours_differ_by_the_level_s_epsilon_at_most(used):
    class Seen:
        def release(self, mechanism, exact, **_):
            self.mechanism, self.n_scores = mechanism, len(exact)
            return 0

    job = Job(SCHEMA, Fraction(32), 2, [], np.empty(0), None)
    (_, rules), node = DPGDF().rules(job), OpenNode((0,), Seen(), 1, used)
    found = rules.split(node, np.zeros((2, 5), int), np.zeros(2, int))
    epsilon, real = Fraction(8), node.ledger.mechanism  # half of 32, over two levels
    assert real.epsilon == epsilon
    allowed = np.array(sorted(set(range(5)) - used))
    assert (found.candidate, node.ledger.n_scores) == (allowed[0], len(allowed))
    kinds = list(product(range(2), range(3), range(2)))

    def largest_loss(mechanism):
        laws = {}
        for size in range(4):
            for records in combinations_with_replacement(kinds, size):
                counts, totals = counts_of(records)
                scores = one_against_rest_scores(counts, totals)[allowed]
                laws[records] = mechanism.log_probabilities(scores)
        return max(
            np.abs(laws[records] - laws[tuple(sorted((*records, more)))]).max()
            for records in laws
            for more in kinds
            if len(records) < 3
        )

    assert epsilon / 4 < largest_loss(real) <= epsilon + 1e-9
    # Mutants: the sensitivity halved twice; counts taken for granted to be monotone.
    assert largest_loss(PermuteAndFlip(epsilon, Fraction(1, 8))) > epsilon
    assert largest_loss(PermuteAndFlip(epsilon, Fraction(1, 4), monotone=True)) > epsilon


# --- labels -------------------------------------------------------------------------------------


def chance_of_the_minority(lead, epsilon=1):
    leaf = Fraction(epsilon) / 2
    counts = np.array([lead, 0])
    mechanism = Exponential(leaf, 2 * smooth_sensitivity(counts, leaf))
    return float(mechanism.log_probabilities(np.array([1, 0]))[1])


def test_the_smooth_sensitivity_is_that_of_the_lead():
    leaf = Fraction(1, 2)
    for counts, lead in (([5, 2], 3), ([2, 5, 5], 0), ([0, 0], 0), ([1, 9, 4], 5)):
        found = smooth_sensitivity(np.array(counts), leaf)
        assert float(found) == pytest.approx(math.exp(-lead / 2))


def test_labels_follow_the_law():
    """Five records of class 0, epsilon 1: label 1 with probability 1/(1 + exp(e^2.5/4))."""
    chance = 1 / (1 + math.exp(math.exp(2.5) / 4))
    assert math.exp(chance_of_the_minority(5)) == pytest.approx(chance)
    runs, labels = 1200, np.zeros(5, dtype=np.int32)
    job = Job(NOTHING, Fraction(1), 4, [np.zeros(5)], labels, Randomness(1))
    found = sum(int(DPGDF().grow(job)[0].tree.label[0]) for _ in range(runs))
    assert binom.ppf(1e-8, runs, chance) <= found <= binom.isf(1e-8, runs, chance)
    assert found < binom.ppf(1e-8, runs, math.exp(chance_of_the_minority(4)))


def test_the_largest_classes_share_alike():
    schema = Schema({"a": Numeric(0, 1)}, [0, 1, 2])
    labels, seen = np.array([0, 2], dtype=np.int32), [0, 0, 0]
    job = Job(schema, Fraction(90), 1, [np.zeros(2)], labels, Randomness(0))
    for _ in range(400):
        seen[DPGDF().grow(job)[0].tree.label[0]] += 1
    assert seen[1] == 0
    assert binom.ppf(1e-8, 400, 0.5) <= seen[0] <= binom.isf(1e-8, 400, 0.5)


@pytest.mark.parametrize(("lead", "loss"), [(4, 1.098), (6, 3.25), (20, 3572.3)])
def test_one_record_changes_a_label_by_more_than_the_claim(lead, loss):
    """The example of the proof, epsilon 1: the label of the class that no record has."""
    found = chance_of_the_minority(lead) - chance_of_the_minority(lead + 1)
    assert found == pytest.approx(loss, rel=0.01)
    assert found > 1


def test_the_table_of_the_proof():
    page = Path(__file__).parents[3] / "docs" / "proofs" / "baselines.md"
    rows = [line.strip("| ").split(" | ") for line in page.read_text("utf-8").splitlines()]
    (chances,) = [row[1:] for row in rows if row[0] == "P(label 1)"]
    leads = [4, 5, 6, 7, 8, 20, 21]
    assert [str(lead) for lead in leads] in [row[1:] for row in rows if row[0] == "records"]
    for lead, printed in zip(leads, chances, strict=True):
        exact = chance_of_the_minority(lead)
        if printed.startswith("e^"):
            assert int(printed.removeprefix("e^")) == round(exact)
        else:
            last_digit = 10.0 ** int(Decimal(printed).as_tuple().exponent)
            assert abs(math.exp(exact) - float(printed)) <= last_digit / 2


def test_a_very_large_lead_is_no_error():
    X = np.zeros((1000, 1))
    for epsilon in (1e-9, 1.0, 1e9):
        tree = (
            DPGDFClassifier(epsilon, schema=NOTHING, random_state=0)
            .fit(X, np.zeros(1000, int))
            .tree_
        )
        assert epsilon < 1 or tree.label[0] == 0


def test_the_statement_names_the_leak():
    model = DPGDFClassifier(0.5, schema=NOTHING).fit(np.zeros((4, 1)), [0, 1] * 2)
    assert [leak.name for leak in model.privacy_.leaks] == [
        "labels by the records' own sensitivity"
    ]
    assert model.privacy_.epsilon == math.inf
    assert model.privacy_.claimed_epsilon == 0.5
