"""Weights of all choices for the highest level of a subtree, in compiled floating point.

A *subtree* here is the last d levels of a tree, labels included. It is drawn jointly; its score is
the number of records that it classifies correctly. The total weight Z_d of all subtrees is a sum
over the choices for the highest level. Each term of the sum is the weight of a choice. The weight
of a split is proportional to the product of the two children's Z_(d-1)
(``docs/proofs/record-tree.md``). The same function computes the terms and their sum, so marginal
and conditional probabilities are consistent.

A weight is a *score* and a *factor*: ``factor * exp(rate * score)``. Scores are whole numbers, so
a large score loses no precision (:mod:`privatree.privacy.samplers._decay`). All terms are positive,
so relative errors only add up; :func:`relative_error` adds them.

The *parts* of a subtree are numbered like the codes of all features in a row. Part c of a numeric
feature is the cut after its code c. Part g of a category feature is the category g against the
rest; at the lowest level, the part of the first code stands for all subsets of the categories
together. The last number stands for "no split on this level".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.counting import MAX_GROUPS, Groups
from privatree.learners.tree._region import CutGrid, FeatureLayout
from privatree.privacy.samplers import DECAY_ERROR, UNIT_ROUNDOFF, Decay, decay

_CATEGORY_ROUNDOFFS = 70.0
"""Bound on the roundoffs in (1 + d)/2, where d = exp(-x) has fewer than 3 x + 130 roundoffs."""


class Counts(NamedTuple):
    """Exact counts of some records. In a table of counts, each array has a first axis of rows."""

    differences: NDArray[Any]
    """Array (class except the first, code): count of the class minus count of the first class."""
    totals: NDArray[Any]
    """Array (class,): number of records of each class."""


class LowestLevel(NamedTuple):
    """Public values of the lowest level of a subtree, the same for all of its nodes."""

    layout: FeatureLayout
    fine: CutGrid
    decays: Decay
    any_labels: bool = False
    """Whether both sides of a split may have the same label; see ``_label_scores.py``."""


class LevelAbove(NamedTuple):
    """Public values of the level above the lowest, the same for all nodes of the subtree."""

    lowest: LowestLevel
    grid: CutGrid
    rows: Groups
    """Rows of the table of counts from which the candidates of `grid` are counted."""


class Parts(NamedTuple):
    """Score and factor of every part of a subtree; factor 0 for a part that cannot be drawn."""

    scores: NDArray[np.int64]
    factors: NDArray[np.float64]


class Scratch(NamedTuple):
    """Reusable arrays for the counts of both children and for the parts of a subtree."""

    left: Counts
    right: Counts
    parts: Parts


def relative_error(levels: int, n_parts: int, n_classes: int) -> float:
    """Return a bound on the relative error of a subtree's weights (docs/proofs/record-tree.md)."""
    one_sum = DECAY_ERROR + (n_parts + 50) * UNIT_ROUNDOFF
    pairs = (2 * n_classes + 2) * DECAY_ERROR + 4 * (n_parts + n_classes) * UNIT_ROUNDOFF
    subsets = _CATEGORY_ROUNDOFFS * MAX_GROUPS * UNIT_ROUNDOFF
    error = pairs + subsets + one_sum
    for _ in range(levels - 1):
        error = 2 * error + one_sum
    return 1.1 * error  # the products of errors


