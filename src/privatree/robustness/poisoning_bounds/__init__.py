"""What a privacy guarantee promises against poisoned records.

::

    _bounds.py          the bounds
    _optimal_bound.py   the best of them
    _tolerance.py       how many edits a bound survives
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
