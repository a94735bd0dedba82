"""A model as JSON: the text of a model file."""

from __future__ import annotations

from typing import Any

from privatree.model import released_any


def export_json(model: Any) -> str:
    """Write a model as JSON.

    Parameters
    ----------
    model : model or fitted learner
        Model to write.

    Returns
    -------
    str
        The text that ``save`` writes to a file and :func:`privatree.load` reads: classes, schema,
        the tree as a list of nodes or the ensemble as a list of rounds, and the privacy statement.
        It ends with a line break.

    Raises
    ------
    ModelFormatError
        If the text would be larger than :func:`privatree.load` accepts.

    Examples
    --------
    >>> import json
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> json.loads(export_json(model.fit(X, y)))["classes"]
    ['benign', 'malignant']
    """
    return released_any(model).to_json()
