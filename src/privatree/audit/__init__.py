"""Tests of privacy claims: an exact test of our learner, and a statistical test of any learner.

::

    exact/              exact privacy loss of our learner, over all small datasets
    pairs/              neighbouring datasets that reveal known mistakes
    _blackbox.py        lower bounds on the real epsilon of any learner, by training it
    _views.py           what can be observed of a trained model
    _ensemble_views.py  what can be observed of a boosted ensemble
    _events.py          events that tell two datasets apart
    _findings.py        how often the events happen, and the bound that follows
    _report.py          the result of an audit
    _outcome_words.py   descriptions of observations in words
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
