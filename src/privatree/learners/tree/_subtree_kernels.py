"""Weights of everything a subtree could begin with, in compiled floating point.

A *subtree* is a subtree of d levels, labels included, drawn as one by its number of correctly
classified records. Its total weight Z_d is a sum of products over the children's Z_(d-1)
(``docs/proofs/record-tree.md``), and what it begins with has the weight of its part of the sum. The
same function computes the parts and, adding them up, Z: marginals and conditionals cannot differ.

A weight is a *score* and a *factor*: ``factor * exp(rate * score)``. Scores are whole numbers, so
nothing is lost however large they are (:mod:`privatree.privacy.samplers._decay`). All terms are
positive: errors only add up, as :func:`relative_error` does.

The *parts* of a subtree are numbered like the codes of all features side by side: a numeric
feature's part c is the cut after its code c, a category feature's part g is the category g against
the rest; at the lowest level all subsets of the categories together are the part of the first
code. The last number stands for "no split on this level".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree._support.kernels.compiling import compiled
from privatree.counting import MAX_GROUPS
from privatree.privacy.samplers import DECAY_ERROR, UNIT_ROUNDOFF, decay

_OF_A_CATEGORY = 70.0
"""Roundoffs in (1 + d)/2 for d = exp(-x): those of d, below 3 x + 130 of it, and two more."""

STOP = (1.0, 0.05, 0.6, 0.1)
"""Prior share of "no split on this level", by the number of levels left."""


def relative_error(levels: int, n_parts: int, n_classes: int) -> float:
    """Bound on the relative error of every weight of a subtree (``docs/proofs/record-tree.md``)."""
    one_sum = DECAY_ERROR + (n_parts + 50) * UNIT_ROUNDOFF
    pairs = (2 * n_classes + 2) * DECAY_ERROR + 4 * (n_parts + n_classes) * UNIT_ROUNDOFF
    subsets = _OF_A_CATEGORY * MAX_GROUPS * UNIT_ROUNDOFF
    error = pairs + subsets + one_sum
    for _ in range(levels - 1):
        error = 2 * error + one_sum
    return 1.1 * error  # the products of errors


# --- one level: labels below every cut and every subset -----------------------------------------


@compiled
def one_level(
    exact_differences: Any,
    exact_totals: Any,
    shape: Any,
    fine: Any,
    region: Any,
    decays: Any,
    scores: Any,
    factors: Any,
) -> None:
    """Fill in the parts of a subtree of one level."""
    low, high, n_inside = region.low, region.high, region.n_inside
    coarse_decay, fine_decay = decays
    n_classes = exact_totals.size
    n_parts = factors.size - 1
    active = 0
    for feature in range(low.size):
        active += n_inside[feature] >= 2
    for part in range(n_parts):
        factors[part] = 0.0
    best = exact_totals[0]
    for label in range(1, n_classes):
        best = max(best, exact_totals[label])
    weight = 0.0
    for label in range(n_classes):
        weight += decay(coarse_decay, fine_decay, best - exact_totals[label])
    scores[n_parts] = best
    factors[n_parts] = weight / n_classes * (STOP[1] if active > 0 else 1.0)
    for feature in range(low.size):
        if n_inside[feature] < 2:
            continue
        start = shape.offsets[feature]
        share = (1.0 - STOP[1]) / active
        if shape.is_category[feature]:
            stop = shape.offsets[feature + 1]
            scores[start], factors[start] = _subsets(
                exact_differences[:, start:stop], exact_totals, decays
            )
            factors[start] *= share
            continue
        first, last = start + low[feature], start + high[feature] - 1
        share /= np.float64(fine.below[last] - fine.below[first])
        if n_classes == 2:
            share *= 0.5
            exact_left, gap = np.int64(0), exact_totals[1] - exact_totals[0]
            score = exact_totals[0] + max(gap, 0)
            both = share * (1.0 + decay(coarse_decay, fine_decay, abs(gap)))
            for part in range(first, last):
                step = exact_differences[0, part]
                if step != 0:  # most codes of a small node are empty
                    exact_left += step
                    # labels (0, 1): score totals[1] - left; labels (1, 0): totals[0] + left
                    gap -= 2 * step
                    score = exact_totals[0] + exact_left + max(gap, 0)
                    both = share * (1.0 + decay(coarse_decay, fine_decay, abs(gap)))
                scores[part] = score
                factors[part] = both * fine.mass[part]
        else:
            share /= n_classes * (n_classes - 1.0)
            lefts = np.zeros(n_classes, dtype=np.int64)
            for part in range(first, last):
                for label in range(1, n_classes):
                    lefts[label] += exact_differences[label - 1, part]
                scores[part], factors[part] = _label_pairs(lefts, exact_totals, decays)
                factors[part] *= share * fine.mass[part]


@compiled
def _label_pairs(exact_lefts: Any, exact_totals: Any, decays: Any) -> Any:
    """Sum of exp(rate (left_a + right_b)) over all a != b, in a time proportional to the classes.

    Let r be the class with most records on the right. Pairs (r, b) are added up as they are; for
    a != r the sum over b != a is that over all b, without the share of a, which is not the largest:
    the difference keeps its precision.
    """
    coarse_decay, fine_decay = decays
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
            with_r += decay(coarse_decay, fine_decay, best_right - rights[label])
            all_rights += decay(coarse_decay, fine_decay, rights[r] - rights[label])
    without_r = 0.0
    for label in range(n_classes):
        if label != r:
            others = all_rights - decay(coarse_decay, fine_decay, rights[r] - rights[label])
            without_r += others * decay(coarse_decay, fine_decay, best_left - exact_lefts[label])
    with_score, without_score = exact_lefts[r] + best_right, best_left + rights[r]
    score = max(with_score, without_score)
    weight = with_r * decay(coarse_decay, fine_decay, score - with_score)
    return score, weight + without_r * decay(coarse_decay, fine_decay, score - without_score)


@compiled
def subsets_of_pair(exact_differences: Any, exact_totals: Any, a: Any, b: Any, decays: Any) -> Any:
    """Mean over all subsets, labelled a, their complements b: a product over the categories."""
    coarse_decay, fine_decay = decays
    sides, weight = np.int64(0), 1.0
    for code in range(exact_differences.shape[1]):
        above = np.int64(0)
        if a > 0:
            above += exact_differences[a - 1, code]
        if b > 0:
            above -= exact_differences[b - 1, code]
        gap = abs(above)
        sides += gap
        weight *= 0.5 + 0.5 * decay(coarse_decay, fine_decay, gap)
    return (exact_totals[a] + exact_totals[b] + sides) // 2, weight


@compiled
def _subsets(exact_differences: Any, exact_totals: Any, decays: Any) -> Any:
    """Mean over all pairs of labels; (a, b) and (b, a) weigh the same."""
    n_classes = exact_totals.size
    n_pairs = n_classes * (n_classes - 1) // 2
    scores = np.empty(n_pairs, dtype=np.int64)
    weights = np.empty(n_pairs)
    pair = 0
    for b in range(1, n_classes):
        for a in range(b):
            scores[pair], weights[pair] = subsets_of_pair(
                exact_differences, exact_totals, a, b, decays
            )
            pair += 1
    score, weight = total(scores, weights, decays)
    return score, weight / n_pairs


@compiled
def total(scores: Any, factors: Any, decays: Any) -> Any:
    """The sum of weights, as one weight."""
    coarse_decay, fine_decay = decays
    best, found = np.int64(0), False
    for part in range(factors.size):
        if factors[part] > 0.0 and (not found or scores[part] > best):
            best, found = scores[part], True
    weight, score, power = 0.0, best, 1.0
    for part in range(factors.size):
        if factors[part] > 0.0:
            if scores[part] != score:  # often it is that of the part before
                score = scores[part]
                power = decay(coarse_decay, fine_decay, best - score)
            weight += factors[part] * power
    return best, weight


# --- more levels: products of the children's totals ---------------------------------------------


class Scratch(NamedTuple):
    """Room for parts on the way to their total."""

    left: NDArray[np.int64]
    left_totals: NDArray[np.int64]
    right: NDArray[np.int64]
    right_totals: NDArray[np.int64]
    scores: NDArray[np.int64]
    factors: NDArray[np.float64]


@compiled
def scratch(n_classes: int, n_codes: int) -> Scratch:
    """Room for tables of this size."""
    return Scratch(
        np.empty((n_classes - 1, n_codes), dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty((n_classes - 1, n_codes), dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_codes + 1, dtype=np.int64),
        np.empty(n_codes + 1),
    )


# Tables are added up in plain loops: numba takes seconds to compile whole-array arithmetic.


@compiled
def _fill_with_zeros(table: Any, totals: Any) -> None:
    for label in range(table.shape[0]):
        for code in range(table.shape[1]):
            table[label, code] = 0
    for label in range(totals.size):
        totals[label] = 0


@compiled
def _add(table: Any, totals: Any, to_table: Any, to_totals: Any) -> None:
    for label in range(table.shape[0]):
        for code in range(table.shape[1]):
            to_table[label, code] += table[label, code]
    for label in range(totals.size):
        to_totals[label] += totals[label]


@compiled
def _subtract(table: Any, part: Any, rest: Any) -> None:
    for label in range(table.shape[0]):
        for code in range(table.shape[1]):
            rest[label, code] = table[label, code] - part[label, code]


@compiled
def count_active(shape: Any, grid: Any, low: Any, high: Any, n_inside: Any) -> Any:
    """How many features have a candidate on this grid inside the region."""
    active = 0
    for feature in range(low.size):
        if n_inside[feature] >= 2:
            start = shape.offsets[feature]
            first, last = start + low[feature], start + high[feature] - 1
            active += shape.is_category[feature] or grid.below[last] > grid.below[first]
    return active


@compiled
def one_level_total(
    exact_differences: Any,
    exact_totals: Any,
    shape: Any,
    fine: Any,
    region: Any,
    decays: Any,
    room: Any,
) -> Any:
    """Total weight of a subtree of one level."""
    one_level(
        exact_differences, exact_totals, shape, fine, region, decays, room.scores, room.factors
    )
    return total(room.scores, room.factors, decays)


@compiled
def feature_of_two_levels(
    feature: Any,
    exact_tables: Any,
    exact_totals: Any,
    all_differences: Any,
    all_totals: Any,
    shape: Any,
    grid: Any,
    fine: Any,
    groups: Any,
    region: Any,
    decays: Any,
    room: Any,
    scores: Any,
    factors: Any,
) -> None:
    """Fill in one feature's parts of a subtree of two levels.

    Parameters
    ----------
    exact_tables, exact_totals : arrays (row, class but the first, code) and (row, class)
        Counts of each row of the feature.
    all_differences, all_totals : arrays (class but the first, code) and (class,)
        Their sums: the counts of the node.
    """
    active = count_active(shape, grid, region.low, region.high, region.n_inside)
    start = shape.offsets[feature]
    is_category = shape.is_category[feature]
    was_low, was_high, were_inside = (
        region.low[feature],
        region.high[feature],
        region.n_inside[feature],
    )
    if were_inside < 2 or exact_tables.shape[0] == 0:
        return
    whole = were_inside if were_inside > 2 else 1
    if not is_category:
        whole = grid.below[start + was_high - 1] - grid.below[start + was_low]
        if whole == 0:
            return
        _fill_with_zeros(room.left, room.left_totals)
    share = (1.0 - STOP[2]) / active / np.float64(whole)
    for part in range(start + was_low, start + was_high):
        code = part - start
        row = groups.row_of_code[part]
        if is_category:
            if not region.inside[part]:
                continue
            _fill_with_zeros(room.left, room.left_totals)
            _add(exact_tables[row], exact_totals[row], room.left, room.left_totals)
            mass = 1.0
            region.n_inside[feature] = 1
        else:
            mass = grid.mass[part]
            if part == start + was_high - 1 or mass == 0.0:
                continue
            _add(exact_tables[row], exact_totals[row], room.left, room.left_totals)
            region.high[feature] = code + 1
            region.n_inside[feature] = code + 1 - was_low
        left_score, left_weight = one_level_total(
            room.left, room.left_totals, shape, fine, region, decays, room
        )
        if is_category:
            region.n_inside[feature] = were_inside - 1
        else:
            region.low[feature], region.high[feature] = code + 1, was_high
            region.n_inside[feature] = was_high - code - 1
        _subtract(all_differences, room.left, room.right)
        for label in range(all_totals.size):
            room.right_totals[label] = all_totals[label] - room.left_totals[label]
        score, weight = one_level_total(
            room.right, room.right_totals, shape, fine, region, decays, room
        )
        region.low[feature], region.high[feature] = was_low, was_high
        region.n_inside[feature] = were_inside
        scores[part] = left_score + score
        factors[part] = share * mass * left_weight * weight
        if is_category and were_inside == 2:
            break  # the other category against the rest is the same split


@compiled
def two_levels_total(
    exact_tables: Any,
    exact_totals: Any,
    shape: Any,
    grid: Any,
    fine: Any,
    groups: Any,
    region: Any,
    decays: Any,
    room: Any,
    scores: Any,
    factors: Any,
) -> Any:
    """Total weight of a subtree of two levels, from the rows of all features."""
    all_differences = np.zeros((exact_tables.shape[1], exact_tables.shape[2]), dtype=np.int64)
    all_totals = np.zeros(exact_totals.shape[1], dtype=np.int64)
    used = 0
    while groups.firsts[used + 1] == groups.firsts[used]:
        used += 1
    for row in range(groups.firsts[used], groups.firsts[used + 1]):
        # the rows of any one feature are all records
        _add(exact_tables[row], exact_totals[row], all_differences, all_totals)
    for part in range(factors.size):
        factors[part] = 0.0
    active = count_active(shape, grid, region.low, region.high, region.n_inside)
    score, weight = one_level_total(all_differences, all_totals, shape, fine, region, decays, room)
    if active == 0:
        return score, weight
    scores[-1], factors[-1] = score, STOP[2] * weight
    for feature in range(region.low.size):
        first, last = groups.firsts[feature], groups.firsts[feature + 1]
        feature_of_two_levels(
            feature,
            exact_tables[first:last],
            exact_totals[first:last],
            all_differences,
            all_totals,
            shape,
            grid,
            fine,
            groups,
            region,
            decays,
            room,
            scores,
            factors,
        )
    return total(scores, factors, decays)


@compiled
def part_of_three_levels(
    left: Any,
    left_totals: Any,
    all_tables: Any,
    all_totals: Any,
    shape: Any,
    middle: Any,
    fine: Any,
    groups: Any,
    left_box: Any,
    right_box: Any,
    decays: Any,
) -> Any:
    """Product of the two children's totals, each a subtree of two levels."""
    right = np.empty_like(all_tables)
    for row in range(right.shape[0]):
        _subtract(all_tables[row], left[row], right[row])
    right_totals = np.empty_like(all_totals)
    _subtract(all_totals, left_totals, right_totals)
    n_classes, n_codes = all_totals.shape[1], all_tables.shape[2]
    room = scratch(n_classes, n_codes)
    scores = np.empty(n_codes + 1, dtype=np.int64)
    factors = np.empty(n_codes + 1)
    left_score, left_weight = two_levels_total(
        left, left_totals, shape, middle, fine, groups, left_box, decays, room, scores, factors
    )
    score, weight = two_levels_total(
        right,
        right_totals,
        shape,
        middle,
        fine,
        groups,
        right_box,
        decays,
        room,
        scores,
        factors,
    )
    return left_score + score, left_weight * weight
