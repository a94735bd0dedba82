"""Whatever bytes one more line of a file has, no other record is read differently.

This is what makes "one line" a neighbour: were it not so, one record could change many, and no
epsilon would hold for it.
"""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows_of_sources import binner_of, coded_frame, coded_rows

from privatree import Categorical, CsvDialect, Numeric, Schema
from privatree.inspection import check_files_against_schema
from privatree.sources import CsvSource, read_files
from privatree.sources.csv import StandardInput
from privatree.sources.csv import _rows as csv_rows

FEATURES = {
    "size": Numeric(-2, 5, missing=1),
    "note": Categorical(["tall", "5'11\"", "grün", "a;b", ""], missing="tall"),
    "grade": Categorical([3, 0.5, 1], missing=1),
    "member": Categorical([True, False], missing=False),
}
HEADER = ["size", "note", "unused", "grade", "member", "answer"]
DIALECTS = {
    "plain": CsvDialect(),
    "excel": CsvDialect(delimiter=";", decimal=",", encoding="latin-1"),
    "spark": CsvDialect(escape="\\"),
    "hive": CsvDialect(delimiter="\x01", quote=None, escape="\\"),
    "tabs": CsvDialect(delimiter="tab", quote="'"),
    "japan": CsvDialect(encoding="shift_jis"),
    "china": CsvDialect(encoding="gbk"),
}
ODD = [b'"', b'""', b'\\"', b"\\", b"'", b",", b";", b"\t", b"\x01", b"\r", b"\x00", b"\xff",
       b"\xef\xbb\xbf", b"\xe2\x82", b"\x81", b"\xf0\x9f", b"\x81\x30", b"\x8f\xa1", b"1", b"-2,5",
       b"3.5", b"nan", b"1e999", b"tall", b"5'11\"", b"true", b"yes", b"0.5", b" ",
       b'"5\'11\\"",x', b"1,tall,?,3,true,yes", b"1;tall;?;3;true;yes", b"\x1b$B"]  # fmt: skip
piece = st.sampled_from(ODD) | st.binary(max_size=4)
any_bytes = st.lists(piece, max_size=20).map(b"".join)


def written(rows, dialect):
    """Lines as a program of that dialect writes them."""
    delimiter = dialect.of_file(is_tab_separated=False).delimiter

    def value(text):
        if dialect.decimal == ",":
            text = text.replace(".", ",")
        for special in (dialect.escape, dialect.quote if dialect.escape else None):
            text = text.replace(special, dialect.escape + special) if special else text
        if dialect.quote is None:
            return text.replace(delimiter, f"{dialect.escape}{delimiter}")
        if not dialect.escape:
            text = text.replace(dialect.quote, 2 * dialect.quote)
        return f"{dialect.quote}{text}{dialect.quote}"

    return [
        delimiter.join(map(value, row)).encode(dialect.encoding, errors="replace") for row in rows
    ]


def random_rows(seed, n_rows):
    rng = np.random.default_rng(seed)
    values = {
        "size": ["1", "-7.5", "4e0", "NA", "", "many", "inf", "+1", " 2 ", "nan", "true"],
        "note": ["tall", "5'11\"", "grün", "a;b", "a,b", "x\\", "'", ""],
        "unused": ["", "\\", '"', "a'", "b\\'", "ü"],
        "grade": ["3", "0.50", "1", "7", "x"],
        "member": ["true", "False", "1", "?"],
        "answer": ["yes", "no", " no ", "maybe", ""],
    }
    return [[str(rng.choice(values[name])) for name in HEADER] for _ in range(n_rows)]


def readers(path, schema):
    """Every way in which the records of a file are read for a training, as coded records."""
    yield "streamed", coded_rows(CsvSource(path, "answer"), schema)
    yield "held", coded_rows(CsvSource(path, "answer", in_memory=True), schema)
    records = read_files([path], schema, "answer", allow_ragged=True)
    yield "as a table", coded_frame(records.features, records.labels, schema)
    source = CsvSource(path, "answer")
    source.open(schema)
    binner = binner_of(schema)
    parts = [(binner.bin_batch(batch), batch.n_rows) for batch in source.file_batches(0)]
    rows = sorted(
        row
        for (codes, labels), _ in parts
        for row in map(tuple, np.column_stack((codes, labels)).tolist())
    )
    yield "by an executor", (rows, sum(n_rows for _, n_rows in parts))
    piped = StandardInput("-")
    piped.content = path.read_bytes()
    yield "piped", coded_rows(CsvSource([piped], "answer"), schema)


