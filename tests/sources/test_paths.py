"""Partitioned folders: which files are taken, and what the names of their folders say."""

import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rows_of_sources import coded_frame, coded_rows

from privatree import PrivaTreeClassifier
from privatree.errors import ParameterError, SchemaError
from privatree.inspection import check_files_against_schema
from privatree.inspection._check_result import Misfit
from privatree.schema import Categorical, Numeric, Schema
from privatree.sources import (
    CsvSource,
    ParquetSource,
    find_files,
    open_files,
    partitions_of_path,
    read_files,
    read_files_without_schema,
)

SCHEMA = Schema({"size": Numeric(0, 9), "year": Numeric(2000, 2030)}, ["yes", "no"])


def made(folder, names, text="size,answer\n1,yes\n"):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def kept_years(files, schema):
    batches = open_files(files, schema, keep=["year"]).read_batches(allow_ragged=False)
    return [year for batch in batches for year in batch.kept.column("year").to_pylist()]


def test_folders_named_by_values_are_entered_and_no_others(tmp_path):
    made(
        tmp_path,
        [
            "year=2024/month=1/part-0.csv",
            "year=2024/month=10/part-0.csv",
            "year=2023/part-1.csv",
            "year=2023/part-0.csv.gz",
            "_year=1/part-0.csv",
            "year=2023/other/part-0.csv",
            "year=2023/_SUCCESS",
            "year=2023/_metadata.csv",
            "year=2023/.part-0.csv.crc",
            "year=2023/.hidden.csv",
            "_temporary/0/part-0.csv",
            ".year=2020/part-0.csv",
            "other/year=2020/part-0.csv",
            "=x/part-0.csv",
            "z.csv",
        ],
    )
    assert [str(file.relative_to(tmp_path)) for file in find_files([tmp_path])] == [
        "_year=1/part-0.csv",
        "year=2023/part-0.csv.gz",
        "year=2023/part-1.csv",
        "year=2024/month=1/part-0.csv",
        "year=2024/month=10/part-0.csv",
        "z.csv",
    ]
    assert len(find_files([tmp_path / "year=2024"])) == 2
    assert len(find_files([str(tmp_path / "year=*" / "part-*")])) == 2
    with pytest.raises(ParameterError, match="the folder must contain a CSV or Parquet file"):
        find_files([tmp_path / "_temporary"])


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("sales/year=2024/month=01/a.csv", {"year": "2024", "month": "01"}),
        ("a=1/sales/year=2024/a.csv", {"year": "2024"}),
        ("year=2024/a=b.csv", {"year": "2024"}),
        ("/y%20z=S%C3%A3o%2FPaulo%3D/a.csv", {"y z": "São/Paulo="}),
        ("a=b=c/a.csv", {"a": "b=c"}),
        ("a=/a.csv", {"a": ""}),
        ("a=__HIVE_DEFAULT_PARTITION__/a.csv", {"a": None}),
        ("=1/a.csv", {}),
        ("year=2024/x/a.csv", {}),
        ("a.csv", {}),
    ],
)
def test_what_folders_say(file, values):
    found = partitions_of_path(Path(file))
    assert found == values
    assert list(found) == list(values)


@pytest.mark.slow
@pytest.mark.parametrize("value", [b"\xff\xfe", b"M\xfcnchen", b"%FF", b"\xed\xa0\x80", b"a%C3"])
@pytest.mark.parametrize("kind", [CsvSource, ParquetSource])
def test_a_value_that_is_not_utf_8_is_missing(tmp_path, value, kind):
    """An error would show it; no other file may be read differently because of it."""
    content = {"size": [1, 2], "answer": ["yes", "no"]}
    for name in (b"year=2024", b"year=" + value):
        folder = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
        folder.mkdir()
        if kind is CsvSource:
            pd.DataFrame(content).to_csv(folder / "a.csv", index=False)
        else:
            with (folder / "a.parquet").open("wb") as file:  # pyarrow takes no such path
                pq.write_table(pa.table(content), file)
    files = find_files([tmp_path])
    schema = Schema({"year": Categorical(["2023", "2024"]), "size": Numeric(0, 9)}, ["yes", "no"])
    assert sorted(kept_years(files, schema), key=str) == ["2024", "2024", None, None]
    records = read_files(files, schema, "answer", allow_ragged=True)
    expected = coded_frame(records.features, records.labels, schema)
    for in_memory in (False, True):
        assert coded_rows(kind(tmp_path, "answer", in_memory=in_memory), schema) == expected
    assert expected[1] == 4
    model = PrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(kind(tmp_path, "answer"))
    model.save(tmp_path / "model.json")
    misfits = check_files_against_schema(files, schema, "answer").misfits
    assert misfits == [Misfit("year", "missing", 2)]


