"""Weights of records: of a unit at most 1 together, and from the unit's own records alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree import Numeric, Schema
from privatree.counting import UnitQuery, Weigher
from privatree.counting import _weights as weights_module
from privatree.counting._weights import FULL_WEIGHT
from privatree.errors import SourceError
from privatree.tables import Batch, frame_batch, open_labels

SCHEMA = Schema({"age": Numeric(0, 100)}, ["no", "yes"])
LABELS = {"no": 0, "yes": 1}


def batch_of(labels, units=None, weights=None):
    batch = frame_batch(np.zeros((len(labels), 1)), labels, SCHEMA)
    unit, weight = (None if v is None else open_labels(v).columns[0] for v in (units, weights))
    return Batch(batch.n_rows, batch.features, batch.labels, unit=unit, weight=weight)


def weigh(labels, units=None, weights=None, max_weight=1.0):
    batch = batch_of(labels, units, weights)
    totals = None
    if units is not None:
        totals = UnitQuery(SCHEMA, max_weight).new_partial()
        totals.add_batch(batch)
    codes = np.array([LABELS.get(label, -1) for label in labels])
    return Weigher(max_weight, totals).weigh(batch, codes).tolist()


rows = st.lists(
    st.tuples(
        st.sampled_from(["no", "yes", "other", None]),
        st.sampled_from(["a", "b", "c", None]),
        st.one_of(st.none(), st.floats(-1, 9), st.sampled_from([np.nan, np.inf, -np.inf])),
    ),
    min_size=1,
    max_size=30,
)


@given(rows, st.sampled_from([1.0, 0.3, 7.0]))
def test_a_unit_weighs_at_most_one_and_depends_on_nobody_else(table, max_weight):
    labels, units, weights = map(list, zip(*table, strict=True))
    found = weigh(labels, units, weights, max_weight)
    assert all(w == 0 for w, (label, unit, _) in zip(found, table, strict=True)
               if label not in LABELS or unit is None)  # fmt: skip
    for unit in {"a", "b", "c"} & set(units):
        mine = [place for place, other in enumerate(units) if other == unit]
        total = sum(found[place] for place in mine)
        assert 0 <= total <= FULL_WEIGHT
        alone = weigh(*([column[p] for p in mine] for column in (labels, units, weights)),
                      max_weight)  # fmt: skip
        assert [found[place] for place in mine] == alone


def test_the_records_of_a_unit_share_one_weight():
    labels = ["no", "yes", "no", "other", "no"]
    assert weigh(labels, ["a", "a", "a", "a", "b"]) == [FULL_WEIGHT // 3] * 3 + [0, FULL_WEIGHT]


def test_sample_weights_are_clipped_and_divided_by_the_largest():
    weights = [-1, np.nan, 0, 1, 2.5, 5, 7, np.inf, None, "3"]
    found = weigh(["no"] * 10, weights=weights, max_weight=5)
    full = FULL_WEIGHT
    assert found == [0, 0, 0, full // 5, full // 2, full, full, full, 0, 0]


def test_a_light_unit_stays_light_and_a_heavy_one_is_scaled_down():
    found = weigh(["no"] * 4, ["a", "a", "b", "b"], [0.25, 0.25, 1.0, 0.5])
    full = FULL_WEIGHT
    assert found == [full // 4, full // 4, full * 2 // 3, full // 3]


def test_a_unit_of_more_records_than_its_weight_can_be_divided_into_weighs_nothing():
    n = FULL_WEIGHT + 1
    assert sum(weigh(["no"] * n, ["a"] * n)) == 0


@given(rows, st.integers(0, 30))
def test_totals_of_parts_add_up(table, cut):
    labels, units, weights = map(list, zip(*table, strict=True))
    whole, first, second = (UnitQuery(SCHEMA, 1.0).new_partial() for _ in range(3))
    whole.add_batch(batch_of(labels, units, weights))
    first.add_batch(batch_of(labels[:cut], units[:cut], weights[:cut]))
    second.add_batch(batch_of(labels[cut:], units[cut:], weights[cut:]))
    first.merge(second)
    assert first.exact_units == whole.exact_units == len({*units} - {None})
    batch = batch_of(labels, units, weights)
    codes = np.array([LABELS.get(label, -1) for label in labels])
    found = [Weigher(1.0, totals).weigh(batch, codes) for totals in (whole, first)]
    assert_array_equal(*found)


@given(rows, st.integers(0, 30))
def test_totals_that_other_processes_send_add_up(table, cut):
    labels, units, weights = map(list, zip(*table, strict=True))
    units = [unit and unit * 40 for unit in units]
    query = UnitQuery(SCHEMA, 1.0)
    whole, *parts, received = (query.new_partial() for _ in range(4))
    batch = batch_of(labels, units, weights)
    whole.add_batch(batch)
    sent: dict[int, bytes] = {}
    for totals, some in zip(parts, (slice(cut), slice(cut, None)), strict=True):
        if len(labels[some]):
            totals.add_batch(batch_of(labels[some], units[some], weights[some]))
        for part, content in totals.serialize_parts():
            sent[part] = totals.merge_serialized(sent[part], content) if part in sent else content
    assert 0 in sent, "the number of rows is sent with this part"
    for part, content in sent.items():
        received.add_serialized(part, content)
    assert received.exact_units == whole.exact_units
    codes = np.array([LABELS.get(label, -1) for label in labels])
    assert_array_equal(*(Weigher(1.0, t).weigh(batch, codes) for t in (whole, received)))


def test_a_batch_can_bring_the_totals_of_its_units():
    batch = replace(batch_of(["no"] * 4, weights=[1.0, 0.5, 0.25, 1.0]),
                    exact_unit_totals=np.array([3, 3, 1, 0]) * FULL_WEIGHT // 2)  # fmt: skip
    found = Weigher().weigh(batch, np.zeros(4, dtype=np.int8))
    assert found.tolist() == [FULL_WEIGHT * 2 // 3, FULL_WEIGHT // 3, FULL_WEIGHT // 4, 0]


def test_more_units_than_fit_in_memory_are_refused(monkeypatch):
    monkeypatch.setattr(weights_module, "MAX_UNITS", 2)
    with pytest.raises(SourceError, match="SparkSource"):
        weigh(["no"] * 3, ["a", "b", "c"])


def test_totals_grow_with_the_number_of_units():
    n = 5000
    assert weigh(["no"] * 2 * n, [*range(n)] * 2) == [FULL_WEIGHT // 2] * 2 * n
