"""Parquet files of any shape give the records that a frame of them gives."""

import os
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rows_of_sources import coded_frame, coded_rows, rows_of_a_pass

from privatree.errors import ParameterError, SchemaError, SourceError
from privatree.schema import Categorical, Numeric, Schema
from privatree.sources import ParquetSource
from privatree.sources import _parquet_file as parquet_file

SCHEMA = Schema(
    {
        "size": Numeric(-2, 5, missing=1),
        "colour": Categorical(["red", "green", "blue"], missing="green"),
        "count": Numeric(0, 100, integer=True),
        "member": Categorical([True, False]),
    },
    ["yes", "no"],
)
CANARY = "CANARY"


def frame_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "answer": rng.choice(["yes", "no", "maybe", None], n_rows),
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(1, 3, n_rows)),
            "member": rng.random(n_rows) < 0.5,
            "colour": rng.choice(["red", "blue", "grey", None], n_rows),
            "count": rng.integers(-5, 105, n_rows),
        }
    )


def expected(frame, schema=SCHEMA):
    return coded_frame(frame[list(schema.names)], frame["answer"], schema)


def write(path, frame, **options):
    os.makedirs(path.parent, exist_ok=True)
    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame)
    pq.write_table(table, path, **options)
    return path


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("group", [7, 64, 10**6])
@pytest.mark.parametrize("rows", [7, 50, 2**16])
def test_batches_and_row_groups_do_not_matter(tmp_path, monkeypatch, rows, group):
    frame = frame_of(200)
    path = write(tmp_path / "a.parquet", frame, row_group_size=group)
    monkeypatch.setattr(parquet_file, "_MIN_ROWS", min(rows, 2**10))
    monkeypatch.setattr(parquet_file, "_MAX_ROWS", rows)
    source = ParquetSource(path, "answer")
    assert coded_rows(source, SCHEMA) == expected(frame)
    assert rows_of_a_pass(source, SCHEMA) == expected(frame)  # again
    assert coded_rows(ParquetSource(str(path), target="answer", in_memory=True), SCHEMA) == (
        expected(frame)
    )


def test_files_folders_and_patterns(tmp_path):
    frames = [frame_of(n, seed=n) for n in (30, 0, 50)]
    files = [write(tmp_path / f"part-{i}.parquet", frame) for i, frame in enumerate(frames)]
    all_rows = expected(pd.concat(frames, ignore_index=True).astype({"count": int, "member": bool}))
    for paths in (files, tmp_path, [str(tmp_path / "part-*.parquet")]):
        assert coded_rows(ParquetSource(paths, "answer"), SCHEMA) == all_rows


def test_files_may_differ_in_order_types_and_other_columns(tmp_path, monkeypatch):
    frame = frame_of(60).assign(size=[None, *(x / 4 for x in range(59))])
    table = pa.Table.from_pandas(frame)
    decimals = pa.array([None, *(Decimal(x) / 4 for x in range(59))], pa.decimal128(9, 3))
    narrow = (
        table.set_column(1, "size", decimals)
        .set_column(4, "count", table["count"].cast(pa.float32()))
        .set_column(3, "colour", table["colour"].dictionary_encode())
        .append_column("identity", pa.array([CANARY] * 60))
    )
    large = (
        table.set_column(3, "colour", table["colour"].cast(pa.large_string()))
        .set_column(0, "answer", table["answer"].dictionary_encode())
        .select(["colour", "count", "member", "size", "answer"])
        .rename_columns([" colour", "count ", "member", "size", " answer "])
    )
    files = [write(tmp_path / f"{i}.parquet", t) for i, t in enumerate((table, narrow, large))]
    source = ParquetSource(files, "answer")
    read, real = [], parquet_file._RowGroups._iterate_batches

    def batches(*how):
        for rows in real(*how):
            read.append(set(rows.schema.names))
            yield rows

    monkeypatch.setattr(parquet_file._RowGroups, "_iterate_batches", batches)
    assert coded_rows(source, SCHEMA) == expected(pd.concat([frame] * 3, ignore_index=True))
    assert read[1] == {"size", "colour", "count", "member", "answer"}  # nothing else is read
    assert source.ignored == ("identity",)


