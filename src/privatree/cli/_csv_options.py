"""Options that say how CSV files are written, for every command that reads records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from privatree.errors import ParameterError, SchemaError

_PANEL = (
    "How CSV files are written (otherwise as the schema or the model says; the draft detects it)"
)


@dataclass(frozen=True)
class CsvOptions:
    """What was given of the dialect.

    Parameters
    ----------
    given : dict
        Arguments of :class:`~privatree.schema.CsvDialect`, without those that were not given.
    """

    given: dict[str, Any]

    def check(self, files: Sequence[Path]) -> None:
        """Refuse options that are wrong, or that files of another kind do not have."""
        from privatree.sources import is_csv
        from privatree.sources.csv import ExcelFile

        if self.given and not any(is_csv(f) and not isinstance(f, ExcelFile) for f in files):
            raise ParameterError(
                f"--{min(self.given)} is for CSV files, and {files[0]} is none. Leave it out."
            )
        self._changed(None)

    def declared_in(self, schema: Any) -> Any:
        """The schema with the dialect of these options, where it is given."""
        if not self.given:
            return schema
        return replace(schema, csv=self._changed(schema.csv))

    def dialect(self) -> Any:
        """The dialect where there is no schema."""
        return self._changed(None)

    def _changed(self, declared: Any) -> Any:
        from privatree.schema import CsvDialect

        try:
            changed = (declared or CsvDialect()).changed(**self.given)
        except SchemaError as error:  # which starts with the name of the option
            raise ParameterError(f"--{error}") from None
        return None if changed == CsvDialect() else changed


def csv_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it takes them together, as its argument `csv`."""
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
    def with_options(*arguments: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in _OPTIONS}
        for name in ("quote", "escape"):
            if given[name] == "none":
                given[name] = ""
        chosen = {name: value for name, value in given.items() if value is not None}
        return command(*arguments, **options, csv=CsvOptions(chosen))

    with_options.__signature__ = inspect.Signature([*own, *ours])  # type: ignore[attr-defined]
    with_options.__annotations__ = {
        parameter.name: parameter.annotation for parameter in own + ours
    }
    return with_options


def _option(kind: Any, **how: Any) -> Any:
    return Annotated[kind, typer.Option(rich_help_panel=_PANEL, show_default=False, **how)]


_OPTIONS: dict[str, Any] = {
    "delimiter": _option(
        str | None,
        metavar="C",
        help="The character between values: ',', ';', '|' or tab. Otherwise a comma, or a tab in "
        ".tsv files.",
    ),
    "decimal": _option(
        str | None, metavar=".|,", help="The decimal mark of numbers. Otherwise a point."
    ),
    "encoding": _option(
        str | None,
        metavar="NAME",
        help="The character encoding, such as latin-1, cp1252 or utf-16. Otherwise utf-8.",
    ),
    "quote": _option(
        str | None,
        metavar="C|none",
        help='The character around a value that contains a delimiter. Otherwise ".',
    ),
    "escape": _option(
        str | None,
        metavar="C|none",
        help="Escape character: the next character is taken literally. A backslash in files of "
        "Spark, Hive and MySQL. Otherwise none.",
    ),
    "multiline": _option(
        bool | None,
        help="Whether a value in quotes may span lines. Then one row's quotes decide where the "
        "next row starts, and the guarantee rests on every row closing its quotes. Otherwise a "
        "line is a row.",
    ),
}
