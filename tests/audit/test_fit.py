"""From raw rows to coded records: two tables that differ in one row are handed over alike."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fit_cases import LEARNERS, SCHEMA, SMALL, TABLE, as_array
from handing_over import differences, handed_over
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree import PrivaTreeClassifier
from privatree.counting import MAX_GROUPS, Binner
from privatree.sources._source import FrameRecords
from privatree.tables import _columns as columns
from privatree.tables._frames import category_codes

# Inside the range, at its ends, outside, missing, unknown, of another type.
numbers = st.sampled_from(
    [0, 1, 7.5, -2.5, 3.3, 98, 99, -1e300, 1e300, np.inf, -np.inf, np.nan, None, "7", "seven", True]
)
categories = st.sampled_from(
    ["a", "b", "c", "k0", "k9", "k400", "A", "", None, np.nan, 3, True, False, 0, 1, b"a"]
)
rows = st.tuples(numbers, numbers, categories, categories)
labels = st.sampled_from(["no", "yes", "maybe", "", None, np.nan, 1])
records = st.tuples(rows, labels)


def as_frame(table):
    X, y = as_array(table)
    return pd.DataFrame(X, columns=list(SCHEMA.features), dtype=object), pd.Series(y, dtype=object)


def as_frame_of_inferred_types(table):
    X, y = as_frame(table)
    return X.infer_objects(), y.infer_objects()


def seen_differences(table, others, read=as_array, neighbours="add-remove", **parameters):
    """What is handed over differently between a table and any of the others."""
    learner = PrivaTreeClassifier(**(SMALL | {"neighbours": neighbours} | parameters))
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


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=50)
@given(table=st.lists(records, min_size=1, max_size=6), other=records, data=st.data())
def test_one_row_replaced_is_one_record_replaced_and_nothing_else(name, table, other, data):
    place = data.draw(st.integers(0, len(table) - 1))
    replaced = [*table[:place], other, *table[place + 1 :]]
    assert not seen_differences(table, [replaced], neighbours="replace", **LEARNERS[name])


NOTHING = ((np.nan,) * len(SCHEMA.features), np.nan)


@pytest.mark.parametrize("n_known", range(2))
@pytest.mark.parametrize("column", [*SCHEMA.names, None])
def test_one_value_more_than_none_changes_a_type_and_nothing_else(column, n_known):
    """Text of which all is missing has a floating type in a frame, labels (None) like features."""
    row, label = TABLE[0]
    kept = tuple(v if n == column else np.nan for n, v in zip(SCHEMA.names, row, strict=True))
    more = (kept, label if column is None else np.nan)
    table = [NOTHING, *TABLE[:n_known]]
    assert not seen_differences(table, [[*table, more]], as_frame_of_inferred_types)
    replaced = [more, *TABLE[:n_known]]
    assert not seen_differences(table, [replaced], as_frame_of_inferred_types, "replace")


@settings(max_examples=50)
@given(table=st.lists(records, max_size=6), data=st.data())
def test_the_order_of_rows_does_not_matter(table, data):
    learner = PrivaTreeClassifier(**SMALL)
    shuffled = data.draw(st.permutations(table))
    assert handed_over(learner, *as_array(table)) == handed_over(learner, *as_array(shuffled))


# --- mutants --------------------------------------------------------------------------------------

ONE_MORE = [*TABLE, ((1.5, 35, "a", True), "yes")]
UNKNOWN = [*TABLE, ((1.5, 35, "a", True), "maybe")]


def test_a_plan_with_the_number_of_rows_is_seen(monkeypatch):
    real = PrivaTreeClassifier._make_plan

    def mutant(self, cells, class_factors, n_rows):
        self.set_params(dataset_size=max(1, n_rows))
        return real(self, cells, class_factors, n_rows)

    monkeypatch.setattr(PrivaTreeClassifier, "_make_plan", mutant)
    assert "plan" in seen_differences(TABLE, [ONE_MORE])
    assert not seen_differences(TABLE, [[TABLE[0], UNKNOWN[-1]]], neighbours="replace")


def test_a_public_number_of_known_labels_is_seen(monkeypatch):
    """With one record replaced the number of rows is public; how many have a known label is not."""
    real = FrameRecords.counts

    def mutant(self, binner):
        found, _ = real(self, binner)
        return found, len(found._labels)

    monkeypatch.setattr(FrameRecords, "counts", mutant)
    replaced = [TABLE[0], UNKNOWN[-1]]
    assert seen_differences(TABLE, [replaced], neighbours="replace") >= {"plan"}


def test_missing_numbers_filled_from_other_rows_are_seen(monkeypatch):
    real = Binner.bin_and_weigh

    def mutant(self, batch, weigher, threads):
        codes, labels, weights = real(self, batch, weigher, threads)
        codes[codes[:, 0] == codes[0, 0], 0] = codes[:, 0].max()
        return codes, labels, weights

    monkeypatch.setattr(Binner, "bin_and_weigh", mutant)
    missing = [((None, 30, "a", True), "no")] * 2
    assert seen_differences(missing, [[*missing, TABLE[1]]]) == {"records"}


def test_an_error_over_one_row_is_seen(monkeypatch):
    real = Binner.bin_and_weigh

    def mutant(self, batch, weigher, threads):
        codes, labels, weights = real(self, batch, weigher, threads)
        if len(labels) < batch.n_rows:
            raise ValueError("unknown label")
        return codes, labels, weights

    monkeypatch.setattr(Binner, "bin_and_weigh", mutant)
    assert "error" in seen_differences(TABLE, [UNKNOWN])
    assert not seen_differences(TABLE, [ONE_MORE])


def test_an_error_over_the_type_of_labels_that_are_all_missing_is_seen(monkeypatch):
    """The type follows from the content: one labelled record more, and it is text."""
    monkeypatch.setattr(columns, "_column_can_be_all_missing", lambda found: False)
    some, none = [(TABLE[0][0], "no"), (TABLE[1][0], np.nan)], [(TABLE[1][0], np.nan)]
    assert "error" in seen_differences(some, [none], as_frame_of_inferred_types)


def test_groups_of_the_categories_that_occur_are_seen(monkeypatch):
    real = Binner.bin_and_weigh

    def mutant(self, batch, weigher, threads):
        groups = list(self.groups)
        for place, found in enumerate(groups):
            if found is not None and len(found) > MAX_GROUPS:
                kind = list(self.schema.features.values())[place]
                occurring = np.unique(category_codes(batch.features[place].read(), kind))
                ranks = np.searchsorted(occurring, np.arange(len(found)))
                groups[place] = np.minimum(ranks, MAX_GROUPS - 1)
        return real(replace(self, groups=tuple(groups)), batch, weigher, threads)

    monkeypatch.setattr(Binner, "bin_and_weigh", mutant)
    table = [((size, 30, f"k{100 * size}", True), "no") for size in (1, 2, 3)]
    larger = [*table, ((4, 30, "k0", True), "no")]
    assert "records" in seen_differences(table, [larger], **LEARNERS["many categories"])
    assert not seen_differences(table, [larger])
