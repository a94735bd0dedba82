from privatree.audit._blackbox import audit
from privatree.audit._events import Event
from privatree.audit._report import AuditReport, Finding
from privatree.audit._views import View
from privatree.audit.exact._privacy_loss import PrivacyLoss, exact_law, exact_privacy_loss, shape_of
from privatree.audit.exact._universe import Universe
from privatree.audit.pairs._all_pairs import known_pairs
from privatree.audit.pairs._file_neighbours import FileNeighbours, file_pairs
from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.audit.pairs._own_pair import own_pair

__all__ = [
    "AuditReport",
    "Event",
    "FileNeighbours",
    "Finding",
    "Neighbours",
    "PrivacyLoss",
    "Records",
    "Universe",
    "View",
    "audit",
    "exact_law",
    "exact_privacy_loss",
    "file_pairs",
    "known_pairs",
    "own_pair",
    "shape_of",
]
