"""Mechanisms, the ledger that charges for them, and the statement of what was spent.

::

    _randomness.py      random words of the operating system, or from a seed
    _exact_epsilon.py   epsilon as an exact fraction
    _ledger.py          a privacy filter: it charges, then draws
    _schedule.py        the worst-case composition of a training
    _statement.py       what is guaranteed, for whom, and what was spent on what
    _budget.py          the budget of a dataset, in memory
    _budget_store.py    the same in a SQLite file
    _budget_file.py     that file
    mechanisms/         one mechanism a file, each with its proof
    samplers/           exact samplers
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
