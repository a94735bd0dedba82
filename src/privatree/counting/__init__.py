"""Exact class counts of binned records. All counts are secret.

::

    _candidates.py      candidate splits of every feature, and their base measure
    _fine_cells.py      fine codes from which the learner zooms in on some numbers
    _binner.py          batches of records to bins and category codes
    _cut_search.py      bins of numbers, compiled
    _counts.py          the counts that a learner can ask for, from records in memory
    _count_kernels.py   the loops over binned records, compiled
    _queries.py         what one pass over a source can answer
    _leaf_targets.py    numeric targets at the leaves of a tree
    _target_queries.py  what one pass can answer about numeric targets
    _passes.py          a learner's counts from passes over a source
    _table_parts.py     counts that do not fit in memory at once
    dealing/            records of a training and of a held-out part
    sums/               signed sums of records, for ensembles
    _weights.py         weights of records, so that a unit weighs at most as much as one record
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
