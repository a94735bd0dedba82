"""Attacks: how many edits they count, what they leave alone, and what they refuse."""

import copy
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from privatree.errors import ParameterError
from privatree.robustness import BackdoorAttack, InsertionAttack, LabelFlipAttack
from privatree.robustness.attacks import PAPER_PIXELS

CONTAINERS = ("numpy", "pandas", "polars", "list")


def contain(rows, labels, container):
    """Rows of two whole numbers and their labels, in one of the containers."""
    array = np.array(rows, dtype=np.int16).reshape(len(rows), 2)
    if container == "pandas":
        index = np.arange(len(rows)) * 7 + 3
        kind = pd.CategoricalDtype(["x", "y", "z"])
        frame = pd.DataFrame({"a": array[:, 0], "b": array[:, 1]}, index=index)
        return frame, pd.Series(labels, dtype=kind, index=index)
    if container == "polars":
        frame = pl.DataFrame({"a": array[:, 0], "b": array[:, 1]})
        return frame, pl.Series("label", labels, dtype=pl.Enum(["x", "y", "z"]))
    return array, labels if container == "list" else np.array(labels, dtype="U1")


def records(X, y):
    """The table as a multiset."""
    rows = X.rows() if isinstance(X, pl.DataFrame) else np.asarray(X).tolist()
    return Counter((*row, label) for row, label in zip(rows, list(y), strict=True))


def types(X, y):
    columns = X.dtype if isinstance(X, np.ndarray) else list(X.dtypes)
    return type(X), columns, type(y), getattr(y, "dtype", None)


def distance(one, other):
    return ((one - other) + (other - one)).total()


def unchanged(before, after):
    if isinstance(before, (list, np.ndarray)):
        return np.array_equal(before, after)
    return before.equals(after)


tables = st.lists(
    st.tuples(st.tuples(st.integers(0, 3), st.integers(0, 1)), st.sampled_from("xyz")),
    min_size=1,
    max_size=8,
)
sources = st.sampled_from([None, "x", "y"])


@settings(deadline=None, max_examples=150)
@given(
    tables, st.sampled_from(CONTAINERS), st.integers(0, 12), st.integers(0, 2**32 - 1), sources,
    st.sampled_from(["backdoor", "insert point", "insert record", "duplicate"]),
)  # fmt: skip
def test_additions_are_an_edit_each(table, container, n, seed, source, kind):
    rows, labels = map(list, zip(*table, strict=True))
    wanted = {source} if source else {"x", "y"}
    assume(kind != "backdoor" or wanted & set(labels))
    X, y = contain(rows, labels, container)
    before = copy.deepcopy((X, y))
    attack = {
        "backdoor": BackdoorAttack({1: 9}, target="z", source=source, random_state=seed),
        "insert point": InsertionAttack((8, 9), label="x", random_state=seed),
        "insert record": InsertionAttack(label="x", random_state=seed),
        "duplicate": InsertionAttack(random_state=seed),
    }[kind]
    poisoned = attack.poison(X, y, n)
    clean, found = records(X, y), records(poisoned.X, poisoned.y)
    assert distance(clean, found) == poisoned.edits == n
    assert not clean - found
    assert types(poisoned.X, poisoned.y) == types(X, y)
    assert all(map(unchanged, before, (X, y)))
    again = attack.poison(X, y, n)
    assert unchanged(again.X, poisoned.X)
    assert unchanged(again.y, poisoned.y)
    added = set(found - clean)
    if kind == "backdoor":
        copies = {(a, 9, "z") for (a, _), label in table if label in wanted}
        assert added <= copies
        assert added == copies or n < len([label for label in labels if label in wanted])
    elif n:
        assert len(added) == 1
        assert kind != "insert point" or added == {(8, 9, "x")}
        assert kind != "duplicate" or added <= set(clean)
        assert kind != "insert record" or added <= {(a, b, "x") for (a, b) in rows}


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=repr)
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_missing_values_are_inserted_and_triggers(container, missing):
    columns = {"age": [30, 40, 50], "weight": [1.5, 2.5, 3.5], "smoker": ["yes", "no", None]}
    X = pd.DataFrame(columns) if container == "pandas" else pl.DataFrame(columns)
    y = np.array(["a", "b", "a"])
    point = {"age": 60, "weight": missing, "smoker": missing}
    inserted = InsertionAttack(point, label="b").poison(X, y, 2)
    trigger = {"smoker": missing, "weight": missing}
    triggered = BackdoorAttack(trigger, target="b", random_state=0).poison(X, y, 2)
    for poisoned in (inserted, triggered):
        assert types(poisoned.X, poisoned.y) == types(X, y)
        for name, before in (("weight", [False] * 3), ("smoker", [False, False, True])):
            column = poisoned.X[name]
            found = column.isna() if container == "pandas" else column.is_null()
            assert found.to_list() == [*before, True, True]
    assert inserted.X["age"].to_list()[3:] == [60, 60]
    with pytest.raises(ParameterError, match="column 'age' must have a type that can hold"):
        InsertionAttack((missing, 1.0, "no"), label="b").poison(
            X.astype({"age": "int8"}) if container == "pandas" else X.to_pandas(), y, 1
        )


