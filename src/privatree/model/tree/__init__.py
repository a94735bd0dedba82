"""The released tree: questions in its nodes, and labels or numbers in its leaves.

::

    _tree.py               frozen arrays
    _tree_checks.py        checks that arrays are a tree of their schema
    _prediction.py         finds the leaf of each record with a compiled kernel
    _tree_building.py      builds a tree from single nodes
    _tree_json.py          the tree as a list of nodes, and back
    _tree_importances.py   how much each feature tells about what is predicted
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
