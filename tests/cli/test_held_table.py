"""Tables that are written once all of them is there."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privatree.cli import _held_table
from privatree.cli._held_table import HeldTable, held_table
from privatree.errors import ParameterError

SCHEMA = pa.schema([("name", pa.string()), ("x", pa.float64())])


def pieces(*names):
    for some in names:
        yield pa.table({"name": list(some), "x": [0.5] * len(some)}, SCHEMA)


def held(*names):
    table = HeldTable(io.BytesIO())
    table.hold(pieces(*names))
    return table


def csv_of(table):
    file = io.BytesIO()
    table.write_csv(file)
    return file.getvalue().decode()


def test_one_text_that_needs_quotes_quotes_all():
    assert csv_of(held([], ["a", "b"], [], ["c"])) == "name,x\na,0.5\nb,0.5\nc,0.5\n"
    assert csv_of(held([], ["a"], ["b,c"])) == 'name,x\n"a",0.5\n"b,c",0.5\n'


def test_no_rows_are_a_header():
    assert csv_of(held([])) == "name,x\n"
    file = io.BytesIO()
    held([]).write_parquet(file)
    assert pq.read_table(file).schema == SCHEMA


def test_parquet_is_the_same_however_it_came(monkeypatch):
    names = [f"n{number}" for number in range(1000)]
    monkeypatch.setattr(_held_table, "_GROUP_ROWS", 300)
    whole, cut = io.BytesIO(), io.BytesIO()
    pq.write_table(next(pieces(names)), whole, row_group_size=300)
    held([], names[:10], names[10:950], names[950:]).write_parquet(cut)
    assert cut.getvalue() == whole.getvalue()
    assert pq.ParquetFile(cut).num_row_groups == 4


def test_a_type_that_csv_cannot_hold():
    table = HeldTable(io.BytesIO())
    table.hold([pa.table({"x": [[1, 2]]})])
    with pytest.raises(ParameterError, match=r"of a type that CSV cannot hold"):
        table.write_csv(io.BytesIO())


def test_it_is_held_beside_the_file_to_write_and_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(_held_table, "MAX_HELD_BYTES", 1)
    asked = []
    real = _held_table.SpooledTemporaryFile

    def watched(size, dir):
        asked.append(dir)
        return real(size, dir=dir)

    monkeypatch.setattr(_held_table, "SpooledTemporaryFile", watched)
    for output in (tmp_path / "out.csv", None):
        with held_table(output) as table:
            table.hold(pieces(["a"]))
            assert csv_of(table) == "name,x\na,0.5\n"
    assert asked == [str(tmp_path), None]
    assert not list(tmp_path.iterdir())
