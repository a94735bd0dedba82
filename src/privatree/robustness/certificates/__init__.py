"""From a learner and its data to a certificate against poisoning.

::

    _certify.py            the functions that users call
    _certification.py      a request: checked, then refitted
    _preconditions.py      what must hold for a bound to be true
    _measures.py           what is certified: accuracy, success of an attack, predictions
    _majority.py           what always answering the same class would reach
    _certificate.py        the certificate of a score, with
                           _certificate_text.py, _certificate_json.py, _certificate_plot.py
    _predictions.py        certificates of single predictions, with
                           _predictions_text.py, _predictions_json.py
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
