"""The running learner draws whole trees by the law that enumeration finds, siblings jointly.

Enumeration takes siblings to be independent, so only here could noise that they share be seen.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from privatree.audit import Universe, exact_law, shape_of
from privatree.privacy.ledger import Ledger
from privatree.privacy.mechanisms import exponential_by_parts
from privatree.privacy.randomness import Randomness
from privatree.record_tree import grow
from privatree.schema import Categorical, Numeric, Schema

RUNS = 400
SMALLEST_EXPECTED = 10.0
FALSE_ALARM = 1e-7


def universe(*features, n_classes=2):
    named = {f"f{place}": feature for place, feature in enumerate(features)}
    return Universe(Schema(named, list(range(n_classes))))


def two(last=1):
    return Numeric(0, last, integer=True)


def three_categories():
    return Categorical(["a", "b", "c"])


def chi_square_ratio(observed, law):
    """The statistic over its limit: above 1 with probability 10^-7 if the law is the right one.

    Cells are the trees, the most probable first, merged with the next where few are expected.
    """
    assert observed.keys() <= law.keys()
    cells = [[0.0, 0.0]]
    for shape, probability in sorted(law.items(), key=lambda item: -item[1]):
        if cells[-1][1] >= SMALLEST_EXPECTED:
            cells.append([0.0, 0.0])
        cells[-1][0] += observed[shape]
        cells[-1][1] += RUNS * probability
    if cells[-1][1] < SMALLEST_EXPECTED:
        count, mean = cells.pop()
        cells[-1][0] += count
        cells[-1][1] += mean
    assert len(cells) > 3
    counts, means = np.array(cells).T
    statistic = np.sum((counts - means) ** 2 / means)
    return float(statistic / chi2.isf(FALSE_ALARM, len(cells) - 1))


SMALL = {((0, 0), 0): 1, ((0, 1), 1): 1, ((1, 0), 0): 1, ((1, 1), 1): 1}
MIXED = {((0, 0), 0): 2, ((0, 1), 1): 1, ((1, 2), 1): 2, ((1, 0), 0): 1, ((1, 1), 1): 1}
DECLARED = {"dataset_size": 2000, "largest_count": 2000}

# name: universe, records, epsilon, depth, the plan
LEARNERS = {
    "splits": (
        universe(two(), two()),
        SMALL,
        3,
        2,
        {"lookahead": 1, "dataset_size": 12, "largest_count": 12},
    ),
    "splits, three classes": (
        universe(two(), three_categories(), n_classes=3),
        MIXED,
        2,
        2,
        {"lookahead": 1, "largest_count": 2},
    ),
    "robust": (universe(two(), two()), SMALL, 2, 2, {"robust_levels": 2, "largest_count": 3}),
    "two levels": (universe(two(2), two()), SMALL, 1, 2, {"lookahead": 2} | DECLARED),
    "three levels": (
        universe(two(), three_categories()),
        MIXED,
        1,
        3,
        {"lookahead": 3} | DECLARED,
    ),
    "probabilities": (
        universe(two(), two()),
        SMALL,
        2,
        1,
        {"probability_share": Fraction(1, 2), "largest_count": 1},
    ),
}


def law_of(name):
    u, records, epsilon, depth, settings = LEARNERS[name]
    return exact_law(u, u.plan(epsilon, depth, **settings), u.table(records))


def grown(name):
    """How often each tree was grown."""
    u, records, epsilon, depth, settings = LEARNERS[name]
    plan, table, randomness = u.plan(epsilon, depth, **settings), u.table(records), Randomness(3)
    return Counter(
        shape_of(
            grow(u.records(table), u.candidates, plan, u.schema, Ledger(plan.epsilon, randomness))
        )
        for _ in range(RUNS)
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_trees_have_the_exact_law(name):
    assert chi_square_ratio(grown(name), law_of(name)) < 1


@pytest.mark.parametrize("name", ["splits", "robust"])
def test_noise_shared_by_siblings_is_seen(monkeypatch, name):
    """Mutant: the noise of both children comes from the same random bits."""
    real = Ledger.parallel

    def parallel(ledger, count):
        parts, seed = real(ledger, count), ledger._randomness.bits(64)
        for part in parts:
            part._randomness = Randomness(seed)
        return parts

    law = law_of(name)
    monkeypatch.setattr(Ledger, "parallel", parallel)
    assert chi_square_ratio(grown(name), law) > 2


def test_a_program_that_draws_by_another_law_is_seen(monkeypatch):
    """Mutant: splits are drawn with doubled exponents, which the law does not know of."""
    real, law = exponential_by_parts.relative_weights, law_of("two levels")
    monkeypatch.setattr(exponential_by_parts, "relative_weights", lambda w, r: real(w, r) ** 2)
    assert chi_square_ratio(grown("two levels"), law) > 2
