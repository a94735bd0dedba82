"""What ``privatree reproduce`` can make: the paper's tables and figures, one a file.

To add a target, add a file with a function that takes a request and a reporter and returns the
files it wrote, and its name to the list here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from privatree.experiments.study import Reporter, Request
from privatree.experiments.targets import (
    accuracy,
    backdoor,
    budget_shares,
    datasets,
    epsilon_curve,
    poisoning,
    poisoning_curve,
    runtime,
)

TARGETS: dict[str, Callable[[Request, Reporter], list[Path]]] = {
    "datasets": datasets.reproduce,
    "accuracy": accuracy.reproduce,
    "runtime": runtime.reproduce,
    "epsilon-curve": epsilon_curve.reproduce,
    "budget-shares": budget_shares.reproduce,
    "poisoning": poisoning.reproduce,
    "poisoning-curve": poisoning_curve.reproduce,
    "backdoor": backdoor.reproduce,
}
"""In the order in which ``reproduce all`` makes them."""
