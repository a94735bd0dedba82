"""Exact samplers: the law of what comes out is the law in the proof, not a rounded one.

::

    _bernoulli.py           a coin of bias exp(-x), x rational, in whole numbers only
    _discrete_laplace.py    two-sided geometric noise, in whole numbers only, fast in bulk
    _discrete_gaussian.py   Gaussian noise on the whole numbers
    _selection.py           a choice proportional to exp(score), or independent coins of such bias
    _halving.py             a choice by any weights of which approximations can be computed
    _refinement.py          decided in floating point where its error bound allows, in arbitrary
                            precision where it does not
    _decay.py               powers of exp(-x), in a table with an error bound
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
