"""The classifiers with the interface of scikit-learn.

::

    _privatree.py       PrivaTreeClassifier
    _privaboost.py      PrivaBoostClassifier
    _training.py        parameters, charges and statement that the two have in common
    _class_weights.py   weights of the classes
    _charges.py         charges of a training to a budget, in one step or in two
    _notes.py           notes of the statement that follow from released values
    _base.py            base classes of all classifiers: records, checks, release
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
