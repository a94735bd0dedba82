from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.learners.tree._region import FeatureLayout, codes_in_region, fine_grid, whole_region
from privatree.learners.tree._split import SPLIT_UNITS, UpperSplit, split_score
from privatree.privacy.mechanisms import SequentialExponential
from privatree.privacy.samplers import precision
from privatree.privacy.samplers._decay import MIN_FACTOR

DIGITS = 40
EPSILON = Fraction(8)
seeds = st.integers(0, 2**32)
noisy = st.lists(
    st.integers(0, 5) | st.integers(0, 10**4) | st.integers(0, 2**40), min_size=2, max_size=10
)


def group_of(centre):
    return {label for label, step in enumerate(centre.steps) if step > 0}


# --- the group and its share --------------------------------------------------------------------


@given(noisy)
def test_some_class_is_in_the_group_and_some_is_not_and_the_share_is_clamped(noisy_counts):
    centre = split_score(noisy_counts)
    assert split_score(list(noisy_counts)) == centre
    assert len(centre.steps) == len(noisy_counts)
    inside = {step for step in centre.steps if step > 0}
    outside = {step for step in centre.steps if step < 0}
    assert len(inside) == len(outside) == 1
    share = -min(outside)
    assert max(inside) == SPLIT_UNITS - share, "one record more is one more inside or outside"
    assert 4 <= share <= 124
    whole, of_group = sum(noisy_counts), sum(noisy_counts[k] for k in group_of(centre))
    exact = Fraction(SPLIT_UNITS * (of_group + 1), whole + 2)
    assert abs(share - min(max(exact, 4), 124)) <= Fraction(1, 2)
    assert centre.score_range == max(share, SPLIT_UNITS - share)


@pytest.mark.slow
@given(noisy)
def test_the_two_groups_are_of_about_the_same_size_and_the_largest_classes_apart(noisy_counts):
    group = group_of(split_score(noisy_counts))
    assert 0 not in group
    inside = sum(noisy_counts[label] for label in group)
    assert abs(sum(noisy_counts) - 2 * inside) <= max(noisy_counts)
    first, second = sorted(range(len(noisy_counts)), key=lambda k: -noisy_counts[k])[:2]
    assert (first in group) != (second in group)


@pytest.mark.parametrize(
    ("noisy_counts", "steps"),
    [
        ([50, 50], (-64, 64)),  # of two classes, the second is the group
        ([0, 0], (-64, 64)),
        ([10**6, 0], (-4, 124)),
        ([0, 10**6], (-124, 4)),
        ([30, 70], (-89, 39)),  # 71/102 of 128 is 89.1
        ([10, 20, 30], (-64, -64, 64)),
        ([0, 0, 7], (-114, -114, 14)),  # 8/9 of 128 is 113.8
        ([0] * 9, (-64, *[64] * 8)),
        ([5] * 4, (-64, 64, 64, -64)),
        ([1, 1, 100, *[0] * 7], (-124, -124, 4, *[-124] * 7)),
    ],
)
def test_groups_and_shares_of_some_counts(noisy_counts, steps):
    assert split_score(noisy_counts).steps == steps


# --- the range: what the guarantee rests on -----------------------------------------------------


def every_score(rows, labels, steps, n_codes):
    """The score of every set of codes of every feature, from the definition, record by record."""
    return [
        sum(steps[label] for row, label in zip(rows, labels, strict=True) if chosen[row[feature]])
        for feature, size in enumerate(n_codes)
        for chosen in product((False, True), repeat=size)
    ]


@given(noisy, seeds)
def test_one_record_moves_all_scores_by_amounts_in_an_interval_as_long_as_the_range(
    noisy_counts, seed
):
    rng = np.random.default_rng(seed)
    centre, n_codes = split_score(noisy_counts), rng.integers(1, 5, 3).tolist()
    n_records = int(rng.integers(0, 12))
    rows = np.array([rng.integers(0, size, n_records + 1) for size in n_codes]).T.tolist()
    labels = rng.integers(0, len(noisy_counts), n_records + 1).tolist()
    without = every_score(rows[:-1], labels[:-1], centre.steps, n_codes)
    moves = np.subtract(every_score(rows, labels, centre.steps, n_codes), without)
    assert moves.max() - moves.min() <= centre.score_range
    assert moves.min() >= 0 or moves.max() <= 0
    most_moving = int(np.argmax(np.abs(centre.steps)))
    more = every_score([*rows, rows[-1]], [*labels, most_moving], centre.steps, n_codes)
    moves = np.subtract(more, every_score(rows, labels, centre.steps, n_codes))
    assert moves.max() - moves.min() == centre.score_range, "and no shorter one would do"


