"""The classifiers and regressors with the interface of scikit-learn.

::

    _privatree.py       PrivaTreeClassifier
    _regressor.py       PrivaTreeRegressor
    _tree_training.py   parameters and steps that the two have in common
    _privaboost.py      PrivaBoostClassifier
    _privaboost_regressor.py   PrivaBoostRegressor
    _boosting.py        parameters and steps that these two have in common
    _training.py        parameters, charges and statement that all have in common
    _class_weights.py   weights of the classes
    _charges.py         charges of a training to a budget, in one step or in two
    _notes.py           notes of the statement that follow from released values
    _schema_checks.py   checks of the schema, of epsilon, and of the interval of a target
    holdout/            a held-out part inside fit, and private scores from it
    _base.py            base classes of all estimators: records, predictions, release
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
