"""Attacks that poison, to see what happens.

::

    _attacks.py           backdoors, flipped labels, inserted records
    _art.py               for the attacks of the Adversarial Robustness Toolbox
    _poisoned.py          how many records are poisoned: numbers and shares
    _trigger_reading.py   what a model makes of a trigger outside its schema
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
