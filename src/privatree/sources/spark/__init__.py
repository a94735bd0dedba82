"""Records on a Spark cluster, counted where they are.

::

    _source.py     a data frame of Spark
    _files.py      files that the cluster reads
    _counting.py   what an executor does
    _jobs.py       jobs and their errors
    _session.py    a session, started or found
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
