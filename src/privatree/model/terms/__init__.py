"""An ensemble as a sum of terms: functions of one, two or three features.

::

    _measure.py         the public measure: how likely each value is taken to be
    _products.py        the rounds as products of functions of single features
    _decomposition.py   the rounds split into terms, with the band of chance
    _terms.py           the terms, their strength, and what they add for a record
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
