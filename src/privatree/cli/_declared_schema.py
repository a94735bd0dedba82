"""Reading the schema of a command that trains: nothing in it may come from the records unseen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privatree.errors import SchemaError


def read_confirmed_schema(path: Path, otherwise: str = "") -> Any:
    """Read a schema, and refuse one with entries that nobody has confirmed.

    Parameters
    ----------
    path : Path
        The TOML file.
    otherwise : str, optional
        What else can be done about such entries, as the end of a sentence.

    Returns
    -------
    Schema
        With nothing unconfirmed.
    """
    from privatree.schema import Schema

    schema = Schema.from_toml(path)
    if schema.unconfirmed:
        raise SchemaError(
            f"{path}: these entries came from the data and nobody has confirmed them: "
            f"{schema.shown_unconfirmed()}. Check each against public knowledge and delete its "
            f'line "unconfirmed"{otherwise}.'
        )
    return schema
