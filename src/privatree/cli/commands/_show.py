"""``privatree show``: print a saved model as text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privatree.cli._output import model_text, print_json, print_text

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file, written by privatree fit.")
]


def show(
    model: Model,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the whole model as JSON: classes, schema, tree, statement."
        ),
    ] = False,
) -> None:
    """Print what a saved MODEL is about, its tree and its privacy statement.

    Below each question of the tree are its two branches: first yes, then no. The privacy statement
    says which epsilon holds, for a whole record or for all records of a unit such as a patient,
    what is assumed, whether anything leaks, and what epsilon was spent on. Everything that is
    printed is in the model file, and as public as it.

    Example: privatree show model.json
    """
    from privatree.model import read_release

    loaded = read_release(model)
    if as_json:
        print_json(loaded.to_dict(), allow_nan=False)
    else:
        print_text(model_text(loaded))
