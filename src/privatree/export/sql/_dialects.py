"""How each database writes names, texts, doubles and booleans, and what it can hold.

A condition must be TRUE for the same values in every database. So text is compared byte by byte,
although some databases treat ``a`` and ``A`` as equal, and the literal of a number has exactly the
value of the double.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from privatree.errors import ParameterError
from privatree.export.sql._double_literals import (
    double_as_fraction_writer,
    double_with_exponent,
    postgresql_double,
)

_MIN_NORMAL = 2.0**-1022
_POSTGRESQL_NAME_BYTES = 63  # PostgreSQL cuts longer names


def _dialect_quoter(opening: str, closing: str) -> Callable[[str], str]:
    """Return a function that quotes a text and doubles closing quotes inside it."""
    return lambda text: f"{opening}{text.replace(closing, 2 * closing)}{closing}"


_single_quote, _double_quote = _dialect_quoter("'", "'"), _dialect_quoter('"', '"')


def _dialect_writer(write: Callable[[str], str]) -> Callable[[Sequence[str]], list[str]]:
    return lambda texts: [write(text) for text in texts]


_single_quote_each = _dialect_writer(_single_quote)


@dataclass(frozen=True)
class Dialect:
    """The SQL dialect of a database. ``{}`` in a template stands for the column."""

    title: str
    """Name of the database in messages."""
    double_type: str
    double_literal: Callable[[float], str]
    """Writes a double as a literal that the database reads exactly."""
    name_quoter: Callable[[str], str] = _double_quote
    text_writer: Callable[[Sequence[str]], list[str]] = _single_quote_each
    """Writes texts as literals that can all be results of one CASE."""
    text_template: str = "{}"
    """Expression that is compared with text literals, byte by byte."""
    boolean_template: str = "{}"
    """Expression that is compared with `boolean_literals`."""
    boolean_literals: tuple[Sequence[str], Sequence[str]] = (("FALSE",), ("TRUE",))
    """Literals that mean False, and literals that mean True."""
    boolean_results: tuple[str, str] = ("FALSE", "TRUE")
    integer_type: str | None = None
    """Type to which a 64-bit result is cast; None if its digits alone have this type."""
    has_exp: bool = True
    """False if the database may lack the function EXP, as SQLite does in some builds."""
    has_nan: bool = True
    """False if a column cannot hold NaN."""
    nan_is_largest: bool = False
    """True if NaN is greater than every number. Otherwise no comparison with NaN is TRUE."""
    ignores_trailing_blanks: bool = False
    min_positive: float = 5e-324
    """Smallest positive double that a column can hold."""
    column_key: Callable[[str], object] = str.casefold
    """Returns a key. Names with the same key are the same column."""
    column_alias: Callable[[str], str] = str
    """Replaces characters that the name of a result column cannot have."""
    max_table_name_parts: int = 3

    def quote_name(self, name: str) -> str:
        if not name:
            raise ParameterError(
                "SQL needs names of at least one character, got an empty name. Rename the column "
                "or table."
            )
        return self.name_quoter(_check_no_nul_in_dialect(name))

    def text_literals(self, texts: Sequence[str]) -> list[str]:
        return self.text_writer([_check_no_nul_in_dialect(text) for text in texts])

    def column_as_double(self, column: str) -> str:
        return f"CAST({column} AS {self.double_type})"

    def double_result(self, number: float) -> str:
        """Return a double as an SQL expression whose type is double."""
        literal = self.double_literal(number)
        return literal if literal.startswith("CAST") else self.column_as_double(literal)

    def can_hold(self, number: float) -> bool:
        return number == 0 or abs(number) >= self.min_positive


def _check_no_nul_in_dialect(text: str) -> str:
    if "\0" in text:
        raise ParameterError(
            f"SQL cannot hold the character NUL, but {text!r} contains it. Remove the character."
        )
    return text


# --- quoted names and texts ---------------------------------------------------------------------


def _postgresql_text(text: str) -> str:
    """Quote a text. With the prefix E, backslashes are special whatever the server's settings."""
    quoted = _single_quote(text)
    return f"E{quoted}".replace("\\", "\\\\") if "\\" in text else quoted


def _mysql_texts(texts: Sequence[str]) -> list[str]:
    """Quote texts with their encoding, so that the encoding of the client does not matter.

    Either all texts of a list name the encoding or none, because collations could clash otherwise.
    A setting decides if backslashes are special, so a text with a backslash is written as bytes.
    """
    if all(text.isascii() and "\\" not in text for text in texts):
        return [_single_quote(text) for text in texts]
    return [
        f"_utf8mb4 X'{text.encode().hex().upper()}'" if "\\" in text else f"_utf8mb4{quoted}"
        for text, quoted in zip(texts, map(_single_quote, texts), strict=True)
    ]


def _sqlserver_text(text: str) -> str:
    """Quote a text in parts: SQL Server would drop a backslash that is before a line break."""
    quoted = f"N{_single_quote(text)}"
    return re.sub(r"\\(?=[\r\n])", lambda _: r"\' + N'", quoted)