def changes(path, lines, odd, at, schema):
    """By reader: how many records are lost, and how many are new, if a line is inserted."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    before = dict(readers(path, schema))
    path.write_bytes(b"".join(line + b"\n" for line in [*lines[:at], odd, *lines[at:]]))
    after = dict(readers(path, schema))
    return {
        name: (
            sum((Counter(before[name][0]) - Counter(after[name][0])).values()),
            sum((Counter(after[name][0]) - Counter(before[name][0])).values()),
            after[name][1] - before[name][1],
        )
        for name in before
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return Path(tmp_path_factory.mktemp("lines") / "data.csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
@given(odd=any_bytes, at=st.integers(1, 13), seed=st.integers(0, 2**16), chunk=st.integers(20, 300))
@settings(max_examples=20)  # and one line at least for every wrong reader of `tests/mutants`
@example(b'1,"5\'11\\"",?,3,true,yes', 1, 0, 40)
@example(b'1,"tall', 1, 0, 40)
@example(b'1;"tall', 1, 0, 40)
@example(b"1\t'tall", 1, 0, 40)
@example(b"1,\x00", 1, 0, 40)
@example(b'"', 1, 0, 40)
@example(b"\xe2\x82", 3, 0, 40)
@example(b"\\", 1, 0, 40)
def test_one_line_more_is_at_most_one_record_more(path, name, odd, at, seed, chunk):
    dialect = DIALECTS[name]
    schema = Schema(FEATURES, ["yes", "no"], csv=dialect)
    lines = written([HEADER, *random_rows(seed, 12)], dialect)
    with patch.multiple(csv_rows, CHUNK_BYTES=chunk):
        found = changes(path, lines, odd.replace(b"\n", b""), at, schema)
    for lost, new, rows in found.values():
        assert lost == 0
        assert new <= 1
        assert rows <= 1
    assert len(set(found.values())) == 1  # and all readers agree on it


@pytest.mark.slow
@given(
    odd=st.lists(piece | st.sampled_from(["ü", "\ud800", "😀"]).map(
        lambda text: text.encode("utf-16-le", "surrogatepass")), max_size=9).map(b"".join),
    at=st.integers(1, 13),
)  # fmt: skip
@settings(max_examples=30)
def test_one_line_of_utf_16_is_whole_units(path, odd, at):
    odd = odd[: len(odd) // 2 * 2]
    units = [odd[place : place + 2] for place in range(0, len(odd), 2)]
    odd = b"".join(unit for unit in units if unit != b"\n\x00")
    dialect = CsvDialect(encoding="utf-16-le")
    schema = Schema(FEATURES, ["yes", "no"], csv=dialect)
    lines = [line + b"\n\x00" for line in written([HEADER, *random_rows(7, 12)], dialect)]
    found = []
    for content in (lines, [*lines[:at], odd + b"\n\x00", *lines[at:]]):
        path.write_bytes(b"".join(content))
        found.append(dict(readers(path, schema)))
    for name, (rows, n_rows) in found[0].items():
        assert not Counter(rows) - Counter(found[1][name][0])
        assert found[1][name][1] - n_rows <= 1


def test_with_multiline_one_line_can_take_all(path):
    """Which is why a statement names it; and why the test above can fail."""
    multiline = CsvDialect(multiline=True)
    schema = Schema(FEATURES, ["yes", "no"], csv=multiline)
    lines = [",".join(HEADER).encode(), *[b"1,tall,?,3,true,yes"] * 12]
    odd = b'1,"5\'11\\"",?,3,true,yes'
    assert set(changes(path, lines, odd, 1, schema).values()) == {(12, 0, -11)}
    one_line = Schema(FEATURES, ["yes", "no"])
    assert set(changes(path, lines, odd, 1, one_line).values()) == {(0, 0, 1)}
    backslash = Schema(FEATURES, ["yes", "no"], csv=CsvDialect(escape="\\"))
    assert set(changes(path, lines, odd, 1, backslash).values()) == {(0, 1, 1)}


def test_the_owner_is_told_of_lines_that_are_left_out(path):
    lines = [*written([HEADER, *random_rows(1, 5)], CsvDialect()), b'1,"5\'11\\"",?,3,true,yes']
    path.write_bytes(b"\n".join(lines))
    found = check_files_against_schema([path], Schema(FEATURES, ["yes", "no"]), "answer")
    assert (found.n_records, found.n_ragged) == (6, 1)


def test_values_that_other_libraries_cast_do_not_change_by_their_neighbours(path):
    """A column is cast at once where all its values allow it; the result must be the same."""
    schema = Schema({"size": Numeric(-2, 5)}, ["yes", "no"])
    texts = ["1", "2.5", "inf", "-inf", "nan", "1e3", ".5", "4.", "0", "-0", "INF", "Infinity"]
    alone = pa.table({"size": texts, "answer": ["yes"] * len(texts)})
    lines = [",".join(row.values()).encode() for row in alone.to_pylist()]
    for odd in (b"?,yes", b"1_0,yes", b"0x1,yes", b"\xff,yes", b"+1,yes", b" 1,yes", b"1e,yes"):
        found = changes(path, [b"size,answer", *lines], odd, 3, schema)
        assert set(found.values()) == {(0, 1, 1)}
