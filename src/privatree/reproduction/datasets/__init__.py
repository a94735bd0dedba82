"""The paper's datasets.

::

    _dataset.py     the paper's description of a dataset, and a loaded dataset
    _catalogue.py   the table of the 29 datasets
    _load.py        loads a dataset from a folder, the package, the cache or OpenML
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
