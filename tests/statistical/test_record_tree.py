"""The running learner draws whole trees by the law that enumeration finds, siblings jointly.

The mutant with noise shared by siblings is in ``tests/mutants``.
"""

from collections import Counter

import pytest
from whole_trees import LEARNERS, RUNS, chi_square_ratio, grown, law_of

from privatree.privacy.mechanisms import _sequential_exponential as sequential_exponential


@pytest.mark.parametrize("name", LEARNERS)
def test_trees_have_the_exact_law(name):
    assert chi_square_ratio(grown(name), law_of(name)) < 1


@pytest.mark.parametrize("name", ["splits", "three levels"])
def test_trees_have_the_exact_law_with_randomness_of_the_operating_system(name):
    """Without a seed: a right program fails with probability 10^-7."""
    assert chi_square_ratio(grown(name, seed=None), law_of(name)) < 1


def test_a_program_that_draws_by_another_law_is_seen(monkeypatch):
    """Mutant: splits are drawn with doubled exponents, which the law does not know of."""
    real, law = sequential_exponential.sequential_weights, law_of("two levels")
    monkeypatch.setattr(sequential_exponential, "sequential_weights", lambda w, r: real(w, r) ** 2)
    assert chi_square_ratio(grown("two levels"), law) > 2


def test_a_tree_that_cannot_be_is_seen():
    law = law_of("robust")
    observed = Counter({tree: round(RUNS * probability) for tree, probability in law.items()})
    assert chi_square_ratio(observed, law) < 1
    assert chi_square_ratio(observed + Counter({"another": 1}), law) > 1
