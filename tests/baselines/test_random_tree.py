import math
import pickle
import warnings
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from people import SCHEMA, table
from scipy.stats import chisquare, kstest
from sklearn.utils.estimator_checks import parametrize_with_checks

import privatree
from privatree import Categorical, Numeric, Schema
from privatree.baselines import RandomTreeClassifier
from privatree.baselines import _random_tree as random_tree
from privatree.baselines._random_tree import draw_random_tree_splits
from privatree.errors import ParameterError, PrivacyLeakWarning, SchemaError
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import PermuteAndFlip
from privatree.tables import open_frame, open_labels

FALSE_ALARM = 1e-7


def model(epsilon=1.0, **changes):
    return RandomTreeClassifier(epsilon, **({"schema": SCHEMA, "random_state": 0} | changes))


@pytest.mark.filterwarnings("ignore::privatree.PrivacyLeakWarning")
@parametrize_with_checks([RandomTreeClassifier(), RandomTreeClassifier(10.0, max_depth=2)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


# --- the law of the splits ----------------------------------------------------------------------


def drawn(schema, max_depth, n_trees, seed=5):
    source = Randomness(seed)
    return [draw_random_tree_splits(schema, max_depth, source) for _ in range(n_trees)]


def relative_place(value, low, high):
    return (value - low) / (high - low)


def p_value_of_root_features():
    trees = drawn(SCHEMA, 1, 1000)
    return chisquare(np.bincount([t.feature[0] for t in trees], minlength=3)).pvalue


def p_values_of_numeric_thresholds():
    """Of root, left and right child: each uniform in what is left of the range."""
    schema = Schema({"x": Numeric(-5.0, 15.0)}, ["no", "yes"])
    root, left, right = np.array([tree.threshold[:3] for tree in drawn(schema, 2, 1000)]).T
    places = (
        relative_place(root, -5, 15),
        relative_place(left, -5, root),
        relative_place(right, root, 15),
    )
    return [kstest(place, "uniform").pvalue for place in places]


def p_value_of_category_splits():
    """With three categories and two levels, by hand.

    The root's threshold t is uniform in [0, 2), its left child's in [0, t), its right child's in
    [t, 2). If t < 1 the root sends {0} left, so does its left child, and its right child with
    probability E[(1 - t)/(2 - t)] = 1 - log 2, else {0, 1}. For t >= 1 it is the mirror image.
    """
    schema = Schema({"x": Categorical(["a", "b", "c"])}, ["no", "yes"])
    n_trees, one, two = 1000, (0,), (0, 1)
    law = {
        (one, one, one): (1 - math.log(2)) / 2,
        (one, one, two): math.log(2) / 2,
        (two, one, two): math.log(2) / 2,
        (two, two, two): (1 - math.log(2)) / 2,
    }
    found = Counter(
        tuple(tree.left_codes(node) for node in range(3)) for tree in drawn(schema, 2, n_trees)
    )
    assert set(found) <= set(law)
    return chisquare([found[key] for key in law], [n_trees * law[key] for key in law]).pvalue


def test_the_splits_have_their_law():
    assert p_value_of_root_features() > FALSE_ALARM
    assert min(p_values_of_numeric_thresholds()) > FALSE_ALARM
    assert p_value_of_category_splits() > FALSE_ALARM


def test_thresholds_from_the_whole_range_are_caught(monkeypatch):
    monkeypatch.setattr(
        random_tree, "_narrow_random_tree_range", lambda ranges, feature, part: ranges
    )
    with np.errstate(invalid="ignore"):
        root, left, right = p_values_of_numeric_thresholds()
    assert root > FALSE_ALARM > max(left, right)


def test_uneven_draws_are_caught(monkeypatch):
    uniform = random_tree._draw_random_tree_threshold
    monkeypatch.setattr(
        random_tree, "_draw_random_tree_threshold", lambda *a: min(uniform(*a), uniform(*a))
    )
    assert max(p_values_of_numeric_thresholds()) < FALSE_ALARM
    assert p_value_of_category_splits() < FALSE_ALARM
    below = Randomness.below
    monkeypatch.setattr(Randomness, "below", lambda r, n: min(below(r, n), below(r, n)))
    assert p_value_of_root_features() < FALSE_ALARM


@given(
    seed=st.integers(0, 2**32),
    n_categories=st.integers(2, 6),
    depth=st.integers(1, 4),
)
def test_categories_are_split_like_the_numbers_of_their_order(seed, n_categories, depth):
    codes = range(n_categories)
    as_category = Schema({"x": Categorical([f"c{c}" for c in codes])}, ["no", "yes"])
    as_number = Schema({"x": Numeric(0, n_categories - 1, integer=True)}, ["no", "yes"])
    matrix = np.array(codes, dtype=np.float64)[:, np.newaxis]
    np.testing.assert_array_equal(
        draw_random_tree_splits(as_category, depth, Randomness(seed)).apply(matrix, [0]),
        draw_random_tree_splits(as_number, depth, Randomness(seed)).apply(matrix, [0]),
    )


def test_thresholds_of_whole_numbers_are_real_numbers():
    schema = Schema({"age": Numeric(0, 100, integer=True)}, ["no", "yes"])
    thresholds = draw_random_tree_splits(schema, 3, Randomness(1)).threshold
    inside = thresholds[~np.isnan(thresholds)]
    assert len(inside) == 7
    assert not (inside == np.round(inside)).any()


@pytest.mark.parametrize("max_depth", [1, 2, 4, 7])
def test_the_tree_has_full_depth(max_depth):
    tree = model(max_depth=max_depth).fit(*table(10)).tree_
    assert (tree.depth, tree.n_leaves) == (max_depth, 2**max_depth)


def test_the_splits_do_not_look_at_the_records():
    frame, labels = table()
    one = model().fit(frame, labels).tree_
    other = model().fit(frame.assign(age=3, job="cook"), labels[::-1]).tree_
    nothing = model().fit([], []).tree_
    for tree in (other, nothing):
        np.testing.assert_array_equal(tree.feature, one.feature)
        np.testing.assert_array_equal(tree.threshold, one.threshold)
        np.testing.assert_array_equal(tree.goes_left, one.goes_left)
    assert one.label.tolist() != nothing.label.tolist()


def test_a_constant_feature_makes_the_path_shorter():
    constant = {"x": Numeric(3, 3), "y": Categorical(["only"])}
    alone = RandomTreeClassifier(schema=Schema(constant, ["no", "yes"]), random_state=0)
    fitted = alone.fit(pd.DataFrame({"x": [3] * 50, "y": ["only"] * 50}), ["yes"] * 50)
    assert fitted.tree_.n_leaves == 1
    assert set(fitted.predict(pd.DataFrame({"x": [0, 9], "y": ["only", "?"]}))) == {"yes"}

    mixed = Schema(constant | {"z": Numeric(0, 1)}, ["no", "yes"])
    trees = drawn(mixed, 1, 600)
    assert {tree.used_features for tree in trees} == {(), (2,)}
    found = sum(tree.n_leaves == 1 for tree in trees)
    assert chisquare([found, 600 - found], [400, 200]).pvalue > FALSE_ALARM


def test_a_range_without_a_number_inside_can_be_split():
    schema = Schema({"x": Numeric(1.0, math.nextafter(1.0, 2.0))}, ["no", "yes"])
    for tree in drawn(schema, 3, 50):
        assert set(tree.threshold[tree.feature >= 0]) == {1.0}


# --- the law of the labels ----------------------------------------------------------------------

# One level, two categories: the threshold lies between 0 and 1, so each category is a leaf.
TWO_LEAVES = Schema({"x": Categorical(["a", "b"])}, ["u", "v", "w"])
VALUES = [*product(["a", "b"], ["u", "v", "w"])]


def by_permutations(counts, epsilon):
    """Permute-and-flip from its definition, one added record raising one count."""
    law = np.zeros(len(counts))
    biases = np.exp(epsilon * (np.array(counts) - max(counts)))
    orders = list(permutations(range(len(counts))))
    for order in orders:
        reached = 1.0
        for candidate in order:
            law[candidate] += reached * biases[candidate] / len(orders)
            reached *= 1 - biases[candidate]
    return law


def p_value_of_labels(n_fits=500):
    """Both labels together: leaf a holds 2, 1 and 0 records of the classes, leaf b none."""
    frame = pd.DataFrame({"x": ["a", "a", "a"]})
    found = Counter()
    for seed in range(n_fits):
        fitted = RandomTreeClassifier(0.75, max_depth=1, schema=TWO_LEAVES, random_state=seed)
        found[tuple(fitted.fit(frame, ["u", "v", "u"]).tree_.label[1:].tolist())] += 1
    law = np.outer(by_permutations([2, 1, 0], 0.75), by_permutations([0, 0, 0], 0.75))
    observed = [found[pair] for pair in product(range(3), repeat=2)]
    return chisquare(observed, n_fits * law.ravel()).pvalue


def test_the_labels_have_their_law():
    assert p_value_of_labels() > FALSE_ALARM


@pytest.mark.parametrize("wrong", [{"monotone": False}, {"epsilon": Fraction(3, 2)}])
def test_labels_with_another_rate_are_caught(monkeypatch, wrong):
    def mutant(epsilon, monotone):
        return PermuteAndFlip(**({"epsilon": epsilon, "monotone": monotone} | wrong))

    monkeypatch.setattr(random_tree, "PermuteAndFlip", mutant)
    monkeypatch.setattr(random_tree, "Ledger", lambda epsilon, r: Unlimited(r))
    assert p_value_of_labels() < FALSE_ALARM


class Unlimited:
    """A ledger that lets every draw pass."""

    def __init__(self, randomness):
        self._randomness = randomness

    def parallel(self, count):
        return [self] * count

    def release(self, mechanism, exact, **_):
        return mechanism.release(exact, self._randomness)

    def spends(self):
        return []


class Laws(Unlimited):
    """A ledger that keeps the logarithm of the law of every label instead of drawing it."""

    def __init__(self):
        self.logs = []

    def release(self, mechanism, exact, **_):
        self.logs.append(mechanism.log_probabilities(exact))
        return 0


def largest_loss(epsilon):
    """Over all tables of up to two records and one record more, and all labels of the leaves."""
    splits = draw_random_tree_splits(TWO_LEAVES, 1, Randomness(0))

    def laws(rows):
        frame = pd.DataFrame({"x": pd.Series([x for x, _ in rows], dtype=str)})
        exact_counts = random_tree._count_in_random_tree(
            splits, open_frame(frame), open_labels([y for _, y in rows])
        )
        ledger = Laws()
        random_tree._draw_random_tree_labels(splits, exact_counts, ledger, Fraction(epsilon))
        return np.array(ledger.logs)

    loss = 0.0
    for size in range(3):
        for rows in combinations_with_replacement(VALUES, size):
            before = laws(rows)
            for row in VALUES:
                change = np.abs(laws((*rows, row)) - before).max(axis=1)
                loss = max(loss, change.sum())  # the worst label of every leaf together
    return loss


@pytest.mark.parametrize("epsilon", [1, 8])
def test_one_record_costs_epsilon_and_no_more(epsilon):
    assert 0.9 * epsilon < largest_loss(epsilon) <= epsilon + 1e-9


@pytest.mark.parametrize("epsilon", [1, 8])
def test_half_the_noise_is_caught(monkeypatch, epsilon):
    monkeypatch.setattr(
        random_tree, "PermuteAndFlip", lambda e, monotone: PermuteAndFlip(2 * e, monotone=monotone)
    )
    assert largest_loss(epsilon) > 1.5 * epsilon


def test_with_little_noise_leaves_have_the_majority_label():
    frame, labels = table(5000)
    fitted = model(1e6).fit(frame, labels)
    for leaf, group in pd.Series(labels).groupby(fitted.apply(frame)):
        counts = [(group == name).sum() for name in SCHEMA.classes]
        assert counts[fitted.tree_.label[leaf]] == max(counts)


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0, got 0."),
        ({"epsilon": float("nan")}, "epsilon must be a finite number, got nan."),
        ({"epsilon": "1"}, "epsilon must be a number, got '1'."),
        ({"epsilon": 1e-12}, "epsilon must be at least 1e-09, got 1e-12."),
        ({"max_depth": 0}, "max_depth must be an integer from 1 to 16, got 0."),
        ({"max_depth": 17}, "max_depth must be an integer from 1 to 16, got 17."),
        ({"max_depth": None}, "max_depth must be an integer from 1 to 16, got None."),
        (
            {"schema": {"a": 1}},
            "schema must be a privatree.Schema or None, got dict. "
            "Schema.from_toml(path) reads one from a file.",
        ),
        ({"random_state": "x"}, "random_state must be None, an int or a numpy generator, got str."),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ParameterError) as raised:
        model(**changes).fit(*table())
    assert str(raised.value) == message


def test_bad_columns_and_types():
    frame, labels = table()
    with pytest.raises(SchemaError, match=r"lacks 'job'\. .* Did you mean 'Job'\?"):
        model().fit(frame.rename(columns={"job": "Job"}), labels)
    with pytest.raises(SchemaError, match=r"'age' has type .*numeric"):
        model().fit(frame.assign(age=pd.Series("old", frame.index, "string")), labels)
    with pytest.raises(SchemaError, match="type"):
        model().fit(frame, np.zeros(len(frame), dtype=bool))
    with pytest.raises(ValueError, match="same number of rows") as raised:
        model().fit(frame, labels[:-7])
    assert str(len(labels)) not in str(raised.value)


# --- what the records contain is never an error, nor a warning ----------------------------------


def contents():
    frame, labels = table(40)
    nasty = [{}, [], "x", object(), 10**400, float("nan"), None, True] * 5
    return {
        "no rows": (frame[:0], labels[:0]),
        "one row": (frame[:1], labels[:1]),
        "one class": (frame, np.full(40, "yes")),
        "lists without rows": ([], []),
        "empty arrays": (np.empty((0, 3), dtype=object), np.array([])),
        "no known label": (frame, np.full(40, "maybe")),
        "missing labels": (frame, np.full(40, None, dtype=object)),
        "all missing": (pd.DataFrame(dict.fromkeys(frame, [np.nan] * 40)), labels),
        "out of range": (frame.assign(age=10**9, income=-(10.0**300)), labels),
        "infinite": (frame.assign(income=np.inf), labels),
        "unknown category": (frame.assign(job="astronaut"), labels),
        "constant": (frame.assign(age=5, income=0.0, job="cook"), labels),
        "nasty objects": (pd.DataFrame(dict.fromkeys(frame, nasty), dtype=object), labels),
    }


@pytest.mark.parametrize("content", contents())
def test_no_content_makes_fit_fail_or_warn(content):
    X, y = contents()[content]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model().fit(X, y)
    frame, _ = table(10)
    has_names = hasattr(fitted, "feature_names_in_")
    assert len(fitted.predict(frame if has_names else frame.to_numpy(dtype=object))) == 10


def test_every_frame_gives_the_same_tree():
    frame, labels = table()
    frame.loc[3, "job"] = "unknown"
    frame = frame.astype({"age": float})
    frame.loc[5, "age"] = np.nan
    forms = {
        "pandas": frame,
        "pandas, columns in another order": frame[["job", "age", "income"]],
        "pandas category": frame.astype({"job": "category"}),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "numpy": frame.to_numpy(dtype=object),
    }
    reference = model().fit(frame, labels)
    for name, form in forms.items():
        fitted = model().fit(form, labels)
        assert fitted.tree_ == reference.tree_, name
        np.testing.assert_array_equal(fitted.predict(form), reference.predict(frame))


def test_records_without_a_known_label_are_left_out():
    frame, labels = table()
    more = pd.concat([frame, frame.assign(age=99)], ignore_index=True)
    mixed = np.concatenate((labels, np.full(len(frame), "maybe")))
    assert model().fit(more, mixed).tree_ == model().fit(frame, labels).tree_


# --- the statement, and what is released --------------------------------------------------------


def test_statement():
    privacy = model(0.5, random_state=None).fit(*table()).privacy_
    assert (privacy.epsilon, privacy.delta, privacy.neighbours) == (0.5, 0.0, "add-remove")
    assert not privacy.leaks
    assert not privacy.seeded
    assert privacy.claimed_epsilon is None
    assert {(s.mechanism, s.epsilon, s.purpose) for s in privacy.spends} == {
        ("permute-and-flip", Fraction(1, 2), "leaf label")
    }
    assert len(privacy.spends) == 16
    text = " ".join(str(privacy).split())
    assert "without a look at the records" in text
    assert "one record replaced, twice the epsilon holds: 1." in text
    assert model().fit(*table()).privacy_.seeded


def test_without_a_schema_it_warns_and_has_no_epsilon():
    with pytest.warns(PrivacyLeakWarning, match="schema") as caught:
        privacy = model(schema=None).fit(*table()).privacy_
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert privacy.epsilon == math.inf
    assert [leak.name for leak in privacy.leaks] == ["schema read from the data"]


def test_saved_and_pickled_models_predict_the_same(tmp_path):
    frame, labels = table()
    fitted = model().fit(frame, labels)
    fitted.save(tmp_path / "model.json")
    loaded = privatree.load(tmp_path / "model.json")
    assert loaded.tree_ == fitted.tree_
    assert str(loaded.privacy_) == str(fitted.privacy_)
    pickled = pickle.dumps(fitted)
    assert len(pickled) < 20_000
    np.testing.assert_array_equal(pickle.loads(pickled).predict(frame), fitted.predict(frame))


def test_unseeded_fits_differ():
    trees = [model(random_state=None).fit(*table(20)).tree_ for _ in range(2)]
    assert trees[0] != trees[1]