def _bigquery_quoter(quote: str) -> Callable[[str], str]:
    """Return a function that quotes, with BigQuery's escapes for line breaks and backslashes."""

    def escape_character(char: str) -> str:
        if char in (quote, "\\"):
            return f"\\{char}"
        if char.isprintable():
            return char
        return f"\\u{ord(char):04x}" if ord(char) < 2**16 else f"\\U{ord(char):08x}"

    return lambda text: f"{quote}{''.join(map(escape_character, text))}{quote}"


def _mysql_alias(name: str) -> str:
    """Replace characters beyond 16 bits, which MySQL does not allow in names."""
    return re.sub("[^\0-\uffff]", "_", name)


def _bigquery_alias(name: str) -> str:
    """Replace characters that BigQuery forbids: all but letters, digits, blanks and some signs."""
    return re.sub(r"[^\w &%=+:'<>#|-]", "_", name)


# --- the databases ------------------------------------------------------------------------------

_STANDARD = Dialect(
    title="SQL",
    double_type="DOUBLE PRECISION",
    double_literal=double_as_fraction_writer("DOUBLE PRECISION"),
    has_exp=False,
    nan_is_largest=True,
)
"""SQL that SQLite, DuckDB and PostgreSQL all read."""

_TEXT_OF_BOOLEANS = (("'false'", "'0'", "'0.0'"), ("'true'", "'1'", "'1.0'"))
_MYSQL = Dialect(
    title="MySQL",
    double_type="DOUBLE",
    double_literal=double_with_exponent,
    name_quoter=_dialect_quoter("`", "`"),
    text_writer=_mysql_texts,
    text_template="CAST(CONVERT({} USING utf8mb4) AS BINARY)",
    boolean_literals=(("0",), ("1",)),
    has_nan=False,
    column_alias=_mysql_alias,
    max_table_name_parts=2,
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "postgresql": Dialect(
            title="PostgreSQL",
            double_type="DOUBLE PRECISION",
            double_literal=postgresql_double,
            text_writer=_dialect_writer(_postgresql_text),
            text_template='CAST({} AS TEXT) COLLATE "C"',
            boolean_template="LOWER(CAST({} AS TEXT))",  # for booleans, numbers and texts
            boolean_literals=_TEXT_OF_BOOLEANS,
            nan_is_largest=True,
            column_key=lambda name: name.encode()[:_POSTGRESQL_NAME_BYTES],
        ),
        "mysql": _MYSQL,
        "mariadb": replace(_MYSQL, title="MariaDB"),
        "sqlite": Dialect(
            title="SQLite",
            double_type="REAL",
            double_literal=double_as_fraction_writer("REAL"),
            text_template="{} COLLATE BINARY",
            boolean_literals=(("0",), ("1",)),
            boolean_results=("0", "1"),
            has_exp=False,
            has_nan=False,
            max_table_name_parts=2,
        ),
        "duckdb": Dialect(
            title="DuckDB",
            double_type="DOUBLE",
            double_literal=double_with_exponent,
            text_template='CAST({} AS TEXT) COLLATE "C"',
            nan_is_largest=True,
        ),
        "sqlserver": Dialect(
            title="SQL Server",
            double_type="DOUBLE PRECISION",
            double_literal=double_as_fraction_writer("DOUBLE PRECISION", exponent="E0"),
            name_quoter=_dialect_quoter("[", "]"),
            text_writer=_dialect_writer(_sqlserver_text),
            text_template="CAST({} AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2",
            boolean_literals=(("0",), ("1",)),
            boolean_results=("CAST(0 AS BIT)", "CAST(1 AS BIT)"),
            integer_type="BIGINT",
            has_nan=False,
            ignores_trailing_blanks=True,  # in any collation; so padded CHAR columns work too
            min_positive=_MIN_NORMAL,
            max_table_name_parts=4,
        ),
        "bigquery": Dialect(
            title="BigQuery",
            double_type="FLOAT64",
            double_literal=double_with_exponent,
            name_quoter=_bigquery_quoter("`"),
            text_writer=_dialect_writer(_bigquery_quoter("'")),
            boolean_template="LOWER(CAST({} AS STRING))",
            boolean_literals=_TEXT_OF_BOOLEANS,
            column_alias=_bigquery_alias,
        ),
        "snowflake": Dialect(
            title="Snowflake",
            double_type="DOUBLE",
            double_literal=double_as_fraction_writer("DOUBLE"),
            text_writer=_dialect_writer(lambda text: _single_quote(text.replace("\\", "\\\\"))),
            boolean_template="LOWER(CAST({} AS VARCHAR))",
            boolean_literals=_TEXT_OF_BOOLEANS,
            nan_is_largest=True,
            column_key=str,
        ),
    }
)
"""The dialects by the name of the database."""


def find_dialect(name: str | None) -> Dialect:
    """Return the dialect of a database, or the standard dialect if there is no name."""
    if name is None:
        return _STANDARD
    if name not in DIALECTS:
        raise ParameterError(
            f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}.", "dialect"
        )
    return DIALECTS[name]
