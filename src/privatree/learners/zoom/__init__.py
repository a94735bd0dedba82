"""Zoom: a private interval for each numeric feature, so that cuts lie where the records are.

::

    _intervals.py    draws the intervals, and makes candidates around them
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
