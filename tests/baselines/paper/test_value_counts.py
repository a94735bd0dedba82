"""Values and their counts, and pieces of answers, add up like the records they are of."""

import numpy as np
import pytest
from batches_in_memory import FrameBatches
from hypothesis import given
from hypothesis import strategies as st
from mixed_records import schema_of, some_records
from numpy.testing import assert_array_equal

from privatree.baselines.paper._value_counts import ValueCountsQuery
from privatree.counting import Binner, Candidates, Groups, Wanted
from privatree.counting._counts import Router
from privatree.counting._queries import CountQuery
from privatree.tables import frame_batch

SCHEMA = schema_of(2)


def count_question():
    candidates = Candidates.from_schema(SCHEMA, 6)
    binner = Binner(SCHEMA, candidates.cuts, candidates.groups, candidates.n_codes)
    n_codes = candidates.n_codes
    rows = Groups(
        np.concatenate([np.arange(n) for n in n_codes]).astype(np.int32),
        np.concatenate([[0], np.cumsum(n_codes)]).astype(np.int64),
    )
    nobody = np.zeros((0, max(n_codes)), np.int32)
    router = Router(
        np.array([-1], np.int32), np.array([-1], np.int32), nobody, np.zeros(1, np.int32)
    )
    return CountQuery(binner, router, (Wanted(rows, rows),))


def contents(answer):
    return dict(answer.serialize_parts())


@pytest.mark.parametrize("query", [count_question(), ValueCountsQuery(SCHEMA, (0, 1))])
def test_sent_answers_add_up_however_rows_are_divided(query):
    frame, labels = some_records(200, 2, 3)
    whole = query.new_partial()
    whole.add_batch(frame_batch(frame, labels, SCHEMA))
    sent, merged = query.new_partial(), query.new_partial()
    pieces = {}
    for part in np.array_split(np.arange(200), 7):
        answer = query.new_partial()
        answer.add_batch(frame_batch(frame.iloc[part], labels.iloc[part], SCHEMA))
        for number, content in answer.serialize_parts():
            sent.add_serialized(number, content)
            if number in pieces:
                content = answer.merge_serialized(pieces[number], content)
            pieces[number] = content
        merged.merge(answer)
    assert contents(whole) == contents(sent) == contents(merged) == pieces


@pytest.mark.slow
@given(st.integers(0, 300), st.integers(0, 2**32))
def test_a_tally_is_the_column(n, seed):
    frame, labels = some_records(n, 2, seed)
    source = FrameBatches(frame, labels, 37)
    source.open(SCHEMA)
    found = source.answer(ValueCountsQuery(SCHEMA, (1,)))
    assert found.exact_rows == n
    known = labels.isin(SCHEMA.classes)
    expected = np.sort(np.clip(frame["share"][known], -1, 1))
    assert_array_equal(np.repeat(*found.value_counts[0]), expected)
