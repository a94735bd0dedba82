"""Tasks, their results and what they were made with.

::

    _task.py              one training to be measured
    _tasks.py             accuracy by cross-validation
    _backdoor.py          success of a backdoor
    _budget_share.py      accuracy by shares of the budget
    _certified_split.py   accuracy on a fixed split, for certificates
    _runner.py            tasks in processes, with a time limit
    _journal.py           results as they come, kept
    _provenance.py        data, code and versions of a folder of results
    _study.py             all tasks of a table or figure
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
