import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from privatree.counting import MAX_GROUPS, Candidates, coarsen_base_measure, default_n_bins
from privatree.counting._candidates import IS_MISSING_SHARE, TOTAL_BASE_MEASURE, cut_points
from privatree.errors import ParameterError
from privatree.schema import Categorical, Numeric, Schema

# --- cut points ---------------------------------------------------------------------------------


@st.composite
def numeric(draw):
    integer = draw(st.booleans())
    ends = st.integers(-(10**20), 10**20) | st.integers(-300, 300)
    if not integer:
        ends |= st.floats(-8e307, 8e307)
    low, high = sorted((draw(ends), draw(ends)))
    if draw(st.booleans()):  # as narrow as can be
        high = low + draw(st.integers(0, 3)) if integer else math.nextafter(low, math.inf)
    return Numeric(low, high, integer=integer)


@pytest.mark.slow
@given(numeric(), st.integers(2, 300))
def test_cuts_increase_inside_the_range_and_masses_are_positive(feature, n_codes):
    cuts, base_measure = cut_points(feature, n_codes)
    low, high = float(feature.low), float(feature.high)
    assert cuts.dtype == np.float64
    assert base_measure.dtype == np.int64
    assert (np.diff(cuts) > 0).all()
    assert ((low <= cuts) & (cuts < high)).all()
    assert len(base_measure) == len(cuts) <= n_codes - 1
    assert (base_measure >= 1).all()
    assert (len(cuts) > 0) == (low < high)
    assert base_measure.sum() == (TOTAL_BASE_MEASURE if low < high else 0)
    if feature.integer and max(-low, high) < 2**51:
        assert (cuts % 1 == 0.5).all()


@pytest.mark.slow
@given(numeric(), st.integers(2, 300))
def test_missing_values_are_cut_off_below_all_numbers(feature, n_codes):
    cuts, base_measure = cut_points(replace(feature, missing="separate"), n_codes)
    numbers, their_measure = cut_points(feature, max(2, n_codes - 1))
    assert cuts[0] == -np.inf
    assert_array_equal(cuts[1:], numbers)
    assert len(cuts) <= max(2, n_codes - 1)
    assert base_measure.sum() == TOTAL_BASE_MEASURE
    parts = IS_MISSING_SHARE if len(numbers) else 1
    assert base_measure[0] == TOTAL_BASE_MEASURE // parts
    assert_allclose(base_measure[1:], their_measure * (1 - 1 / parts), rtol=1e-6, atol=2)


@pytest.mark.parametrize("n_categories", [1, 2, 511, 512, 2000])
def test_missing_categories_never_share_a_code(n_categories):
    feature = Categorical(range(n_categories), missing="separate")
    found = Candidates.from_schema(Schema({"x": feature}, [0, 1]), 256)
    (groups,) = found.groups
    assert len(groups) == n_categories + 1
    assert found.n_codes == (min(n_categories, MAX_GROUPS - 1) + 1,)
    assert groups[-1] == groups[-2] + 1 == found.n_codes[0] - 1
    assert found.categories_with_codes(0, groups[-1:]).tolist() == [n_categories]
    assert found.base_measure.sum() == (TOTAL_BASE_MEASURE if n_categories == 1 else 0)