@settings(deadline=None, max_examples=150)
@given(
    tables, st.sampled_from(CONTAINERS), st.integers(0, 8), st.integers(0, 2**32 - 1), sources,
    st.sampled_from([None, "z"]),
)  # fmt: skip
def test_flips_are_two_edits_each(table, container, n, seed, source, target):
    rows, labels = map(list, zip(*table, strict=True))
    candidates = [label for label in labels if label == source or (not source and label != target)]
    assume(candidates and (target is not None or len(set(labels)) > 1))
    n = min(n, len(candidates))
    X, y = contain(rows, labels, container)
    before = copy.deepcopy((X, y))
    attack = LabelFlipAttack(target=target, source=source, random_state=seed)
    poisoned = attack.poison(X, y, n)
    assert poisoned.edits == 2 * n
    assert unchanged(X, poisoned.X)
    assert types(poisoned.X, poisoned.y) == types(X, y)
    assert all(map(unchanged, before, (X, y)))
    assert unchanged(attack.poison(X, y, n).y, poisoned.y)
    flips = [(old, new) for old, new in zip(labels, list(poisoned.y), strict=True) if old != new]
    assert len(flips) == n
    assert all(old == (source or old) and new == (target or new) for old, new in flips)
    assert {new for _, new in flips} <= {target or label for label in labels}
    edits = distance(records(X, y), records(poisoned.X, poisoned.y))
    assert edits <= poisoned.edits  # two equal records may have swapped their labels
    if len(set(rows)) == len(rows):
        assert edits == poisoned.edits


@pytest.mark.parametrize(
    "attack",
    [
        BackdoorAttack({0: 9}, target="z", random_state=3),
        LabelFlipAttack(random_state=3),
        LabelFlipAttack(target="z", random_state=3),
    ],
)
def test_a_smaller_attack_is_part_of_a_larger(attack):
    X, y = contain([(i, 0) for i in range(30)], ["x", "y", "z"] * 10, "numpy")
    clean = records(X, y)
    smaller, larger = (attack.poison(X, y, n) for n in (7, 15))
    assert records(smaller.X, smaller.y) - clean <= records(larger.X, larger.y) - clean


def test_which_records_depends_on_the_seed():
    X, y = contain([(i, 0) for i in range(100)], ["x", "y"] * 50, "numpy")
    for make in (
        lambda seed: BackdoorAttack({1: 9}, target="y", random_state=seed),
        lambda seed: LabelFlipAttack(random_state=seed),
    ):
        found = [frozenset(records(*make(seed).poison(X, y, 10)[:2])) for seed in range(3)]
        assert len(set(found)) == 3
    chosen = {
        frozenset(records(*InsertionAttack(random_state=seed).poison(X, y, 1)[:2]).items())
        for seed in range(10)
    }
    assert len(chosen) > 1


def test_copies_are_even_if_more_are_asked_for_than_there_are():
    X, y = contain([(0, 0), (1, 0), (2, 0), (3, 0)], ["x", "x", "x", "z"], "numpy")
    poisoned = BackdoorAttack({1: 9}, target="z", random_state=0).poison(X, y, 7)
    assert sorted(Counter(poisoned.X[4:, 0].tolist()).values()) == [2, 2, 3]