@compiled
def weigh_one_level(counts: Any, lowest: Any, region: Any, parts: Any) -> None:
    """Fill in the parts of a subtree of one level."""
    scores, factors = parts
    exact_differences, exact_totals = counts
    layout, fine, decays, any_labels = lowest
    low, high, n_inside = region.low, region.high, region.n_inside
    n_classes = exact_totals.size
    n_parts = factors.size - 1
    active = 0
    for feature in range(low.size):
        active += n_inside[feature] >= 2
    factors.fill(0.0)
    best, weight = exact_totals.max(), 0.0
    for label in range(n_classes):
        weight += decay(decays, best - exact_totals[label])
    scores[n_parts] = best
    factors[n_parts] = weight / n_classes * (fine.stop_share if active > 0 else 1.0)
    for feature in range(low.size):
        if n_inside[feature] < 2:
            continue
        start = layout.offsets[feature]
        share = (1.0 - fine.stop_share) / active
        if layout.is_category[feature]:
            stop = layout.offsets[feature + 1]
            scores[start], factors[start] = _weigh_category_subsets(
                exact_differences[:, start:stop], exact_totals, decays, any_labels
            )
            factors[start] *= share
            continue
        first, last = start + low[feature], start + high[feature] - 1
        share /= np.float64(fine.below[last] - fine.below[first])
        if any_labels:
            share /= np.float64(n_classes) * n_classes
            _weigh_cuts_with_any_labels(
                exact_differences, exact_totals, first, last, decays, scores, factors
            )
            for part in range(first, last):
                factors[part] *= share * fine.base_measure[part]
        elif n_classes == 2:
            share *= 0.5
            exact_left, gap = np.int64(0), exact_totals[1] - exact_totals[0]
            score = exact_totals[0] + max(gap, 0)
            both = share * (1.0 + decay(decays, abs(gap)))
            for part in range(first, last):
                step = exact_differences[0, part]
                if step != 0:  # most codes of a small node are empty
                    exact_left += step
                    # labels (0, 1): score totals[1] - left; labels (1, 0): totals[0] + left
                    gap -= 2 * step
                    score = exact_totals[0] + exact_left + max(gap, 0)
                    both = share * (1.0 + decay(decays, abs(gap)))
                scores[part] = score
                factors[part] = both * fine.base_measure[part]
        else:
            share /= n_classes * (n_classes - 1.0)
            lefts = np.zeros(n_classes, dtype=np.int64)
            for part in range(first, last):
                for label in range(1, n_classes):
                    lefts[label] += exact_differences[label - 1, part]
                scores[part], factors[part] = _weigh_label_pairs(lefts, exact_totals, decays)
                factors[part] *= share * fine.base_measure[part]


@compiled
def _weigh_cuts_with_any_labels(
    exact_differences: Any, exact_totals: Any, first: Any, last: Any, decays: Any,
    scores: Any, factors: Any,
) -> None:  # fmt: skip
    """Fill in the sum of exp(rate (left_a + right_b)) over all a and b, for some cuts.

    The sum is the product of two sums, one for each side.
    """
    n_classes = exact_totals.size
    lefts = np.zeros(n_classes, dtype=np.int64)
    score, weight, is_known = np.int64(0), 0.0, False
    for part in range(first, last):
        for label in range(1, n_classes):
            step = exact_differences[label - 1, part]
            lefts[label] += step
            is_known = is_known and step == 0
        if not is_known:  # otherwise the weights are those of the cut before
            best_left, best_right = lefts[0], exact_totals[0]
            for label in range(1, n_classes):
                best_left = max(best_left, lefts[label])
                best_right = max(best_right, exact_totals[label] - lefts[label])
            left_weight, right_weight = 0.0, 0.0
            for label in range(n_classes):
                right = exact_totals[label] - lefts[label]
                left_weight += decay(decays, best_left - lefts[label])
                right_weight += decay(decays, best_right - right)
            score, weight, is_known = best_left + best_right, left_weight * right_weight, True
        scores[part], factors[part] = score, weight


@compiled
def _weigh_label_pairs(exact_lefts: Any, exact_totals: Any, decays: Any) -> Any:
    """Return the sum of exp(rate (left_a + right_b)) over all a != b, in linear time.

    Let r be the class with most records on the right. Pairs (r, b) are added up one by one. For
    a != r, the sum over b != a is the sum over all b minus the term of a. That term is not the
    largest, so the difference keeps its precision.
    """
    n_classes = exact_totals.size
    rights = np.empty(n_classes, dtype=np.int64)
    for label in range(n_classes):
        rights[label] = exact_totals[label] - exact_lefts[label]
    r = 0
    for label in range(1, n_classes):
        if rights[label] > rights[r]:
            r = label
    other = 1 if r == 0 else 0
    best_left, best_right = exact_lefts[other], rights[other]
    for label in range(n_classes):
        if label != r:
            best_left = max(best_left, exact_lefts[label])
            best_right = max(best_right, rights[label])
    with_r, all_rights = 0.0, 1.0
    for label in range(n_classes):
        if label != r:
            with_r += decay(decays, best_right - rights[label])
            all_rights += decay(decays, rights[r] - rights[label])
    without_r = 0.0
    for label in range(n_classes):
        if label != r:
            others = all_rights - decay(decays, rights[r] - rights[label])
            without_r += others * decay(decays, best_left - exact_lefts[label])
    with_score, without_score = exact_lefts[r] + best_right, best_left + rights[r]
    score = max(with_score, without_score)
    weight = with_r * decay(decays, score - with_score)
    return score, weight + without_r * decay(decays, score - without_score)


