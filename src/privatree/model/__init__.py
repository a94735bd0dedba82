"""What is released: a tree or an ensemble, its schema and its privacy statement.

::

    _tree.py            the tree: frozen arrays, with labels or numbers in its leaves
    _tree_checks.py     checks that arrays are a tree of their schema
    _prediction.py      finds the leaf of each record with a compiled kernel
    _tree_building.py   builds a tree from single nodes
    _tree_json.py       the tree as a list of nodes, and back
    _tree_importances.py   how much each feature of a tree tells about what is predicted
    _json_labels.py     labels and numbers of a file, checked
    ensemble/           the ensemble: functions of its rounds, their JSON and prediction
    terms/              the ensemble as a sum of functions of one, two or three features
    _release.py         what all releases have in common, in memory and as a file
    _outcomes.py        predictions and scores of releases of classes, and of numbers
    _tree_release.py    tree, schema and statement
    _ensemble_release.py   ensemble, schema and statement
    _reading.py         releases from files, models and fitted learners
    _model.py           releases as fitted estimators of scikit-learn, and ``load``
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
