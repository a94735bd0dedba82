"""Text that a spreadsheet would run as a formula, made text for it.

A label that begins with ``=`` is computed when a CSV file is opened, and a formula can start
programs or send data away. What OWASP recommends against it is done here: an apostrophe before it.
"""

from __future__ import annotations

import re
from typing import Any

_BEGINS_FORMULA = "=+\\-@\t\r\n＝＋－＠"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Also within a text: with another separator, and quotes that are read in another way, a part of it
# can become a cell.
_FORMULA = re.compile(rf"""(^[ "]*|[,;|\t\r\n][\s"]*)(?=[{_BEGINS_FORMULA}])""")


def safe_text(text: str) -> str:
    """Put an apostrophe before whatever would begin a formula; a mere number stays as it is.

    Parameters
    ----------
    text : str
        A cell, or the name of a column.
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def safe_table(table: Any) -> Any:
    """The same for all text in a table, and for the names of its columns.

    Parameters
    ----------
    table : pyarrow.Table
        What is to be written as CSV.

    Returns
    -------
    pyarrow.Table
        With numbers and all else as they were.
    """
    import pyarrow as pa

    columns = [_safe_column(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=[safe_text(name) for name in table.column_names])


def _safe_column(column: Any) -> Any:
    import pyarrow as pa

    is_coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_coded else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    coded = (column if is_coded else column.dictionary_encode()).combine_chunks()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    known = [None if text is None else safe_text(text) for text in coded.dictionary.to_pylist()]
    return pa.array(known, kind).take(coded.indices)
