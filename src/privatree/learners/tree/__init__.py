"""The tree that is private for whole records.

::

    _plan.py              what comes next at a node, and its budget, from released values
    _grow.py              the algorithm
    _region.py            which candidates a node still has
    _split.py             one split near the root
    _subtree.py           the last levels with their labels, drawn jointly
    _subtree_kernels.py   its weights, compiled
    _subtree_decimal.py   its weights in arbitrary precision, for the rare close call
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
