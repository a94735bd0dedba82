"""Options that describe CSV files, for every command that reads records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from privatree.errors import ParameterError, SchemaError

_PANEL = "CSV format (overrides the schema or the model; schema draft detects it)"


@dataclass(frozen=True)
class CsvOptions:
    """The options for CSV files that a user has given, as arguments of ``CsvDialect``."""

    given: dict[str, Any]

    def check_with_files(self, files: Sequence[Path]) -> None:
        """Raise ParameterError if an option is invalid, or is given although no file is CSV."""
        from privatree.sources import is_csv_path
        from privatree.sources.csv import ExcelFile

        if self.given and not any(is_csv_path(f) and not isinstance(f, ExcelFile) for f in files):
            raise ParameterError(
                f"--{min(self.given)} is for CSV files, and {files[0]} is not one. Leave the "
                "option out."
            )
        self.dialect()

    def schema_with_dialect(self, schema: Any) -> Any:
        """Return the schema, with its CSV dialect changed by the given options."""
        return replace(schema, csv=self.dialect(schema.csv)) if self.given else schema

    def dialect(self, declared: Any = None) -> Any:
        """Return the declared CSV dialect, or the default one, changed by the given options."""
        from privatree.schema import CsvDialect

        try:
            changed = (declared or CsvDialect()).changed(**self.given)
        except SchemaError as error:  # its message starts with the name of the option
            raise ParameterError(f"--{error}") from None
        return None if changed == CsvDialect() else changed


def csv_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for CSV files to a command, which gets them as its argument `csv`."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "csv"
    ]
    ours = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]

    @wraps(command)
    def command_with_options(*arguments: Any, **options: Any) -> Any:
        values = {name: options.pop(name) for name in _OPTIONS}
        given = {name: value for name, value in values.items() if value is not None}
        given |= {name: "" for name in ("quote", "escape") if given.get(name) == "none"}
        return command(*arguments, **options, csv=CsvOptions(given))

    command_with_options.__signature__ = inspect.Signature([*own, *ours])  # type: ignore[attr-defined]
    command_with_options.__annotations__ = {p.name: p.annotation for p in own + ours}
    return command_with_options


def _csv_option(metavar: str | None, text: str, kind: Any = str | None) -> Any:
    option = typer.Option(rich_help_panel=_PANEL, show_default=False, metavar=metavar, help=text)
    return Annotated[kind, option]


_OPTIONS: dict[str, Any] = {
    "delimiter": _csv_option(
        "C",
        "Character between values: ',', ';', '|' or tab. The default is a comma, or a tab in .tsv "
        "files.",
    ),
    "decimal": _csv_option(".|,", "Decimal mark of numbers. The default is a point."),
    "encoding": _csv_option(
        "NAME", "Character encoding, such as latin-1, cp1252 or utf-16. The default is utf-8."
    ),
    "quote": _csv_option(
        "C|none", 'Character around a value that contains a delimiter. The default is ".'
    ),
    "escape": _csv_option(
        "C|none",
        "Escape character: the character after it is taken literally. Spark, Hive and MySQL write "
        "a backslash. The default is none.",
    ),
    "multiline": _csv_option(
        None,
        "Whether a value in quotes may span lines. If so, the quotes of one row decide where the "
        "next row starts, and the guarantee holds only if every row closes its quotes. By default "
        "each line is a row.",
        kind=bool | None,
    ),
}
