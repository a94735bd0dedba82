"""The code of the mutants of reading: one line of a file changes how others are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from privatree.errors import SchemaError
from privatree.schema import CsvDialect, Feature, Numeric
from privatree.sources import _data_file as files
from privatree.sources import _paths as paths
from privatree.sources.csv import CsvFile
from privatree.sources.csv import _rows as csv_rows
from privatree.tables import CodedColumn, NumberColumn
from privatree.tables import _text as csv_text

Patch = pytest.MonkeyPatch


# --- where lines end ------------------------------------------------------------------------------


def quotes_span_lines(patch: Patch) -> None:
    real = CsvDialect.of_file

    def mutant(dialect: CsvDialect, **how: Any) -> CsvDialect:
        return replace(real(dialect, **how), multiline=True)

    patch.setattr(CsvDialect, "of_file", mutant)


def nothing_is_read_after_a_nul(patch: Patch) -> None:
    """As if the text were a string of C."""
    real = csv_rows._read_row_pieces

    def mutant(stream: Any, returns_end_rows: bool) -> Iterator[bytes]:
        for piece in real(stream, returns_end_rows):
            before, found, _ = piece.partition(b"\0")
            yield before
            if found:
                return

    patch.setattr(csv_rows, "_read_row_pieces", mutant)


# --- errors ---------------------------------------------------------------------------------------


def a_byte_that_is_no_text_is_an_error(patch: Patch) -> None:
    patch.setattr(csv_rows, "repair_row_utf8", lambda content: bytearray(content.decode().encode()))


def a_ragged_line_is_an_error(patch: Patch) -> None:
    real = CsvFile.read_chunk_rows

    def mutant(*of_chunk: Any) -> Iterator[Any]:
        for found in real(*of_chunk):
            if found.n_ragged:
                raise SchemaError("rows must have as many values as the first one.")
            yield found

    patch.setattr(CsvFile, "read_chunk_rows", mutant)


def a_folders_name_is_taken_for_text(patch: Patch) -> None:
    def mutant(folder: str) -> tuple[str, str] | None:
        name, mark, value = folder.partition("=")
        return (unquote(name), unquote(value)) if name and mark else None

    patch.setattr(paths, "_parse_partition_folder", mutant)


# --- what a column is -----------------------------------------------------------------------------


def _numbers_are(patch: Patch, change: Any) -> None:
    """Change the numbers of a column all together."""
    real = files.parse_text_column

    def mutant(text: Any, feature: Feature, decimal: str = ".") -> Any:
        column = real(text, feature, decimal)
        if isinstance(feature, Numeric) and len(text):
            return NumberColumn(change(np.asarray(column.values)))
        return column

    patch.setattr(files, "parse_text_column", mutant)


def one_text_makes_a_column_of_text(patch: Patch) -> None:
    """In which no number is left."""
    _numbers_are(patch, lambda x: np.full_like(x, np.nan) if np.isnan(x).any() else x)


def range_from_the_file(patch: Patch) -> None:
    """Numbers are rounded down to steps between the smallest and the largest there."""

    def rounded(x: Any) -> Any:
        low, step = np.nanmin(x), np.ptp(x[~np.isnan(x)]) / 32
        return low + step * np.floor((x - low) / step) if step else x

    _numbers_are(patch, rounded)


def categories_from_the_file(patch: Patch) -> None:
    """Those that occur, in order, stand for those of the schema."""
    real = csv_text.parse_text_labels

    def mutant(text: Any, labels: Any, decimal: str = ".") -> Any:
        column = real(text, labels, decimal)
        if not isinstance(labels[0], str):
            return column
        order = sorted({value for value in column.values if value is not None})
        known = dict(zip(order, labels, strict=False))
        return CodedColumn(column.codes, [known.get(value) for value in column.values])

    patch.setattr(csv_text, "parse_text_labels", mutant)
