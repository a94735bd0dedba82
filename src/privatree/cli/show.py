"""``privatree show``: a saved model as text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def show(
    model: Annotated[Path, typer.Argument(help="A model file, as written by save().")],
) -> None:
    """Print the tree of a saved MODEL and its privacy statement.

    Example: privatree show model.json
    """
    from privatree.export import export_text
    from privatree.model import load

    loaded = load(model)
    typer.echo(export_text(loaded))
    typer.echo()
    typer.echo(str(loaded.privacy_))
