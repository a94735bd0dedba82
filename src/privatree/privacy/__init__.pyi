from privatree.privacy import mechanisms
from privatree.privacy._budget import NEIGHBOURS as NEIGHBOURS
from privatree.privacy._budget import Budget, Charge
from privatree.privacy._budget_checks import share_left as share_left
from privatree.privacy._budget_store import BudgetStore
from privatree.privacy._budget_tables import Account as Account
from privatree.privacy._exact_epsilon import check_epsilon as check_epsilon
from privatree.privacy._exact_epsilon import conservative_delta as conservative_delta
from privatree.privacy._exact_epsilon import conservative_epsilon as conservative_epsilon
from privatree.privacy._exact_epsilon import decimal_fraction as decimal_fraction
from privatree.privacy._exact_epsilon import delta_fraction as delta_fraction
from privatree.privacy._exact_epsilon import epsilon_above as epsilon_above
from privatree.privacy._exact_epsilon import format_epsilon as format_epsilon
from privatree.privacy._exact_epsilon import positive_fraction as positive_fraction
from privatree.privacy._ledger import Ledger
from privatree.privacy._randomness import Randomness
from privatree.privacy._schedule import MAX_SEQUENCES as MAX_SEQUENCES
from privatree.privacy._schedule import MAX_STAGES as MAX_STAGES
from privatree.privacy._schedule import Schedule, Stage
from privatree.privacy._spend import Mechanism as Mechanism
from privatree.privacy._spend import SequentialMechanism as SequentialMechanism
from privatree.privacy._spend import Spend
from privatree.privacy._unit_words import UNNAMED_UNIT as UNNAMED_UNIT
from privatree.privacy._unit_words import UnitWords as UnitWords
from privatree.privacy.composition._bounded_range import certified_delta
from privatree.privacy.composition._composed_ledger import ComposedLedger
from privatree.privacy.composition._composition import Composition, RangeGroup
from privatree.privacy.composition._largest_range import gaussian_mu as gaussian_mu
from privatree.privacy.composition._largest_range import largest_range
from privatree.privacy.statement._holdout import Holdout
from privatree.privacy.statement._spend_check import check_holdout as check_holdout
from privatree.privacy.statement._spend_check import (
    check_spends_without_tree as check_spends_without_tree,
)
from privatree.privacy.statement._statement import SCHEMA_LEAK as SCHEMA_LEAK
from privatree.privacy.statement._statement import Leak, PrivacyStatement
from privatree.privacy.statement._statement import shown_amount as shown_amount
from privatree.privacy.statement._statement import shown_count as shown_count
from privatree.privacy.statement._statement_json import stated_number as stated_number
from privatree.privacy.statement._statement_json import stated_object as stated_object
from privatree.privacy.statement._statement_json import (
    stated_spend_from_dict as stated_spend_from_dict,
)
from privatree.privacy.statement._statement_json import stated_spend_to_dict as stated_spend_to_dict

__all__ = [
    "Budget",
    "BudgetStore",
    "Charge",
    "ComposedLedger",
    "Composition",
    "Holdout",
    "Leak",
    "Ledger",
    "PrivacyStatement",
    "Randomness",
    "RangeGroup",
    "Schedule",
    "Spend",
    "Stage",
    "certified_delta",
    "largest_range",
    "mechanisms",
]
