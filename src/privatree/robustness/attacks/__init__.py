"""Attacks that poison training records, to try on a learner.

::

    _attacks.py            backdoors, flipped labels, inserted records
    _art.py                classifiers for the Adversarial Robustness Toolbox (ART)
    _poisoned_numbers.py   numbers of poisoned records: whole numbers and shares
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
