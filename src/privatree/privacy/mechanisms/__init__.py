"""Differentially private mechanisms, one per file, each with its proof in ``docs/proofs/``.

A mechanism is a frozen dataclass that holds its epsilon. ``release(exact, randomness)`` draws. Most
also give the exact law of the draw, for tests and audits. Learners do not call ``release``: they
pass the mechanism to a :class:`~privatree.privacy.Ledger`, which charges before it draws.

::

    _geometric.py, _truncated_geometric.py, _laplace.py, _gaussian.py    noise on numbers
    _exponential.py, _permute_and_flip.py     choice of a candidate by its score
    _sequential_exponential.py                choice of an outcome in several steps
    _dense_interval.py                        choice of an interval that has most records
    _joint_exponential_quantiles.py           all quantiles of a column, for the learner of [Vos23]
    _joint_exponential_tables.py              weights of those quantiles
    _quantile_grid.py                         public grid of those quantiles
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