def by_the_book(low, high, integer=False, n_codes=256):
    """The parts with their base_measure, written down naively."""
    width, eighth = high - low, n_codes // 8

    def steps(first, last, n):
        return [2.0 ** -(first + (last - first) * i / (n - 1)) for i in range(n)]

    parts = [(1 / 2, [low + width * i / (n_codes // 2) for i in range(1, n_codes // 2)])]
    if low < 0 < high:
        middle = [
            (low + high) / 2 + side * width * s for s in steps(2, 14, eighth) for side in (-1, 1)
        ]
        sides = [side * max(-low, high) * s for s in steps(1, 20, eighth) for side in (-1, 1)]
        parts.append((1 / 4, middle))
        parts.append((1 / 4, [0.0] + [cut for cut in sides if low < cut < high]))
    else:
        parts.append((1 / 8, [low + width * s for s in steps(1, 14, eighth)]))
        parts.append((1 / 8, [high - width * s for s in steps(1, 14, eighth)]))
        more = steps(0.5, 13.5, 2 * eighth)
        parts.append((1 / 4, [low + width * s if low >= 0 else high - width * s for s in more]))
    base_measure = defaultdict(float)
    for mass, part in parts:
        for cut in part:
            base_measure[math.floor(cut) + 0.5 if integer else round(cut, 9)] += mass / len(part)
    return base_measure


@pytest.mark.parametrize(
    "ends",
    [(0, 10), (3, 7), (-7, -2), (-7, 0), (-3, 7), (-1, 2), (-0.61, 1), (-1e6, 2e6), (-1, 1e6)],
)
@pytest.mark.parametrize("n_codes", [16, 64, 256])
def test_cuts_are_those_of_the_design(ends, n_codes):
    cuts, base_measure = cut_points(Numeric(*ends), n_codes)
    expected = by_the_book(*ends, n_codes=n_codes)
    assert_allclose(cuts, sorted(expected), rtol=1e-8, atol=1e-8)
    assert_allclose(
        base_measure / TOTAL_BASE_MEASURE, [expected[cut] for cut in sorted(expected)], rtol=1e-8
    )


@pytest.mark.parametrize("ends", [(0, 10**6), (-700, 900), (-(10**9), 10**7), (-3000, -1000)])
def test_many_whole_numbers_are_cut_between_them(ends):
    cuts, base_measure = cut_points(Numeric(*ends, integer=True), 256)
    expected = by_the_book(*ends, integer=True)
    assert_array_equal(cuts, sorted(expected))
    assert_allclose(
        base_measure / TOTAL_BASE_MEASURE, [expected[cut] for cut in sorted(expected)], rtol=1e-8
    )


@pytest.mark.parametrize(("low", "high", "n_codes"), [(17, 90, 256), (-128, 127, 256), (0, 1, 2)])
def test_few_whole_numbers_are_all_cut_apart(low, high, n_codes):
    cuts, base_measure = cut_points(Numeric(low, high, integer=True), n_codes)
    assert_array_equal(cuts, np.arange(low, high) + 0.5)
    assert base_measure.max() - base_measure.min() <= 1
    assert base_measure.sum() == TOTAL_BASE_MEASURE


def test_one_whole_number_too_many_is_not_all_cut_apart():
    cuts, _ = cut_points(Numeric(0, 256, integer=True), 256)
    assert len(cuts) < 255
    assert (cuts % 1 == 0.5).all()


@pytest.mark.parametrize("place", [1.0, 30.0, 1e3, 1e5])
def test_a_loose_range_keeps_resolution_around_zero(place):
    cuts, base_measure = cut_points(Numeric(-1e6, 1e6), 256)
    for side in (-1, 1):
        near = (side * cuts > place / 2) & (side * cuts < place * 2)
        assert near.sum() >= 2
        assert base_measure[near].sum() > TOTAL_BASE_MEASURE / 200


@pytest.mark.parametrize(
    ("ends", "place"), [((0, 1e4), 3.0), ((50, 1050), 50.2), ((-500, -1), -1.2)]
)
def test_a_skewed_feature_keeps_resolution_at_its_end(ends, place):
    cuts, _ = cut_points(Numeric(*ends), 256)
    end = min(ends, key=abs)
    distance = np.abs(cuts - end) / abs(place - end)
    assert ((distance > 0.5) & (distance < 2)).sum() >= 3


@pytest.mark.parametrize("n_codes", range(2, 8))
@pytest.mark.parametrize("ends", [(0, 1), (-1, 3)])
def test_few_codes_are_even(ends, n_codes):
    cuts, base_measure = cut_points(Numeric(*ends), n_codes)
    assert_allclose(cuts, np.linspace(*ends, n_codes + 1)[1:-1])
    assert base_measure.max() - base_measure.min() <= 1


@pytest.mark.parametrize("integer", [False, True])
def test_own_cuts_replace_all_others(integer):
    own = [0, 1, 2, 500, 501]
    cuts, base_measure = cut_points(Numeric(0, 1000, integer=integer, cuts=own), 3)
    assert_array_equal(cuts, own)
    assert base_measure.max() - base_measure.min() <= 1
    assert base_measure.sum() == TOTAL_BASE_MEASURE


def test_own_cuts_beyond_the_floats_are_rounded():
    own = [2**60, 2**60 + 1, 2**60 + 2, 2**61 - 1]
    cuts, base_measure = cut_points(Numeric(0, 2**61, cuts=own), 256)
    assert_array_equal(cuts, [2.0**60, math.nextafter(2.0**61, 0)])
    assert base_measure.sum() == TOTAL_BASE_MEASURE


@pytest.mark.parametrize(
    "feature",
    [Numeric(3, 3), Numeric(0, 1, cuts=[]), Numeric(2**60, 2**60 + 1, integer=True)],
)
def test_nothing_to_cut(feature):
    cuts, base_measure = cut_points(feature, 256)
    assert len(cuts) == len(base_measure) == 0
    assert (cuts.dtype, base_measure.dtype) == (np.float64, np.int64)


def test_two_neighbouring_floats_are_told_apart():
    high = math.nextafter(1.0, 2.0)
    assert_array_equal(cut_points(Numeric(1.0, high), 2)[0], [1.0])
    assert_array_equal(cut_points(Numeric(high, math.nextafter(high, 2.0)), 256)[0], [high])
    big = 2**52 + 1  # between whole numbers as large as this there is no half
    assert_array_equal(cut_points(Numeric(big, big + 1, integer=True), 256)[0], [float(big)])


def test_too_few_codes_are_refused():
    with pytest.raises(ParameterError, match="n_bins must be at least 2, got 1"):
        cut_points(Numeric(0, 1), 1)


@pytest.mark.slow
@given(numeric(), st.integers(2, 300))
def test_every_code_has_values_and_a_cut_belongs_to_its_left(feature, n_codes):
    cuts, _ = cut_points(feature, n_codes)
    n_cuts = len(cuts)
    assert_array_equal(np.searchsorted(cuts, cuts), np.arange(n_cuts))
    assert_array_equal(np.searchsorted(cuts, np.nextafter(cuts, np.inf)), np.arange(n_cuts) + 1)
    assert np.searchsorted(cuts, float(feature.low)) == 0
    assert np.searchsorted(cuts, float(feature.high)) == n_cuts


# --- coarser grids ------------------------------------------------------------------------------


def coarser_by_the_book(base_measure, n_cuts):
    """The same rule in exact fractions, a position at a time."""
    places = [place for place, mass in enumerate(base_measure) if mass]
    if len(places) <= n_cuts:
        return list(base_measure)
    total, before, groups = sum(base_measure), 0, defaultdict(list)
    for place in places:
        middle = Fraction(2 * before + base_measure[place], 2)
        groups[math.floor(middle * n_cuts / total)].append(place)
        before += base_measure[place]
    result = [0] * len(base_measure)
    for group in groups.values():
        whole, seen = sum(base_measure[place] for place in group), 0
        for place in group:
            seen += base_measure[place]
            if 2 * seen >= whole:
                result[place] = whole
                break
    return result


@given(
    st.lists(st.integers(0, 20) | st.just(0) | st.integers(0, 2**32), min_size=1, max_size=60),
    st.integers(1, 70),
    st.integers(1, 70),
)
def test_coarser_grids_are_nested_and_keep_the_mass(listed, first, second):
    base_measure = np.array(listed, dtype=np.int64)
    before = base_measure.copy()
    once = coarsen_base_measure(base_measure, first)
    assert_array_equal(base_measure, before)
    assert_array_equal(once, coarser_by_the_book(listed, first))
    twice = coarsen_base_measure(once, second)
    for fine, coarse, n_cuts in ((base_measure, once, first), (once, twice, second)):
        assert coarse.dtype == np.int64
        assert coarse.sum() == base_measure.sum()
        assert (coarse >= 0).all()
        assert np.count_nonzero(coarse) <= n_cuts
        assert (fine[coarse > 0] > 0).all()
        assert not np.shares_memory(fine, coarse)


@pytest.mark.parametrize(
    ("base_measure", "n_cuts", "expected"),
    [
        ([1, 1, 1, 1, 1, 1, 0], 2, [0, 3, 0, 0, 3, 0, 0]),
        ([1, 1, 1, 1, 1, 1, 0], 3, [2, 0, 2, 0, 2, 0, 0]),
        ([1, 0, 100, 0, 1, 0], 2, [1, 0, 101, 0, 0, 0]),
        ([5, 1, 5, 0], 1, [0, 11, 0, 0]),
        ([0, 0], 1, [0, 0]),
    ],
)
def test_the_middle_of_a_group_takes_its_mass(base_measure, n_cuts, expected):
    assert_array_equal(
        coarsen_base_measure(np.array(base_measure, dtype=np.int64), n_cuts), expected
    )


@pytest.mark.parametrize("n_cuts", [4, 16, 64, 254])
def test_real_grids_coarsen_to_nearly_equal_masses(n_cuts):
    _, base_measure = cut_points(Numeric(-3, 7), 256)
    coarse = coarsen_base_measure(base_measure, n_cuts)
    kept = coarse[coarse > 0]
    assert len(kept) > 0.9 * min(n_cuts, 64)
    assert abs(kept - TOTAL_BASE_MEASURE / n_cuts).max() <= 2 * base_measure.max()
    assert_array_equal(coarse, coarser_by_the_book(base_measure.tolist(), n_cuts))


@pytest.mark.slow
def test_a_very_long_grid_does_not_overflow():
    base_measure = np.full(2**20, 2**20, dtype=np.int64)
    assert_array_equal(
        np.flatnonzero(coarsen_base_measure(base_measure, 2**19)), np.arange(0, 2**20, 2)
    )


# --- the candidates of a schema -----------------------------------------------------------------


def test_candidates_of_a_schema_lie_side_by_side():
    schema = Schema(
        {
            "age": Numeric(17, 20, integer=True),
            "colour": Categorical(["red", "green", "blue"]),
            "size": Numeric(-1, 1),
            "fixed": Numeric(5, 5),
            "own": Numeric(0, 1, cuts=[k / 400 for k in range(400)]),
            "age again": Numeric(17, 20, integer=True),
            "flag": Categorical([False, True]),
        },
        ["no", "yes"],
    )
    found = Candidates.from_schema(schema, 16)
    size_cuts, size_masses = cut_points(Numeric(-1, 1), 16)
    assert found.n_codes == (4, 3, len(size_cuts) + 1, 1, 401, 4, 2)
    assert_array_equal(found.offsets, np.cumsum([0, *found.n_codes]))
    assert_array_equal(np.flatnonzero(found.is_category), [1])
    assert found.cuts[1] is None
    assert found.cuts[6] is None
    assert_array_equal(found.cuts[0], [17.5, 18.5, 19.5])
    assert_array_equal(found.cuts[2], size_cuts)
    parts = np.split(found.base_measure, found.offsets[1:-1])
    assert [len(part) for part in parts] == list(found.n_codes)
    assert_array_equal(parts[2], [*size_masses, 0])
    assert [part.sum() for part in parts] == [
        TOTAL_BASE_MEASURE * has for has in (1, 0, 1, 0, 1, 1, 1)
    ]
    assert all(part[-1] == 0 for part in parts)
    assert_array_equal(parts[6], [TOTAL_BASE_MEASURE, 0], "two categories are one cut")
    assert_array_equal(parts[0], parts[5])


@pytest.mark.parametrize("n_categories", [1, 2, 3, 512, 513, 1000, 1025])
def test_many_categories_share_codes_with_their_neighbours(n_categories):
    schema = Schema({"place": Categorical([f"p{k}" for k in range(n_categories)])}, ["no", "yes"])
    found = Candidates.from_schema(schema, 16)
    groups = found.groups[0]
    assert found.n_codes == (min(n_categories, MAX_GROUPS),)
    assert len(groups) == n_categories
    assert (np.diff(groups) >= 0).all()
    assert_array_equal(np.unique(groups), np.arange(found.n_codes[0]))
    sizes = np.bincount(groups)
    assert sizes.max() - sizes.min() <= 1
    codes = np.array([0, found.n_codes[0] - 1])
    assert_array_equal(
        found.categories_with_codes(0, codes),
        [k for k in range(n_categories) if groups[k] in codes],
    )


def test_candidates_of_the_same_schema_are_the_same(small_schema):
    first, second = (
        Candidates.from_schema(small_schema, 256),
        Candidates.from_schema(small_schema, 256),
    )
    assert_array_equal(first.base_measure, second.base_measure)
    assert_array_equal(np.concatenate([c for c in first.cuts if c is not None]),
                       np.concatenate([c for c in second.cuts if c is not None]))  # fmt: skip


@pytest.mark.parametrize(
    ("n_features", "expected"), [(1, 256), (50, 256), (51, 64), (200, 64), (201, 16)]
)
def test_wide_tables_get_fewer_bins(n_features, expected):
    assert default_n_bins(n_features) == expected
