from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree.learners.tree._region import (
    FeatureLayout,
    child_regions,
    coarse_grid,
    codes_in_region,
    feature_of_part,
    fine_grid,
    narrow_region,
    rows_by_candidate,
    splits_on_grid,
    whole_region,
)

seeds = st.integers(0, 2**32)


def test_the_region_of_the_root_has_every_code(make_candidates):
    found = make_candidates([3, 1, 4], [False, True, True], np.random.default_rng(0))
    region = whole_region(found)
    assert_array_equal(region.low, [0, 0, 0])
    assert_array_equal(region.high, [3, 1, 4])
    assert_array_equal(region.n_inside, [3, 1, 4])
    assert region.inside.all()
    assert len(region.inside) == 8


@given(seed=seeds)
def test_a_narrowed_region_has_those_codes_and_the_others_as_before(
    random_region, random_part, seed
):
    rng = np.random.default_rng(seed)
    _, shape, region = random_region(rng)
    feature = int(rng.integers(len(region.low)))
    codes = random_part(rng, region, shape, feature)
    before = region.copy()
    part = narrow_region(region, shape, feature, codes)
    for one, two in zip(region, before, strict=True):
        assert_array_equal(one, two, "the region itself is left alone")
    assert_array_equal(codes_in_region(part, shape, feature), codes)
    for other in range(len(region.low)):
        inside = codes_in_region(part, shape, other)
        if other != feature:
            assert_array_equal(inside, codes_in_region(region, shape, other))
        assert part.n_inside[other] == len(inside)
        if shape.is_category[other]:
            assert (part.low[other], part.high[other]) == (0, np.diff(shape.offsets)[other])
        else:
            assert_array_equal(inside, np.arange(part.low[other], part.high[other]))


@given(seed=seeds)
def test_every_code_belongs_to_its_feature(random_region, seed):
    found, shape, _ = random_region(np.random.default_rng(seed))
    numbers = [feature for feature, size in enumerate(found.n_codes) for _ in range(size)]
    assert [feature_of_part(part, shape) for part in range(len(numbers))] == numbers


# --- grids --------------------------------------------------------------------------------------


def test_the_fine_grid_has_every_cut(make_candidates):
    found = make_candidates([4, 3, 2], [False, True, False], np.random.default_rng(1))
    grid = fine_grid(found)
    assert_array_equal(grid.base_measure, found.base_measure)
    assert_array_equal(grid.below, np.cumsum(found.base_measure) - found.base_measure)
    assert grid.base_measure.dtype == np.float64
    assert grid.below.dtype == np.int64


@given(seed=seeds, first=st.integers(2, 6), second=st.integers(2, 6))
def test_coarse_grids_are_nested_and_keep_the_mass_inside_the_region(
    random_region, seed, first, second
):
    found, shape, region = random_region(np.random.default_rng(seed))
    finer = fine_grid(found)
    for n_codes in (first, second):
        grid = coarse_grid(finer, region, shape, n_codes)
        assert_array_equal(grid.below, np.cumsum(grid.base_measure) - grid.base_measure)
        for feature in range(len(region.low)):
            start, stop = shape.offsets[feature : feature + 2]
            inside = slice(
                start + region.low[feature], max(start, start + region.high[feature] - 1)
            )
            if shape.is_category[feature] or region.n_inside[feature] < 2:
                assert not grid.base_measure[start:stop].any()
                continue
            kept = grid.base_measure[inside]
            assert 1 <= np.count_nonzero(kept) <= n_codes - 1
            assert kept.sum() == finer.base_measure[inside].sum()
            assert grid.base_measure[start:stop].sum() == kept.sum(), "nothing outside the region"
            assert (finer.base_measure[inside][kept > 0] > 0).all()
        finer = grid


def test_a_coarse_grid_of_many_codes_is_the_fine_one(make_candidates):
    found = make_candidates([5, 7], [False, False], np.random.default_rng(2))
    shape, region = FeatureLayout(found.offsets, found.is_category), whole_region(found)
    assert_array_equal(
        coarse_grid(fine_grid(found), region, shape, 7).base_measure, fine_grid(found).base_measure
    )


# --- splits -------------------------------------------------------------------------------------