@compiled
def weigh_subsets_of_pair(
    exact_differences: Any, exact_totals: Any, a: Any, b: Any, decays: Any
) -> Any:
    """Return the mean weight over all ways to label some categories a and the others b.

    The mean is a product over the categories.
    """
    sides, weight = np.int64(0), 1.0
    for code in range(exact_differences.shape[1]):
        above = np.int64(0)
        if a > 0:
            above += exact_differences[a - 1, code]
        if b > 0:
            above -= exact_differences[b - 1, code]
        gap = abs(above)
        sides += gap
        weight *= 0.5 + 0.5 * decay(decays, gap)
    return (exact_totals[a] + exact_totals[b] + sides) // 2, weight


@compiled
def _weigh_category_subsets(
    exact_differences: Any, exact_totals: Any, decays: Any, any_labels: Any
) -> Any:
    """Return the mean weight over all pairs of labels; (a, b) and (b, a) have the same weight."""
    n_classes = exact_totals.size
    n_pairs = n_classes * (n_classes - 1) // 2 + (n_classes if any_labels else 0)
    scores = np.empty(n_pairs, dtype=np.int64)
    weights = np.empty(n_pairs)
    pair = 0
    for b in range(n_classes):
        for a in range(b + 1 if any_labels else b):
            scores[pair], weights[pair] = weigh_subsets_of_pair(
                exact_differences, exact_totals, a, b, decays
            )
            if a == b:
                weights[pair] *= 0.5  # every other pair stands for two
            pair += 1
    score, weight = total_weight(Parts(scores, weights), decays)
    n_both = n_pairs - 0.5 * n_classes if any_labels else np.float64(n_pairs)
    return score, weight / n_both


@compiled
def total_weight(parts: Any, decays: Any) -> Any:
    scores, factors = parts
    best, found = np.int64(0), False
    for part in range(factors.size):
        if factors[part] > 0.0 and (not found or scores[part] > best):
            best, found = scores[part], True
    weight, score, power = 0.0, best, 1.0
    for part in range(factors.size):
        if factors[part] > 0.0:
            if scores[part] != score:  # often it is that of the part before
                score = scores[part]
                power = decay(decays, best - score)
            weight += factors[part] * power
    return best, weight


@compiled
def _empty_counts(n_classes: int, n_codes: int) -> Counts:
    differences = np.empty((n_classes - 1, n_codes), dtype=np.int64)
    return Counts(differences, np.empty(n_classes, dtype=np.int64))


@compiled
def make_parts(n_codes: int) -> Parts:
    """Return an array of parts with factor 0, so that none can be drawn."""
    return Parts(np.zeros(n_codes + 1, dtype=np.int64), np.zeros(n_codes + 1))


@compiled
def make_scratch(n_classes: int, n_codes: int) -> Scratch:
    left, right = _empty_counts(n_classes, n_codes), _empty_counts(n_classes, n_codes)
    return Scratch(left, right, make_parts(n_codes))


@compiled
def _counts_of_row(tables: Any, row: Any) -> Any:
    return Counts(tables.differences[row], tables.totals[row])


# Counts are added up in plain loops: numba takes seconds to compile whole-array arithmetic.


@compiled
def _add_counts(counts: Any, to: Any) -> None:
    for label in range(counts.differences.shape[0]):
        for code in range(counts.differences.shape[1]):
            to.differences[label, code] += counts.differences[label, code]
    for label in range(counts.totals.size):
        to.totals[label] += counts.totals[label]


@compiled
def _subtract_counts(whole: Any, part: Any, rest: Any) -> None:
    for label in range(whole.differences.shape[0]):
        for code in range(whole.differences.shape[1]):
            rest.differences[label, code] = (
                whole.differences[label, code] - part.differences[label, code]
            )
    for label in range(whole.totals.size):
        rest.totals[label] = whole.totals[label] - part.totals[label]


@compiled
def count_splittable_features(layout: Any, grid: Any, region: Any) -> Any:
    active = 0
    for feature in range(region.low.size):
        if region.n_inside[feature] >= 2:
            start = layout.offsets[feature]
            first, last = start + region.low[feature], start + region.high[feature] - 1
            active += layout.is_category[feature] or grid.below[last] > grid.below[first]
    return active


@compiled
def total_of_one_level(counts: Any, lowest: Any, region: Any, room: Any) -> Any:
    weigh_one_level(counts, lowest, region, room.parts)
    return total_weight(room.parts, lowest.decays)


