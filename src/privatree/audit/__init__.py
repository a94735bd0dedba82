"""Is it as private as it says? Exact privacy loss of the learner, by enumeration."""

from privatree.audit.exact import PrivacyLoss, exact_law, exact_privacy_loss, shape_of
from privatree.audit.universe import Universe

__all__ = ["PrivacyLoss", "Universe", "exact_law", "exact_privacy_loss", "shape_of"]
