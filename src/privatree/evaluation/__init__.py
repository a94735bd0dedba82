"""Scores of a released model with differential privacy for the records it is scored with.

::

    _private_scores.py   ``private_scores``: opens records, charges, counts, releases
    _plan.py             which tables of counts score a model: public bins of its predictions
    _error_knots.py      public knots of errors and targets, for a model that predicts a number
    _counts.py           the exact tables, from one pass over labelled records
    _draws.py            the draws: noise for the tables
    _release.py          all metrics from the noisy tables
    _inversion.py        intervals that count noise and sampling, by inverting a test
    _class_metrics.py    metrics of classes and of probabilities
    _number_metrics.py   metrics of predicted numbers
    _score.py            one metric with its interval
    _scores.py           what is released: metrics with intervals, and what they cost
    _scores_json.py      the same as JSON, checked
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
