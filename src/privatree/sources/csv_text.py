"""CSV files: every value is text, and the schema, never the text, decides what it is read as.

A column is not made text because one of its values is no number: that value is missing. So reading
cannot fail because of what the records hold, which would tell neighbouring datasets apart. What is
public is the first row, which names the columns.

A record is a row as a CSV writer writes it: values with a comma, a quote or a new line in quotes,
quotes doubled. A quote that is opened and never closed makes one value of all that follows it.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privatree.errors import ParameterError, SchemaError
from privatree.schema import Label
from privatree.sources.arrow_columns import arrow_column
from privatree.sources.columns import CodedColumn, NumberColumn

_BLANKS = " \t\n\r\v\f"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER_OR_INFINITY = rf"^(?:{_NUMBER}|[+-]?(?i:inf(?:inity)?))$"
_TRUTHS = {"true": True, "false": False}
_LONE_RETURN = re.compile(rb'((?:(?<=[,\n\r])|\A)"(?:[^"]|"")*")|\r(?!\n)')
"""A carriage return that ends no line, outside quotes. Some writers leave it in a value as it is;
it must not make two rows of one where the first row shows that lines end otherwise."""
MISSING_WORDS = frozenset(
    {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A",
     "NA", "NULL", "NaN", "n/a", "nan", "null"}
)  # fmt: skip
"""What programs write where there is no value. To a person these are no misspelt values; training
takes them as any other text that is no number or category."""
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_LARGEST_BLOCK = 2**31 - 1  # bytes that Arrow parses at once
_MOST_DIGITS = 100  # more make a float of a whole number


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose first row has been read.

    Parameters
    ----------
    path : Path
        Where it is, for messages.
    names : list of str
        What the first row says. It is public.
    n_lines : int
        How many lines the first row and blank ones before it take.
    content : bytes
        The whole file, valid UTF-8: bytes that were not are replaced by U+FFFD.
    is_utf8 : bool
        Whether none had to be replaced. **This leaks**: the bytes may be in any record.
    """

    path: Path
    names: list[str]
    n_lines: int
    content: bytes
    is_utf8: bool

    def text(self, positions: Sequence[int], *, allow_ragged: bool) -> list[Any]:
        """Read columns as text.

        Parameters
        ----------
        positions : sequence of int
            Which columns.
        allow_ragged : bool
            What becomes of a row that has not as many values as the first. True: it is taken,
            without a word, for one of which every value is missing, after all the others. False:
            it is an error.

        Returns
        -------
        list of pyarrow.ChunkedArray
            Strings. Blank lines are left out, unless the file has a single column, in which a blank
            line is a row.

        Raises
        ------
        SchemaError
            About a ragged row, if these are not allowed.
        """
        import pyarrow as pa

        types = {str(position): pa.string() for position in positions}
        table, n_ragged = self._read(positions, allow_ragged, column_types=types)
        missing = [pa.nulls(n_ragged, pa.string())] if n_ragged else []
        return [
            pa.chunked_array([*table.column(str(position)).chunks, *missing], pa.string())
            for position in positions
        ]

    def guessed(self, positions: Sequence[int]) -> list[Any]:
        """Read columns of the types that all their values fit. **This leaks.**

        A row that has not as many values as the first is left out.
        """
        table, _ = self._read(
            positions,
            allow_ragged=True,
            strings_can_be_null=True,
            null_values=["", *sorted(MISSING_WORDS)],
        )
        return [table.column(str(position)) for position in positions]

    def _read(self, positions: Sequence[int], allow_ragged: bool, **how: Any) -> tuple[Any, int]:
        """The columns, called by their positions, and how many ragged rows are not among them."""
        import pyarrow as pa
        import pyarrow.csv as pacsv

        first, n_ragged = None, 0

        def handle(row: Any) -> str:
            nonlocal first, n_ragged
            first, n_ragged = first or row, n_ragged + 1
            return "skip" if allow_ragged else "error"

        # One block, for where Arrow cuts a file into blocks depends on what it holds, and a row
        # must fit into one. Rows have numbers only where a single thread reads them.
        read_options = pacsv.ReadOptions(
            use_threads=False,
            block_size=min(max(len(self.content), 1), _LARGEST_BLOCK),
            skip_rows=self.n_lines,
            column_names=[str(position) for position in range(len(self.names))],
        )
        parse_options = pacsv.ParseOptions(
            newlines_in_values=True,
            ignore_empty_lines=len(self.names) > 1,
            invalid_row_handler=handle,
        )
        convert_options = pacsv.ConvertOptions(
            check_utf8=False, include_columns=[str(position) for position in positions], **how
        )
        try:
            table = pacsv.read_csv(
                pa.BufferReader(self.content), read_options, parse_options, convert_options
            )
            return table, n_ragged
        except pa.ArrowInvalid:  # it shows the row, so it is not even kept as the context of ours
            pass
        if allow_ragged or first is None:
            raise SchemaError(f"{self.path}: not a CSV file that can be read.")
        raise SchemaError(
            f"{self.path}: row {first.number} must have {len(self.names)} values as the first "
            f"one, got {first.actual_columns}. Mend it or take it out."
        )


