"""A file of either kind: where the columns of a schema are, and its rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privatree.errors import SchemaError
from privatree.schema import Categorical, Numeric
from privatree.sources import open_file
from privatree.sources._data_file import FileRows, find_file_columns, match_columns
from privatree.tables import column_to_codes, column_to_numbers

WANTED = {"size": Numeric(0, 9), "year": Categorical(["2023", "2024"]), "y": Categorical(["a"])}


@pytest.fixture(params=["csv", "parquet"])
def file(request, tmp_path):
    path = tmp_path / "year=2024" / f"data.{request.param}"
    path.parent.mkdir()
    if request.param == "csv":
        path.write_text("y, size ,id\na,1,p\nb,2,q\n")
    else:
        pq.write_table(pa.table({"y": ["a", "b"], " size ": [1, 2], "id": ["p", "q"]}), path)
    return open_file(path, None)


def test_columns_are_found_and_read(file):
    found = find_file_columns(file, WANTED, "y", keep=["id", "year"])
    assert (found.positions, found.kept, found.ignored) == ([1, 3, 0], [2, 3], ["id"])
    (rows,) = found.read_rows(allow_ragged=False)
    size, year, labels = (column.read() for column in found.lazy_columns(rows))
    assert column_to_numbers(size).tolist() == [1, 2]
    assert column_to_codes(year, ["2023", "2024"], -1, np.int8).tolist() == [1, 1]
    assert column_to_codes(labels, ["a"], -1, np.int8).tolist() == [0, -1]
    kept = found.kept_columns(rows)
    assert [column.to_pylist() for column in kept] == [["p", "q"], ["2024", "2024"]]
    assert {column.type for column in kept} == {pa.string()}


def test_parts_have_the_same_rows_as_the_file(file):
    found = find_file_columns(file, WANTED, "y")
    for apart in (False, True):
        rows = [rows for part in found.read_parts(apart=apart) for rows in part()]
        assert sum(part.n_rows for part in rows) == 2
        assert column_to_numbers(found.lazy_columns(rows[0])[0].read()).tolist() == [1, 2]


def test_a_column_to_keep_must_be_there_once(file):
    with pytest.raises(SchemaError, match="lacks 'name'"):
        find_file_columns(file, WANTED, "y", keep=["name"])
    with pytest.raises(SchemaError, match="got 'x' twice"):
        match_columns(file.path, ["x", " x"], ["x"])


def test_rows_without_the_ragged_ones():
    columns = [pa.chunked_array([["1", None, "3"]]), pa.chunked_array([["a", None, "c"]])]
    rows = FileRows(columns, np.array([2, 3, 2], np.int32), 2)
    assert (rows.n_rows, rows.n_ragged) == (3, 1)
    assert rows.is_ragged.tolist() == [False, True, False]
    assert [column.to_pylist() for column in rows.columns_without_ragged_rows()] == [
        ["1", "3"],
        ["a", "c"],
    ]
