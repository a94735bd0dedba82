"""Fine codes: what every zoomed candidate can be had from, for records anywhere."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree import Categorical, Numeric, Schema
from privatree.counting import BinnedRecords, Binner, Candidates, FineCells, PassCounts
from privatree.counting._candidates import TOTAL_BASE_MEASURE
from privatree.counting._queries import CountQuery
from privatree.privacy.mechanisms import DenseInterval
from privatree.tables import frame_batch, open_frame, open_labels

SCHEMA = Schema(
    {
        "income": Numeric(-1e5, 1e6),
        "few": Numeric(0, 9, integer=True),
        "year": Numeric(-3000, 3000, integer=True),
        "own": Numeric(0, 1, cuts=[0.25, 0.5]),
        "place": Categorical(["a", "b", "c"]),
        "one": Numeric(1, 1),
        "gap": Numeric(0, 1, missing="separate"),
    },
    [0, 1],
)
CELLS = FineCells.from_schema(SCHEMA, 256)
intervals = st.sampled_from(DenseInterval(Fraction(1), 7, 1).intervals).map(lambda i: i.ends)


def test_numbers_of_many_values_without_own_cuts_have_fine_cells():
    assert [SCHEMA.names[place] for place in CELLS.features] == ["income", "year", "gap"]
    assert FineCells.from_schema(SCHEMA, 256, levels=0).features == ()
    assert FineCells.from_schema(SCHEMA, 32).features == ()
    many = Schema({f"x{place}": Numeric(0, 1) for place in range(51)}, [0, 1])
    assert FineCells.from_schema(many, 256).features == ()
    classes = Schema({f"x{place}": Numeric(0, 1) for place in range(50)}, list(range(20)))
    assert FineCells.from_schema(classes, 256).features == ()


def test_without_fine_cells_codes_are_those_of_the_schema():
    none = FineCells.from_schema(SCHEMA, 256, levels=0)
    plain = Candidates.from_schema(SCHEMA, 256)
    assert none.binner().n_codes == plain.n_codes
    for codes, n_codes in zip(none.merged_codes(plain), plain.n_codes, strict=True):
        assert_array_equal(codes, np.arange(n_codes))


@settings(max_examples=60)
@given(intervals, intervals, st.sampled_from([64, 100, 256]))
def test_zoomed_candidates(income, year, n_bins):
    cells = FineCells.from_schema(SCHEMA, n_bins)
    found = cells.zoom({0: income, 2: year, 6: year})
    plain = Candidates.from_schema(SCHEMA, n_bins)
    for place in range(len(SCHEMA.names)):
        part = slice(found.offsets[place], found.offsets[place + 1])
        if place not in (0, 2, 6):
            assert_array_equal(
                found.base_measure[part],
                plain.base_measure[plain.offsets[place] : plain.offsets[place + 1]],
            )
            continue
        cuts, measure = found.cuts[place], found.base_measure[part]
        assert 2 <= found.n_codes[place] <= n_bins
        assert (np.diff(cuts) > 0).all()
        assert np.isin(cuts, cells.cuts[place]).all()
        assert (measure[:-1] > 0).all()
        assert measure[-1] == 0
        assert measure.sum() == TOTAL_BASE_MEASURE
    low, high = (-1e5 + 1.1e6 * float(end) for end in income)
    inside = (found.cuts[0] >= low) & (found.cuts[0] <= high)
    part = found.base_measure[: len(inside)]
    assert part[inside].sum() > 0.3 * TOTAL_BASE_MEASURE


@settings(max_examples=30)
@given(st.integers(0, 2**32), intervals, intervals)
def test_merged_codes_are_those_of_the_zoomed_cuts(seed, income, year):
    rng = np.random.default_rng(seed)
    frame = {
        "income": rng.normal(5e4, 2e5, 200), "few": rng.integers(0, 10, 200).astype(float),
        "year": rng.integers(-3100, 3100, 200).astype(float), "own": rng.uniform(0, 1, 200),
        "place": rng.choice(["a", "b", "c", "d"], 200), "one": np.ones(200),
        "gap": np.where(rng.random(200) < 0.3, np.nan, rng.uniform(0, 1, 200)),
    }  # fmt: skip
    table = pd.DataFrame(frame)
    table.loc[::9, "income"] = np.nan
    table.loc[1::9, "income"] = rng.choice(CELLS.cuts[0], 23)[: len(table.loc[1::9])]
    batch = frame_batch(open_frame(table), open_labels(rng.integers(0, 2, 200)), SCHEMA)
    found = CELLS.zoom({0: income, 2: year, 6: year})
    coarse = Binner(SCHEMA, found.cuts, found.groups, found.n_codes)
    codes, labels = coarse.bin_batch(batch)
    expected = BinnedRecords(codes, coarse.n_codes, labels, 2)

    def answer(query: CountQuery):
        partial = query.new_partial()
        partial.add_batch(batch)
        return partial

    fine_codes, fine_labels = CELLS.binner().bin_batch(batch)
    in_memory = BinnedRecords(fine_codes, CELLS.binner().n_codes, fine_labels, 2)
    for records in (in_memory, PassCounts(answer, CELLS.binner())):
        records.merge_codes(coarse, CELLS.merged_codes(found))
        assert records.n_codes == expected.n_codes
        assert_array_equal(records.offsets, expected.offsets)
        assert_array_equal(records.class_counts(), expected.class_counts())
        assert_array_equal(records.class_totals(), expected.class_totals())


@pytest.mark.parametrize("levels", [1, 4, 8])
@pytest.mark.parametrize("name", ["income", "year"])
def test_cells_have_equal_width(levels, name):
    rng = np.random.default_rng(levels)
    feature, place = SCHEMA.features[name], SCHEMA.names.index(name)
    values = np.round(rng.uniform(feature.low, feature.high, 5000))
    codes = np.searchsorted(CELLS.cuts[place], values)
    counts = np.bincount(codes, minlength=len(CELLS.cuts[place]) + 1)
    found = CELLS.count_cells(counts, place, levels)
    n = 2 ** (levels + 1)
    edges = feature.low + (feature.high - feature.low) * np.arange(1, n) / n
    edges = np.floor(edges) + 0.5 if feature.integer else edges
    expected = np.bincount(np.searchsorted(edges, values), minlength=n)
    assert_array_equal(found, expected)
    assert len(found) == n == 2 ** (DenseInterval(Fraction(1), levels, 1).levels + 1)


def test_separate_missing_values_keep_their_cut_and_are_in_no_cell():
    place = SCHEMA.names.index("gap")
    counts = np.zeros(len(CELLS.cuts[place]) + 1, dtype=np.int64)
    counts[0], counts[-1] = 100, 7
    cells = CELLS.count_cells(counts, place, 1)
    assert cells.tolist() == [0, 0, 0, 7]
    found = CELLS.zoom({place: (Fraction(0), Fraction(1, 8))})
    assert found.cuts[place][0] == -np.inf
    assert (
        found.base_measure[found.offsets[place]]
        == (CELLS.plain.base_measure[CELLS.plain.offsets[place]])
    )


@given(
    low=st.decimals(-10_000, 10_000, places=3),
    width=st.decimals(Decimal("0.001"), 10_000, places=3),
)
@settings(max_examples=20)
def test_the_ends_of_every_interval_are_in_the_range(low, width):
    feature = Numeric(float(low), float(low + width))
    cells = FineCells.from_schema(Schema({"size": feature}, ["no", "yes"]), 256)
    for interval in DenseInterval(Fraction(1), cells.levels, 1).intervals:
        start, stop = cells.ends_of_interval(0, interval.ends)
        assert feature.low <= start < stop <= feature.high
        assert (stop == feature.high) == (interval.ends[1] == 1)


def test_an_interval_without_two_different_ends_is_none():
    narrow = Numeric(1.0, np.nextafter(np.nextafter(1.0, 2.0), 2.0))
    cells = FineCells.from_schema(Schema({"size": narrow}, ["no", "yes"]), 256)
    assert cells.ends_of_interval(0, (Fraction(0), Fraction(1, 64))) is None
    assert cells.ends_of_interval(0, (Fraction(0), Fraction(1))) == (narrow.low, narrow.high)
