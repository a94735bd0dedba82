"""The paper's Algorithm 1, as printed. Its epsilon does not hold for whole records.

::

    _estimator.py      PaperPrivaTreeClassifier
    _tree.py           the algorithm
    _budget.py         how the budget is divided
    _gini.py           the search for the best split
    _value_counts.py   counts of every value of a source, for quantiles
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
