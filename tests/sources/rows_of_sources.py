"""What a source gives: its records as codes, in no order."""

import numpy as np

from privatree.counting import Binner, Candidates, CollectQuery
from privatree.tables import frame_batch


def binner_of(schema):
    candidates = Candidates.from_schema(schema, 64)
    return Binner(schema, candidates.cuts, candidates.groups, candidates.n_codes)


def coded_rows(source, schema):
    """Every record of a source with a known label, sorted, and how many rows there are."""
    source.open(schema)
    return rows_of_a_pass(source, schema)


def rows_of_a_pass(source, schema):
    """The same, of a source that is open."""
    records, n_rows = source.answer(CollectQuery(binner_of(schema))).collected_records()
    return _sorted(records._codes, records._labels), n_rows


def coded_frame(X, y, schema):
    """The same of a frame and its labels, as training in memory reads them."""
    batch = frame_batch(X, y, schema)
    return _sorted(*binner_of(schema).bin_batch(batch)), batch.n_rows


def _sorted(codes, labels):
    return sorted(map(tuple, np.column_stack((codes, labels)).tolist()))
