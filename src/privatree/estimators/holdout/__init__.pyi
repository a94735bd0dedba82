from privatree.estimators.holdout._holdout import HeldOut as HeldOut
from privatree.estimators.holdout._holdout import dealt_records as dealt_records
from privatree.estimators.holdout._holdout import stated_with_scores as stated_with_scores