def exponential(rate, score):
    return (Decimal(rate.numerator) * int(score) / rate.denominator).exp()


def law_of_draws(every_way, upper, rate):
    """The probability of every outcome: the feature and the codes on its left."""
    law = Counter()
    for (feature, left, right), chance in every_way(rate, upper.draw):
        assert not set(left.tolist()) & set(right.tolist())
        law[feature, tuple(left.tolist())] += chance
    return law


def random_counts(rng, shape, region, n_classes, n_records):
    """Counts of random records in a region, and one record more of any class and codes."""
    labels = rng.integers(0, n_classes, n_records)
    exact_counts = np.zeros((n_classes, shape.offsets[-1]), dtype=np.int64)
    one_more = exact_counts.copy()
    label = rng.integers(n_classes)
    for feature in range(len(region.low)):
        inside = shape.offsets[feature] + codes_in_region(region, shape, feature)
        np.add.at(exact_counts, (labels, rng.choice(inside, n_records)), 1)
        one_more[label, rng.choice(inside)] += 1
    return exact_counts, one_more


def largest_loss(random_region, every_way, times=1):
    """Over random tables and one record more: the largest |log ratio| of their laws.

    The mechanism is given `times` the epsilon that it should have.
    """
    losses = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_classes = int(rng.integers(2, 5))
        candidates, shape, region = random_region(rng, 4, 3, 1)
        if not (region.n_inside >= 2).any():
            continue
        centre = split_score(rng.integers(0, 30, n_classes).tolist())
        mechanism = SequentialExponential(times * EPSILON, centre.score_range)
        exact_counts, one_more = random_counts(rng, shape, region, n_classes, int(rng.integers(12)))
        with localcontext(precision(DIGITS)):
            before, after = (
                law_of_draws(
                    every_way,
                    UpperSplit(counts, centre, mechanism, shape, fine_grid(candidates), region),
                    mechanism.rate,
                )
                for counts in (exact_counts, exact_counts + one_more)
            )
            assert before.keys() == after.keys()
            losses.append(max(abs((before[way] / after[way]).ln()) for way in before))
    assert len(losses) > 40
    return max(losses)


def test_the_loss_by_one_record_is_at_most_epsilon_and_comes_near(random_region, every_way):
    found = largest_loss(random_region, every_way)
    assert found <= EPSILON + Fraction(1, 10**20)
    assert found > Fraction(99, 100) * EPSILON


def test_half_the_range_would_be_caught(random_region, every_way):
    assert largest_loss(random_region, every_way, times=2) > Fraction(19, 10) * EPSILON


# --- weights and draws --------------------------------------------------------------------------


