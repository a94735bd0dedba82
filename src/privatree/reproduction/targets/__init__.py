"""What ``privatree reproduce`` can make: the paper's tables and figures, one in each file.

To add a target, write a file with a function that takes a request and a reporter and returns the
paths of the files it wrote, and add it to ``TARGETS``. ``_scope.py`` is shared by the targets.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from privatree.reproduction.running._study import Reporter, Request
from privatree.reproduction.targets._accuracy import reproduce_accuracy
from privatree.reproduction.targets._backdoor import reproduce_backdoor
from privatree.reproduction.targets._budget_shares import reproduce_budget_shares
from privatree.reproduction.targets._datasets import reproduce_datasets
from privatree.reproduction.targets._epsilon_curve import reproduce_epsilon_curve
from privatree.reproduction.targets._poisoning import reproduce_poisoning
from privatree.reproduction.targets._poisoning_curve import reproduce_poisoning_curve
from privatree.reproduction.targets._runtime import reproduce_runtime
from privatree.reproduction.targets._survey import reproduce_survey

TARGETS: dict[str, Callable[[Request, Reporter], list[Path]]] = {
    "datasets": reproduce_datasets,
    "accuracy": reproduce_accuracy,
    "runtime": reproduce_runtime,
    "survey": reproduce_survey,
    "epsilon-curve": reproduce_epsilon_curve,
    "budget-shares": reproduce_budget_shares,
    "poisoning": reproduce_poisoning,
    "poisoning-curve": reproduce_poisoning_curve,
    "backdoor": reproduce_backdoor,
}
"""The targets, in the order in which ``reproduce all`` makes them."""
