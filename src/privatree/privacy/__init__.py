"""Mechanisms, the ledger that charges for them, and the statement of what was spent."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from privatree.privacy.budget import Budget, Charge
from privatree.privacy.ledger import Ledger, Spend
from privatree.privacy.randomness import Randomness
from privatree.privacy.schedule import Schedule, Stage
from privatree.privacy.statement import Leak, PrivacyStatement

if TYPE_CHECKING:
    from privatree.privacy.budget_store import BudgetStore

__all__ = [
    "Budget",
    "BudgetStore",
    "Charge",
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
    if name == "BudgetStore":  # loaded when first used: it brings SQLite with it
        return import_module("privatree.privacy.budget_store").BudgetStore
    if name == "mechanisms":  # loaded when first used: it brings a compiler with it
        return import_module("privatree.privacy.mechanisms")
    raise AttributeError(f"module 'privatree.privacy' has no attribute {name!r}")