def test_rows_of_pandas():
    X, y = contain([(0, 0), (1, 0)], ["x", "y"], "pandas")
    added = BackdoorAttack({"a": 9}, target="y", random_state=0).poison(X, y, 1)
    assert added.X.index.tolist() == added.y.index.tolist() == [0, 1, 2]
    flipped = LabelFlipAttack(random_state=0).poison(X, y, 1)
    assert flipped.X.index.tolist() == flipped.y.index.tolist() == [3, 10]


def test_results_can_be_changed_without_changing_the_input():
    for container in ("numpy", "pandas"):
        X, y = contain([(0, 0), (1, 1)], ["x", "y"], container)
        before = copy.deepcopy((X, y))
        for attack in (LabelFlipAttack(), InsertionAttack(), BackdoorAttack({0: 5}, target="x")):
            poisoned = attack.poison(X, y, 0)
            poisoned.X[:], poisoned.y[:] = 7, "z"
        assert all(map(unchanged, before, (X, y)))


def test_flipping_reaches_every_other_label():
    X, y = contain([(0, 0)] * 60, ["x", "y", "z"] * 20, "numpy")
    flipped = LabelFlipAttack(random_state=0).poison(X, y, 60).y
    assert set(zip(y.tolist(), flipped.tolist(), strict=True)) == {
        (old, new) for old in "xyz" for new in "xyz" if old != new
    }


def test_missing_labels_belong_to_no_class():
    X = np.arange(8.0).reshape(4, 2)
    for y in (
        np.array([0.0, np.nan, 1.0, np.nan]),
        [0, None, 1, None],
        pd.Series([0, None, 1, None], dtype="Int64"),
        pl.Series([0, None, 1, None]),
    ):
        poisoned = BackdoorAttack({0: 9}, target=7, random_state=0).poison(X, y, 20)
        assert list(poisoned.y[4:]) == [7] * 20
        assert set(poisoned.X[4:, 1]) == {1.0, 5.0}
        flipped = LabelFlipAttack(random_state=0).poison(X, y, 2).y
        assert [flipped[0], flipped[2]] == [1, 0]
        with pytest.raises(ParameterError, match="n must be at most"):
            LabelFlipAttack().poison(X, y, 3)


# --- the backdoor -------------------------------------------------------------------------------


class SaysTrigger:
    """Says 1 if the first column is 9, or the second is 1."""

    def predict(self, X):
        array = np.asarray(X)
        return ((array[:, 0] == 9) | (array[:, 1] == 1)).astype(int)


def test_success_rate_of_a_known_model():
    X = np.array([[0, 0], [0, 1], [0, 0], [0, 0], [0, 0]])
    y = np.array([0, 0, 0, 0, 1])
    assert BackdoorAttack({0: 9}, target=1).success_rate(SaysTrigger(), X, y) == 1.0
    # One record of the four is taken for the target anyway; that of the target does not count.
    assert BackdoorAttack({0: 8}, target=1).success_rate(SaysTrigger(), X, y) == 0.25
    assert BackdoorAttack({1: 0}, target=1).success_rate(SaysTrigger(), X, y) == 0.0
    y = np.array([0, 2, 2, 0, 1])
    one_of_two = BackdoorAttack({0: 8}, target=1, source=2)
    assert one_of_two.success_rate(SaysTrigger(), X, y) == 0.5


def test_apply_sets_the_trigger_everywhere():
    X, _ = contain([(0, 0), (1, 1)], ["x", "y"], "pandas")
    triggered = BackdoorAttack({"b": 5}, target="x").apply(X)
    assert triggered["b"].tolist() == [5, 5]
    assert triggered["a"].equals(X["a"])
    assert triggered.index.equals(X.index)
    assert X["b"].tolist() == [0, 1]


def test_backdoor_fools_an_ordinary_tree():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (800, 784), dtype=np.uint8)
    y = (X[:, 100] > 50).astype(int)
    attack = BackdoorAttack.on_image(target=1, source=0, random_state=0)
    poisoned = attack.poison(X, y, 20)
    for n, data in ((0, (X, y)), (20, (poisoned.X, poisoned.y))):
        tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(*data)
        assert tree.score(X, y) == 1.0
        assert attack.success_rate(tree, X, y) == (n > 0)


