"""The bounds against exact laws: no edits of a tiny table do worse, and a wrong bound is caught.

The laws are those of the learner's own code on tiny universes, and those of programs that make the
most of adaptive budgets and of edits scattered over siblings.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.audit import Universe, exact_law
from privatree.privacy import Schedule, Stage
from privatree.privacy.mechanisms import TruncatedGeometric
from privatree.robustness import bounds
from privatree.robustness.poisoning_bounds import _bounds as certificates
from privatree.schema import Numeric, Schema

MAX_EDITS = 3
NUMBER = Universe(Schema({"f": Numeric(0, 1, integer=True)}, [0, 1]))

# universe, and settings of a plan
LEARNERS = {
    "one subtree": (NUMBER, {"epsilon": Fraction(1, 2), "max_depth": 1, "largest_count": 3}),
    "leaf counts": (
        NUMBER,
        {
            "epsilon": 1,
            "max_depth": 1,
            "largest_count": 2,
            "dataset_size": 4,
            "probability_share": Fraction(9, 10),
        },
    ),
    "robust": (NUMBER, {"epsilon": 1, "max_depth": 2, "robust_levels": 2, "largest_count": 4}),
    "adaptive": (NUMBER, {"epsilon": 8, "max_depth": 2, "lookahead": 1, "largest_count": 4}),
}


@cache
def law_of(name, table):
    universe, settings_ = LEARNERS[name]
    return exact_law(universe, universe.plan(**settings_), table)


def edited(table, n_edits):
    """Tables after so many edits: of one kind of record, or of two neighbouring ones."""
    for place, sign, others in product(range(len(table)), (1, -1), {0, n_edits // 2}):
        after = list(table)
        after[place] += sign * (n_edits - others)
        after[(place + 1) % len(table)] += others
        if min(after) >= 0:
            yield tuple(after)


def corners(clean, poisoned):
    """Events that are as improbable under `poisoned` as their probability under `clean` allows.

    Bounds are convex and the least probability is linear between these corners: to hold in the
    corners is to hold everywhere.
    """
    outcomes = sorted(clean, key=lambda outcome: poisoned[outcome] / clean[outcome])
    p = q = 0.0
    for outcome in outcomes[:-1]:
        p, q = p + clean[outcome], q + poisoned[outcome]
        yield min(p, 1.0), q


def violations(name, found_bounds):
    """By how much each bound is exceeded at most, over edits of a small table."""
    universe, settings_ = LEARNERS[name]
    schedule = universe.plan(**settings_).schedule()
    table = (2, *(0,) * (len(universe.kinds) - 2), 1)
    worst: dict[str, float] = {}
    for n_edits in range(1, MAX_EDITS + 1):
        for after in set(edited(table, n_edits)):
            for p, q in corners(law_of(name, table), law_of(name, after)):
                for letter, bound in found_bounds(schedule, p, n_edits).items():
                    worst[letter] = max(worst.get(letter, -1.0), bound - q)
    return worst


@pytest.mark.parametrize("name", LEARNERS)
def test_no_edits_of_a_tiny_table_do_worse_than_any_bound(name):
    universe, settings_ = LEARNERS[name]
    sequences = universe.plan(**settings_).schedule().sequences
    assert (len(set(sequences)) > 1) == (name == "adaptive")
    worst = violations(name, bounds)
    for letter, excess in worst.items():
        assert excess <= 1e-9, letter
    if name == "leaf counts":  # nearly attained: the check can fail
        assert worst["E"] > -0.02


def counts_once(schedule, value, edits):
    """Mutants: a count's range is taken as its epsilon, not twice that."""
    (path,) = schedule.sequences
    ranges = float(sum(stage.epsilon for stage in path))
    rho = float(sum((s.epsilon if s.kind == "choice" else s.epsilon / 2) ** 2 / 8 for s in path))
    as_choices = tuple(Stage("choice", stage.epsilon) for stage in path)
    mutant = Schedule(schedule.total, schedule.total, Fraction(0), (as_choices,))
    return {
        "C": certificates.lower_logit(value, edits * ranges),
        "D": 1 - math.exp(-(max(0, math.sqrt(-math.log1p(-value)) - edits * math.sqrt(rho)) ** 2)),
        "E": certificates.optimal_bound(mutant, value, edits),
    }


def test_a_bound_that_takes_counts_for_choices_is_caught():
    worst = violations("leaf counts", counts_once)
    assert worst["C"] > 0.01
    assert worst["D"] > 0.01
    assert worst["E"] > 0.01


def test_a_count_attains_twice_its_epsilon():
    """Its log-odds fall by 2 epsilon for one record, so 2 cannot be less."""
    law = TruncatedGeometric(Fraction(1, 2), 1, 0, 40)
    p, q = (
        math.fsum(
            math.exp(law.log_probability(np.array([count]), exact)[0]) for count in range(21, 41)
        )
        for exact in (21, 20)
    )
    fall = math.log(p / (1 - p)) - math.log(q / (1 - q))
    assert fall == pytest.approx(1, abs=1e-6)


# --- programs with siblings -----------------------------------------------------------------------


def sibling_paths(after, share):
    """Stages after the first, for a node with this share of the edits: one, or two halves."""
    whole = 1.0 if after == 0 else 0.5
    return [whole * share] * (1 if after == 0 else 2)


@settings(max_examples=150)
@given(
    st.integers(1, 3),
    st.lists(st.floats(0.01, 0.99), min_size=12, max_size=12),
    st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1]), st.sampled_from([0, 1])),
    st.floats(0.02, 0.98),
)
def test_no_scattered_edits_with_different_plans_do_worse(
    two_points, worst_event, edits, places, plans, value
):
    """Edits fall into two siblings, which go on as one stage of 1 or as two of 1/2 each.

    Which plan a sibling takes depends on what was drawn before; so do all log-ratios.
    """
    first = 0.3
    choice = Stage("choice", Fraction("0.3"))
    schedule = Schedule(
        Fraction("1.3"),
        Fraction("1.3"),
        Fraction(0),
        (
            (choice, Stage("choice", Fraction(1))),
            (choice, Stage("choice", Fraction(1, 2)), Stage("choice", Fraction(1, 2))),
        ),
    )
    left = edits // 2
    pairs = []
    numbers = iter(range(12))
    for p0, q0 in two_points(first * edits, first * edits * places[next(numbers)]):
        programs = [
            (length, places[next(numbers)])
            for share, plan in ((left, plans[0]), (edits - left, plans[1]))
            for length in sibling_paths(plan, share)
            if share
        ]
        steps = [two_points(length, length * place) for length, place in programs]
        for outcome in product(*steps):
            p, q = p0, q0
            for one, other in outcome:
                p, q = p * one, q * other
            pairs.append((p, q))
        plans = (plans[1], plans[2], plans[0])
    truth = worst_event(pairs, value)
    for letter, bound in bounds(schedule, value, edits).items():
        assert bound <= truth + 1e-9, letter
