"""A tree or an ensemble as text."""

from __future__ import annotations

from typing import Any

from privatree.export.text._ensemble_text import ensemble_text
from privatree.export.text._tree_text import tree_text
from privatree.model import Tree, released_predictor


def export_text(model: Any) -> str:
    """Write a tree or an ensemble as text.

    Parameters
    ----------
    model : Tree, Ensemble, model or fitted learner
        Model whose tree or ensemble is written.

    Returns
    -------
    str
        For a tree, one line for each node, without a line break at the end. The line of a split is
        a question, and its two answers follow below it. The line of a leaf is its prediction, with
        class probabilities and the noisy number of records if the model has them, or of units if
        epsilon is for units. The noise exceeds the number after ± with a probability of 5%. If the
        prediction is a number, it is followed by a range in which the target of at least 80% of the
        records is, with their noisy share.

        For an ensemble, a few lines that say how its rounds add up, and then the function of each
        round: which records get +1 and which get -1. A function that asks about another feature
        first is written like a tree.

    Notes
    -----
    A threshold is rounded down to the digits that the grid of cut points allows: the shown number
    is in the same bin as the threshold. A value with no more digits than the shown threshold goes
    the way that the text says; ``export_json`` has every digit. Different thresholds of a feature
    have different texts, unless all whole numbers of an integer feature fall on the same side of
    both. Names with special characters are quoted and escaped. "is missing" is about features whose
    missing values are separate; a category that is not in the schema is missing, too.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> print(export_text(model.fit(X, y)))
    Cell_Shape_Uniformity <= 3
    ├─ yes: predict benign (benign 94.9%, malignant 5.1%), about 453 (± 82) records
    └─ no:  predict malignant (benign 0.5%, malignant 99.5%), about 167 (± 82) records
    >>> ensemble = PrivaBoostClassifier(epsilon=1, rounds=3, schema=schema, random_state=0)
    >>> print(export_text(ensemble.fit(X, y)))
    3 rounds, each with a function of at most 2 features; 6 of 9 features are used.
    The sum of all rounds times 0.69282 is the log-odds of malignant.
    Predict malignant if the sum is above 0, and benign otherwise.
    round 1: +1 if Cell_Size_Uniformity > 3, else -1
    round 2: Single_Epi_Cell_Size <= 2
    ├─ yes: +1 if 4 < Bare_Nuclei <= 8 or Bare_Nuclei > 9, else -1
    └─ no:  +1 for all records
    round 3: Cell_Shape_Uniformity <= 2
    ├─ yes: +1 if 3 < Normal_Nucleoli <= 4 or 5 < Normal_Nucleoli <= 7, else -1
    └─ no:  +1 for all records
    """
    released = released_predictor(model)
    return tree_text(released) if isinstance(released, Tree) else ensemble_text(released)
