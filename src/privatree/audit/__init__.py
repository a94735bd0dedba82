"""Is it as private as it says? By enumeration, exactly; and by training, for any learner.

::

    exact/         the exact privacy loss of our learner on tiny universes
    pairs/         neighbouring datasets that show known mistakes
    _blackbox.py   lower bounds on the real epsilon of any learner, by training it
    _outcomes.py   what is looked at in a model
    _events.py     events that tell two datasets apart
    _findings.py   how often they happen, and the bound that follows
    _report.py     the result
    _wording.py    events in words
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
