"""Weights of subtrees of levels, beside sums over every subtree, one by one."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privatree.counting import BinnedRecords, Candidates
from privatree.learners.regression._level_scores import LevelScores
from privatree.learners.tree._region import (
    FeatureLayout,
    child_regions,
    codes_in_region,
    fine_grid,
    splits_on_grid,
    whole_region,
)
from privatree.learners.tree._subtree import Subtree, subtree_weights
from privatree.privacy.mechanisms._sequential_exponential import sequential_weights
from privatree.privacy.samplers import decay_table
from privatree.schema import Categorical, Numeric, Schema

N_LEVELS = 3
SCHEMA = Schema(
    {"number": Numeric(0, 3, integer=True), "kind": Categorical(["a", "b", "c"])}, [*range(4)]
)
CANDIDATES = Candidates.from_schema(SCHEMA, 4)
LAYOUT = FeatureLayout(CANDIDATES.offsets, CANDIDATES.is_category)
RATE = Fraction(1, 3)
STOPS = {1: (0.25,), 2: (0.5, 0.25), 3: (0.125, 0.5, 0.25)}


def some_records(n_records, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, n, n_records) for n in CANDIDATES.n_codes], axis=1)
    levels = rng.integers(0, N_LEVELS, n_records)
    return codes, levels


def total_of_levels(levels):
    """Mean of exp(rate * score) over all values of one leaf."""
    return (
        sum(
            math.exp(RATE * sum(N_LEVELS - 1 - abs(k - v) for k in levels)) for v in range(N_LEVELS)
        )
        / N_LEVELS
    )


def total_of_subtrees(codes, levels, region, stops):
    """Sum over all subtrees, by the definition."""
    splits = splits_on_grid(fine_grid(CANDIDATES), region, LAYOUT)
    if not stops or not splits:
        return total_of_levels(levels)
    found = stops[0] * total_of_subtrees(codes, levels, region, stops[1:])
    if len(stops) == 1:  # all subsets of the categories, each way round
        features = {split.feature for split in splits}
        for feature in features:
            inside = codes_in_region(region, LAYOUT, feature)
            if LAYOUT.is_category[feature]:
                sides = list(product([False, True], repeat=len(inside)))
                ways = [(1 / len(sides), inside[np.array(side)]) for side in sides]
            else:
                shares = {s.part: float(s.share) for s in splits if s.feature == feature}
                ways = [
                    (share * len(features), inside[inside <= part - LAYOUT.offsets[feature]])
                    for part, share in shares.items()
                ]
            for share, left in ways:
                goes_left = np.isin(codes[:, feature], left)
                both = total_of_levels(levels[goes_left]) * total_of_levels(levels[~goes_left])
                found += (1 - stops[0]) / len(features) * share * both
        return found
    for split in splits:
        goes_left = np.isin(codes[:, split.feature], split.left)
        sides = zip(child_regions(region, LAYOUT, split), (goes_left, ~goes_left), strict=True)
        both = math.prod(
            total_of_subtrees(codes[here], levels[here], child, stops[1:]) for child, here in sides
        )
        found += (1 - stops[0]) * float(split.share) * both
    return found


def weights_of_root(codes, levels, n_levels_of_subtree):
    records = BinnedRecords(
        codes.astype(np.uint8), CANDIDATES.n_codes, (levels + 1).astype(np.uint8), N_LEVELS + 1
    )
    labels = LevelScores(N_LEVELS)
    grids = tuple(
        fine_grid(CANDIDATES)._replace(stop_share=stop) for stop in STOPS[n_levels_of_subtree]
    )
    decays = decay_table(RATE, len(levels) * labels.score_range)
    subtree = Subtree(RATE, decays, grids, whole_region(CANDIDATES), labels)
    return subtree_weights(records, {0: subtree}, records.class_counts(), LAYOUT)[0]


@pytest.mark.parametrize("n_records", [0, 1, 12])
@pytest.mark.parametrize("levels_of_subtree", [1, 2, 3])
def test_the_sum_of_the_weights_is_that_of_all_subtrees(levels_of_subtree, n_records):
    codes, levels = some_records(n_records, seed=levels_of_subtree)
    weights = weights_of_root(codes, levels, levels_of_subtree)
    relative = sequential_weights(weights, RATE)
    largest = np.log(weights.exact_factors[relative.argmax()]) + float(
        RATE * int(weights.exact_scores[relative.argmax()])
    )
    expected = total_of_subtrees(codes, levels, whole_region(CANDIDATES), STOPS[levels_of_subtree])
    assert relative.sum() * math.exp(largest) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("levels_of_subtree", [1, 2, 3])
def test_weights_in_decimals_are_the_same(levels_of_subtree):
    codes, levels = some_records(12, seed=5)
    weights = weights_of_root(codes, levels, levels_of_subtree)
    precise, error = weights.precise(60)
    assert error < Decimal(10) ** -40
    with localcontext(prec=60):
        largest = max(precise)
        ratios = [float(weight / largest) for weight in precise]
    relative = sequential_weights(weights, RATE)
    assert relative / relative.max() == pytest.approx(np.array(ratios), rel=1e-12)
