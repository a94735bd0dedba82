"""The learner of the tree that is epsilon-DP for whole records.

::

    _plan.py              the next stage at a node and its budget, from released values
    _growth.py            the steps of growing a tree, level by level
    _grow.py              the learner of trees of classes: noisy class counts, and leaves
    _label_scores.py      what a record adds to the score of a label
    _region.py            the bins and categories that a node still has
    _split.py             the draw of one split near the root
    _simplify.py          drops sides without support, and merges sides that predict the same
    _subtree.py           the last levels with their labels, drawn jointly
    _subtree_kernels.py   weights of subtrees, compiled
    _subtree_decimal.py   the same weights in arbitrary precision, which are rarely needed
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
