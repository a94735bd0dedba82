"""What ``privatree reproduce`` can make: the paper's tables and figures, one a file.

To add a target, add a file with a function that takes a request and a reporter and returns the
files it wrote, and its name to the list here. ``_protocols.py`` is what several targets share.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from privatree.reproduction.running._study import Reporter, Request
from privatree.reproduction.targets import _accuracy as accuracy
from privatree.reproduction.targets import _backdoor as backdoor
from privatree.reproduction.targets import _budget_shares as budget_shares
from privatree.reproduction.targets import _datasets as datasets
from privatree.reproduction.targets import _epsilon_curve as epsilon_curve
from privatree.reproduction.targets import _poisoning as poisoning
from privatree.reproduction.targets import _poisoning_curve as poisoning_curve
from privatree.reproduction.targets import _runtime as runtime

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
