"""Lower bounds on the mean score of a private learner after records were added or removed.

::

    _bounds.py          the bounds A, B, AB*, C, C* and D, and the largest of all
    _optimal_bound.py   bound E, the best that the stages of a learner allow
    _tolerance.py       the largest number of edits for which a bound still holds
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
