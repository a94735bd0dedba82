"""Signed sums of records for a boosted ensemble, round by round. All sums are secret.

::

    _rounds.py        functions of past rounds as lookup tables over codes
    _signed_sums.py   the sums that a learner can ask for, from records in memory or by passes
    _weight_rule.py   how much a record counts in a round: a function of its own score
    _kernels.py       the loops over records, compiled
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
