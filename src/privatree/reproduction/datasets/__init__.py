"""The paper's datasets.

::

    _dataset.py     what the paper says of a dataset, and what loading one gives
    _catalogue.py   all of them, as a table
    _load.py        one of them, from a folder, the package, the cache or OpenML
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