def test_what_the_records_hold_is_no_error(tmp_path):
    frame = frame_of(20).assign(size=np.inf, colour=None, answer=None)
    broken = pa.array([b"\xff\xfe", b"red"] * 10).cast(pa.string(), safe=False)
    table = pa.Table.from_pandas(frame).set_column(3, "colour", broken)
    rows, n_rows = coded_rows(ParquetSource(write(tmp_path / "a.pq", table), "answer"), SCHEMA)
    assert (rows, n_rows) == ([], 20)
    table = table.set_column(0, "answer", pa.array(["no"] * 20))
    rows, _ = coded_rows(ParquetSource(write(tmp_path / "a.pq", table), "answer"), SCHEMA)
    assert {row[1] for row in rows} == {0, 1}  # red, and the place of what is no text


def test_text_of_many_values_is_read_too(tmp_path):
    schema = Schema({"name": Categorical([f"n{i}" for i in range(0, 3000, 3)])}, ["yes", "no"])
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(3000)], "answer": ["yes", "no"] * 1500})
    path = write(tmp_path / "a.parquet", frame, row_group_size=999)
    assert coded_rows(ParquetSource(path, "answer"), schema) == expected(frame, schema)


# --- partitioned folders ------------------------------------------------------------------------


def test_columns_in_the_names_of_folders_are_text(tmp_path):
    frame = frame_of(120)
    frame["count"] = np.repeat([1, 50, 7, 3], 30)
    frame["colour"] = np.repeat(["red", "blue", None, "grey"], 30)
    folders = ["count=1/colour=red", "count=50.0/colour=%62lue",
               "count=007/colour=__HIVE_DEFAULT_PARTITION__", "count=3e0/colour=grey"]  # fmt: skip
    for i, folder in enumerate(folders):
        part = frame.iloc[30 * i : 30 * i + 30].drop(columns=["count", "colour"])
        write(tmp_path / folder / "part.parquet", part)
    assert coded_rows(ParquetSource(tmp_path, "answer"), SCHEMA) == expected(frame)


def test_the_target_can_be_in_the_names_of_folders(tmp_path):
    frame = frame_of(40).assign(answer=["yes"] * 25 + ["maybe"] * 15)
    write(tmp_path / "answer=yes" / "a.parquet", frame.iloc[:25].drop(columns="answer"))
    write(tmp_path / "answer=maybe" / "a.parquet", frame.iloc[25:].drop(columns="answer"))
    assert coded_rows(ParquetSource(tmp_path, "answer"), SCHEMA) == expected(frame)


def test_everything_can_be_in_the_names_of_folders(tmp_path):
    schema = Schema({"size": Numeric(0, 9)}, ["yes", "no"])
    write(tmp_path / "size=4" / "answer=no" / "a.parquet", pa.table({"other": range(5)}))
    rows, n_rows = coded_rows(ParquetSource(tmp_path, "answer"), schema)
    frame = pd.DataFrame({"size": [4.0] * 5, "answer": ["no"] * 5})
    assert (rows, n_rows) == expected(frame, schema)


def test_a_column_both_in_a_file_and_in_its_folder_is_refused(tmp_path):
    write(tmp_path / "count=1" / "a.parquet", frame_of(3))
    with pytest.raises(SchemaError, match=r"a\.parquet: .*'count' twice"):
        ParquetSource(tmp_path, "answer").open(SCHEMA)


# --- mistakes -----------------------------------------------------------------------------------


def test_columns_that_contradict_the_schema_are_refused_before_any_pass(tmp_path):
    good = write(tmp_path / "good.parquet", frame_of(3))
    lacking = write(tmp_path / "lacking.parquet", frame_of(3).rename(columns={"count": "Count"}))
    with pytest.raises(SchemaError, match=r"lacking\.parquet: .*'count'.*mean 'Count'"):
        ParquetSource([good, lacking], "answer").open(SCHEMA)
    text = write(tmp_path / "text.parquet", frame_of(3).assign(size="1"))
    with pytest.raises(SchemaError, match=r"text\.parquet: column 'size' has type \w*string"):
        ParquetSource([good, text], "answer").open(SCHEMA)
    numbers = write(tmp_path / "numbers.parquet", frame_of(3).assign(answer=1))
    with pytest.raises(SchemaError, match=r"numbers\.parquet: column 'answer' .* string classes"):
        ParquetSource([good, numbers], "answer").open(SCHEMA)
    with pytest.raises(SchemaError, match="target 'size'"):
        ParquetSource(good, "size").open(SCHEMA)


