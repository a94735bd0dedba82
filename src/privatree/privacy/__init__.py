"""Mechanisms, the ledger that charges for them, and the statement of what was spent."""

from privatree.privacy.ledger import Ledger, Spend
from privatree.privacy.randomness import Randomness
from privatree.privacy.statement import Leak, PrivacyStatement

__all__ = ["Leak", "Ledger", "PrivacyStatement", "Randomness", "Spend"]
