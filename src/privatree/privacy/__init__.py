"""Mechanisms, the ledger that charges for them, and the statement of what was spent."""

from importlib import import_module
from typing import Any

from privatree.privacy.budget import Budget
from privatree.privacy.ledger import Ledger, Spend
from privatree.privacy.randomness import Randomness
from privatree.privacy.schedule import Schedule, Stage
from privatree.privacy.statement import Leak, PrivacyStatement

__all__ = [
    "Budget",
    "Leak",
    "Ledger",
    "PrivacyStatement",
    "Randomness",
    "Schedule",
    "Spend",
    "Stage",
    "mechanisms",
]


def __getattr__(name: str) -> Any:
    if name == "mechanisms":  # loaded when first used: it brings a compiler with it
        return import_module("privatree.privacy.mechanisms")
    raise AttributeError(f"module 'privatree.privacy' has no attribute {name!r}")
