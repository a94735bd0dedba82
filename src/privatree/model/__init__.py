"""What is released: a tree or an ensemble, its schema and its privacy statement.

::

    tree/               the tree: its nodes, their JSON and prediction
    ensemble/           the ensemble: functions of its rounds, their JSON and prediction
    terms/              the ensemble as a sum of functions of one, two or three features
    _json_labels.py     labels and numbers of a file, checked
    _release.py         what all releases have in common, in memory and as a file
    _outcomes.py        predictions and scores of releases of classes, and of numbers
    _tree_release.py    tree, schema and statement
    _ensemble_release.py   ensemble, schema and statement
    _reading.py         releases from files, models and fitted learners
    _model.py           releases as fitted estimators of scikit-learn, and ``load``
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
