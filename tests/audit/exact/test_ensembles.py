"""The ensemble learner, enumerated: a round has its closed law and its range, and no more.

``closed_form`` computes the law of a round from its definition: it goes through all functions with
all signs, and shares no code with the learner.
"""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from privatree.audit import Universe
from privatree.audit.exact._ensembles import (
    EnsembleCase,
    exact_delta,
    exact_ensemble_law,
    exact_ensemble_loss,
)
from privatree.counting.sums import CodeBranch, CodeSplit, CodeStep
from privatree.learners.boosting import Boosting
from privatree.learners.boosting._measure import class_code
from privatree.privacy import Ledger, Randomness, RangeGroup, certified_delta
from privatree.schema import Categorical, Numeric, Schema

TOLERANCE = 1e-9
Q = 255


def given(*steps, n_classes=2):
    return tuple(
        (CodeStep(feature, np.array(signs, np.int8)), tuple(class_code(n_classes, turn)))
        for turn, (feature, signs) in enumerate(steps)
    )


# --- the closed form ------------------------------------------------------------------------------


def value(function, codes):
    """What a function over codes, as nested tuples, gives a record."""
    if len(function) == 2:
        feature, signs = function
        return signs[codes[feature]]
    feature, goes_left, left, right = function
    return value(left if goes_left[codes[feature]] else right, codes)


def signed_weight(case, codes, label):
    """The weight of a record after the functions that are given, in parts of 255."""
    rounds = case.plan.rounds(case.plan.dataset_size)
    step, scale = rounds.step, rounds.twice_scale / 4
    past = [(value((step_.feature, step_.signs), codes), code) for step_, code in case.given]
    code = class_code(case.plan.n_classes, len(case.given))
    if case.plan.n_classes == 2:
        sign = 2 * label - 1
        margin = sign * sum(h for h, _ in past)
        return sign * round(Q * min(1.0, 2 * scale / (1 + math.exp(step * margin))))
    scores = [sum(h * signs[k] for h, signs in past) for k in range(len(code))]
    powers = [Fraction(round(2**30 * math.exp(step / 2 * (s - max(scores))))) for s in scores]
    mean = sum(c * power for c, power in zip(code, powers, strict=True)) / sum(powers)
    error = Fraction(rounds.twice_scale, 4) * (code[label] - mean)
    size = min(Q, math.floor(abs(error) * Q + Fraction(1, 2)))
    return size if error > 0 else -size


def step_functions(case):
    """All step functions with their base measure."""
    candidates = case.universe.candidates
    directions = case.directions or (0,) * len(candidates.n_codes)
    active = [j for j, n in enumerate(candidates.n_codes) if n > 1]
    if not active:
        yield from (((0, (sign,)), 0.5) for sign in (-1, 1))
    for j in active:
        n, cuts = candidates.n_codes[j], candidates.cuts[j]
        masses = candidates.base_measure[candidates.offsets[j] : candidates.offsets[j + 1] - 1]
        n_missing = int(cuts is not None and cuts[0] == -np.inf)
        masses = masses[n_missing:] / max(1, masses[n_missing:].sum())
        for signs in product((-1, 1), repeat=n):
            switches = [a != b for a, b in pairwise(signs[n_missing:])]
            measure = 1 / len(active) / 2**n_missing
            if cuts is None:
                measure /= 2**n
            elif directions[j]:
                rising = signs[-1] >= signs[n_missing] if directions[j] > 0 else False
                falling = signs[-1] <= signs[n_missing] if directions[j] < 0 else False
                if sum(switches) > 1 or not (rising or falling):
                    continue
                measure *= masses[switches.index(True)] / 2 if any(switches) else 1 / 4
            else:
                measure /= 2
                for switched, mass in zip(switches, masses, strict=True):
                    share = min(0.5, 1 - math.exp(-2 * mass))
                    measure *= share if switched else 1 - share
            yield (j, signs), measure


