"""A held-out part inside ``fit``: its parameters, and private scores from it.

::

    _holdout.py   what was asked for, and what it changes in the plan, the charges and the statement
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
