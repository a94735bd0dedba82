"""The learner of a boosted ensemble: rounds of step functions, each drawn by one mechanism.

::

    _boost.py           the whole training, from the number of records to the last round
    _boost_number.py    what differs for a numeric target: where it begins, and residuals
    _plan.py            number of rounds, and the budget of each draw, from released values alone
    _number_plan.py     the further draws for a numeric target
    _measure.py         the functions that a round can draw, and their base measure
    _round.py           one round: a function drawn from sums, in several choices of one draw
    _round_kernels.py   weights of the choices, in compiled floating point
    _round_decimal.py   the same weights in arbitrary precision
    _released.py        drawn functions over codes to released functions over values
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