def by_the_book(exact_counts, steps, rate, shape, base_measure, region):
    """The weight of every outcome, (feature, codes on the left): prior times exponential."""
    law = Counter()
    for feature in np.flatnonzero(region.n_inside >= 2).tolist():
        start = int(shape.offsets[feature])
        codes = codes_in_region(region, shape, feature).tolist()
        scores = {
            code: sum(s * int(n) for s, n in zip(steps, exact_counts[:, start + code], strict=True))
            for code in codes
        }
        if shape.is_category[feature]:
            for chosen in product((False, True), repeat=len(codes)):
                left = tuple(code for code, is_in in zip(codes, chosen, strict=True) if is_in)
                score = sum(scores[code] for code in left)
                law[feature, left] += exponential(rate, score) / 2 ** len(codes)
            continue
        whole = sum(int(base_measure[start + code]) for code in codes[:-1])
        for place, code in enumerate(codes[:-1], start=1):
            sides = [sum(scores[c] for c in side) for side in (codes[:place], codes[place:])]
            both = sum(exponential(rate, score) for score in sides) / 2
            law[feature, tuple(codes[:place])] += int(base_measure[start + code]) * both / whole
    return law


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, n_classes=st.integers(2, 5))
def test_weights_and_draws_are_those_of_all_subsets_and_cuts(
    random_region, every_way, seed, n_classes
):
    rng = np.random.default_rng(seed)
    candidates, shape, region = random_region(rng, 6, 3, 2)
    if not (region.n_inside >= 2).any():
        return
    centre = split_score(rng.integers(0, 100, n_classes).tolist())
    mechanism = SequentialExponential(Fraction(float(10 ** rng.uniform(-4, 2))), centre.score_range)
    exact_counts, _ = random_counts(rng, shape, region, n_classes, int(rng.integers(0, 20)))
    upper = UpperSplit(exact_counts, centre, mechanism, shape, fine_grid(candidates), region)
    weights = upper.weights()
    with localcontext(precision(DIGITS)):
        expected = by_the_book(
            exact_counts, centre.steps, mechanism.rate, shape, candidates.base_measure, region
        )
        by_part = Counter()
        for (feature, left), weight in expected.items():
            by_part[
                int(shape.offsets[feature]) + (0 if shape.is_category[feature] else left[-1])
            ] += weight
        found, error = weights.precise(DIGITS)
        assert {part for part, weight in enumerate(found) if weight} == by_part.keys()
        assert set(np.flatnonzero(weights.exact_factors).tolist()) == by_part.keys()
        for part, weight in by_part.items():
            assert abs(found[part] - weight) <= error * weight
            in_floats = Decimal(float(weights.exact_factors[part])) * exponential(
                mechanism.rate, weights.exact_scores[part]
            )
            assert abs(in_floats - weight) <= Decimal(weights.relative_error) * weight
        law, whole = law_of_draws(every_way, upper, mechanism.rate), sum(expected.values())
        assert law.keys() == expected.keys()
        for outcome, weight in expected.items():
            assert abs(law[outcome] - weight / whole) <= Decimal("1e-20") * weight / whole


def test_512_pure_categories_are_not_lost_below_the_smallest_numbers(make_candidates):
    found = make_candidates([512, 3], [True, False], np.random.default_rng(0))
    shape, region = FeatureLayout(found.offsets, found.is_category), whole_region(found)
    exact_counts = np.zeros((2, 515), dtype=np.int64)
    exact_counts[np.arange(512) % 2, np.arange(512)] = 20
    exact_counts[:, 512] = 512 // 2 * 20
    centre = split_score([100, 100])
    mechanism = SequentialExponential(Fraction(1000), centre.score_range)
    weights = UpperSplit(exact_counts, centre, mechanism, shape, fine_grid(found), region).weights()
    assert weights.exact_factors[0] == pytest.approx(2.0**-512)
    assert weights.exact_factors[0] > MIN_FACTOR
    assert weights.exact_scores[0] == 256 * 20 * 64
    assert weights.relative_error < 1e-9


@pytest.mark.slow
def test_decided_in_decimals_every_draw_is_the_same(random_region, layered):
    class Hidden(UpperSplit):
        def weights(self):
            return super().weights()._replace(relative_error=np.inf)

    drawn = set()
    for seed in range(15):
        rng = np.random.default_rng(seed)
        candidates, shape, region = random_region(rng, 6, 3, 1)
        if not (region.n_inside >= 2).any():
            continue
        centre = split_score([30, 50, 20])
        mechanism = SequentialExponential(Fraction(1), centre.score_range)
        exact_counts, _ = random_counts(rng, shape, region, 3, 20)
        arguments = exact_counts, centre, mechanism, shape, fine_grid(candidates), region
        for source in range(10):
            results = [
                kind(*arguments).draw(mechanism.open(layered(source)))
                for kind in (UpperSplit, Hidden)
            ]
            first, second = [(f, left.tolist(), right.tolist()) for f, left, right in results]
            assert first == second
            drawn.add(str(first))
    assert len(drawn) > 20
