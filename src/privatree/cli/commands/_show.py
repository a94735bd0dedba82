"""``privatree show``: print a saved model as text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privatree.cli._output import model_text, print_json, print_text
from privatree.errors import ParameterError

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file, written by privatree fit.")
]


def show(
    model: Model,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the whole model as JSON: schema, tree or ensemble, statement.",
        ),
    ] = False,
) -> None:
    """Print what a saved MODEL is about, its tree or ensemble, and its privacy statement.

    Below each question of a tree are its two branches: first yes, then no. An ensemble is a sum of
    terms, of one feature or of several together: the strongest are listed. The privacy statement
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
        print_text(model_text(loaded, model))


def check_has_tree(loaded: Any, path: Path, form: str) -> None:
    """Raise ParameterError if a model is an ensemble, for which there is no such form yet."""
    if loaded.kind != "tree":
        raise ParameterError(
            f"{path}: is an ensemble, and {form} is for trees only: there is none for ensembles "
            f"yet. privatree show {path} prints the model."
        )
