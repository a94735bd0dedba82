"""What every learner does first: count the records, stop if there are too few, weigh the classes.

::

    _noisy_counts.py    noisy counts of records, and the bound on their noise
    _class_factors.py   weights of the classes, declared or from noisy class counts
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
