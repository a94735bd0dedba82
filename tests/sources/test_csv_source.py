"""CSV files in chunks give the records that reading them as a whole gives."""

import gzip
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows_of_sources import coded_frame, coded_rows, rows_of_a_pass

from privatree.errors import ParameterError, SchemaError, SourceError
from privatree.schema import Categorical, Numeric, Schema
from privatree.sources import CsvSource, find_files, read_files
from privatree.sources.csv import _rows as csv_rows

SCHEMA = Schema(
    {
        "size": Numeric(-2, 5, missing=1),
        "colour": Categorical(["red", "grün", ""], missing="grün"),
        "grade": Categorical([3, 0.5, 1], missing=1),
        "member": Categorical([True, False], missing=False),
    },
    ["yes", "no"],
)
HEADER = "size,colour,grade,member,answer\n"
GOOD = "1,red,3,true,yes\n"


def frame_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "answer": rng.choice(["yes", "no", " no ", "maybe", None], n_rows),
            "id": range(n_rows),
            "member": rng.choice(["true", "False", "1", "?"], n_rows),
            "size": rng.choice(["1", "-7.5", "4e0", "NA", "", "many", "inf"], n_rows),
            "grade": rng.choice(["3", "0.50", "1", "7"], n_rows),
            "colour": rng.choice(["red", "grün", "red ", "a, b", 'the "new" one'], n_rows),
        }
    )


def expected(paths, schema=SCHEMA, target="answer"):
    records = read_files(find_files(paths), schema, target, allow_ragged=True)
    return coded_frame(records.features, records.labels, schema)


def small_chunks(size=200):
    return patch.multiple(csv_rows, CHUNK_BYTES=size)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "data.csv"


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 1000, 2**20])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_a_file_in_chunks_is_the_file(tmp_path, name, size):
    path = tmp_path / name
    frame_of(200).to_csv(path, index=False)
    rows, n_rows = expected([path])
    assert n_rows == 200
    assert 0 < len(rows) < 200  # those without a label are no part of a training
    source = CsvSource(path, "answer")
    with small_chunks(size):
        assert coded_rows(source, SCHEMA) == (rows, n_rows)
        assert rows_of_a_pass(source, SCHEMA) == (rows, n_rows)  # again
        in_memory = CsvSource([str(path)], target="answer", in_memory=True)
        assert coded_rows(in_memory, SCHEMA) == (rows, n_rows)
    assert source.ignored == ("id",)


def test_files_may_differ_in_the_order_of_their_columns(tmp_path):
    frame = frame_of(200)
    frame[:70].to_csv(tmp_path / "a.csv", index=False)
    frame[70:120][sorted(frame.columns)].to_csv(tmp_path / "b.csv.gz", index=False)
    more = frame[120:].rename(columns={"id": "key", "size": " size "})
    more.to_csv(tmp_path / "c.csv", index=False)
    (tmp_path / "d.csv").write_text(HEADER)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    rows = expected([tmp_path / "whole.csv"])
    parts = [str(tmp_path / "?.csv"), tmp_path / "b.csv.gz"]
    source = CsvSource(parts, "answer")
    with small_chunks():
        assert coded_rows(source, SCHEMA) == rows == expected(parts)
    assert source.ignored == ("id", "key")


