"""Records on a Spark cluster, counted there.

::

    _source.py     data frames, and files that executors read
    _passes.py     passes over rows, counted on the cluster
    _units.py      what the records of each unit weigh, summed up on the cluster
    _dealing.py    rows of a training and of a held-out part
    _counting.py   what executors run
    _jobs.py       jobs and their errors
    _session.py    a session for the command line
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
