"""From raw rows to coded records: two tables that differ in one row are handed over alike."""

import numpy as np
import pandas as pd
import pytest
from handing_over import differences, handed_over
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema, estimators
from privatree.estimators import PrivaTreeClassifier as Learner

SCHEMA = Schema(
    {
        "size": Numeric(-2.5, 7.5, missing=1.0),
        "age": Numeric(0, 99, integer=True),
        "kind": Categorical(["a", "b", "c"], missing="b"),
        "flag": Categorical([True, False]),
    },
    ["no", "yes"],
)
LEARNERS = {
    "accuracy": {},
    "robust": {"schedule": "robust"},
    "declared n": {"dataset_size": 50, "lookahead": 1},
    "probabilities": {"probability_share": 0.25, "n_bins": 4},
}

# Inside the range, at its ends, outside, missing, unknown, of another type.
numbers = st.sampled_from(
    [0, 1, 7.5, -2.5, 3.3, 98, 99, -1e300, 1e300, np.inf, -np.inf, np.nan, None, "7", "seven", True]
)
categories = st.sampled_from(
    ["a", "b", "c", "A", "", "z", None, np.nan, 3, True, False, 0, 1, b"a"]
)
rows = st.tuples(numbers, numbers, categories, categories)
labels = st.sampled_from(["no", "yes", "maybe", "", None, np.nan, 1])
records = st.tuples(rows, labels)


def as_array(table):
    X = np.empty((len(table), len(SCHEMA.features)), dtype=object)
    for place, (row, _) in enumerate(table):
        X[place] = row
    return X, np.array([label for _, label in table], dtype=object)


def as_frame(table):
    X, y = as_array(table)
    return pd.DataFrame(X, columns=list(SCHEMA.features), dtype=object), pd.Series(y, dtype=object)


def seen_differences(table, others, read=as_array, neighbours="add-remove", **parameters):
    """What is handed over differently between a table and any of the others."""
    learner = PrivaTreeClassifier(
        schema=SCHEMA, random_state=0, neighbours=neighbours, max_depth=2, **parameters
    )
    first, *rest = (handed_over(learner, *read(each)) for each in (table, *others))
    assert "error" not in first.public
    return {name for other in rest for name in differences(first, other, neighbours)}


@pytest.mark.parametrize(
    ("name", "read"), [("accuracy", as_frame), *((name, as_array) for name in LEARNERS)]
)
@settings(max_examples=50)
@given(table=st.lists(records, max_size=6), more=records, data=st.data())
def test_one_row_more_is_one_record_more_and_nothing_else(name, read, table, more, data):
    place = data.draw(st.integers(0, len(table)))
    larger = [*table[:place], more, *table[place:]]
    assert not seen_differences(table, [larger], read, **LEARNERS[name])


@settings(max_examples=50)
@given(table=st.lists(records, min_size=1, max_size=6), other=records, data=st.data())
def test_one_row_replaced_is_one_record_replaced_and_nothing_else(table, other, data):
    place = data.draw(st.integers(0, len(table) - 1))
    replaced = [*table[:place], other, *table[place + 1 :]]
    assert not seen_differences(table, [replaced], neighbours="replace")


@settings(max_examples=50)
@given(table=st.lists(records, max_size=6), data=st.data())
def test_the_order_of_rows_does_not_matter(table, data):
    learner = PrivaTreeClassifier(schema=SCHEMA, random_state=0, max_depth=2)
    shuffled = data.draw(st.permutations(table))
    assert handed_over(learner, *as_array(table)) == handed_over(learner, *as_array(shuffled))


# --- mutants --------------------------------------------------------------------------------------

TABLE = [((1.0, 30, "a", True), "no"), ((2.0, 40, "b", False), "yes")]
ONE_MORE = [*TABLE, ((1.5, 35, "a", True), "yes")]
UNKNOWN = [*TABLE, ((1.5, 35, "a", True), "maybe")]


def test_a_plan_with_the_number_of_rows_is_seen(monkeypatch):
    real = Learner._plan

    def mutant(self, schema, candidates, n_rows):
        self.set_params(dataset_size=max(1, n_rows))
        return real(self, schema, candidates, n_rows)

    monkeypatch.setattr(Learner, "_plan", mutant)
    assert "plan" in seen_differences(TABLE, [ONE_MORE])
    assert not seen_differences(TABLE, [[TABLE[0], UNKNOWN[-1]]], neighbours="replace")


def test_a_public_number_of_known_labels_is_seen(monkeypatch):
    """With one record replaced the number of rows is public; how many have a known label is not."""
    real = Learner._records

    def mutant(self, *arguments):
        found, _ = real(self, *arguments)
        return found, len(found._labels)

    monkeypatch.setattr(Learner, "_records", mutant)
    replaced = [TABLE[0], UNKNOWN[-1]]
    assert seen_differences(TABLE, [replaced], neighbours="replace") >= {"plan"}


def test_missing_numbers_filled_from_other_rows_are_seen(monkeypatch):
    real = estimators.read_codes

    def mutant(table, schema, cuts):
        codes = real(table, schema, cuts)
        codes[codes[:, 0] == codes[0, 0], 0] = codes[:, 0].max()
        return codes

    monkeypatch.setattr(estimators, "read_codes", mutant)
    missing = [((None, 30, "a", True), "no")] * 2
    assert seen_differences(missing, [[*missing, TABLE[1]]]) == {"records"}


def test_an_error_over_one_row_is_seen(monkeypatch):
    real = estimators.read_labels

    def mutant(target, schema):
        found = real(target, schema)
        if (found < 0).any():
            raise ValueError("unknown label")
        return found

    monkeypatch.setattr(estimators, "read_labels", mutant)
    assert "error" in seen_differences(TABLE, [UNKNOWN])
    assert not seen_differences(TABLE, [ONE_MORE])
