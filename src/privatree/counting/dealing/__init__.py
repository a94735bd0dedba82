"""Dealing of records to a training and a held-out part, each record by itself.

::

    _dealing.py   the rule, and its two parts in one pass
    _copies.py    numbers of rows that are equal
    _kernels.py   the loops over rows, compiled
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
