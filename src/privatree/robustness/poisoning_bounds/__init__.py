"""Lower bounds on the mean score of a private learner after records were added or removed.

::

    _bounds.py          the bounds A to D, the largest of all, and how many edits it tolerates
    _optimal_bound.py   bound E, the best that the stages of a learner allow
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
