"""Weights in floats are off from those in decimals by no more than `relative_error` says."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.counting import Rows
from privatree.learners.tree._region import (
    FeatureLayout,
    child_regions,
    fine_grid,
    rows_by_candidate,
    splits_on_grid,
    whole_region,
)
from privatree.learners.tree._subtree import differences_to_first
from privatree.learners.tree._subtree_decimal import PreciseWeights
from privatree.learners.tree._subtree_kernels import (
    Counts,
    LevelAbove,
    LowestLevel,
    Parts,
    count_splittable_features,
    make_parts,
    make_scratch,
    relative_error,
    total_of_one_level,
    total_of_two_levels,
    total_weight,
    weigh_feature_of_two_levels,
    weigh_one_level,
    weigh_part_of_three_levels,
    weigh_subsets_of_pair,
)
from privatree.privacy.samplers import decay_table, precision

DIGITS = 60
seeds = st.integers(0, 2**32)


def largest_error(rate, scores, factors, expected):
    """The largest relative error of the weights, given all that are not 0 in decimals."""
    with localcontext(precision(DIGITS)):
        precise = PreciseWeights(rate, None, DIGITS)
        errors = []
        for part, wanted in expected.items():
            assert factors[part] > 0, "cannot be drawn"
            got = Decimal(float(factors[part])) * precise.power(int(scores[part]))
            errors.append(abs(got / wanted - 1))
        assert (np.delete(factors, list(expected)) == 0).all()
        return float(max(errors))


def in_decimals(rate, shape, method, *arguments):
    with localcontext(precision(DIGITS)):
        precise = PreciseWeights(rate, shape, DIGITS)
        found = getattr(precise, method)(*arguments)
        assert precise.error < Decimal("1e-30")
        return found


def sum_of(parts):
    with localcontext(precision(DIGITS)):
        return sum(parts.values())


# --- one level ----------------------------------------------------------------------------------


def many_records(random_region, rng, n_classes):
    """Counts of up to millions of records in a region; every feature has all of them."""
    candidates, shape, region = random_region(rng)
    sizes = rng.integers(0, 10 ** rng.integers(0, 7), n_classes)
    exact_counts = np.zeros((n_classes, shape.offsets[-1]), dtype=np.int64)
    for feature in range(len(region.low)):
        start, stop = shape.offsets[feature : feature + 2]
        inside = region.inside[start:stop]
        for label in range(n_classes):
            shares = inside * rng.exponential(size=stop - start) ** rng.integers(1, 6)
            exact_counts[label, start:stop] = rng.multinomial(sizes[label], shares / shares.sum())
    return candidates, shape, region, exact_counts, sizes


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.1, 2, 50], ids=str)
@settings(max_examples=10)
@given(seed=seeds)
def test_one_level_is_as_precise_as_promised(random_region, rate, n_classes, seed):
    rng, rate = np.random.default_rng(seed), Fraction(rate)
    candidates, shape, region, exact_counts, sizes = many_records(random_region, rng, n_classes)
    fine, n_codes = fine_grid(candidates)._replace(stop_share=0.6), exact_counts.shape[1]
    decays = decay_table(rate, int(sizes.sum()))
    parts = Parts(np.full(n_codes + 1, -5), np.full(n_codes + 1, 7.0))  # from before
    counts = Counts(differences_to_first(exact_counts), sizes)
    lowest = LowestLevel(shape, fine, decays)
    weigh_one_level(counts, lowest, region, parts)
    expected = in_decimals(rate, shape, "weigh_one_level", counts, fine, region)
    bound = relative_error(1, n_codes + 1, n_classes)
    assert bound < 1e-10
    assert largest_error(rate, *parts, expected) <= bound
    assert parts.factors.max() <= 2
    score, weight = total_of_one_level(counts, lowest, region, make_scratch(n_classes, n_codes))
    found = largest_error(rate, [score], np.array([weight]), {0: sum_of(expected)})
    assert found <= 2 * bound


@pytest.mark.slow
@given(seed=seeds, n_classes=st.integers(2, 5))
def test_subsets_of_a_pair_are_as_precise_as_promised(seed, n_classes):
    rng = np.random.default_rng(seed)
    rate = Fraction(float(10 ** rng.uniform(-5, 1)))
    exact_counts = rng.integers(0, 10 ** rng.integers(1, 5), (n_classes, rng.integers(1, 30)))
    totals = exact_counts.sum(axis=1)
    decays = decay_table(rate, int(totals.sum()))
    for a, b in combinations(range(n_classes), 2):
        rows = exact_counts[[a, b]].tolist()
        expected = in_decimals(rate, None, "weigh_subsets", *rows, int(totals[a] + totals[b]))
        for pair in ((a, b), (b, a)):
            score, weight = weigh_subsets_of_pair(
                differences_to_first(exact_counts), totals, *pair, decays
            )
            found = largest_error(rate, [score], np.array([weight]), {0: expected})
            assert found <= relative_error(1, exact_counts.shape[1], n_classes)


def test_a_total_is_the_sum_whatever_the_order_and_skips_what_cannot_be_drawn():
    decays = decay_table(Fraction(1, 2), 100)
    scores, factors = np.array([3, 90, 5, 4]), np.array([0.5, 0.0, 0.25, 1.0])
    expected = 0.5 * np.exp(-1) + 0.25 + np.exp(-0.5)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]):
        score, weight = total_weight(Parts(scores[order], factors[order]), decays)
        assert score == 5
        assert weight == pytest.approx(expected, rel=1e-12)


# --- more levels --------------------------------------------------------------------------------


def pair_tables(small, times):
    """The rows of the grid above the lowest level, as if each record were there `times` times."""
    shape, subtree = small.shape, small.subtree
    rows = rows_by_candidate(subtree.grids[-2], subtree.region, shape)
    middle = [
        Rows(
            feature,
            rows.row_of_code[shape.offsets[feature] : shape.offsets[feature + 1]],
            int(rows.firsts[feature + 1] - rows.firsts[feature]),
        )
        for feature in np.flatnonzero(np.diff(rows.firsts)).tolist()
    ]
    found = [small.records.pair_counts(0, each) for each in middle]
    tables, totals = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, middle, Counts(tables * np.int32(times), totals * times)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@settings(max_examples=40)
@given(seed=seeds)
def test_two_levels_are_as_precise_as_promised(random_subtree, n_classes, seed):
    rng = np.random.default_rng(seed)
    small = random_subtree(rng, n_classes, 2)
    subtree, shape, rate = small.subtree, small.shape, small.rate
    if subtree.levels < 2:
        return
    times = int(rng.choice([1, 1000, 10**6]))
    rows, middle, tables = pair_tables(small, times)
    n_codes = int(shape.offsets[-1])
    grid, fine = subtree.grids
    lowest = LowestLevel(shape, fine, decay_table(rate, times * len(small.labels)))
    above = LevelAbove(lowest, grid, rows)
    parts, again = make_parts(n_codes), make_parts(n_codes)
    before, region = subtree.region.copy(), subtree.region.copy()
    room = make_scratch(n_classes, n_codes)
    score, weight = total_of_two_levels(tables, above, region, room, parts)
    expected = in_decimals(rate, shape, "weigh_two_levels", tables, above, subtree.region)
    bound = relative_error(2, n_codes + 1, n_classes)
    assert largest_error(rate, *parts, expected) <= bound
    assert largest_error(rate, [score], np.array([weight]), {0: sum_of(expected)}) <= 2 * bound
    for one, two in zip(region, before, strict=True):
        np.testing.assert_array_equal(one, two, "the region is as it was")

    # the same, a feature at a time
    all_totals = np.bincount(small.labels, minlength=n_classes)
    whole = Counts(times * differences_to_first(small.exact_counts), times * all_totals)
    for group in middle:
        first, last = rows.firsts[group.feature : group.feature + 2]
        mine = Counts(*(array[first:last] for array in tables))
        weigh_feature_of_two_levels(group.feature, mine, whole, above, region, room, again)
    drawable = again.factors > 0
    np.testing.assert_array_equal(again.scores[:-1], np.where(drawable, parts.scores, 0)[:-1])
    np.testing.assert_array_equal(again.factors[:-1], parts.factors[:-1])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@settings(max_examples=15)
@given(seed=seeds)
def test_three_levels_are_as_precise_as_promised(random_subtree, n_classes, seed):
    rng = np.random.default_rng(seed)
    small = random_subtree(rng, n_classes, 3)
    subtree, shape, rate = small.subtree, small.shape, small.rate
    if subtree.levels < 3:
        return
    times = int(rng.choice([1, 1000, 10**6]))
    rows, _, tables = pair_tables(small, times)
    top, grid, fine = subtree.grids
    lowest = LowestLevel(shape, fine, decay_table(rate, times * len(small.labels)))
    above = LevelAbove(lowest, grid, rows)
    splits = splits_on_grid(top, subtree.region, shape)
    split = splits[rng.integers(len(splits))]
    chosen = np.isin(small.codes[:, split.feature], split.left)
    part = replace(small, codes=small.codes[chosen], labels=small.labels[chosen])
    _, _, left = pair_tables(part, times)
    regions = child_regions(subtree.region, shape, split)
    score, weight = weigh_part_of_three_levels(left, tables, above, *regions)
    right = Counts(tables.differences - left.differences, tables.totals - left.totals)
    expected = [
        sum_of(in_decimals(rate, shape, "weigh_two_levels", side, above, region))
        for side, region in zip((left, right), regions, strict=True)
    ]
    with localcontext(precision(DIGITS)):
        both = expected[0] * expected[1]
    bound = relative_error(3, int(shape.offsets[-1]) + 1, n_classes)
    assert largest_error(rate, [score], np.array([weight]), {0: both}) <= bound


def test_features_with_a_candidate_on_the_grid_are_counted(make_candidates):
    found = make_candidates([3, 4, 2, 1], [False, True, False, True], np.random.default_rng(0))
    shape, region = FeatureLayout(found.offsets, found.is_category), whole_region(found)
    fine = fine_grid(found)._replace(stop_share=0.6)

    assert count_splittable_features(shape, fine, region) == 3
    coarse = fine._replace(base_measure=fine.base_measure * 0, below=fine.below * 0)
    assert count_splittable_features(shape, coarse, region) == 1, (
        "categories are candidates on any grid"
    )
    region.n_inside[1] = 1
    assert count_splittable_features(shape, coarse, region) == 0
    assert count_splittable_features(shape, fine, region) == 2


def test_the_error_grows_with_levels_parts_and_classes():
    base = relative_error(1, 100, 2)
    assert 0 < base < 1e-10
    assert relative_error(2, 100, 2) > 2 * base
    assert relative_error(3, 100, 2) > 2 * relative_error(2, 100, 2)
    assert relative_error(1, 10**4, 2) > base
    assert relative_error(1, 100, 5) > base