def rooted_functions(case):
    """All functions of depth 2 with their base measure."""
    candidates = case.universe.candidates
    directions = case.directions or (0,) * len(candidates.n_codes)
    steps = list(step_functions(case))
    no_root = case.plan.rounds(case.plan.dataset_size).no_root_share
    features = [j for j, n in enumerate(candidates.n_codes) if n > 1 and not directions[j]]
    if not features:
        no_root = 1.0
    yield from ((step, no_root * measure) for step, measure in steps)
    for j in features if no_root < 1 else ():
        n = candidates.n_codes[j]
        masses = candidates.base_measure[candidates.offsets[j] : candidates.offsets[j + 1] - 1]
        roots = [(tuple(c <= cut for c in range(n)), m) for cut, m in enumerate(masses / 2**40)]
        if candidates.is_category[j]:
            roots = [(tuple(c == one for c in range(n)), 1 / n) for one in range(n)]
        for goes_left, mass in roots:
            share = (1 - no_root) * mass / len(features)
            for (left, a), (right, b) in product(steps, steps):
                yield (j, goes_left, left, right), share * a * b


def all_functions(case):
    """All functions of the round with their base measure."""
    if case.plan.max_depth < 3:
        yield from rooted_functions(case)
        return
    below = list(rooted_functions(case))
    yield from ((function, 0.25 * measure) for function, measure in below)
    tops = public_splits(case)
    for (feature, goes_left), (left, a), (right, b) in product(tops, below, below):
        share = 0.75 / len(tops)
        yield (feature, tuple(goes_left.tolist()), left, right), share * a * b


def public_splits(case):
    universe = case.universe
    records = universe.records(universe.table({}))
    ledger = Ledger(case.plan.epsilon, Randomness(0))
    directions = (0,) * len(universe.candidates.n_codes)
    boosting = Boosting(
        records, universe.cells, case.plan, universe.schema, ledger, directions, None
    )
    return boosting._public_splits(len(case.given))


def closed_form(case, table):
    """The law of the next round."""
    universe = case.universe
    epsilon = float(case.plan.rounds(case.plan.dataset_size).round_epsilon)
    rate = epsilon / (2 * Q * universe.full_weight)
    found = {}
    for function, measure in all_functions(case):
        score = sum(
            weight * signed_weight(case, *kind) * value(function, kind[0])
            for kind, weight in zip(universe.kinds, table, strict=True)
            if weight
        )
        found[function] = found.get(function, 0.0) + measure * math.exp(rate * score)
    total = math.fsum(found.values())
    return {function: weight / total for function, weight in found.items()}


MIXED = Universe(
    Schema(
        {
            "a": Numeric(0, 2, integer=True, missing="separate"),
            "b": Categorical(["x", "y", "z"]),
            "c": Numeric(0, 2, integer=True, missing="separate"),
            "d": Numeric(0, 1, integer=True),
        },
        [0, 1],
    )
)
MISSING = Universe(
    Schema(
        {
            "a": Numeric(0, 1, integer=True, missing="separate"),
            "b": Numeric(0, 1, integer=True),
        },
        [0, 1],
    )
)


def case_of(universe, depth, epsilon=2, past=(), directions=None, n_drawn=1, n_rounds=3, **more):
    plan = universe.boost_plan(epsilon, dataset_size=1, n_rounds=n_rounds, max_depth=depth, **more)
    steps = given(*past, n_classes=len(universe.schema.classes))
    return EnsembleCase(universe, plan, directions, given=steps, n_drawn=n_drawn)


def table_of(universe, n=7):
    """Some records of several kinds."""
    rng = np.random.default_rng(n)
    places = rng.integers(0, len(universe.kinds), n)
    return tuple(np.bincount(places, minlength=len(universe.kinds)).tolist())


LAWS = {
    "numbers, categories, missing, monotone": case_of(MIXED, 1, 6, directions=(0, 0, 1, -1)),
    "the same after a round": case_of(
        MIXED, 1, 6, past=[(1, (1, -1, 1))], directions=(0, 0, -1, 1)
    ),
    "a root": case_of(Universe.of(3), 2, 6, past=[(0, (1, -1, 1))]),
    "a root of categories": case_of(Universe.of("3"), 2, 6),
    "a root and missing values": case_of(MISSING, 2, 6, directions=(0, 1)),
    "a public split and a root": case_of(Universe.of(2), 3, 6, past=[(0, (1, -1))]),
    "three classes": case_of(
        Universe.of(3, n_classes=3), 1, 6, past=[(0, (1, 1, -1)), (0, (-1, 1, 1))]
    ),
    "four classes": case_of(Universe.of("3", n_classes=4), 1, 6, past=[(0, (1, 1, -1))]),
    "no choice": case_of(Universe.of(1), 2, 6),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_a_round_is_the_closed_form(name):
    case = LAWS[name]
    table = table_of(case.universe)
    law = exact_ensemble_law(case, table)
    assert law.total == pytest.approx(1.0, abs=1e-12)
    found = {}
    for outcome, log in law.log_probabilities.items():  # of depth 3, two may be the same function
        function = outcome.drawn[-1]
        found[function] = found.get(function, 0.0) + math.exp(log)
    expected = closed_form(case, table)
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-14)


