"""Records to bins, bins to exact class counts. What is counted here is secret.

::

    _candidates.py      where splits may cut, and the base measure
    _binner.py          a batch of records to bins
    _cut_search.py      numbers to bins, compiled
    _counts.py          what a learner may ask; records in memory that answer
    _count_kernels.py   the loops over binned records, compiled
    _queries.py         what one pass over a source answers
    _collect.py         a pass that keeps the binned records
    _passes.py          a learner's counts from passes over a source
    _table_parts.py     counts that do not fit in memory at once
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
