"""The learner of regression trees that are epsilon-DP for whole records.

::

    _plan.py              the next stage at a node and its budget, from released values
    _grow.py              the algorithm: an interval of the target, the tree, and its leaves
    _target_interval.py   an interval that most targets lie in
    _levels.py            ordered levels of the target around the interval
    _level_scores.py      what a record adds to the score of each level
    _level_split.py       the score of one split near the root
    _knots.py             noisy sums of a leaf, from which its mean and its distribution follow

Splits, subtrees and regions are those of trees of classes (``learners/tree``).
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
