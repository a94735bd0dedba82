"""What executors send about units: sums for each written id, and the id that it is."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.counting import UnitQuery
from privatree.counting._weights import FULL_WEIGHT
from privatree.errors import SourceError
from privatree.schema import Numeric, Schema
from privatree.sources.spark._counting import versions_for_counting
from privatree.sources.spark._units import SumUnitWeights
from privatree.tables import Batch, open_labels

SCHEMA = Schema({"never read": Numeric(0, 1)}, ["no", "yes"])


def sums(table, version=None):
    """(written id, id, sum) of all batches."""
    sum_weights = SumUnitWeights(version or versions_for_counting(), SCHEMA, 2.0)
    return [
        tuple(row.values())
        for batch in sum_weights(table.to_batches(max_chunksize=3))
        for row in batch.to_pylist()
    ]


def table_of(written, labels, weights):
    return pa.table(
        {
            "target": pa.array(labels, pa.string()),
            "written": pa.array(written, pa.binary()),
            "weight": pa.array(weights, pa.float64()),
        }
    )


IDS = st.sampled_from(
    [None, "a", " a", "a\t", "A", "NA", "", " ", "12", "012", "\u00e9", "e\u0301"]
)
ROWS = st.lists(
    st.tuples(IDS, st.sampled_from([None, "no", "yes", "other"]), st.none() | st.floats(-1, 5)),
    min_size=1,
    max_size=20,
)


@given(ROWS)
def test_ids_and_sums_are_those_in_memory(rows):
    ids, labels, weights = map(list, zip(*rows, strict=True))
    written = [None if one is None else one.encode() for one in ids]
    found: dict[str, int] = {}
    for spelling, one, held_out, total, n_rows in sums(table_of(written, labels, weights)):
        assert not held_out  # without a dealing
        assert n_rows == written.count(spelling) > 0
        assert spelling.decode().strip() == one.decode()
        found[one.decode()] = found.get(one.decode(), 0) + total
    columns = [open_labels(np.array(values, dtype=object)).columns[0] for values in
               (ids, labels, weights)]  # fmt: skip
    totals = UnitQuery(SCHEMA, 2.0).new_partial()
    totals.add_batch(Batch(len(rows), [], columns[1], unit=columns[0], weight=columns[2]))
    assert found == {
        one: int(totals._exact_totals[place]) for one, place in totals._place_of.items()
    }


def test_bytes_that_are_no_text_are_no_id():
    table = table_of([b"a", b"\xff", b"a\xff"], ["no"] * 3, [2.0] * 3)
    assert sums(table) == [(b"a", b"a", False, FULL_WEIGHT, 1)]


def test_no_rows_have_no_sums():
    assert sums(table_of([], [], [])) == []


def test_executors_of_another_version_are_refused():
    with pytest.raises(SourceError, match="the same privatree"):
        sums(table_of([b"a"], ["no"], [1.0]), version=("0", "3.0"))