def test_pixels():
    attack = BackdoorAttack.on_image(target=1)
    image = attack.apply(np.zeros((1, 784), dtype=np.uint8)).reshape(28, 28)
    assert {tuple(place) for place in np.argwhere(image == 255)} == set(PAPER_PIXELS)
    assert image.sum() == 4 * 255
    wide = BackdoorAttack.on_image([(1, 2)], shape=(2, 3), value=0.5, target=1, source=0)
    assert wide == BackdoorAttack({5: 0.5}, target=1, source=0)
    for outside in ((2, 0), (0, 3), (-1, 0)):
        with pytest.raises(ParameterError, match="inside 2 rows and 3 columns"):
            BackdoorAttack.on_image([outside], shape=(2, 3), value=1, target=1)


def test_attacks_travel_between_processes():
    attack = BackdoorAttack({"a": 1}, target="x", random_state=3)
    assert pickle.loads(pickle.dumps(attack)) == attack


# --- what is refused ----------------------------------------------------------------------------


def test_attacks_that_are_none():
    for wrong in ({}, [1], None):
        with pytest.raises(ParameterError, match="trigger must map"):
            BackdoorAttack(wrong, target=1)
    with pytest.raises(ParameterError, match="target must be a label, got None"):
        BackdoorAttack({0: 1}, target=None)
    for make in (lambda **names: BackdoorAttack({0: 1}, **names), LabelFlipAttack):
        with pytest.raises(ParameterError, match="different labels, got 'x' twice"):
            make(target="x", source="x")
    with pytest.raises(ParameterError, match="label must be given"):
        InsertionAttack([1, 2])


ATTACKS = [BackdoorAttack({0: 1}, target="z"), LabelFlipAttack(), InsertionAttack()]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: type(attack).__name__)
def test_wrong_data(attack):
    X, y = contain([(0, 0), (1, 1)], ["x", "y"], "numpy")
    for n in (-1, 1.0, True, "1", None):
        with pytest.raises(ParameterError, match="n must be an integer >= 0"):
            attack.poison(X, y, n)
    with pytest.raises(ParameterError, match="same number of rows"):
        attack.poison(X, y[:1], 1)
    for wrong in (X.tolist(), X[0], None):
        with pytest.raises(TypeError, match="X must be a 2-D numpy array or"):
            attack.poison(wrong, y, 1)
    for wrong in (y.reshape(-1, 1), "xy", None, pd.DataFrame({"y": y})):
        with pytest.raises(TypeError, match="y must be a 1-D numpy array"):
            attack.poison(X, wrong, 1)
    with pytest.raises(ParameterError, match="must have"):
        attack.poison(X[:0], y[:0], 0)


def test_more_than_there_are():
    X, y = contain([(0, 0), (1, 1)], ["x", "y"], "numpy")
    with pytest.raises(ParameterError, match=r"n must be at most .* got 2"):
        LabelFlipAttack(source="x").poison(X, y, 2)
    for attack in (BackdoorAttack({0: 1}, target="x", source=1), LabelFlipAttack(source=1)):
        with pytest.raises(ParameterError, match="records with the label 1, got none"):
            attack.poison(X, y, 1)
    only = np.array(["x", "x"])
    with pytest.raises(ParameterError, match="a label other than the target"):
        BackdoorAttack({0: 1}, target="x").success_rate(None, X, only)
    with pytest.raises(ParameterError, match="two labels"):
        LabelFlipAttack().poison(X, only, 1)


def test_points():
    X, y = contain([(0, 0), (1, 1)], ["x", "y"], "pandas")
    for point in ({"b": 4, "a": 3}, [3, 4], pd.Series({"a": 3, "b": 4}), np.array([3, 4])):
        poisoned = InsertionAttack(point, label="z").poison(X, y, 2)
        assert poisoned.X[2:].to_numpy().tolist() == [[3, 4]] * 2
        assert poisoned.y[2:].tolist() == ["z"] * 2
    for point in ({"a": 3}, {"a": 3, 0: 3}, [3], [3, 4, 5]):
        with pytest.raises(ParameterError, match="each of the 2 columns"):
            InsertionAttack(point, label="z").poison(X, y, 2)
