"""Is it as private as it says? By enumeration, exactly; and by training, for any learner.

``exact.py`` finds the exact privacy loss of our learner on tiny universes of records
(``universe.py``), by running its own code in every possible way (``enumeration.py``).
``blackbox.py`` bounds the real epsilon of any learner from below, by training it on neighbouring
tables (``all_pairs.py``: those in ``neighbours.py`` and, through files, in ``file_neighbours.py``,
with ``file_readers.py``), and looking at what it releases (``outcomes.py``) for events that tell
the tables apart (``events.py``), which are counted (``findings.py``).
"""

from privatree.audit.all_pairs import known_pairs
from privatree.audit.blackbox import audit
from privatree.audit.events import Event
from privatree.audit.exact import PrivacyLoss, exact_law, exact_privacy_loss, shape_of
from privatree.audit.file_neighbours import FileNeighbours, file_pairs
from privatree.audit.neighbours import Neighbours, Records
from privatree.audit.outcomes import View
from privatree.audit.own_pair import own_pair
from privatree.audit.report import AuditReport, Finding
from privatree.audit.universe import Universe

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