def test_paths_must_be_parquet_files(tmp_path):
    (tmp_path / "a.csv").write_text("x\n")
    with pytest.raises(ParameterError, match=r"a\.csv: must be a Parquet file"):
        ParquetSource(tmp_path / "a.csv", "answer")
    with pytest.raises(FileNotFoundError):
        ParquetSource(tmp_path / "b.parquet", "answer")
    with pytest.raises(ParameterError, match="got none"):
        ParquetSource([], "answer")


def check_unreadable(raised, name):
    assert f"{name}: must be a " in str(raised.value)
    assert "Parquet file, but cannot be read" in str(raised.value)
    assert CANARY not in str(raised.value)
    assert raised.value.__cause__ is None
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("size", [0, 3, 500])
def test_a_truncated_file_is_named(tmp_path, size):
    path = write(tmp_path / "cut.parquet", frame_of(300))
    path.write_bytes(path.read_bytes()[:size])
    good = write(tmp_path / "good.parquet", frame_of(3))
    with pytest.raises(ParameterError) as raised:
        ParquetSource([good, path], "answer").open(SCHEMA)
    check_unreadable(raised, "cut.parquet")


@pytest.mark.parametrize("change", ["damage", "truncate", "remove"])
def test_a_file_that_breaks_in_the_middle_is_named(tmp_path, change):
    good = write(tmp_path / "good.parquet", frame_of(3))
    path = write(tmp_path / "bad.parquet", frame_of(3000).assign(colour=CANARY), row_group_size=500)
    source = ParquetSource([good, path], "answer")
    source.open(SCHEMA)
    content = path.read_bytes()
    if change == "damage":
        half = len(content) // 2
        path.write_bytes(content[:half] + b"\xff" * 2000 + content[half + 2000 :])
    elif change == "truncate":
        path.write_bytes(content[:1000])
    else:
        path.unlink()
    with pytest.raises(ParameterError) as raised:
        rows_of_a_pass(source, SCHEMA)
    check_unreadable(raised, "bad.parquet")
    assert raised.value.__context__ is None


def test_a_file_that_is_another_one_by_now_is_named(tmp_path):
    path = write(tmp_path / "a.parquet", frame_of(3))
    source = ParquetSource(path, "answer")
    source.open(SCHEMA)
    write(path, frame_of(3).drop(columns="size"))
    with pytest.raises(SourceError, match=r"a\.parquet: the file must not change"):
        rows_of_a_pass(source, SCHEMA)


def test_types_that_change_are_noticed_before_they_are_read(tmp_path):
    path = write(tmp_path / "a.parquet", frame_of(3))
    source = ParquetSource(path, "answer")
    source.open(SCHEMA)
    write(path, frame_of(3).assign(size=[CANARY.encode()] * 3))
    with pytest.raises(SourceError, match=r"a\.parquet: the file must not change"):
        rows_of_a_pass(source, SCHEMA)


def test_more_text_than_a_dictionary_holds_is_read_without_one(tmp_path, monkeypatch):
    path = write(tmp_path / "a.parquet", frame_of(3000), row_group_size=500)
    source = ParquetSource(path, "answer")
    expected_rows = coded_rows(source, SCHEMA)
    real = parquet_file._RowGroups._iterate_batches
    monkeypatch.setattr(parquet_file, "_MAX_ROWS", 64)
    full = []

    def batches(self, most, as_dictionary, use_threads):
        for place, rows in enumerate(real(self, most, as_dictionary, use_threads)):
            if as_dictionary and place == 3:
                full.append(place)
                raise pa.ArrowCapacityError("array cannot contain more than 2147483646 bytes")
            yield rows

    monkeypatch.setattr(parquet_file._RowGroups, "_iterate_batches", batches)
    assert coded_rows(source, SCHEMA) == expected_rows
    assert full


# --- memory -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_row_group_of_any_size_is_read_in_parts(tmp_path):
    n_rows = 10**6
    rng = np.random.default_rng(0)
    table = pa.table({f"x{i}": rng.normal(size=n_rows) for i in range(8)} | {"y": [0, 1] * 500_000})
    path = write(tmp_path / "a.parquet", table, row_group_size=n_rows)
    size = table.nbytes
    del table
    schema = Schema({f"x{i}": Numeric(-4, 4) for i in range(8)}, [0, 1])
    source = ParquetSource(path, "y")
    source.open(schema)
    before, most = pa.total_allocated_bytes(), 0
    for _, part in source._list_parts():
        (rows,) = part()
        assert rows.n_rows <= 2**17
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < size / 2
