"""``privatree export``: a saved model in the form that another program reads."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._output import check_output, write_output
from privatree.cli._spinner import waiting
from privatree.cli.commands._show import Model
from privatree.errors import ParameterError


class Format(StrEnum):
    """What a model can be written as."""

    TEXT = "text"
    DOT = "dot"
    JSON = "json"
    SQL = "sql"
    ONNX = "onnx"
    CARD = "card"


Dialect = Literal[
    "postgresql", "mysql", "mariadb", "sqlite", "duckdb", "sqlserver", "bigquery", "snowflake"
]

_FORMAT_OF = {
    ".txt": Format.TEXT,
    ".dot": Format.DOT,
    ".gv": Format.DOT,
    ".json": Format.JSON,
    ".sql": Format.SQL,
    ".onnx": Format.ONNX,
    ".md": Format.CARD,
}


def export(
    model: Model,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            show_default="by the ending of FILE, else text",
            help="text: the tree as lines. dot: a graph for Graphviz. json: the model file. sql: a "
            "CASE expression for databases. onnx: a model for onnxruntime. "
            "card: a model card in Markdown.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write, not the screen."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With sql: a whole query on the table of this name, not an expression. "
            "clinic.patients is a table in a schema; a name with a dot in it stands in double "
            "quotes: 'clinic.\"patients.2024\"'.",
        ),
    ] = None,
    dialect: Annotated[
        Dialect | None,
        typer.Option(
            metavar="NAME",
            show_default="what SQLite, DuckDB and PostgreSQL share",
            help="With sql: the database, one of postgresql, mysql, mariadb, sqlite, duckdb, "
            "sqlserver, bigquery, snowflake.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="With sql: also the probability of each class.")
    ] = False,
) -> None:
    """Write a saved MODEL in a form that people or other programs read.

    SQL and ONNX predict what privatree predict does, for every value, missing ones included, if a
    missing value is NULL and numbers are numbers in the database. None
    of the forms has more in it than the model file, so each may be published like it. The privacy
    statement is in json, onnx and card; text, dot and sql are the tree alone.

    - Read it: privatree export model.json

    - Draw it: privatree export model.json -o tree.dot, then dot -Tsvg tree.dot -o tree.svg

    - Predict in a database: privatree export model.json --dialect mysql --table patients -o
    predict.sql

    - Predict with onnxruntime: privatree export model.json -o model.onnx

    - Publish it: privatree export model.json -o README.md

    Example: privatree export model.json --format sql
    """
    chosen = format_ or _guessed(output)
    if chosen is not Format.SQL and (table is not None or dialect is not None or proba):
        raise ParameterError("--table, --dialect and --proba must go with --format sql.")
    if chosen is Format.ONNX and output is None and sys.stdout.isatty():
        raise ParameterError("onnx is not text. Name a file to write: -o model.onnx")
    if output is not None:
        check_output(output, [model])

    from privatree.model import read_release

    with waiting("Writing"):
        written = _written(read_release(model), chosen, table=table, proba=proba, dialect=dialect)
    write_output(output, written, form="json" if chosen is Format.JSON else "text")


def _guessed(output: Path | None) -> Format:
    if output is None:
        return Format.TEXT
    if output.suffix.lower() in _FORMAT_OF:
        return _FORMAT_OF[output.suffix.lower()]
    endings = ", ".join(_FORMAT_OF)
    raise ParameterError(f"{output}: must end in one of {endings}, or --format must be given.")


def _written(loaded: Any, chosen: Format, **of_sql: Any) -> str | bytes:
    from privatree import export as forms

    match chosen:
        case Format.TEXT:
            return f"{forms.export_text(loaded)}\n"
        case Format.DOT:
            return f"{forms.export_dot(loaded)}\n"
        case Format.JSON:
            return forms.export_json(loaded)
        case Format.SQL:
            return f"{forms.export_sql(loaded, **of_sql)}\n"
        case Format.ONNX:
            return forms.export_onnx(loaded)
        case Format.CARD:
            from privatree.report import model_card

            return model_card(loaded)
