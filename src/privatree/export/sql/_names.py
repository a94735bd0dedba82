"""Names of columns, tables and result columns in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from privatree.errors import ParameterError
from privatree.export.sql._dialects import Dialect
from privatree.schema import Label

_NAME_PART = r"""(?:"((?:[^"]|"")+)"|([^".][^.]*))"""
"""Regular expression for one part of a table name: quoted, or without quotes."""


def check_sql_column_names(names: Iterable[str], dialect: Dialect) -> None:
    """Raise ParameterError if the database cannot tell column names apart: ``a`` and ``A``."""
    seen: dict[object, str] = {}
    for name in names:
        if (other := seen.setdefault(dialect.column_key(name), name)) != name:
            how = "in more than case"
            if name.casefold() != other.casefold():
                how = "at their beginning, because the rest is cut off"
            raise ParameterError(
                f"{dialect.title} needs column names that differ {how}, got {other!r} and "
                f"{name!r}. Rename one of them."
            )


def quote_sql_table_name(table: str, dialect: Dialect) -> tuple[str, str]:
    """Return the quoted table for FROM, and its name as the qualifier of column names."""
    found = (
        re.findall(_NAME_PART, table)
        if re.fullmatch(f"{_NAME_PART}(?:[.]{_NAME_PART})*", table)
        else []
    )
    if table and not found:
        raise ParameterError(
            "table must be a name, or several names with dots between them. A name that contains a "
            f"""dot needs double quotes: clinic."patients.2024". Got {table!r}.""",
            "table",
        )
    parts = [quoted.replace('""', '"') if quoted else bare for quoted, bare in found] or [""]
    if len(parts) > dialect.max_table_name_parts:
        raise ParameterError(
            f"a table name in {dialect.title} must have at most {dialect.max_table_name_parts} "
            f"parts, got {len(parts)}. Put a name that contains dots in double quotes."
        )
    names = [dialect.quote_name(part) for part in parts]
    # Some databases do not accept schema.table.column, so the table gets an alias.
    return ".".join(names) + (f" AS {names[-1]}" if names[1:] else ""), names[-1]


def sql_probability_names(labels: Sequence[Label], dialect: Dialect) -> list[str]:
    """Return the quoted names of the probability columns, as in ``privatree predict --proba``."""
    texts = (str(label).lower() if isinstance(label, bool) else str(label) for label in labels)
    titles = [dialect.column_alias(f"probability of {text}") for text in texts]
    if len(set(titles)) < len(titles):
        titles = [f"{title} {code}" for code, title in enumerate(titles)]
    return [dialect.quote_name(title) for title in titles]
