import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.baselines.paper import divide_paper_budget
from privatree.baselines.paper._budget import paper_budget_of_leaf, worst_paper_label_error


@pytest.mark.parametrize(
    ("n_classes", "expected"), [(2, 1 / math.e), (3, 0.651456), (10, 1.786456)]
)
def test_worst_label_error(n_classes, expected):
    assert worst_paper_label_error(n_classes) == pytest.approx(expected, abs=1e-6)


def test_equation_5_for_adult():
    epsilon = paper_budget_of_leaf(45222, 2, 4, 0.01)
    assert float(epsilon) == pytest.approx(16 / math.e / 452.22)


def split(epsilon=Fraction(1), **changes):
    settings = {
        "n_records": 1000,
        "n_classes": 2,
        "max_depth": 4,
        "max_leaf_error": 0.01,
        "private_quantiles": True,
    }
    return divide_paper_budget(epsilon, **(settings | changes))


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=100),
    st.integers(0, 10**6),
    st.integers(2, 12),
    st.integers(1, 16),
    st.booleans(),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_parts_add_up_exactly(epsilon, n, n_classes, depth, private, numeric, categorical):
    budget = split(
        epsilon, n_records=n, n_classes=n_classes, max_depth=depth, private_quantiles=private
    )
    assert 0 < budget.leaf <= epsilon / 2
    # What the paper counts: one feature only.
    assert budget.quantiles + depth * budget.numeric_node + budget.leaf == epsilon
    assert depth * budget.categorical_node + budget.leaf == epsilon
    assert budget.for_a_replaced_record(numeric, categorical, depth) == (
        2 * budget.for_a_record(numeric, categorical, depth) - numeric * budget.quantiles
    )
    # What a record pays: every feature.
    m = numeric + categorical
    assert (
        budget.for_a_record(numeric, categorical, depth)
        == m * (epsilon - budget.leaf) + budget.leaf
    )


def test_half_for_leaves_when_records_are_few():
    assert split(n_records=0).leaf == Fraction(1, 2)
    assert split(n_records=10).leaf == Fraction(1, 2)
    assert split(n_records=10**6).leaf < Fraction(1, 1000)


def test_without_private_quantiles_nodes_get_their_share():
    budget = split(private_quantiles=False)
    assert budget.quantiles == 0
    assert budget.numeric_node == budget.categorical_node == (1 - budget.leaf) / 4
