"""The dialect of each database: how it writes names, texts, doubles and booleans."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from privatree.errors import ParameterError
from privatree.export.sql._dialect import Dialect
from privatree.export.sql._numbers import fraction, typed_text, with_exponent

_MIN_NORMAL = 2.0**-1022
_BYTES_OF_A_NAME = 63  # PostgreSQL cuts off the rest


# --- names and texts in quotes ------------------------------------------------------------------


def _between(opening: str, closing: str) -> Callable[[str], str]:
    """Between signs, of which the closing one is doubled inside."""

    def quoted(text: str) -> str:
        return f"{opening}{text.replace(closing, 2 * closing)}{closing}"

    return quoted


def _each(quoted: Callable[[str], str]) -> Callable[[Sequence[str]], list[str]]:
    return lambda texts: [quoted(text) for text in texts]


_in_quotes = _between("'", "'")


def _text_of_postgresql(text: str) -> str:
    """An old setting makes backslashes special; with E they always are."""
    quoted = _in_quotes(text)
    return f"E{quoted}".replace("\\", "\\\\") if "\\" in text else quoted


def _text_of_snowflake(text: str) -> str:
    return _in_quotes(text.replace("\\", "\\\\"))


def _texts_of_mysql(texts: Sequence[str]) -> list[str]:
    """What is beyond ASCII says its encoding, so that the client's does not matter.

    Texts of one list all do or none: else their collations could clash. Whether a backslash is
    special is a setting, so with one the text is written as bytes.
    """
    if all(text.isascii() and "\\" not in text for text in texts):
        return [_in_quotes(text) for text in texts]
    return [
        f"_utf8mb4 X'{text.encode().hex().upper()}'" if "\\" in text else f"_utf8mb4{quoted}"
        for text, quoted in zip(texts, map(_in_quotes, texts), strict=True)
    ]


def _text_of_sqlserver(text: str) -> str:
    """A backslash before a line break would take both away, so they are parted."""
    quoted = f"N{_in_quotes(text)}"
    return re.sub(r"\\(?=[\r\n])", lambda _: r"\' + N'", quoted)


def _escaped(quote: str) -> Callable[[str], str]:
    """BigQuery's names and texts: no line breaks, and backslashes are special in both."""

    def quoted(text: str) -> str:
        found = "".join(
            f"\\{char}" if char in (quote, "\\") else char if char.isprintable() else _code(char)
            for char in text
        )
        return f"{quote}{found}{quote}"

    return quoted


def _code(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 2**16 else f"\\U{ord(char):08x}"


def _without_wide_signs(name: str) -> str:
    """MySQL's names have no signs of more than 16 bits."""
    return re.sub("[^\0-\uffff]", "_", name)


def _with_allowed_signs(name: str) -> str:
    """BigQuery's columns have letters, digits, blanks and some signs in their names."""
    return re.sub(r"[^\w &%=+:'<>#|-]", "_", name)


def _first_bytes(name: str) -> object:
    return name.encode()[:_BYTES_OF_A_NAME]


# --- the databases ------------------------------------------------------------------------------

_STANDARD = Dialect(
    title="SQL",
    double_type="DOUBLE PRECISION",
    double=fraction("DOUBLE PRECISION"),
    name=_between('"', '"'),
    texts=_each(_in_quotes),
    nan_is_largest=True,
)
"""What SQLite, DuckDB and PostgreSQL all read."""

_POSTGRESQL = Dialect(
    title="PostgreSQL",
    double_type="DOUBLE PRECISION",
    double=typed_text,
    name=_between('"', '"'),
    texts=_each(_text_of_postgresql),
    text_of='CAST({} AS TEXT) COLLATE "C"',
    truth_of="LOWER(CAST({} AS TEXT))",  # of a boolean, a number, or what was read as text
    truths=(("'false'", "'0'", "'0.0'"), ("'true'", "'1'", "'1.0'")),
    nan_is_largest=True,
    column_key=_first_bytes,
)

_MYSQL = Dialect(
    title="MySQL",
    double_type="DOUBLE",
    double=with_exponent,
    name=_between("`", "`"),
    texts=_texts_of_mysql,
    text_of="CAST(CONVERT({} USING utf8mb4) AS BINARY)",
    truths=(("0",), ("1",)),
    alias=_without_wide_signs,
    max_parts=2,
)

_SQLITE = Dialect(
    title="SQLite",
    double_type="REAL",
    double=fraction("REAL"),
    name=_between('"', '"'),
    texts=_each(_in_quotes),
    text_of="{} COLLATE BINARY",
    truths=(("0",), ("1",)),
    booleans=("0", "1"),
    max_parts=2,
)

_DUCKDB = Dialect(
    title="DuckDB",
    double_type="DOUBLE",
    double=with_exponent,
    name=_between('"', '"'),
    texts=_each(_in_quotes),
    text_of='CAST({} AS TEXT) COLLATE "C"',
    nan_is_largest=True,
)

_SQLSERVER = Dialect(
    title="SQL Server",
    double_type="DOUBLE PRECISION",
    double=fraction("DOUBLE PRECISION", exponent="E0"),
    name=_between("[", "]"),
    texts=_each(_text_of_sqlserver),
    text_of="CAST({} AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2",
    truths=(("0",), ("1",)),
    booleans=("CAST(0 AS BIT)", "CAST(1 AS BIT)"),
    whole_type="BIGINT",
    ignores_last_blanks=True,  # whatever the collation; so columns of CHAR, filled up, work too
    min_positive=_MIN_NORMAL,
    max_parts=4,
)

_BIGQUERY = Dialect(
    title="BigQuery",
    double_type="FLOAT64",
    double=with_exponent,
    name=_escaped("`"),
    texts=_each(_escaped("'")),
    truth_of="LOWER(CAST({} AS STRING))",
    truths=_POSTGRESQL.truths,
    alias=_with_allowed_signs,
)

_SNOWFLAKE = Dialect(
    title="Snowflake",
    double_type="DOUBLE",
    double=fraction("DOUBLE"),
    name=_between('"', '"'),
    texts=_each(_text_of_snowflake),
    truth_of="LOWER(CAST({} AS VARCHAR))",
    truths=_POSTGRESQL.truths,
    nan_is_largest=True,
    column_key=str,
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "postgresql": _POSTGRESQL,
        "mysql": _MYSQL,
        "mariadb": replace(_MYSQL, title="MariaDB"),
        "sqlite": _SQLITE,
        "duckdb": _DUCKDB,
        "sqlserver": _SQLSERVER,
        "bigquery": _BIGQUERY,
        "snowflake": _SNOWFLAKE,
    }
)
"""The databases by name."""


def chosen_dialect(name: str | None) -> Dialect:
    """The dialect of this name; without one, what SQLite, DuckDB and PostgreSQL share.

    Raises
    ------
    ParameterError
        If there is none of this name.
    """
    if name is None:
        return _STANDARD
    if name not in DIALECTS:
        raise ParameterError(
            f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}.", "dialect"
        )
    return DIALECTS[name]
