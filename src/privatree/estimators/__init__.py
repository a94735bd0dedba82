"""The classifiers with the interface of scikit-learn.

::

    _privatree.py       PrivaTreeClassifier
    _class_weights.py   weights of the classes
    _charges.py         charges of a training to a budget, in one step or in two
    _tree_notes.py      notes of the statement that follow from the released tree
    _base.py            base class of all tree classifiers: records, checks, release
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
