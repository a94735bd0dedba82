"""The classes that a scikit-learn user sees.

::

    _privatree.py   PrivaTreeClassifier
    _base.py        what all classifiers of this package share: records, checks, release
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
