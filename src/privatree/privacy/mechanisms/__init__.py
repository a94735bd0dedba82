"""Differentially private mechanisms, one a file, each with its proof in ``docs/proofs/``.

A mechanism is a frozen value that holds its epsilon. ``release(exact, randomness)`` draws; the law
it draws from is there beside it, for tests and audits. Learners do not call ``release`` themselves:
they hand the mechanism to a :class:`~privatree.privacy.Ledger`, which charges first.

::

    _geometric.py, _truncated_geometric.py, _laplace.py, _gaussian.py    noise
    _exponential.py, _permute_and_flip.py     a choice by its score
    _sequential_exponential.py                one outcome, drawn in several choices
    _joint_exponential_quantiles.py           all quantiles at once, for the paper's learner
    _joint_exponential_tables.py              its weights, by dynamic programming
    _quantile_grid.py                         the cells that it draws
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