# --- the range of a round -------------------------------------------------------------------------

# name: the round, tables, units that are added, whether the range is reached
RANGES = {
    "mixed": (case_of(MIXED, 1, 12, past=[(1, (1, 1, 1))], directions=(0, 0, 1, 0)), [(2, 0)]),
    "two numbers": (case_of(Universe.of(3, 2), 1, 12, past=[(0, (1, 1, 1))]), None),
    "a root": (case_of(Universe.of(3), 2, 12, past=[(0, (1, 1, 1))]), [(0, 0), (1, 1)]),
    "a public split": (case_of(Universe.of(2), 3, 12, past=[(0, (1, 1))]), [(0, 0)]),
    "three classes": (case_of(Universe.of(2, n_classes=3), 1, 12, past=[(0, (1, 1))] * 4,
                              n_rounds=9), None),
}  # fmt: skip


@pytest.mark.parametrize("name", RANGES)
def test_the_range_of_a_round_is_reached_and_not_exceeded(name):
    case, some = RANGES[name]
    universe = case.universe
    kinds = universe.kinds
    if some is not None:
        kinds = [kind for kind in kinds if (kind[0][0], kind[1]) in some][:2]
    units = [universe.unit(kind) for kind in kinds]
    found = exact_ensemble_loss(case, [table_of(universe, 4)], units=units)
    epsilon = float(case.plan.rounds(1).round_epsilon)
    assert not found.decided_by_records
    assert found.range <= epsilon + TOLERANCE
    assert found.loss <= found.range + TOLERANCE
    if name != "three classes":
        assert found.range == pytest.approx(epsilon, abs=TOLERANCE)


@pytest.mark.parametrize("epsilon", [2, 12])
def test_every_neighbour_of_every_table_of_two_records(epsilon):
    universe = Universe.of(2)
    for past in ([], [(0, (1, 1))], [(0, (1, -1)), (0, (1, 1))]):
        case = case_of(universe, 1, epsilon, past=past)
        found = exact_ensemble_loss(case, universe.tables(2))
        assert found.range <= epsilon / 3 + TOLERANCE
        assert not past or found.range == pytest.approx(epsilon / 3, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("records", "share"),
    [
        ([((0,), 0)], 1),
        ([((0,), 0), ((2,), 1)], Fraction(1, 2)),  # the second is fitted already, and counts less
        ([((0,), 0), ((2,), 0)], 1),
        ([((0,), 0), ((1,), 0), ((2,), 0)], 1),
    ],
)
def test_the_range_is_linear_in_the_weight_of_a_unit(records, share):
    universe = Universe.of("3", full_weight=6)
    case = case_of(universe, 1, 12, past=[(0, (1, 1, 1))])
    table = universe.table({((0,), 0): 1, ((1,), 1): 1})
    found = exact_ensemble_loss(case, [table], units=[universe.unit(*records)])
    assert found.range <= 4 + TOLERANCE
    if share == 1:
        assert found.range == pytest.approx(4, abs=TOLERANCE)
    else:
        assert 2 < found.range < 4


def test_class_factors_lower_the_range_of_lighter_classes():
    universe = Universe.of("2", full_weight=2)
    case = case_of(universe, 1, 12, past=[(0, (1, 1))], class_factors=(512, 1024))
    light = exact_ensemble_loss(case, [universe.table({})], units=[universe.unit(((0,), 0))])
    assert light.range == pytest.approx(2, abs=TOLERANCE)
    case = case_of(universe, 1, 12, past=[(0, (-1, -1))], class_factors=(512, 1024))
    heavy = exact_ensemble_loss(case, [universe.table({})], units=[universe.unit(((0,), 1))])
    assert heavy.range == pytest.approx(4, abs=TOLERANCE)


