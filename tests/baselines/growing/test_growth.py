"""Scores, their sensitivity, and trees of one-against-rest splits against a plain reference."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.baselines.growing._coding import ONE, Coding
from privatree.baselines.growing._growth import Leaf, grow_tree
from privatree.baselines.growing._rules import Recipe
from privatree.baselines.growing._scores import NORMALISED_GINI
from privatree.privacy import Ledger, Randomness
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    {
        "a": Numeric(-1, 1),
        "b": Categorical(["p", "q", "r"]),
        "c": Numeric(0, 10, integer=True),
        "one": Categorical(["x"]),
        "d": Numeric(0, 1),
    },
    ["no", "yes", "maybe"],
)
CUTS = {0: np.array([-0.5, 0.0, 0.5]), 2: np.array([3.0]), 4: np.empty(0)}


# --- scores -------------------------------------------------------------------------------------


def impurity(records):
    """The weighted Gini impurity of pairs (side, class), by the definition, exactly."""
    total = Fraction(0)
    for side in {side for side, _ in records}:
        labels = [label for s, label in records if s == side]
        shares = [Fraction(count, len(labels)) for count in Counter(labels).values()]
        total += Fraction(len(labels), len(records)) * (1 - sum(share**2 for share in shares))
    return total


def scores_of(records, n_classes):
    coding = Coding((0,), (None,), (2,))
    counts = np.zeros((n_classes, 2), dtype=np.int64)
    for side, label in records:
        counts[label, side] += 1
    return coding.candidates(ONE).scores(NORMALISED_GINI, counts, counts.sum(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_a_constant_less_the_weighted_gini_impurity(n_classes):
    kinds = list(product(range(2), range(n_classes)))
    for size in range(5):
        for records in combinations_with_replacement(kinds, size):
            expected = (n_classes - 1) / n_classes - float(impurity(records))
            np.testing.assert_allclose(scores_of(records, n_classes), expected, atol=1e-15)


@pytest.mark.parametrize(("n_classes", "largest"), [(2, 7), (3, 5)])
def test_one_record_changes_a_score_by_at_most_2n_over_n_plus_1_squared(n_classes, largest):
    kinds = list(product(range(2), range(n_classes)))
    for size in range(largest):
        worst = max(
            abs(impurity((*records, more)) - impurity(records))
            for records in combinations_with_replacement(kinds, size)
            for more in kinds
        )
        assert worst == Fraction(2 * size, (size + 1) ** 2)  # attained: nothing less would do
        assert worst <= Fraction(1, 2)


# --- trees --------------------------------------------------------------------------------------


def greedy(coding, max_depth, choose=None):
    """The best split, the first on ties; the largest class. No noise."""

    def best(choice):
        return int(np.argmax(np.round(choice.exact_scores(NORMALISED_GINI), 9)))

    def label(node, totals):
        return Leaf(int(np.argmax(totals)))

    return Recipe(max_depth, coding.candidates(ONE), choose or best, label)


def grown(schema, coding, records, rules):
    return grow_tree(schema, coding, records, rules, Ledger(Fraction(1), Randomness(0)))[0]


def group(value, cuts):
    return int(sum(cut < value for cut in cuts))


def reference(rows, labels, splits, depth, used=()):
    """A function from a row of codes to a label, by the same greedy rule."""
    candidates = [split for split in splits if split not in used]
    if depth == 0 or not candidates:
        label = max(range(3), key=lambda k: (labels.count(k), -k))
        return lambda row: label

    def score(split):
        feature, code = split
        pairs = [(row[feature] == code, y) for row, y in zip(rows, labels, strict=True)]
        return round(-float(impurity(pairs)), 9) if pairs else 0

    best = max(candidates, key=lambda split: (score(split), -candidates.index(split)))
    feature, code = best
    children = {}
    for inside in (True, False):
        chosen = [i for i, row in enumerate(rows) if (row[feature] == code) is inside]
        children[inside] = reference(
            [rows[i] for i in chosen], [labels[i] for i in chosen], splits, depth - 1, (*used, best)
        )
    return lambda row: children[row[feature] == code](row)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([0, 1, 5, 40]))
def test_the_tree_is_that_of_a_plain_recursion(seed, depth, n_records):
    rng = np.random.default_rng(seed)

    def draw(size):
        return [
            rng.choice([-1, -0.5, np.nextafter(-0.5, 1), 0.0, -0.0, 0.3, 0.5, 0.7, 1], size),
            rng.integers(0, 3, size).astype(np.uint8),
            rng.integers(0, 11, size).astype(float),
            np.zeros(size, dtype=np.uint8),
            rng.random(size),
        ]

    def coded(columns):
        return [
            (group(a, CUTS[0]), int(b), group(c, CUTS[2]))
            for a, b, c in zip(*columns[:3], strict=True)
        ]

    columns = draw(n_records)
    labels = rng.integers(0, 3, n_records).astype(np.int32)
    coding = Coding.of(SCHEMA, CUTS)
    assert coding.features == (0, 1, 2)  # what has one code cannot be split
    assert coding.n_codes == (4, 3, 2)
    records = coding.bin_records(columns, labels, 3)
    tree = grown(SCHEMA, coding, records, greedy(coding, depth))
    splits = [
        (feature, code) for feature, size in enumerate(coding.n_codes) for code in range(size)
    ]
    predict = reference(coded(columns), labels.tolist(), splits, depth)
    asked = draw(200)
    found = tree.predict(np.column_stack(asked), range(5))
    assert found.tolist() == [predict(row) for row in coded(asked)]
    assert tree.depth <= 2 * depth


def test_the_rest_of_a_middle_group_is_written_twice():
    columns = [
        np.array([0.2, 0.7, -0.2]),
        np.zeros(3, np.uint8),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
    ]
    coding = Coding.of(SCHEMA, CUTS)
    records = coding.bin_records(columns, np.array([0, 1, 2], dtype=np.int32), 3)
    # From 0 (excluded) to 0.5 of the first feature, then from 0.5 on.
    tree = grown(SCHEMA, coding, records, greedy(coding, 2, lambda choice: 2))
    assert tree.threshold[[0, 2]].tolist() == [0.0, 0.5]
    below, above = int(tree.left[0]), int(tree.right[2])
    for copy in (below, above):  # both go on with the same question and the same answers
        assert tree.feature[copy] == 0
        assert tree.threshold[copy] == 0.5
        assert tree.label[tree.left[copy]] == 2
        assert tree.label[tree.right[copy]] == 1


def test_features_without_codes_give_a_leaf():
    schema = Schema({"a": Numeric(0, 1), "b": Categorical(["only"])}, [0, 1])
    coding = Coding.of(schema, {})
    records = coding.bin_records(
        [np.zeros(5), np.zeros(5)], np.array([0, 1, 1, 1, 0], dtype=np.int32), 2
    )
    tree = grown(schema, coding, records, greedy(coding, 3))
    assert tree.n_nodes == 1
    assert tree.label[0] == 1
