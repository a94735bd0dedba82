"""Mechanisms, the ledger that charges for their draws, and the statement of what was spent.

::

    _randomness.py      random bits, from the operating system or from a seed
    _exact_epsilon.py   epsilon and delta as exact fractions
    _spend.py           what one draw costs
    _ledger.py          a privacy filter: it charges for a draw before the draw is made
    _schedule.py        the most that a learner can spend along a path of the tree
    _unit_words.py      what a guarantee protects, in words: a record, or all records of a unit
    _budget.py          the total epsilon and delta of a dataset, in memory
    _budget_checks.py   which charges a budget accepts
    _budget_store.py    the total epsilon and delta of a dataset, in a SQLite file
    _budget_file.py     opening and creating that SQLite file
    _budget_tables.py   its tables and their versions
    statement/          the privacy statement of a trained model
    composition/        draws of bounded range that are charged for together
    mechanisms/         one mechanism per file, each with its proof
    samplers/           exact samplers
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
