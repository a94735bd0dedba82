"""Exact samplers: their draws follow exactly the law in the proof, without rounding.

::

    _bernoulli.py           coin with probability exp(-x), x rational, by integer arithmetic
    _discrete_laplace.py    two-sided geometric noise by integer arithmetic, fast in bulk
    _discrete_gaussian.py   Gaussian noise on the integers
    _selection.py           choice by exponential weights; coins with exponential probabilities
    _halving.py             choice by any weights that can be approximated
    _linked_coins.py        coins in a row, each with a bias that depends on the one before
    _refinement.py          uniform numbers with more bits wherever float64 is not enough
    _decay.py               table of powers of exp(-x), with an error bound
    _decimal_powers.py      the same powers in arbitrary precision
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
