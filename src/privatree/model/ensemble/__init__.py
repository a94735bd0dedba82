"""The released ensemble: a sum of functions of few features.

::

    _round_functions.py   step functions and branches, of which a round has one function
    _ensemble.py          all rounds, checked
    _ensemble_json.py     the ensemble as a list of rounds, and back
    _prediction.py        scores of records with compiled lookups
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