def by_the_book(grid, region, shape):
    """Part, feature, left and right codes, share: straight from the definition."""
    options = {}
    for feature in range(len(region.low)):
        codes = codes_in_region(region, shape, feature).tolist()
        if shape.is_category[feature]:
            singles = codes if len(codes) > 2 else codes[:1] if len(codes) == 2 else []
            found = [(c, [c], [d for d in codes if d != c], 1) for c in singles]
        else:
            base_measure = {
                c: int(grid.base_measure[shape.offsets[feature] + c]) for c in codes[:-1]
            }
            found = [
                (c, [d for d in codes if d <= c], [d for d in codes if d > c], mass)
                for c, mass in base_measure.items()
                if mass
            ]
        if found:
            options[feature] = found
    return [
        (
            int(shape.offsets[feature]) + code,
            feature,
            left,
            right,
            Fraction(mass, len(options) * sum(other[3] for other in found)),
        )
        for feature, found in options.items()
        for code, left, right, mass in found
    ]


@given(seed=seeds, n_codes=st.integers(2, 6))
def test_splits_are_those_of_the_definition_and_share_all_mass(random_region, seed, n_codes):
    rng = np.random.default_rng(seed)
    found, shape, region = random_region(rng)
    # a grid of a wider region, so that some feature may have no candidate in this one
    grid = coarse_grid(fine_grid(found), whole_region(found), shape, n_codes)
    splits = splits_on_grid(grid, region, shape)
    assert [
        (split.part, split.feature, split.left.tolist(), split.right.tolist(), split.share)
        for split in splits
    ] == by_the_book(grid, region, shape)
    assert sum(split.share for split in splits) == (1 if splits else 0)
    if splits:
        split = splits[rng.integers(len(splits))]
        sides = child_regions(region, shape, split)
        for side, codes in zip(sides, (split.left, split.right), strict=True):
            assert_array_equal(codes_in_region(side, shape, split.feature), codes)
            assert side.inside.sum() == region.inside.sum() - region.n_inside[split.feature] + len(
                codes
            )


@given(seed=seeds)
def test_on_the_fine_grid_there_is_a_split_wherever_a_feature_has_two_codes(random_region, seed):
    found, shape, region = random_region(np.random.default_rng(seed))
    features = {split.feature for split in splits_on_grid(fine_grid(found), region, shape)}
    assert features == set(np.flatnonzero(region.n_inside >= 2).tolist())


@pytest.mark.parametrize(("inside", "expected"), [([1], 0), ([0, 2], 1), ([0, 2, 3], 3)])
def test_of_two_categories_one_against_the_other_is_one_split(make_candidates, inside, expected):
    found = make_candidates([4], [True], np.random.default_rng(3))
    shape = FeatureLayout(found.offsets, found.is_category)
    region = narrow_region(whole_region(found), shape, 0, np.array(inside))
    splits = splits_on_grid(fine_grid(found), region, shape)
    assert len(splits) == expected
    assert all(split.share * expected == 1 for split in splits)


# --- rows ---------------------------------------------------------------------------------------


@given(seed=seeds, n_codes=st.integers(2, 6))
def test_rows_are_what_lies_between_candidates(random_region, seed, n_codes):
    found, shape, region = random_region(np.random.default_rng(seed))
    grid = coarse_grid(fine_grid(found), whole_region(found), shape, n_codes)
    rows = rows_by_candidate(grid, region, shape)
    splits = splits_on_grid(grid, region, shape)
    assert rows.row_of_code.dtype == np.int32
    assert len(rows.row_of_code) == len(region.inside)
    assert rows.firsts[0] == 0
    for feature in range(len(region.low)):
        mine = [split for split in splits if split.feature == feature]
        n_rows = rows.firsts[feature + 1] - rows.firsts[feature]
        codes = codes_in_region(region, shape, feature)
        row = rows.row_of_code[shape.offsets[feature] + codes]
        if not mine:
            assert n_rows == 0
        elif shape.is_category[feature]:
            assert_array_equal(row, np.arange(len(codes)), "a row for each category")
            assert n_rows == len(codes)
        else:
            assert n_rows == len(mine) + 1
            expected = [sum(split.left[-1] < code for split in mine) for code in codes]
            assert_array_equal(row, expected)
        for split in mine:  # a split never goes through a row
            left = set(rows.row_of_code[shape.offsets[feature] + split.left].tolist())
            right = set(rows.row_of_code[shape.offsets[feature] + split.right].tolist())
            assert not left & right
