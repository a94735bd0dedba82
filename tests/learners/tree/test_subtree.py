"""A subtree through its records: the same law in parts, in floats and in decimals."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.counting import BinnedRecords
from privatree.counting import _counts as counts
from privatree.learners.tree._plan import LARGE_STOP_SHARE
from privatree.learners.tree._region import (
    FeatureLayout,
    codes_in_region,
    fine_grid,
    narrow_region,
    split_of_part,
    splits_on_grid,
    whole_region,
)
from privatree.learners.tree._subtree import (
    Subtree,
    differences_to_first,
    draw_last_level,
    subtree_weights,
)
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Draw
from privatree.privacy.samplers import _halving as halving
from privatree.privacy.samplers import decay_table, precision
from privatree.privacy.samplers._decay import MIN_FACTOR

DIGITS = 40
seeds = st.integers(0, 2**32)


def weights_of(small, subtree=None):
    subtree = small.subtree if subtree is None else subtree
    records = small.records
    return subtree_weights(records, {0: subtree}, records.class_counts(), small.shape)[0]


def in_decimals(weights):
    found, error = weights.precise(DIGITS)
    assert error < Decimal("1e-20")
    return found


def exponential(rate, score):
    return (Decimal(rate.numerator) * int(score) / rate.denominator).exp()


# --- the weights of what a subtree begins with ----------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_levels", [1, 2, 3])
@settings(max_examples=20)
@given(seed=seeds)
def test_floats_decimals_and_all_trees_agree(
    random_subtree, by_enumeration, n_classes, n_levels, seed
):
    small = random_subtree(np.random.default_rng(seed), n_classes, n_levels)
    weights, listed = weights_of(small), by_enumeration(small)
    n_parts = int(small.shape.offsets[-1]) + 1
    assert len(weights.exact_scores) == len(weights.exact_factors) == n_parts
    assert weights.relative_error < 1e-10
    precise = in_decimals(weights)
    with localcontext(precision(DIGITS)):
        for part in range(n_parts):
            trees = listed.get(part, {})
            expected = sum(
                Decimal(mass.numerator) / mass.denominator * exponential(small.rate, score)
                for score, mass in trees.items()
            )
            assert abs(precise[part] - expected) <= Decimal("1e-25") * expected
            factor = Decimal(float(weights.exact_factors[part]))
            in_floats = factor * exponential(small.rate, weights.exact_scores[part])
            error = Decimal(weights.relative_error)
            assert abs(in_floats - expected) <= error * expected


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_several_subtrees_of_a_level_in_threads_weigh_the_same(
    monkeypatch, random_subtree, n_levels
):
    """Three nodes, the records of each dealt out to it."""
    small = random_subtree(np.random.default_rng(7), 3, n_levels)
    assert small.subtree.levels == n_levels
    rng = np.random.default_rng(8)
    apart = [replace(small, codes=small.codes[some], labels=small.labels[some])
             for some in (rng.random((3, len(small.labels))) < 0.5)]  # fmt: skip
    alone = [weights_of(part) for part in apart]

    codes = np.concatenate([part.codes for part in apart])
    n_codes = small.candidates.n_codes
    which = np.repeat([0, 1, 2], [len(part.labels) for part in apart]).astype(np.uint8)
    records = BinnedRecords(
        np.column_stack([codes, which]),
        [*n_codes, 3],
        np.concatenate([part.labels for part in apart]),
        3,
    )
    records.descend(np.array([len(n_codes)], dtype=np.int32), np.array([range(9)], dtype=np.int32))
    # the column that dealt them out is one more feature, of a single code in every region
    shape = FeatureLayout(np.append(small.shape.offsets, small.shape.offsets[-1] + 3),
                  np.append(small.shape.is_category, True))  # fmt: skip
    region = small.region._replace(
        low=np.append(small.region.low, 0),
        high=np.append(small.region.high, 3),
        inside=np.append(small.region.inside, [True, False, False]),
        n_inside=np.append(small.region.n_inside, 1),
    )
    grids = tuple(
        grid._replace(
            base_measure=np.append(grid.base_measure, [0.0] * 3),
            below=np.append(grid.below, [0] * 3),
        )
        for grid in small.grids
    )
    subtree = Subtree(small.rate, decay_table(small.rate, len(codes)), grids, region)
    for few_records in (10**9, 1):
        monkeypatch.setattr(counts, "_FEW_RECORDS", few_records)
        found = subtree_weights(
            records, dict.fromkeys((0, 2), subtree), records.class_counts(), shape
        )
        assert set(found) == {0, 2}
        for node, weights in found.items():
            kept = [*range(len(alone[node].exact_factors) - 1), -1]
            np.testing.assert_array_equal(weights.exact_factors[kept], alone[node].exact_factors)
            possible = weights.exact_factors[kept] > 0
            np.testing.assert_array_equal(
                weights.exact_scores[kept][possible], alone[node].exact_scores[possible]
            )


# --- what comes later has the weight it was given before ----------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_levels", [2, 3])
@settings(max_examples=15)
@given(seed=seeds)
def test_a_part_weighs_as_much_as_all_that_can_follow_it(random_subtree, n_classes, n_levels, seed):
    """The marginal is the sum of what the conditional draws from, for every part."""
    small = random_subtree(np.random.default_rng(seed), n_classes, n_levels)
    subtree, shape = small.subtree, small.shape
    if subtree.levels == 1:
        return
    precise = in_decimals(weights_of(small))
    splits = splits_on_grid(subtree.grids[0], subtree.region, shape)
    assert {split.part for split in splits} == {
        part for part, weight in enumerate(precise[:-1]) if weight
    }
    stop = Decimal(subtree.grids[0].stop_share)
    with localcontext(precision(DIGITS)):
        below = subtree.below_top(subtree.region).without_empty_levels(shape)
        expected = stop * sum(in_decimals(weights_of(small, below)))
        assert abs(precise[-1] - expected) <= Decimal("1e-24") * expected
        for split in splits:
            feature, *sides = split_of_part(split.part, subtree.region, shape)
            assert feature == split.feature
            np.testing.assert_array_equal(sides[0], split.left)
            np.testing.assert_array_equal(sides[1], split.right)
            records = small.records
            children = np.zeros((1, max(records.n_codes)), dtype=np.int32)
            children[0, sides[1]] = 1
            records.descend(np.array([feature], dtype=np.int32), children)
            exact_counts = np.zeros((2, n_classes, int(shape.offsets[-1])), dtype=np.int64)
            exact_counts[: records.n_nodes] = records.class_counts()
            subtrees = {
                side: subtree.below_top(narrow_region(subtree.region, shape, feature, codes))
                for side, codes in enumerate(sides)
            }
            subtrees = {side: each.without_empty_levels(shape) for side, each in subtrees.items()}
            weights = subtree_weights(records, subtrees, exact_counts, shape)
            expected = (1 - stop) * split.share.numerator / split.share.denominator
            for each in weights.values():
                expected *= sum(in_decimals(each))
            assert abs(precise[split.part] - expected) <= Decimal("1e-24") * expected


# --- levels without a candidate -----------------------------------------------------------------


def test_levels_without_a_candidate_are_left_out(make_candidates):
    found = make_candidates([8, 3], [False, True], np.random.default_rng(0))
    shape, region = FeatureLayout(found.offsets, found.is_category), whole_region(found)
    fine = fine_grid(found)

    def only(*cuts):
        mass = np.where(np.isin(np.arange(11), cuts), fine.base_measure, 0)
        return fine._replace(base_measure=mass, below=(np.cumsum(mass) - mass).astype(np.int64))

    subtree = Subtree(Fraction(1), decay_table(Fraction(1), 5), (only(4), only(2, 4), fine), region)
    assert subtree.levels == 3
    assert subtree.without_empty_levels(shape) == subtree
    no_categories = narrow_region(region, shape, 1, np.array([2]))
    for codes, n_levels in (
        (range(3, 6), 3),
        (range(5), 2),
        (range(3), 1),
        (range(5, 8), 1),
        ([2], 1),
    ):
        within = narrow_region(no_categories, shape, 0, np.array(codes))
        begun = subtree.below_top(within)
        assert begun.levels == 2
        begun = replace(subtree, region=within).without_empty_levels(shape)
        assert begun.levels == n_levels
        assert begun.grids == subtree.grids[3 - n_levels :]
        # a category feature has candidates on every grid
        inside = replace(subtree, region=narrow_region(region, shape, 0, np.array(codes)))
        assert inside.without_empty_levels(shape).levels == 3


def test_where_nothing_can_be_split_there_is_only_a_label(make_candidates):
    found = make_candidates([1, 3], [False, True], np.random.default_rng(0))
    shape = FeatureLayout(found.offsets, found.is_category)
    region = narrow_region(whole_region(found), shape, 1, np.array([1]))
    records = BinnedRecords(
        np.array([[0, 1]] * 3, np.uint8), (1, 3), np.array([0, 1, 1], np.uint8), 2
    )
    subtree = Subtree(Fraction(1), decay_table(Fraction(1), 3), (fine_grid(found),) * 3, region)
    subtree = subtree.without_empty_levels(shape)
    assert subtree.levels == 1
    weights = subtree_weights(records, {0: subtree}, records.class_counts(), shape)[0]
    assert weights.exact_factors.tolist()[:-1] == [0.0] * 4
    assert weights.exact_scores[-1] == 2
    assert weights.exact_factors[-1] == pytest.approx((1 + np.exp(-1)) / 2)
    drawn = draw_last_level(
        Draw(Fraction(1), Randomness(0)), weights, records.class_counts()[0], subtree, shape
    )
    assert drawn.feature is None
    assert len(drawn.left)
    assert not len(drawn.right)


def test_differences_are_to_the_first_class():
    exact_counts = np.array([[1, 5], [2, 2], [9, 0]])
    assert differences_to_first(exact_counts).tolist() == [[1, -3], [8, -5]]


# --- as small as factors can get ----------------------------------------------------------------


@pytest.mark.parametrize(("n_levels", "n_categories"), [(1, 512), (2, 256), (3, 128)])
def test_many_pure_categories_are_not_lost_below_the_smallest_numbers(
    make_candidates, n_levels, n_categories
):
    """One tree is best by far, with all categories apart in each lowest part of it.

    The class is whether the category is odd, the other way round for each of one or two numbers
    that is 1: nothing is told apart before those are split, and then each category must be.
    """
    n_numbers = n_levels - 1
    found = make_candidates(
        [2] * n_numbers + [n_categories],
        [False] * n_numbers + [True],
        np.random.default_rng(0),
    )
    shape, region, fine = (
        FeatureLayout(found.offsets, found.is_category),
        whole_region(found),
        fine_grid(found)._replace(stop_share=LARGE_STOP_SHARE),
    )
    codes = np.array(list(product(*[(0, 1)] * n_numbers, range(n_categories))), dtype=np.uint16)
    labels = (codes.sum(axis=1) % 2).astype(np.uint8)
    codes, labels = np.repeat(codes, 15, axis=0), np.repeat(labels, 15)
    records = BinnedRecords(codes, found.n_codes, labels, 2)
    rate = Fraction(50)
    subtree = Subtree(rate, decay_table(rate, len(labels)), (fine,) * n_levels, region)
    weights = subtree_weights(records, {0: subtree}, records.class_counts(), shape)[0]
    part = 0  # the first number, or, without one, all subsets of the categories
    lowest = 0.02 * 2.0**-n_categories
    two = 0.02 * lowest**2  # beside the number, the categories could be split
    expected = {1: lowest, 2: two / 2, 3: 0.02 / 3 * (two / 2) ** 2}[n_levels]
    assert weights.exact_scores[part] == len(labels)
    assert weights.exact_factors[part] == pytest.approx(expected, rel=1e-9)
    assert MIN_FACTOR < weights.exact_factors[part] < 2.0**-511
    possible = weights.exact_factors > 0
    assert weights.exact_factors[possible].min() > MIN_FACTOR
    assert possible[-1]


# --- draws --------------------------------------------------------------------------------------


def forbid_decimals(patch):
    def refuse(*_):
        raise AssertionError("decided in decimals")

    patch.setattr(halving, "_halve_precisely", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_decided_in_decimals_every_draw_is_the_same(
    monkeypatch, random_subtree, layered, n_classes, n_levels
):
    drawn = Counter()
    for seed in range(12):
        small = random_subtree(np.random.default_rng(seed), n_classes, n_levels)
        small = replace(small, rate=Fraction(1, 5))
        if small.subtree.levels < n_levels:
            continue
        weights = weights_of(small)
        hidden = weights._replace(relative_error=np.inf, precise=cache(weights.precise))
        with monkeypatch.context() as patch:
            forbid_decimals(patch)
            in_floats = [Draw(small.rate, layered(s)).draw(weights) for s in range(20)]
            with pytest.raises(AssertionError, match="decided in decimals"):
                Draw(small.rate, layered(0)).draw(hidden)
        assert [Draw(small.rate, layered(s)).draw(hidden) for s in range(20)] == in_floats
        drawn.update(in_floats)
    assert len(drawn) > 5


def law_of_draws(small, every_way):
    """The probability of every tree of one level: the label of each code of its feature."""
    weights, subtree, exact_counts = weights_of(small), small.subtree, small.exact_counts

    def draw(one_way):
        return draw_last_level(one_way, weights, exact_counts, subtree, small.shape)

    law = Counter()
    for last, chance in every_way(small.rate, draw):
        a, b = last.labels
        tree = "no split", a
        if last.feature is not None:
            codes = np.concatenate([last.left, last.right])
            labels = np.repeat([a, b], [len(last.left), len(last.right)])[np.argsort(codes)]
            tree = last.feature, tuple(labels.tolist())
        law[tree] += chance
    return law


def law_by_the_book(small):
    """The same from the formulas."""
    region, shape = small.region, small.shape
    rows = list(zip(small.codes.tolist(), small.labels.tolist(), strict=True))
    active = np.flatnonzero(region.n_inside >= 2).tolist()
    stop = Decimal(small.grids[-1].stop_share) if active else Decimal(1)
    classes, law = range(small.n_classes), Counter()
    pairs = [(a, b) for a in classes for b in classes if a != b]
    for label in classes:
        score = sum(y == label for _, y in rows)
        law["no split", label] += stop / small.n_classes * exponential(small.rate, score)
    for feature in active:
        codes = codes_in_region(region, shape, feature).tolist()
        base_measure = small.candidates.base_measure[shape.offsets[feature] :].tolist()
        lefts = [(tuple(code <= cut for code in codes), base_measure[cut]) for cut in codes[:-1]]
        if shape.is_category[feature]:
            lefts = [(chosen, 1) for chosen in product((True, False), repeat=len(codes))]
        whole = sum(mass for _, mass in lefts)
        for (chosen, mass), (a, b) in product(lefts, pairs):
            labels = tuple(a if left else b for left in chosen)
            score = sum(labels[codes.index(x[feature])] == y for x, y in rows)
            share = (1 - stop) / len(active) * mass / whole / len(pairs)
            law[feature, labels] += share * exponential(small.rate, score)
    return {tree: weight / sum(law.values()) for tree, weight in law.items()}


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=seeds, n_classes=st.integers(2, 4))
def test_the_last_level_has_the_law_of_all_its_trees(random_subtree, every_way, seed, n_classes):
    """Every series of choices it could make is made, and their chances are added up."""
    small = random_subtree(np.random.default_rng(seed), n_classes, 1)
    with localcontext(precision(DIGITS)):
        drawn, expected = law_of_draws(small, every_way), law_by_the_book(small)
        assert drawn.keys() == expected.keys()
        for tree, chance in expected.items():
            assert abs(drawn[tree] - chance) <= Decimal("1e-20") * chance


def test_labels_drawn_at_another_rate_would_be_caught(random_subtree, every_way):
    small = replace(random_subtree(np.random.default_rng(5), 3, 1), rate=Fraction(1, 4))
    with localcontext(precision(DIGITS)):
        drawn = law_of_draws(small, every_way)
        wrong = law_by_the_book(replace(small, rate=Fraction(1, 2)))
        assert max(abs(drawn[tree] - chance) / chance for tree, chance in wrong.items()) > 1
