"""Lower bounds on the mean score of a private learner after records were added or removed.

::

    _bounds.py          bounds A to E, the largest of them, and how many edits it tolerates
    _optimal_bound.py   the grid on which bound E is computed
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
