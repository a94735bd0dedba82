"""Parquet files some rows at a time, in their order."""

from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privatree.errors import ParameterError, SourceError
from privatree.sources import _parquet_file as parquet_file
from privatree.sources._parquet_file import open_parquet

TABLE = pa.table({"x": range(3000), "name": [f"n{number % 7}" for number in range(3000)]})


@pytest.fixture
def path(tmp_path):
    pq.write_table(TABLE, tmp_path / "data.parquet", row_group_size=700)
    return tmp_path / "data.parquet"


@pytest.mark.parametrize("coded", [(), (0, 1)])
def test_rows_come_in_their_order_and_text_as_codes_if_that_will_do(path, coded):
    file = open_parquet(path)
    with patch.multiple(parquet_file, _MAX_ROWS=512, _PART_ROWS=1000):
        parts = list(file.read_rows([1, 0], coded=coded))
    assert len(parts) > 4
    assert max(part.n_rows for part in parts) <= 512
    assert [part.n_ragged for part in parts] == [0] * len(parts)
    kinds = {part.columns[0].type for part in parts}
    assert kinds == ({pa.dictionary(pa.int32(), pa.string())} if coded else {pa.string()})
    for at, name in enumerate(("name", "x")):
        values = [value for part in parts for value in part.columns[at].to_pylist()]
        assert values == TABLE.column(name).to_pylist()


@pytest.mark.parametrize("apart", [False, True])
def test_rows_without_a_column_are_counted(path, apart):
    parts = open_parquet(path).read_parts([], apart=apart)
    assert sum(rows.n_rows for part in parts for rows in part()) == 3000


@pytest.mark.parametrize("apart", [False, True])
def test_a_file_that_changes_is_an_error(path, apart):
    file = open_parquet(path)
    pq.write_table(TABLE.drop_columns(["x"]), path)
    with pytest.raises(SourceError, match=r"must not change while it is read, but has changed\."):
        list(file.read_parts([1], apart=apart))


@pytest.mark.parametrize("apart", [False, True])
def test_a_damaged_file_is_an_error_without_what_arrow_says(path, apart):
    file = open_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    with pytest.raises(
        ParameterError,
        match=r"must be a complete Parquet file, but cannot be read to its end\. Write it again\.$",
    ):
        [list(part()) for part in file.read_parts([0, 1], apart=apart)]
