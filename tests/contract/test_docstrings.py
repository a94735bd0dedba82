"""The examples in docstrings print what they say."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        "schema",
        "estimators",
        "paper_estimator",
        "export.dot",
        "export.rule_sentences",
        "export.sql",
        "export.text",
        "privacy.budget",
        "privacy.budget_store",
        "audit.blackbox",
        "baselines.bdpt",
        "baselines.dpgdf",
        "baselines.random_tree",
        "robustness.attacks",
        "robustness.partition_aggregation",
    ],
)
def test_examples(module):
    found = doctest.testmod(import_module(f"privatree.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