@compiled
def weigh_feature_of_two_levels(
    feature: Any, tables: Any, whole: Any, above: Any, region: Any, room: Any, parts: Any
) -> None:
    """Fill in one feature's parts of a subtree of two levels.

    `tables` are the counts for each row of the feature. `whole` is their sum, the counts of the
    node. The region is changed during the computation, and restored at the end.
    """
    scores, factors = parts
    layout, grid = above.lowest.layout, above.grid
    active = count_splittable_features(layout, grid, region)
    start = layout.offsets[feature]
    is_category = layout.is_category[feature]
    was_low, was_high = region.low[feature], region.high[feature]
    were_inside = region.n_inside[feature]
    if were_inside < 2 or tables.totals.shape[0] == 0:
        return
    sum_of_measure = were_inside if were_inside > 2 else 1
    if not is_category:
        sum_of_measure = grid.below[start + was_high - 1] - grid.below[start + was_low]
        if sum_of_measure == 0:
            return
        room.left.differences.fill(0)
        room.left.totals.fill(0)
    share = (1.0 - grid.stop_share) / active / np.float64(sum_of_measure)
    for part in range(start + was_low, start + was_high):
        code = part - start
        if is_category:
            if not region.inside[part]:
                continue
            room.left.differences.fill(0)
            room.left.totals.fill(0)
            base_measure = 1.0
            region.n_inside[feature] = 1
        else:
            base_measure = grid.base_measure[part]
            if part == start + was_high - 1 or base_measure == 0.0:
                continue
            region.high[feature] = code + 1
            region.n_inside[feature] = code + 1 - was_low
        _add_counts(_counts_of_row(tables, above.rows.row_of_code[part]), room.left)
        left_score, left_weight = total_of_one_level(room.left, above.lowest, region, room)
        if is_category:
            region.n_inside[feature] = were_inside - 1
        else:
            region.low[feature], region.high[feature] = code + 1, was_high
            region.n_inside[feature] = was_high - code - 1
        _subtract_counts(whole, room.left, room.right)
        score, weight = total_of_one_level(room.right, above.lowest, region, room)
        region.low[feature], region.high[feature] = was_low, was_high
        region.n_inside[feature] = were_inside
        scores[part] = left_score + score
        factors[part] = share * base_measure * left_weight * weight
        if is_category and were_inside == 2:
            break  # the other category against the rest is the same split


@compiled
def total_of_two_levels(tables: Any, above: Any, region: Any, room: Any, parts: Any) -> Any:
    """Return the total weight of a subtree of two levels, from the rows of all features."""
    whole = Counts(
        np.zeros((tables.differences.shape[1], tables.differences.shape[2]), dtype=np.int64),
        np.zeros(tables.totals.shape[1], dtype=np.int64),
    )
    firsts = above.rows.firsts
    used = 0
    while firsts[used + 1] == firsts[used]:
        used += 1
    for row in range(firsts[used], firsts[used + 1]):
        # the rows of any one feature are all records
        _add_counts(_counts_of_row(tables, row), whole)
    parts.factors.fill(0.0)
    active = count_splittable_features(above.lowest.layout, above.grid, region)
    score, weight = total_of_one_level(whole, above.lowest, region, room)
    if active == 0:
        return score, weight
    parts.scores[-1], parts.factors[-1] = score, above.grid.stop_share * weight
    for feature in range(region.low.size):
        first, last = firsts[feature], firsts[feature + 1]
        mine = Counts(tables.differences[first:last], tables.totals[first:last])
        weigh_feature_of_two_levels(feature, mine, whole, above, region, room, parts)
    return total_weight(parts, above.lowest.decays)


@compiled
def weigh_part_of_three_levels(
    left: Any, whole: Any, above: Any, left_region: Any, right_region: Any
) -> Any:
    """Return the product of the two children's totals, each a subtree of two levels."""
    right = Counts(np.empty_like(whole.differences), np.empty_like(whole.totals))
    for row in range(whole.totals.shape[0]):
        _subtract_counts(
            _counts_of_row(whole, row), _counts_of_row(left, row), _counts_of_row(right, row)
        )
    n_classes, n_codes = whole.totals.shape[1], whole.differences.shape[2]
    room, parts = make_scratch(n_classes, n_codes), make_parts(n_codes)
    left_score, left_weight = total_of_two_levels(left, above, left_region, room, parts)
    score, weight = total_of_two_levels(right, above, right_region, room, parts)
    return left_score + score, left_weight * weight