# --- two rounds, and delta ------------------------------------------------------------------------

# A record of class 0 that all rounds so far call class 1. The round that is drawn can call it class
# 1 again: then it counts fully in the next round, too. Other records of its cell, which weigh
# `others` sixths of a record together, decide how likely this is, and so which pair of laws the
# neighbours have. The numbers were found by search: each is near the worst pair at its epsilon.
WORST = {
    # range of a round: (epsilon over the range, sixths of records of class 0, or of class 1)
    1: {0.5: -6, 1.0: 1, 1.5: 7},
    2: {0.5: -6, 1.0: -1, 1.5: 2, 1.8: 5},
    4: {0.5: -6, 1.0: -3, 1.5: 0, 1.8: 2},
}


def laws_of_two_rounds(size, others):
    universe = Universe.of("2", full_weight=6)
    case = case_of(universe, 1, 3 * size, past=[(0, (1, 1))], n_drawn=2)
    table = [0] * len(universe.kinds)
    table[universe.kinds.index(((0,), int(others < 0)))] = abs(others)
    unit = universe.unit(((0,), 0))
    larger = tuple(map(sum, zip(table, unit, strict=True)))
    return exact_ensemble_law(case, tuple(table)), exact_ensemble_law(case, larger)


@pytest.mark.parametrize("size", WORST)
def test_certified_delta_of_two_rounds_holds_and_is_near_the_worst(size):
    for share, others in WORST[size].items():
        one, other = laws_of_two_rounds(size, others)
        exact = exact_delta(one, other, share * size)
        certified = certified_delta(Fraction(share * size), [RangeGroup(Fraction(size), 2)])
        assert 0.94 * certified <= exact <= certified
        for factor in (0.25, 0.75, 1.25, 1.9, 1.99):  # at other epsilons it holds, too
            epsilon = factor * size
            bound = certified_delta(Fraction(epsilon), [RangeGroup(Fraction(size), 2)])
            assert exact_delta(one, other, epsilon) <= bound


def test_weights_change_between_two_rounds():
    """Without this, two rounds would show no more than one round twice."""
    universe = Universe.of("2")
    after = [case_of(universe, 1, 12, past=[(0, (sign, sign))] * 2) for sign in (1, -1)]
    unit, table = [universe.unit(((0,), 0))], [universe.table({})]
    wrong, right = (exact_ensemble_loss(case, table, units=unit).range for case in after)
    assert wrong == pytest.approx(4, abs=TOLERANCE)
    assert right < 0.7 * wrong


def test_the_composed_learner_keeps_its_epsilon_and_delta():
    """All draws of the real plan: two rounds that are certified together."""
    universe = Universe.of("2", full_weight=6)
    plan = universe.boost_plan(2, delta=Fraction(1, 20), dataset_size=1, n_rounds=2, max_depth=1)
    case = EnsembleCase(universe, plan)
    assert plan.rounds(1).round_epsilon > 1  # more than epsilon divided by the number of rounds
    worst = 0.0
    for others in (-6, -3, 0, 3):
        table = [0] * len(universe.kinds)
        table[universe.kinds.index(((0,), int(others < 0)))] = abs(others)
        larger = tuple(map(sum, zip(table, universe.unit(((0,), 0)), strict=True)))
        one, other = (exact_ensemble_law(case, one) for one in (tuple(table), larger))
        assert one.total == pytest.approx(1.0, abs=1e-12)
        assert one.recorded == 2
        worst = max(worst, exact_delta(one, other, 2.0))
        assert exact_delta(one, other, 2.0) <= 0.05
    assert worst > 0.03


# --- the whole learner ----------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1, 8])
def test_the_whole_learner_loses_epsilon_and_no_more(epsilon):
    universe = Universe.of("2")
    plan = universe.boost_plan(epsilon, n_rounds=2, max_depth=1, balances_classes=True)
    case = EnsembleCase(universe, plan, counts=(0, 2))
    tables = [universe.table({}), universe.table({((0,), 0): 2, ((1,), 1): 1})]
    found = exact_ensemble_loss(case, tables, units=[universe.unit(k) for k in universe.kinds[:2]])
    assert not found.decided_by_records
    assert found.loss <= epsilon + TOLERANCE
    assert found.recorded == epsilon


