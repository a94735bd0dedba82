import numpy as np
import pytest

from privatree import datasets
from privatree.inspection import profile_table
from privatree.inspection._label_rules import LabelRules
from privatree.tables import CodedColumn, NumberColumn, ValueColumn

RNG = np.random.default_rng(0)
N = 600
LABELS = np.sort(RNG.choice([0, 1, 2], N, p=[0.8, 0.15, 0.05]))  # sorted, as tables can be


def wrong(share):
    """The labels, some of them exchanged."""
    return np.where(RNG.random(N) < share, (LABELS + 1) % 3, LABELS)


def numbers(values):
    return NumberColumn(np.asarray(values))


TELLING = {
    "a copy": numbers(LABELS),
    "other names": CodedColumn(LABELS, ["c", "a", "b"]),
    "objects": ValueColumn([["x", True, 7.5][label] for label in LABELS]),
    "many codes for each class": numbers(np.array([[3, 9, 6], [1, 5, 7], [8, 2, 4]])[
        LABELS, RNG.integers(0, 3, N)]),
    "cuts": numbers(LABELS + RNG.uniform(0.01, 0.99, N)),
    "cuts, not in order": numbers(np.array([1, 2, 0])[LABELS] + RNG.uniform(0.01, 0.99, N)),
    "huge numbers": numbers(np.array([0.0, 1e300, np.inf])[LABELS]),
    "a few mistakes": numbers(wrong(0.005)),
}  # fmt: skip

NOT_TELLING = {
    "chance": numbers(RNG.integers(0, 3, N)),
    "the largest class only": numbers(LABELS == 0),
    "the same for all": numbers(np.zeros(N)),
    "no value": numbers(np.full(N, np.nan)),
    "many mistakes": numbers(wrong(0.05)),
    "an identifier": CodedColumn(RNG.permutation(N), [f"P{n:04}" for n in range(N)]),
    "an identifier of numbers": numbers(RNG.permutation(N)),
    "identifiers as objects": ValueColumn([[n] for n in range(N)]),
    "measurements": numbers(LABELS + RNG.normal(0, 0.7, N)),
}


@pytest.mark.parametrize("name", TELLING)
def test_what_was_made_from_the_label_tells_it(name):
    assert LabelRules(LABELS).column_determines_label(TELLING[name])


@pytest.mark.parametrize("name", NOT_TELLING)
def test_what_was_not_does_not(name):
    assert not LabelRules(LABELS).column_determines_label(NOT_TELLING[name])


def test_that_a_value_is_missing_can_tell_the_label():
    labels = np.minimum(LABELS, 1)
    days = np.where(labels == 1, RNG.integers(1, 300, N), np.nan)
    assert LabelRules(labels).column_determines_label(numbers(days))
    assert LabelRules(labels).column_determines_label(CodedColumn(-labels, ["alive"]))
    by_mask = NumberColumn(RNG.integers(1, 300, N), missing=labels == 1)
    assert LabelRules(labels).column_determines_label(by_mask)


def test_records_without_a_label_and_tiny_classes_do_not_count():
    labels = LABELS.copy()
    labels[::3] = -1
    labels[:4] = 3
    column = LABELS.copy()
    column[::3] = RNG.integers(0, 3, len(column[::3]))
    column[:4] = 0
    assert LabelRules(labels).column_determines_label(numbers(column))


def test_a_rare_class_of_many_records_counts():
    labels = (np.arange(200_000) % 1000 == 0).astype(np.int64)
    assert LabelRules(labels).column_determines_label(numbers(labels))
    assert not LabelRules(labels).column_determines_label(numbers(np.zeros(len(labels))))


@pytest.mark.parametrize("n", [0, 1, 5, 20, 40])
def test_of_a_few_records_nothing_is_said(n):
    few = np.arange(n) % 2
    assert not LabelRules(few).column_determines_label(numbers(few))


def test_one_class_or_very_many_tell_nothing():
    for labels in (np.zeros(N, np.int64), np.full(N, -1), np.arange(6000) % 200):
        assert not LabelRules(labels).column_determines_label(numbers(labels))


@pytest.mark.slow
@pytest.mark.parametrize("name", datasets.names())
def test_of_public_datasets_only_what_is_the_answer_is_told(name):
    """In nursery, an application is rejected if and only if its health says so."""
    frame, labels, _ = datasets.load(name)
    facts = profile_table(frame, labels, trim=False)
    telling = [column.name for column in facts.columns if column.tells_label]
    assert telling == (["health"] if name == "nursery" else [])
