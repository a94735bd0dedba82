"""Options that say what a model is about, in place of what its schema says."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from privatree.cli._learner_options import parse_number_option
from privatree.errors import ParameterError, SchemaError

_PANEL = "What the model is about"


def _about_option(metavar: str, text: str) -> Any:
    return Annotated[
        str | None,
        typer.Option(rich_help_panel=_PANEL, show_default=False, metavar=metavar, help=text),
    ]


Title = _about_option("TEXT", "Title of the model. These texts are published with the model.")
Description = _about_option("TEXT", "What the records are.")
IntendedUse = _about_option("TEXT", "What the model is for, and what it is not for.")
Owner = _about_option("TEXT", "Person or institution that answers for the model.")
Date = _about_option("YYYY-MM-DD", "Day of the model or of its records.")
MinRecords = Annotated[
    str | None,
    typer.Option(
        metavar="N|none",
        show_default=False,
        help="If the noisy number of records with a known label (with a unit: of units) is below "
        "N, stop: only 3% of epsilon is spent then. Choose N by public knowledge, at most half of "
        "what you expect and at least 150/epsilon. The default is min_records of the schema.",
    ),
]


def schema_with_about(schema: Any, min_records: str | None, **texts: str | None) -> Any:
    """Return the schema with its entries replaced by given options; None without a schema."""
    from privatree.schema import About

    given = {name: text for name, text in texts.items() if text is not None}
    if schema is None and (given or min_records is not None):
        name = next(iter(given), "min_records").replace("_", "-")
        raise ParameterError(f"--{name} must be used with --schema, which it adds to. Pass both.")
    changes: dict[str, Any] = {}
    if min_records is not None:
        least = parse_number_option("--min-records", min_records, none=None)
        changes = {"min_records": least, "min_records_confirmed": True}
    try:
        if given:
            changes["about"] = replace(schema.about or About(), **given)
        return replace(schema, **changes) if changes else schema
    except SchemaError as error:  # about an option: the schema itself is valid
        name, _, must = str(error).partition(" ")
        raise ParameterError(f"--{name.replace('_', '-')} {must}") from None
