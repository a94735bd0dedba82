"""How CSV files seem to be written, for whoever drafts a schema. **This leaks.**

Training never comes here: it reads files as they were declared to be written.
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
from privatree.sources import is_csv, is_tab_separated
from privatree.sources.csv import CsvFile, ExcelFile, is_utf8, open_csv, open_utf8_stream

_DELIMITERS = (",", ";", "\t", "|", "\x01")
_SAMPLE_BYTES = 2**18
_MAX_SAMPLED = 1000  # rows of which values are looked at
_UTF_16_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_ONLY_CP1252 = re.compile(rb"[\x80-\x9f]")  # control characters in latin-1, which nobody writes
_NOT_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_COMMA_NUMBER, _POINT_NUMBER = (re.compile(rf"[+-]?[0-9]*{mark}[0-9]+") for mark in (",", r"\."))


def detect_csv_dialect(files: Sequence[Path], given: Mapping[str, Any]) -> CsvDialect | None:
    """Find out how files are written, from all that is in them. **This leaks.**

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.find_files` lists them; all are written alike.
    given : mapping
        Options of :class:`~privatree.schema.CsvDialect` that are known.

    Returns
    -------
    CsvDialect or None
        What differs from the default marked as unconfirmed, unless it was given; None for the
        default, and for files that are not CSV.

    Notes
    -----
    The encoding is UTF-8 where all bytes are, else UTF-16 by its byte order mark, else Windows-1252
    or Latin-1. The delimiter is the one that cuts most rows into as many values as the first. An
    escape, and values that span lines, are proposed only if fewer rows are then ragged; the decimal
    comma if more values look like numbers with one than with a point.
    """
    files = [file for file in files if is_csv(file) and not isinstance(file, ExcelFile)]
    if not files:
        return None
    dialect = CsvDialect()
    for detect in (_encoding, _delimiter, _quoting, _decimal):
        found = detect(files, dialect.changed(**given))
        dialect = replace(dialect, **found)
    found_dialect = dialect.all_unconfirmed().changed(**given)
    return None if found_dialect == CsvDialect() else found_dialect


def _encoding(files: Sequence[Path], _: CsvDialect) -> dict[str, Any]:
    seen = b""
    for file in files:
        with open_utf8_stream(file, "utf-8") as stream:
            start = stream.read(2)
            if start in _UTF_16_MARKS:
                return {"encoding": _UTF_16_MARKS[start]}
            rest = start
            while read := stream.read(2**20):
                piece = rest + read
                cut = piece.rfind(b"\n") + 1
                piece, rest = piece[:cut], piece[cut:]
                if not is_utf8(piece):
                    seen += b"".join(set(_bytes_beyond_ascii(piece)))
            if not is_utf8(rest):
                seen += b"".join(set(_bytes_beyond_ascii(rest)))
    if not seen:
        return {}
    is_cp1252 = _ONLY_CP1252.search(seen) and not _NOT_CP1252.search(seen)
    return {"encoding": "cp1252" if is_cp1252 else "latin-1"}


def _bytes_beyond_ascii(piece: bytes) -> list[bytes]:
    return re.findall(rb"[\x80-\xff]", piece)


def _delimiter(files: Sequence[Path], dialect: CsvDialect) -> dict[str, Any]:
    """The one by which most rows have as many values as the first, and that is more than one."""
    scores = {}
    for delimiter in _DELIMITERS:
        if delimiter in (dialect.quote, dialect.escape):
            continue
        opened = _opened(files[0], replace(dialect, delimiter=delimiter))
        if opened is not None and (n_names := len(opened.first_row.names)) > 1:
            n_rows, n_ragged = _sample_counts(opened)
            scores[delimiter] = ((n_rows - n_ragged + 1) / (n_rows + 1), n_names)
    best = max(scores, key=lambda delimiter: scores[delimiter], default=None)
    usual = CsvDialect().of_file(is_tab_separated=is_tab_separated(files[0])).delimiter
    return {} if best in (None, usual) else {"delimiter": best}


def _opened(file: Path, dialect: CsvDialect) -> CsvFile | None:
    """The file, if its first row can be read so, or so but for names that span lines."""
    for multiline in dict.fromkeys((dialect.multiline, dialect.quote is not None)):
        try:
            return open_csv(file, replace(dialect, multiline=multiline))
        except SchemaError:
            continue
    return None


def _sample_counts(opened: CsvFile) -> tuple[int, int]:
    """How many rows the first chunk has, and how many of them are ragged."""
    for chunk in opened.chunks():
        chunk.content[:] = chunk.content[:_SAMPLE_BYTES].rpartition(b"\n")[0] or chunk.content
        parts = list(opened.chunk_rows(chunk, []))
        return sum(part.n_rows for part in parts), sum(part.n_ragged for part in parts)
    return 0, 0


def _quoting(files: Sequence[Path], dialect: CsvDialect) -> dict[str, Any]:
    """Quotes, escapes, and values that span lines, if fewer rows are ragged with them."""
    opened = _opened(files[0], dialect)
    names = opened.first_row.names if opened is not None else []
    if names and all(len(name) > 1 and name[0] == name[-1] == "'" for name in names):
        return {"quote": "'"}
    escape: dict[str, Any] = {"escape": "\\"}
    multiline: dict[str, Any] = {"multiline": True}
    best: dict[str, Any] = {}
    fewest: int | None = None
    for changes in ({}, escape, multiline, {**escape, **multiline}):
        try:
            n_ragged = sum(_n_ragged(file, replace(dialect, **changes)) for file in files)
        except SchemaError:
            continue
        if fewest is None or n_ragged < fewest:
            best, fewest = changes, n_ragged
        if fewest == 0:
            break
    return best


def _n_ragged(file: Path, dialect: CsvDialect) -> int:
    opened = open_csv(file, dialect)
    return sum(part.n_ragged for chunk in opened.chunks() for part in opened.chunk_rows(chunk, []))


def _decimal(files: Sequence[Path], dialect: CsvDialect) -> dict[str, Any]:
    opened = _opened(files[0], dialect)
    found: Counter[str] = Counter()
    if opened is None:
        return {}
    every = range(len(opened.first_row.names))
    parts = (part for chunk in opened.chunks() for part in opened.chunk_rows(chunk, every))
    for column in next((part.columns for part in parts), []):
        for text in column.slice(0, _MAX_SAMPLED).to_pylist():
            stripped = (text or "").strip()
            found["."] += _POINT_NUMBER.fullmatch(stripped) is not None
            found[","] += _COMMA_NUMBER.fullmatch(stripped) is not None
    return {"decimal": ","} if found[","] > found["."] else {}
