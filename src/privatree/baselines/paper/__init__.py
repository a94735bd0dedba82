"""The paper's Algorithm 1, as printed. Its epsilon does not hold for whole records.

::

    _estimator.py      PaperPrivaTreeClassifier
    _tree.py           the algorithm
    _budget.py         its shares of the budget
    _gini.py           its score
    _value_counts.py   values counted before numbers have bins
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
