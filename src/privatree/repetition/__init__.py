"""Training again and again with fresh noise, and what that shows with confidence.

::

    _refits.py       many trainings, in processes
    _confidence.py   confidence bounds
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
