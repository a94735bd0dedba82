"""Neighbouring datasets that reveal known mistakes, in memory and in files.

::

    _neighbours.py          pairs in memory
    _unit_neighbours.py     pairs in memory that differ by all records of one unit
    _number_neighbours.py   pairs in memory whose target is a number
    _file_neighbours.py     pairs of files that differ in one line
    _file_readers.py        readers of these files
    _own_pair.py            a pair from the user's own data
    _all_pairs.py           all pairs, by name
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
