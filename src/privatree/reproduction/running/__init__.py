"""Tasks, their results, and the record of what made them.

::

    _task.py              what the runner needs to know about a task
    _tasks.py             accuracy by cross-validation and on random splits
    _probability_scores.py   AUC and log loss of a classifier
    _backdoor.py          success rate of a backdoor attack
    _audited_claim.py     lower bounds on the real epsilon of a method
    _budget_share.py      accuracy of Algorithm 1 with a given division of its budget
    _certified_split.py   certified accuracy on a random split
    _runner.py            runs tasks in processes, with a time limit
    _journal.py           the results file
    _provenance.py        run.json: data, code and versions of an output folder
    _study.py             finds data and methods for a target, and runs its tasks
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
