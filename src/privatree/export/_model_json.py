"""A model as JSON: the text of its file."""

from __future__ import annotations

from typing import Any

from privatree.model import released_model


def export_json(model: Any) -> str:
    """Write a model as JSON.

    Parameters
    ----------
    model : Model or fitted classifier
        What to write.

    Returns
    -------
    str
        What ``save`` writes into a file and :func:`privatree.load` reads, with a line break at the
        end: classes, schema, the tree as a list of nodes, and the privacy statement.

    Raises
    ------
    ModelFormatError
        If it would be larger than what :func:`privatree.load` reads.
    """
    return released_model(model).to_json()