def test_a_name_that_is_not_utf_8_is_a_column_that_can_be_shown(tmp_path):
    (name,) = partitions_of_path(tmp_path / os.fsdecode(b"\xff=1") / "a.csv")
    assert name == "\ufffd"


def test_folders_that_say_two_things(tmp_path):
    with pytest.raises(ParameterError, match=r"only one folder named year=\.\.\., got two"):
        partitions_of_path(tmp_path / "year=1" / "year=2" / "a.csv")


@pytest.fixture(params=["csv", "parquet"])
def table(request, tmp_path):
    for year, size in (("2024", 1), ("20%32%33", 2), ("__HIVE_DEFAULT_PARTITION__", 3)):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        if request.param == "csv":
            (folder / "a.csv").write_text(f"size,answer\n{size},yes\n{size},no\n")
        else:
            content = pa.table({"size": [size, size], "answer": ["yes", "no"]})
            pq.write_table(content, folder / "a.parquet")
    return tmp_path


def test_columns_of_folders_are_read_as_text(table):
    files = find_files([table])
    records = read_files(files, SCHEMA, "answer", allow_ragged=False)
    read = [records.features.column(name).to_numpy() for name in SCHEMA.names]
    np.testing.assert_array_equal(
        read, [[2, 2, 1, 1, 3, 3], [2023, 2023, 2024, 2024, math.nan, math.nan]]
    )
    assert records.ignored == ()
    words = Schema({"year": Categorical(["2024", "2023"])}, ["yes", "no"])
    records = read_files(files, words, "answer", allow_ragged=False)
    kept = ["2023", "2023", "2024", "2024", None, None]
    assert records.features.column("year").to_pylist() == kept
    assert records.ignored == ("size",)
    assert kept_years(files, SCHEMA) == kept
    only = Schema({"size": Numeric(0, 9)}, ["yes", "no"])
    assert read_files(files, only, "answer", allow_ragged=False).ignored == ("year",)


def test_without_a_schema_they_are_text_too(table):
    features = read_files_without_schema(find_files([table]), "answer").features
    assert features.column_names == ["size", "year"]
    assert features.schema.types == [pa.int64(), pa.string()]
    assert features.column("year").to_pylist() == ["2023", "2023", "2024", "2024", None, None]


def test_what_does_not_fit_in_them_is_found(table):
    schema = Schema({"size": Numeric(0, 9), "year": Categorical(["2024"])}, ["yes", "no"])
    misfits = check_files_against_schema(find_files([table]), schema, "answer")
    assert misfits.misfits == [
        Misfit("year", "not a category", 2, ("'2023'",)),
        Misfit("year", "missing", 2),
    ]
    assert (misfits.n_records, misfits.ignored) == (6, [])


def test_a_column_in_both_places_is_named(table):
    files = find_files([table])
    schema = Schema({"size": Numeric(0, 9)}, ["yes", "no"])
    folder = table / "size=7"
    folder.mkdir()
    moved = files[0].rename(folder / files[0].name)
    with pytest.raises(SchemaError, match=r"must be distinct, got 'size' twice\. Rename or delete"):
        read_files([moved], schema, "answer", allow_ragged=True)


def test_a_mistake_of_the_first_row_is_still_found(tmp_path):
    for content, said in (("size;answer\n", "semicolons"), ("", "The file is empty")):
        made(tmp_path, ["year=2024/a.csv"], content)
        with pytest.raises(SchemaError, match=said):
            read_files(find_files([tmp_path]), SCHEMA, "answer", allow_ragged=True)


@pytest.mark.parametrize("log", ["_delta_log/0.json", "metadata/v1.metadata.json"])
def test_a_table_with_a_log_is_refused(tmp_path, log):
    (tmp_path / log).parent.mkdir()
    (tmp_path / log).touch()
    (tmp_path / "part.parquet").touch()
    with pytest.raises(ParameterError, match="must not be a Delta or Iceberg table"):
        find_files([tmp_path])


def test_a_file_that_was_added_to_those_found_is_checked_again(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,no\n")
    found = find_files([tmp_path / "a.csv"])
    assert CsvSource(found, "y").n_files == 1
    with pytest.raises(ParameterError, match="is listed twice"):
        CsvSource(found + found, "y")
