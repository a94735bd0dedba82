"""Train many times with fresh noise, and compute confidence bounds from the results.

::

    _refits.py       many trainings, in several processes
    _confidence.py   confidence bounds
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
