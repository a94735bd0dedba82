"""The weights in decimals are those of the design: all trees are listed and added up."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.counting import Rows
from privatree.learners.tree._region import rows_by_candidate
from privatree.learners.tree._subtree import differences_to_first
from privatree.learners.tree._subtree_decimal import PreciseWeights
from privatree.learners.tree._subtree_kernels import Counts, LevelAbove, LowestLevel
from privatree.privacy.samplers import precision

DIGITS = 40


def weight(scores, rate):
    """The sum over all trees of prior mass times exp(rate * score), to 60 digits."""
    with localcontext(precision(60)):
        return sum(
            Decimal(mass.numerator) / mass.denominator * (Decimal(rate.numerator) * score
                                                          / rate.denominator).exp()
            for score, mass in scores.items()
        )  # fmt: skip


def rows_of(feature, rows, shape):
    start, stop = shape.offsets[feature : feature + 2]
    first, last = rows.firsts[feature : feature + 2]
    return Rows(feature, rows.row_of_code[start:stop], int(last - first))


def used(rows):
    return np.flatnonzero(np.diff(rows.firsts)).tolist()


def precise_parts(small, precise):
    """What a subtree begins with, by `precise`, and the counts it needs."""
    subtree, records, shape = small.subtree, small.records, small.shape
    exact_counts = small.exact_counts
    totals = exact_counts[:, : shape.offsets[1]].sum(axis=1)
    fine = subtree.grids[-1]
    if subtree.levels == 1:
        counts = Counts(differences_to_first(exact_counts), totals)
        return precise.weigh_one_level(counts, fine, subtree.region)
    rows = rows_by_candidate(subtree.grids[-2], subtree.region, shape)
    above = LevelAbove(LowestLevel(shape, fine, subtree.decays), subtree.grids[-2], rows)
    middle = [rows_of(feature, rows, shape) for feature in used(rows)]
    if subtree.levels == 2:
        found = [records.pair_counts(0, each) for each in middle]
        tables, totals = (np.concatenate(part) for part in zip(*found, strict=True))
        return precise.weigh_two_levels(Counts(tables, totals), above, subtree.region)
    upper_rows = rows_by_candidate(subtree.grids[0], subtree.region, shape)

    def triples(feature):
        return records.triple_counts(0, rows_of(feature, upper_rows, shape), middle)

    top = subtree.grids[0]
    return precise.weigh_three_levels(triples, top, upper_rows, above, subtree.region)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_levels", [1, 2, 3])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_weights_are_the_sums_over_all_trees(
    random_subtree, by_enumeration, n_classes, n_levels, seed
):
    small = random_subtree(np.random.default_rng(seed), n_classes, n_levels)
    listed = by_enumeration(small)
    assert sum(sum(scores.values()) for scores in listed.values()) == 1, "a prior"
    with localcontext(precision(DIGITS)):
        precise = PreciseWeights(small.rate, small.shape, DIGITS)
        found = precise_parts(small, precise)
        assert found.keys() == listed.keys()
        assert precise.error < Decimal("1e-20")
        for part, scores in listed.items():
            expected = weight(scores, small.rate)
            assert abs(found[part] - expected) <= precise.error * expected


def test_random_subtrees_are_of_every_kind(random_subtree):
    """Otherwise the comparison above compares little."""
    small = [random_subtree(np.random.default_rng(seed), 3, 3) for seed in range(200)]
    deep = [each for each in small if each.subtree.levels == 3]
    assert 100 < len(deep) < 200
    assert any(each.shape.is_category.all() for each in deep)
    assert any(not each.shape.is_category.any() for each in deep)
    assert any((each.region.n_inside < np.diff(each.shape.offsets)).any() for each in deep)
    assert any(len(each.labels) == 0 for each in small)


@pytest.mark.slow
@given(
    counts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5),
    shift=st.integers(-5, 5),
    rate=st.fractions(Fraction(1, 100), 5),
)
def test_subsets_are_a_mean_over_all_of_them(counts, shift, rate):
    """The counts may be given less some number, the same for both classes."""
    of_a, of_b = zip(*counts, strict=True)
    every = {}
    for chosen in product((False, True), repeat=len(counts)):
        score = sum(a if left else b for left, a, b in zip(chosen, of_a, of_b, strict=True))
        every[score] = every.get(score, 0) + Fraction(1, 2 ** len(counts))
    with localcontext(precision(DIGITS)):
        precise = PreciseWeights(rate, None, DIGITS)
        found = precise.weigh_subsets(
            [a - shift for a in of_a], [b - shift for b in of_b], sum(of_a + of_b)
        )
        expected = weight(every, rate)
        assert abs(found - expected) <= precise.error * expected


@pytest.mark.parametrize("digits", [40, 80, 160])
def test_powers_keep_their_promise_and_the_error_falls_with_the_digits(digits):
    rate = Fraction(1, 3)
    with localcontext(precision(digits)):
        precise = PreciseWeights(rate, None, digits)
        for score in (0, 1, 10**6, -(10**4)):
            found = precise.power(score)
            with localcontext(precision(400)):
                expected = (Decimal(score) / 3).exp()
                assert abs(found - expected) <= precise.error * expected
        assert precise.error < Decimal(10) ** (20 - digits)


def test_the_error_grows_with_the_largest_exponent():
    with localcontext(precision(DIGITS)):
        precise = PreciseWeights(Fraction(10**6), None, DIGITS)
        before = precise.error
        precise.power(10**9)
        assert precise.error > 1000 * before
