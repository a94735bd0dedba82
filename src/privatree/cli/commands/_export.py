"""``privatree export``: write a saved model in a format for people or other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._output import check_output, output_option, show_spinner, write_output
from privatree.cli.commands._show import Model, check_has_tree
from privatree.errors import ParameterError

Format = Literal["text", "dot", "json", "sql", "onnx", "card", "terms"]
Dialect = Literal[
    "postgresql", "mysql", "mariadb", "sqlite", "duckdb", "sqlserver", "bigquery", "snowflake"
]

_FORMATS_BY_ENDING: dict[str, Format] = {
    ".txt": "text",
    ".dot": "dot",
    ".gv": "dot",
    ".json": "json",
    ".sql": "sql",
    ".onnx": "onnx",
    ".md": "card",
    ".csv": "terms",
}
_FOR_TREES: dict[Format, str] = {"dot": "the format dot"}


def export(
    model: Model,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            show_default="by the ending of FILE, or text",
            help="text: the model as text. dot: a graph for Graphviz. json: the model file. sql: a "
            "CASE expression for databases. onnx: a model for onnxruntime. "
            "card: a model card in Markdown. terms: what each feature, and each pair of features, "
            "adds to the score, as CSV or, if FILE ends in .json, as JSON. dot is for trees only, "
            "terms for ensembles.",
        ),
    ] = None,
    output: Annotated[
        Path | None, output_option("File to write. The default is the screen.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With sql: write a query on the table of this name, not only an expression. "
            "clinic.patients is the table patients in the database schema clinic. Put a name that "
            "contains a dot in double quotes: 'clinic.\"patients.2024\"'.",
        ),
    ] = None,
    dialect: Annotated[
        Dialect | None,
        typer.Option(
            metavar="NAME",
            show_default="what SQLite, DuckDB and PostgreSQL share",
            help="With sql: the database. One of postgresql, mysql, mariadb, sqlite, duckdb, "
            "sqlserver, bigquery, snowflake.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="With sql: also compute the probability of each class.")
    ] = False,
    max_pairs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            show_default="all",
            help="With terms: the largest number of terms of several features; the strongest are "
            "kept.",
        ),
    ] = None,
) -> None:
    """Write a saved MODEL in a format for people or other programs.

    SQL and ONNX give the same predictions as privatree predict for every value, also for missing
    values. In the database, missing values must be NULL, and columns of numbers must have a numeric
    type. No format reveals more than the model file, so each may be published like the model. The
    formats json, onnx and card contain the privacy statement; text, dot and sql contain only the
    tree or the ensemble.

    - Read it: privatree export model.json

    - Draw it: privatree export model.json -o tree.dot, then dot -Tsvg tree.dot -o tree.svg

    - Predict in a database: privatree export model.json --dialect mysql --table patients -o
    predict.sql

    - Predict with onnxruntime: privatree export model.json -o model.onnx

    - Publish it: privatree export model.json -o README.md

    - Draw the terms of an ensemble elsewhere: privatree export ensemble.json -o terms.csv

    Example: privatree export model.json --format sql
    """
    chosen = format_ or _export_format_by_ending(output)
    if chosen != "sql" and (table is not None or dialect is not None or proba):
        raise ParameterError("--table, --dialect and --proba must be used with --format sql.")
    if chosen != "terms" and max_pairs is not None:
        raise ParameterError("--max-pairs must be used with --format terms.")
    if chosen == "onnx" and output is None and sys.stdout.isatty():
        raise ParameterError("onnx cannot be shown on a terminal. Name a file: -o model.onnx")
    terms_form = _terms_form(output) if chosen == "terms" else None
    if output is not None:
        check_output(output, [model])

    from privatree.model import read_release

    with show_spinner("Writing"):
        loaded = read_release(model)
        if chosen in _FOR_TREES:
            check_has_tree(loaded, model, _FOR_TREES[chosen])
        sql_options = {"table": table, "proba": proba, "dialect": dialect}
        written = _export_model(loaded, chosen, sql_options, (model, terms_form, max_pairs))
    is_json = "json" in (chosen, terms_form)
    write_output(output, written, form="json" if is_json else "text")


def _export_format_by_ending(output: Path | None) -> Format:
    if output is None:
        return "text"
    if output.suffix.lower() in _FORMATS_BY_ENDING:
        return _FORMATS_BY_ENDING[output.suffix.lower()]
    endings = ", ".join(_FORMATS_BY_ENDING)
    raise ParameterError(f"{output}: the name must end in {endings}. Or choose a --format.")


def _terms_form(output: Path | None) -> Literal["csv", "json"]:
    """Return the form of a file of terms, by its ending; CSV for the screen."""
    if output is None or output.suffix.lower() == ".csv":
        return "csv"
    if output.suffix.lower() == ".json":
        return "json"
    raise ParameterError(f"{output}: the name of a file of terms must end in .csv or .json.")


def _export_terms(
    loaded: Any, model: Path, form: Literal["csv", "json"], max_pairs: int | None
) -> str:
    from privatree.export import export_terms

    if loaded.kind == "tree":
        raise ParameterError(
            f"{model}: is a tree, and terms are for ensembles only. privatree show {model} prints "
            "the tree."
        )
    if max_pairs is not None and max_pairs < 0:
        raise ParameterError(f"--max-pairs must be at least 0, got {max_pairs}.")
    try:
        return export_terms(loaded, form, max_pairs=max_pairs)
    except ParameterError as error:
        if error.parameter != "form":
            raise
        raise ParameterError(
            f"{model}: has too many terms for CSV. Name a file that ends in .json, or pass a "
            "smaller --max-pairs."
        ) from None


def _export_model(
    loaded: Any, chosen: Format, sql_options: dict[str, Any], terms_options: tuple[Any, ...]
) -> str | bytes:
    from privatree import export as forms

    match chosen:
        case "text":
            return f"{forms.export_text(loaded)}\n"
        case "dot":
            return f"{forms.export_dot(loaded)}\n"
        case "json":
            return forms.export_json(loaded)
        case "sql":
            return f"{forms.export_sql(loaded, **sql_options)}\n"
        case "onnx":
            return forms.export_onnx(loaded)
        case "card":
            from privatree.report import model_card

            return model_card(loaded)
        case "terms":
            return _export_terms(loaded, *terms_options)