def open_csv(path: Path) -> CsvFile:
    """Open a CSV file, compressed if its name ends in ``.gz``, and read its first row.

    Parameters
    ----------
    path : Path
        The file: UTF-8, values separated by commas, names of the columns in the first row.

    Returns
    -------
    CsvFile
        Without names if the file is empty.

    Raises
    ------
    SchemaError
        If the first row cannot be read.
    ParameterError
        If a compressed file is damaged.
    OSError
        If the file cannot be read.
    """
    content, is_utf8 = _utf8(_content(path))
    n_lines, end = 0, ""

    def lines() -> Any:
        nonlocal n_lines, end
        for line in io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""):
            n_lines, end = n_lines + 1, line[-1:]
            yield line

    try:
        # Strictly: a quote that is never closed would make a name of the records.
        names = next((row for row in csv.reader(lines(), strict=True) if row), [])
    except csv.Error:
        hint = first_row_mistake(_first_line(content).split(","))
        raise SchemaError(f"{path}: the first row must name the columns.{hint}") from None
    if end != "\r":
        content = _LONE_RETURN.sub(lambda found: found[1] or b" ", content)
    if not content.endswith((b"\n", b"\r")):
        content += b"\n"  # else a first row without one would be no file to Arrow
    return CsvFile(path, names, n_lines, content, is_utf8)


def _first_line(content: bytes) -> str:
    """The first line that is not blank, whatever its quotes are."""
    line = next((line for line in io.BytesIO(content) if line.strip()), b"")
    return "".join(line.decode("utf-8-sig").strip("\r\n").splitlines()[:1])


def first_row_mistake(names: Sequence[str]) -> str:
    """Why columns are not found, if the first row shows it, to end a message with.

    Parameters
    ----------
    names : sequence of str
        What the first row says. Of a name only the first line is looked at: a stray quote can hide
        records in the others.

    Returns
    -------
    str
        One or two sentences after a blank, or nothing. They quote nothing.
    """
    if not names:
        return " The file is empty."
    lines = ["".join(name.splitlines()[:1]) for name in names]
    said = ""
    if any("\ufffd" in line for line in lines):
        said += " Its first row is not UTF-8: save the file as UTF-8."
    if len(lines) == 1:
        for mark, called in _SEPARATORS.items():
            if mark in lines[0]:
                return f"{said} Its columns have {called} between: save it with commas."
    return said


def _content(path: Path) -> bytes:
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ParameterError(f"{path}: not a whole gzip file. Compress it again.") from None


def _utf8(content: bytes) -> tuple[bytes, bool]:
    """The content with bytes that are not UTF-8 replaced; commas, quotes and lines stay.

    Also whether there were none.
    """
    import pyarrow as pa

    ends = pa.py_buffer(np.array([0, len(content)], dtype=np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(content)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return content.decode("utf-8", errors="replace").encode(), False
    return content, True


# --- what text stands for -----------------------------------------------------------------------


def text_numbers(text: Any) -> NumberColumn:
    """Read a column of text as numbers; what is not a number is NaN.

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings. Blanks around a number do not count; ``true`` is 1 and ``false`` 0, in upper or
        lower case.

    Returns
    -------
    NumberColumn
        Of float64; a number beyond the floats is infinite.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.ascii_trim_whitespace(text)
    text = pc.if_else(pc.equal(text, ""), "nan", text)
    try:
        numbers = text.cast(pa.float64())  # much quicker, if each value is a number or empty
    except pa.ArrowInvalid:
        lower = pc.ascii_lower(text)
        for word, truth in _TRUTHS.items():
            text = pc.if_else(pc.equal(lower, word), str(int(truth)), text)
        is_number = pc.match_substring_regex(text, _NUMBER_OR_INFINITY)
        unsigned = pc.replace_substring_regex(text, r"^\+", "")
        numbers = pc.if_else(is_number, unsigned, "nan").cast(pa.float64())
    return NumberColumn(numbers.to_numpy())


def text_labels(text: Any, labels: Sequence[Label]) -> CodedColumn:
    """Read a column of text as the kind of value that labels are.

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings.
    labels : sequence
        Categories or classes. Text that is none of them counts without the blanks around it. For
        labels that are numbers or booleans it counts as the number it spells (``1.0`` is 1), and
        ``true`` and ``false``, in upper or lower case, as booleans, which equal 1 and 0.

    Returns
    -------
    CodedColumn
        Values that need not be labels.
    """
    column = arrow_column(text)
    if not isinstance(column, CodedColumn):
        raise TypeError(f"text must be strings, got {text.type}.")
    if isinstance(labels[0], str):
        known = set(labels)
        values = [v if v is None or v in known else v.strip(_BLANKS) for v in column.values]
    else:
        values = [None if v is None else _number(v.strip(_BLANKS)) for v in column.values]
    return CodedColumn(column.codes, values)


def count_trimmed(text: Any, labels: Sequence[Label]) -> int:
    """Count values that are labels only without the blanks around them. **This leaks.**

    Parameters
    ----------
    text : pyarrow.ChunkedArray
        Strings.
    labels : sequence
        Categories or classes. Of numbers and booleans nothing is counted: blanks around these
        count nowhere.
    """
    import pyarrow.compute as pc

    if not isinstance(labels[0], str):
        return 0
    known = set(labels)
    found, counts = pc.value_counts(text).flatten()
    return sum(
        count
        for value, count in zip(found.to_pylist(), counts.to_pylist(), strict=True)
        if value is not None and value not in known and value.strip(_BLANKS) in known
    )


def _number(text: str) -> float | None:
    """The number or boolean that text spells exactly, if any."""
    if re.fullmatch(r"[+-]?[0-9]+", text) and len(text) <= _MOST_DIGITS:
        return int(text)
    if re.fullmatch(_NUMBER, text):
        return float(text)
    return _TRUTHS.get(text.lower())
