"""Signed sums of records for a boosted ensemble, round by round. All sums are secret.

::

    _rounds.py        functions of past rounds as lookup tables over codes
    _signed_sums.py   the sums that a learner can ask for, and those of records in memory
    _pass_sums.py     the same sums by passes over a source
    _weight_rule.py   how much a record counts in a round: a function of its own score
    _kernels.py       the loops over records, compiled
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
