"""The law of a subtree, from its definition alone.

A subtree of d levels is a tree T with a prior mass m(T); its weight is m(T) exp(rate * number of
records that T labels correctly). With the stop priors p_1 = .05, p_2 = .6, p_3 = .1:

- no level: each label alike;
- one level: with p_1 no level, else a feature with two codes in the region, each alike, a cut by
  its mass and two different labels, each pair alike; of a category feature any subset, each alike;
- d levels: with p_d one level less, else a feature, a cut on the level's grid by its mass (or one
  category against the rest), and a subtree of one level less on each side, of the same grids;
- where the level's grid has no cut in the region: one level less.
"""

import math
from collections import Counter
from itertools import combinations, permutations, product

import numpy as np

from privatree.counting import coarsen_base_measure

STOPS = (0.1, 0.6, 0.05)
"""Stop shares of three levels, the highest first."""


def leaf(label, labels):
    """A leaf below a root without class counts: half of the probability follows the label."""
    shares = [(1 / len(labels) + (other == label)) / 2 for other in labels]
    return label, tuple(shares), None


def subtrees(u, region, grids, stops=STOPS):
    """All trees of a subtree: (prior mass, shape)."""
    level, labels = len(grids), range(len(u.schema.classes))
    stop = stops[-level] if level else 1.0
    if level == 0:
        return [(1.0 / len(labels), leaf(label, labels)) for label in labels]
    shorter = subtrees(u, region, grids[1:], stops)
    options = splits_of_last_level(u, region) if level == 1 else splits(u, region, grids[0])
    if not options:
        return shorter
    found = [(stop * mass, shape) for mass, shape in shorter]
    for share, feature, left, right in options:
        if level == 1 and u.candidates.is_category[feature]:
            # A subset labelled a, the others b, is the same tree as the others b, the subset a.
            pairs = list(combinations(labels, 2))
            below = [(1.0 / len(pairs), leaf(a, labels), leaf(b, labels)) for a, b in pairs]
        elif level == 1:
            pairs = list(permutations(labels, 2))
            below = [(1.0 / len(pairs), leaf(a, labels), leaf(b, labels)) for a, b in pairs]
        else:
            below = [
                (mass_left * mass_right, shape_left, shape_right)
                for (mass_left, shape_left), (mass_right, shape_right) in product(
                    subtrees(u, {**region, feature: left}, grids[1:], stops),
                    subtrees(u, {**region, feature: right}, grids[1:], stops),
                )
            ]
        found += [
            ((1 - stop) * share * mass, joined(u, feature, left, right, a, b))
            for mass, a, b in below
        ]
    return found


def joined(u, feature, left, right, on_left, on_right):
    if not right:
        return on_left
    if not left:
        return on_right
    cuts = u.candidates.cuts[feature]
    if cuts is not None:
        return feature, float(cuts[left[-1]]), on_left, on_right
    return feature, left, on_left, on_right


def splits(u, region, base_measure):
    """Share, feature, and codes on the left and on the right."""
    by_feature = []
    for feature, codes in region.items():
        start = u.candidates.offsets[feature]
        if u.candidates.is_category[feature]:
            lefts = [(1, (code,)) for code in codes]
            lefts = lefts[:1] if len(codes) == 2 else lefts if len(codes) > 2 else []
        else:
            lefts = [
                (int(base_measure[start + code]), tuple(c for c in codes if c <= code))
                for code in codes[:-1]
                if base_measure[start + code]
            ]
        if lefts:
            by_feature.append((feature, codes, lefts))
    return [
        (
            mass / sum(m for m, _ in lefts) / len(by_feature),
            feature,
            left,
            tuple(c for c in codes if c not in left),
        )
        for feature, codes, lefts in by_feature
        for mass, left in lefts
    ]


def splits_of_last_level(u, region):
    found = splits(u, region, u.candidates.base_measure)
    features = {feature for _, feature, _, _ in found}
    numeric = [split for split in found if not u.candidates.is_category[split[1]]]
    subsets = [
        (
            0.5 ** len(region[feature]) / len(features),
            feature,
            tuple(c for c, is_in in zip(region[feature], chosen, strict=True) if is_in),
            tuple(c for c, is_in in zip(region[feature], chosen, strict=True) if not is_in),
        )
        for feature in features
        if u.candidates.is_category[feature]
        for chosen in product((False, True), repeat=len(region[feature]))
    ]
    return numeric + subsets


def label_of(u, shape, codes):
    while len(shape) == 4:
        feature, where, left, right = shape
        cuts = u.candidates.cuts[feature]
        code = codes[feature]
        is_left = code in where if cuts is None else code <= np.searchsorted(cuts, where)
        shape = left if is_left else right
    return shape[0]


def law_by_definition(u, table, rate, grids, stops=STOPS):
    whole = {feature: tuple(range(n)) for feature, n in enumerate(u.candidates.n_codes)}
    weights = Counter()
    for mass, shape in subtrees(u, whole, grids, stops):
        score = sum(
            count * (label_of(u, shape, codes) == label)
            for (codes, label), count in zip(u.kinds, table, strict=True)
            if count
        )
        weights[shape] += mass * math.exp(rate * score)
    total = sum(weights.values())
    return {shape: weight / total for shape, weight in weights.items()}


def coarse(u, base_measure, n_codes):
    found = np.zeros_like(base_measure)
    for feature, is_category in enumerate(u.candidates.is_category):
        if not is_category:
            start, stop = u.candidates.offsets[feature : feature + 2]
            found[start:stop] = coarsen_base_measure(base_measure[start:stop], n_codes - 1)
    return found
