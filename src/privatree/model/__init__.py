"""What is released: a tree, its schema and its privacy statement.

::

    _tree.py            the tree: frozen arrays, checked
    _prediction.py      finds the leaf of each record with a compiled kernel
    _tree_building.py   builds a tree from single nodes
    _tree_json.py       the tree as a list of nodes, and back
    _release.py         tree, schema and statement, in memory and as a file
    _model.py           the same as a fitted classifier of scikit-learn, and ``load``
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
