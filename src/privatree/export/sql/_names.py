"""Names of columns, tables and results in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from privatree.errors import ParameterError
from privatree.export.sql._dialect import Dialect
from privatree.schema import Label

_PART = r"""(?:"((?:[^"]|"")+)"|([^".][^.]*))"""
"""Of the name of a table."""


def check_names(names: Iterable[str], dialect: Dialect) -> None:
    """Refuse names that the database takes for the same: mostly, if they differ in case only."""
    seen: dict[object, str] = {}
    for name in names:
        if (other := seen.setdefault(dialect.column_key(name), name)) != name:
            how = "in more than case"
            if name.casefold() != other.casefold():
                how = "at their beginning, because the rest is cut off"
            raise ParameterError(
                f"{dialect.title} needs names that differ {how}, got {other!r} and {name!r}."
            )


def table_name(table: str, dialect: Dialect) -> tuple[str, str]:
    """What follows FROM, and what the table is called before its columns."""
    found = re.findall(_PART, table) if re.fullmatch(f"{_PART}(?:[.]{_PART})*", table) else []
    if table and not found:
        raise ParameterError(
            "table must be a name, or several with dots between, in double quotes if one has a "
            f"""dot itself: clinic."patients.2024". Got {table!r}.""",
            "table",
        )
    parts = [quoted.replace('""', '"') if quoted else bare for quoted, bare in found] or [""]
    if len(parts) > dialect.max_parts:
        raise ParameterError(
            f"the name of a table must have at most {dialect.max_parts} parts in {dialect.title}, "
            f"got {len(parts)}. Put a name with dots in double quotes."
        )
    names = [dialect.quoted(part) for part in parts]
    # Not every database takes the name of a schema before that of a column.
    return ".".join(names) + (f" AS {names[-1]}" if names[1:] else ""), names[-1]


def probability_titles(labels: Sequence[Label], dialect: Dialect) -> list[str]:
    """What ``privatree predict --proba`` calls the columns, too, as far as the database can."""
    texts = (str(label).lower() if isinstance(label, bool) else str(label) for label in labels)
    titles = [dialect.alias(f"probability of {text}") for text in texts]
    if len(set(titles)) < len(titles):
        titles = [f"{title} {code}" for code, title in enumerate(titles)]
    return [dialect.quoted(title) for title in titles]
