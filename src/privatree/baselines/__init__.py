"""Published methods to compare with, one a file, each with an honest ``privacy_``.

``bdpt.py`` and ``dpgdf.py`` split one category against the rest (``one_against_rest.py``) and are
read and stated alike (``published_tree.py``); ``random_tree.py`` has random splits. What each of
them guarantees is in ``docs/proofs/baselines.md``.
"""

from privatree.baselines.bdpt import BDPTClassifier
from privatree.baselines.dpgdf import DPGDFClassifier
from privatree.baselines.random_tree import RandomTreeClassifier

__all__ = ["BDPTClassifier", "DPGDFClassifier", "RandomTreeClassifier"]
