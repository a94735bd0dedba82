"""``privatree show``: a saved model as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from privatree.cli._output import say, write_output

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as privatree fit writes it.")
]
"""The argument of every command that reads a model."""


def show(
    model: Model,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the whole model as JSON: classes, schema, tree, privacy."
        ),
    ] = False,
) -> None:
    """Print the tree of a saved MODEL and its privacy statement.

    A question has its answers below it: yes first, then no. The statement says what epsilon is
    true for a whole record, what it rests on, what leaks if anything does, and where epsilon went.
    All of it is in the model file, and may be published with it.

    Example: privatree show model.json
    """
    from privatree.export import export_text
    from privatree.model import read_release

    loaded = read_release(model)
    if as_json:
        written = json.dumps(loaded.to_dict(), indent=1, allow_nan=False)
        write_output(None, f"{written}\n", form="json")
        return
    say(f"{export_text(loaded)}\n\n{loaded.privacy_}")
