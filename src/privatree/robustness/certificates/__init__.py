"""Certificates against poisoning, computed from a learner and its data.

::

    _certify.py            the functions that users call, for classes
    _certify_numbers.py    those for numbers
    _certification.py      checks a learner and its data, then refits the learner
    _preconditions.py      conditions under which a bound holds
    _measures.py           what is certified: accuracy, success of an attack, predictions
    _majority.py           the best single answer for all test records
    _certificate.py        certificates of an accuracy, an attack's success rate and an error
    _predictions.py        certificates of single predicted classes
    _intervals.py          certificates of single predicted numbers
    _certificate_text.py   certificates in plain words
    _certificate_json.py   certificates in JSON files
    _certificate_plot.py   a certificate as a curve
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