@pytest.mark.slow
@given(
    content=st.lists(
        st.sampled_from(
            [GOOD.encode(), b'"', b",", b"\n", b"\r", b"\xff", b"1", b"red", b"ragged\n"]
        )
    ).map(b"".join),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_no_content_makes_a_difference(path, content, ending):
    path.write_bytes(HEADER.strip().encode() + ending.encode() + content)
    with small_chunks(8):
        assert coded_rows(CsvSource(path, "answer"), SCHEMA) == expected([path])


def test_ragged_and_overlong_rows_count_without_a_label(path):
    long = f'1,"{GOOD * 20}'
    path.write_text(f'{HEADER}{GOOD}ragged\n{GOOD}{long}",3,true,yes\n1,2,3,4,5,6\n{GOOD}{long}')
    with small_chunks(64), patch.object(csv_rows, "MAX_ROW_BYTES", 256):
        rows, n_rows = coded_rows(CsvSource(path, "answer", multiline=True), SCHEMA)
    assert (len(rows), len(set(rows)), n_rows) == (3, 1, 7)


def test_columns_of_partitioned_folders(tmp_path):
    frame = frame_of(120)
    frame["colour"] = np.repeat(["red", "grün", "a, b/%", None], 30)
    frame["size"] = np.repeat(["4", " 1 ", "-9e9", "x"], 30)
    folders = [
        "size=4/colour=red",
        "size=%201%20/colour=gr%C3%BCn",
        "size=-9e9/colour=a%2C b%2F%25",
        "size=x/colour=__HIVE_DEFAULT_PARTITION__",
    ]
    for at, folder in enumerate(folders):
        (tmp_path / folder).mkdir(parents=True)
        part = frame[30 * at : 30 * at + 30].drop(columns=["size", "colour"])
        part.to_csv(tmp_path / folder / "part-0.csv", index=False)
    whole = tmp_path / "whole"
    whole.mkdir()
    schema = Schema({**SCHEMA.features, "colour": Categorical(["red", "grün"])}, SCHEMA.classes)
    frame.to_csv(whole / "data.csv", index=False)
    rows = expected([whole], schema)
    source = CsvSource(tmp_path, "answer")
    with small_chunks():
        assert coded_rows(source, schema) == rows == expected([tmp_path], schema)


def test_a_folder_can_give_the_label(tmp_path):
    for label in ("yes", "no"):
        (tmp_path / f"answer={label}").mkdir()
        (tmp_path / f"answer={label}" / "a.csv").write_text(f"size,id\n1,7\n{label}\n2,7\n")
    schema = Schema({"size": Numeric(0, 5)}, ["yes", "no"])
    rows, n_rows = coded_rows(CsvSource(tmp_path, "answer"), schema)
    assert (sorted(label for *_, label in rows), n_rows) == ([0, 0, 1, 1], 6)
    assert (rows, n_rows) == expected([tmp_path], schema)


# --- what is refused ----------------------------------------------------------------------------


def test_paths_that_do_not_do(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(
        ParameterError,
        match=r"a\.parquet: must be a CSV file, got a Parquet file\. Use ParquetSource",
    ):
        CsvSource(tmp_path, "answer")
    with pytest.raises(ParameterError, match="must name at least one file"):
        CsvSource([], "answer")
    with pytest.raises(FileNotFoundError):
        CsvSource(tmp_path / "none.csv", "answer")


def test_columns_that_are_not_there_are_said_before_any_pass(tmp_path):
    for name, content in (("a", HEADER), ("b", "size;colour\n")):
        (tmp_path / f"{name}.csv").write_text(content)
    with pytest.raises(SchemaError, match=r"b\.csv: .* Its columns are separated by semicolons"):
        CsvSource(tmp_path, "answer").open(SCHEMA)
    with pytest.raises(SchemaError, match=r"a\.csv: .* lacks 'ill'\."):
        CsvSource(tmp_path, "ill").open(SCHEMA)
    with pytest.raises(SchemaError, match="'size' must not be a feature"):
        CsvSource(tmp_path, "size").open(SCHEMA)


@pytest.mark.slow
def test_a_file_damaged_further_on_is_named(tmp_path):
    path = tmp_path / "data.csv.gz"
    text = HEADER + "".join(
        f"{n},red,3,true,yes\n" for n in np.random.default_rng(0).random(50_000)
    )
    whole = gzip.compress(text.encode())
    at = len(whole) // 2
    for broken in (whole[:at], whole[:at] + bytes(99) + whole[at + 99 :]):
        path.write_bytes(broken)
        source = CsvSource(path, "answer")
        source.open(SCHEMA)
        with pytest.raises(ParameterError) as stopped:
            rows_of_a_pass(source, SCHEMA)
        assert str(stopped.value) == (
            f"{path}: must be a complete gzip file, but is damaged or cut off. Compress it again."
        )
    path.write_bytes(
        gzip.compress(text[:500_000].encode()) + gzip.compress(text[500_000:].encode())
    )
    assert coded_rows(CsvSource(path, "answer"), SCHEMA)[1] == 50_000


def test_a_first_row_that_changes_between_passes(tmp_path):
    path = Path(tmp_path / "data.csv")
    path.write_text(HEADER + GOOD)
    source = CsvSource(path, "answer")
    source.open(SCHEMA)
    path.write_text(f"id,{HEADER}7,{GOOD}")
    with pytest.raises(SourceError, match=r"data\.csv: the file must not change while it is read"):
        rows_of_a_pass(source, SCHEMA)
