"""Detect the dialect of CSV files, for a draft of a schema. **This leaks.**

Training never uses this module: it reads files in the dialect that the user declares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from privatree.errors import SchemaError
from privatree.schema import CsvDialect
from privatree.sources import is_csv_path, is_tab_separated_path
from privatree.sources.csv import CsvFile, ExcelFile, is_utf8, open_csv, open_utf8_stream

_DELIMITERS = (",", ";", "\t", "|", "\x01")
_SAMPLE_BYTES = 2**18
_MAX_SAMPLED = 1000  # rows in which decimal marks are counted
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_ONLY_CP1252 = re.compile(rb"[\x80-\x9f]")  # control characters in latin-1, which are not used
_NOT_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_COMMA_NUMBER, _POINT_NUMBER = (re.compile(rf"[+-]?[0-9]*{mark}[0-9]+") for mark in (",", r"\."))


def detect_csv_dialect(files: Sequence[Path], given: Mapping[str, Any]) -> CsvDialect | None:
    """Detect the dialect of files, which must all be written in the same way. **This leaks.**

    `given` are options of CsvDialect that the user has set. Detected options are marked as
    unconfirmed. None means the default dialect, or that the files are not CSV.

    Notes
    -----
    The encoding is UTF-8 if all bytes are valid UTF-8. Otherwise it is UTF-16 if there is a byte
    order mark, and Windows-1252 or Latin-1 if not. The delimiter is the one with which most rows
    have the same number of values as the first row. An escape, and values with line breaks, are
    proposed only if fewer rows are ragged with them. The decimal mark is a comma if more values
    look like numbers with a comma than with a point.
    """
    files = [file for file in files if is_csv_path(file) and not isinstance(file, ExcelFile)]
    if not files:
        return None
    dialect = CsvDialect()
    for detect in (_detect_encoding, _detect_delimiter, _detect_quoting, _detect_decimal):
        found = detect(files, dialect.changed(**given))
        dialect = replace(dialect, **found)
    found_dialect = dialect.all_unconfirmed().changed(**given)
    return None if found_dialect == CsvDialect() else found_dialect


def _detect_encoding(files: Sequence[Path], _: CsvDialect) -> dict[str, Any]:
    seen = b""  # bytes beyond ASCII in pieces that are not UTF-8
    for file in files:
        with open_utf8_stream(file, "utf-8") as stream:
            rest = read = stream.read(2)
            if rest in _UTF_16_MARKS:
                return {"encoding": "utf-16"}
            while read:
                read = stream.read(2**20)
                piece = rest + read
                cut = piece.rfind(b"\n") + 1 if read else len(piece)
                piece, rest = piece[:cut], piece[cut:]
                if not is_utf8(piece):
                    seen += bytes(byte for byte in set(piece) if byte >= 128)
    if not seen:
        return {}
    is_cp1252 = _ONLY_CP1252.search(seen) and not _NOT_CP1252.search(seen)
    return {"encoding": "cp1252" if is_cp1252 else "latin-1"}


def _detect_delimiter(files: Sequence[Path], dialect: CsvDialect) -> dict[str, Any]:
    """Return the delimiter with which most rows have as many values as the first row."""
    scores = {}
    for delimiter in _DELIMITERS:
        if delimiter in (dialect.quote, dialect.escape):
            continue
        opened = _open_to_detect(files[0], replace(dialect, delimiter=delimiter))
        if opened is not None and (n_names := len(opened.first_row.names)) > 1:
            n_rows, n_ragged = _count_rows_to_detect(opened)
            scores[delimiter] = ((n_rows - n_ragged + 1) / (n_rows + 1), n_names)
    best = max(scores, key=lambda delimiter: scores[delimiter], default=None)
    usual = CsvDialect().of_file(is_tab_separated=is_tab_separated_path(files[0])).delimiter
    return {} if best in (None, usual) else {"delimiter": best}


def _open_to_detect(file: Path, dialect: CsvDialect) -> CsvFile | None:
    """Open a file, with multiline if needed; return None if its first row cannot be read."""
    for multiline in dict.fromkeys((dialect.multiline, dialect.quote is not None)):
        try:
            return open_csv(file, replace(dialect, multiline=multiline))
        except SchemaError:
            continue
    return None


def _count_rows_to_detect(opened: CsvFile) -> tuple[int, int]:
    """Return the number of rows at the start of a file, and how many of them are ragged."""
    for chunk in opened.read_chunks():
        chunk.content[:] = chunk.content[:_SAMPLE_BYTES].rpartition(b"\n")[0] or chunk.content
        parts = list(opened.read_chunk_rows(chunk, []))
        return sum(part.n_rows for part in parts), sum(part.n_ragged for part in parts)
    return 0, 0


def _detect_quoting(files: Sequence[Path], dialect: CsvDialect) -> dict[str, Any]:
    """Return the options (single quotes, escape, multiline) that make the fewest rows ragged."""
    opened = _open_to_detect(files[0], dialect)
    names = opened.first_row.names if opened is not None else []
    if names and all(len(name) > 1 and name[0] == name[-1] == "'" for name in names):
        return {"quote": "'"}
    escape: dict[str, Any] = {"escape": "\\"}
    multiline: dict[str, Any] = {"multiline": True}
    best: dict[str, Any] = {}
    fewest: int | None = None
    for changes in ({}, escape, multiline, {**escape, **multiline}):
        try:
            n_ragged = sum(_detect_ragged_rows(file, replace(dialect, **changes)) for file in files)
        except SchemaError:
            continue
        if fewest is None or n_ragged < fewest:
            best, fewest = changes, n_ragged
        if fewest == 0:
            break
    return best


def _detect_ragged_rows(file: Path, dialect: CsvDialect) -> int:
    opened = open_csv(file, dialect)
    return sum(
        part.n_ragged
        for chunk in opened.read_chunks()
        for part in opened.read_chunk_rows(chunk, [])
    )


def _detect_decimal(files: Sequence[Path], dialect: CsvDialect) -> dict[str, Any]:
    opened = _open_to_detect(files[0], dialect)
    found: Counter[str] = Counter()
    if opened is None:
        return {}
    every = range(len(opened.first_row.names))
    parts = (
        part for chunk in opened.read_chunks() for part in opened.read_chunk_rows(chunk, every)
    )
    for column in next((part.columns for part in parts), []):
        for text in column.slice(0, _MAX_SAMPLED).to_pylist():
            stripped = (text or "").strip()
            found["."] += _POINT_NUMBER.fullmatch(stripped) is not None
            found[","] += _COMMA_NUMBER.fullmatch(stripped) is not None
    return {"decimal": ","} if found[","] > found["."] else {}