def test_a_training_that_stops_releases_the_noisy_number_only():
    universe = Universe.of("2")
    plan = universe.boost_plan(8, n_rounds=1, max_depth=1, min_records=2)
    case = EnsembleCase(universe, plan, counts=(0, 1, 2, 3))
    law = exact_ensemble_law(case, universe.table({((0,), 0): 2}))
    stopped = {o.released for o in law.log_probabilities if o.released[0] == "stopped"}
    assert stopped == {("stopped", 0), ("stopped", 1)}
    assert law.total == pytest.approx(1.0, abs=1e-12)
    found = exact_ensemble_loss(case, [universe.table({((0,), 0): 1})])
    assert found.loss <= 8 + TOLERANCE
    assert not found.decided_by_records


@pytest.mark.parametrize("delta", [0, Fraction(1, 100)])
def test_intervals_and_class_counts_lose_what_they_cost(delta):
    """Before the first round, with the composition open and a draw of another kind in between."""
    universe = Universe(Schema({"x": Numeric(0, 1)}, [0, 1]), 16, zoom_levels=2, full_weight=6)
    plan = universe.boost_plan(
        64, delta=delta, dataset_size=512, n_rounds=1, max_depth=1, balances_classes=True
    )
    rounds = plan.rounds(512)
    assert rounds.interval_epsilon > 0
    case = EnsembleCase(universe, plan, counts=(0, 512), n_drawn=0)
    last = len(universe.kinds) // 2 - 1
    table = universe.table({((2,), 0): 160, ((last // 2,), 1): 160})
    units = [universe.unit(*[((last - place,), 0) for place in range(n)]) for n in (1, 3)]
    found = exact_ensemble_loss(case, [table], units=units)
    assert not found.decided_by_records
    spent = float(rounds.interval_epsilon + plan.balance_epsilon)
    assert 0.9 * spent <= found.loss <= spent + TOLERANCE
    assert found.recorded == (plan.epsilon if delta else Fraction(spent).limit_denominator(10**6))


@pytest.mark.parametrize("n_records", [1, 2, 3])
def test_all_records_of_a_unit_together_lose_epsilon_and_no_more(n_records):
    universe = Universe.of("3", full_weight=6)
    plan = universe.boost_plan(8, dataset_size=1, n_rounds=2, max_depth=1)
    case = EnsembleCase(universe, plan)
    records = [((0,), 0), ((1,), 1), ((2,), 0)][:n_records]
    table = universe.table({((0,), 0): 3, ((1,), 1): 3, ((2,), 0): 3})
    found = exact_ensemble_loss(case, [table], units=[universe.unit(*records)])
    assert found.loss <= 8 + TOLERANCE
    assert found.loss >= 0.99 * 8


@pytest.mark.parametrize("delta", [0, Fraction(1, 20)])
def test_a_replaced_record_costs_twice(delta):
    universe = Universe.of("2")
    half = universe.boost_plan(
        Fraction(1, 4), delta=delta, dataset_size=1, n_rounds=2, max_depth=1, replaces=True
    )
    case = EnsembleCase(universe, half)
    table = universe.table({((0,), 0): 1})
    units = [universe.unit(((0,), 0)), universe.unit(((0,), 1))]
    found = exact_ensemble_loss(case, [table], units=units, neighbours="replace")
    assert found.recorded == Fraction(1, 4)
    if not delta:
        assert found.loss <= 0.5 + TOLERANCE
        return
    larger = [tuple(map(sum, zip(table, unit, strict=True))) for unit in units]
    one, other = (exact_ensemble_law(case, one) for one in larger)
    assert 0.5 * delta < exact_delta(one, other, 0.5) <= delta


def test_branches_are_enumerated_with_their_sides():
    step = CodeStep(0, np.array([1, -1], np.int8))
    branch = CodeBranch(CodeSplit(0, np.array([True, False])), step, step)
    universe = Universe.of(2)
    plan = universe.boost_plan(2, dataset_size=1, n_rounds=2, max_depth=2)
    case = EnsembleCase(universe, plan, given=((branch, (-1, 1)),), n_drawn=0)
    (outcome,) = exact_ensemble_law(case, universe.table({})).log_probabilities
    assert outcome.drawn == ((0, (True, False), (0, (1, -1)), (0, (1, -1))),)
