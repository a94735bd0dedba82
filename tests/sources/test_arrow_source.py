"""Tables of every library give the records that a pandas frame of them gives."""

import threading
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_of_sources import coded_frame, coded_rows, rows_of_a_pass

from privatree.errors import ParameterError, SchemaError, SourceError
from privatree.schema import Categorical, Numeric, Schema
from privatree.sources import ArrowSource, ParquetSource
from privatree.sources import _parquet_file as parquet_file
from privatree.tables import _streams as table_streams

SCHEMA = Schema(
    {
        "size": Numeric(-2, 5, missing=1),
        "colour": Categorical(["red", "grün", ""], missing="grün"),
        "count": Numeric(0, 2**60, integer=True, missing=3),
        "member": Categorical([True, False], missing=False),
        "grade": Categorical([3, 5, 1], missing=5),
        "amount": Numeric(0, 10, cuts=[0.29, 1.1, 9.99]),
    },
    ["yes", "no"],
)
TYPES = {
    "size": pa.float64(),
    "colour": pa.string(),
    "count": pa.int64(),
    "answer": pa.string(),
    "member": pa.bool_(),
    "grade": pa.int32(),
    "amount": pa.decimal128(9, 2),
    "other": pa.int64(),
}
TEXT = "string" if pd.Series(["a"]).dtype == object else "str"  # before pandas 3, "str" is object
PANDAS_TYPES = dict(
    zip(TYPES, ["Float64", TEXT, "Int64", TEXT, "boolean", "Int32", object, "Int64"], strict=True)
)
CANARY = "CANARY"
ROWS = st.lists(
    st.tuples(
        st.none() | st.floats(),
        st.none() | st.sampled_from(["red", "grün", "", "blue"]),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.sampled_from(["yes", "no", "maybe"]),
        st.none() | st.booleans(),
        st.none() | st.integers(0, 5),
        st.none() | st.integers(-100, 1200).map(lambda cents: Decimal(cents) / 100),
        st.just(7),
    ),
    max_size=10,
)


def columns_of(rows):
    return dict(zip(TYPES, zip(*rows, strict=True) if rows else [()] * len(TYPES), strict=True))


def arrow_table(rows):
    return pa.table({name: pa.array(c, TYPES[name]) for name, c in columns_of(rows).items()})


def pandas_frame(rows):
    columns = columns_of(rows).items()
    return pd.DataFrame({n: pd.Series(list(c), dtype=PANDAS_TYPES[n]) for n, c in columns})


def reader(rows):
    table = arrow_table(rows)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=4))


class Unknown:
    """A class that offers an Arrow stream, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "pandas": pandas_frame,
    "polars": lambda rows: pl.from_arrow(arrow_table(rows)),
    "lazy polars": lambda rows: pl.from_arrow(arrow_table(rows)).lazy(),
    "duckdb": lambda rows: duckdb.connect().from_arrow(arrow_table(rows)),
    "arrow": arrow_table,
    "arrow batch": lambda rows: (
        arrow_table(rows).combine_chunks().to_batches()[0] if rows else arrow_table(rows)
    ),
    "reader": reader,
    "dataset": lambda rows: ds.dataset(arrow_table(rows)),
    "scanner": lambda rows: ds.dataset(arrow_table(rows)).scanner(),
    "unknown": lambda rows: Unknown(arrow_table(rows)),
    "function of readers": lambda rows: lambda: reader(rows),
    "function of queries": lambda rows: lambda: pl.from_arrow(arrow_table(rows)).lazy(),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("parquet") / "data.parquet"


def expected(rows, schema=SCHEMA):
    frame = pandas_frame(rows)
    return coded_frame(frame[list(schema.names)], frame["answer"], schema)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "parquet"])
@settings(max_examples=8)
@given(rows=ROWS, size=st.sampled_from([3, 2**16]))
def test_every_kind_of_table(kind, path, rows, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_streams, "ROWS", size)
        patch.setattr(parquet_file, "_MIN_ROWS", 1)
        patch.setattr(parquet_file, "_MAX_ROWS", size)
        if kind == "parquet":
            pq.write_table(arrow_table(rows), path, row_group_size=4)
            source = ParquetSource(path, "answer")
        else:
            source = ArrowSource(KINDS[kind](rows), "answer")
        assert coded_rows(source, SCHEMA) == expected(rows)
        assert rows_of_a_pass(source, SCHEMA) == expected(rows)  # again


SOME = [(1.5, "red", 3, "yes", True, 3, Decimal("0.29"), 7),
        (None, "blue", 2**62, "no", None, 4, None, 7),
        (-9.0, "", None, None, False, 1, Decimal("1.11"), 7)] * 5  # fmt: skip


# --- what is read again, and what is held -------------------------------------------------------


def test_a_function_is_called_once_for_each_pass():
    calls = []

    def function():
        calls.append(threading.current_thread())
        return reader(SOME)

    source = ArrowSource(function, "answer")
    assert not calls
    source.open(SCHEMA)
    for _ in range(3):
        assert rows_of_a_pass(source, SCHEMA) == expected(SOME)
    assert len(calls) == 3


def test_a_stream_is_held_without_the_columns_that_are_not_needed():
    read = []

    def batches():
        for batch in arrow_table(SOME).to_batches(max_chunksize=4):
            read.append(batch.num_rows)
            yield batch

    stream = pa.RecordBatchReader.from_batches(arrow_table(SOME).schema, batches())
    source = ArrowSource(stream, "answer")
    source.open(SCHEMA)
    assert not read
    passed = source._list_parts()
    next(passed)
    passed.close()  # a pass that was interrupted
    for _ in range(2):
        assert rows_of_a_pass(source, SCHEMA) == expected(SOME)
    assert sum(read) == len(SOME)
    names = {name for _, frame in source._list_parts() for name in frame.schema.names}
    assert names == set(TYPES) - {"other"}
    fewer = Schema({"size": SCHEMA.features["size"]}, ["yes", "no"])
    assert coded_rows(source, fewer) == expected(SOME, fewer)
    source.open(Schema({"other": Numeric(0, 9)}, ["yes", "no"]))
    with pytest.raises(ParameterError, match="can be read only once"):
        rows_of_a_pass(source, SCHEMA)


def test_queries_see_only_the_columns_that_are_needed():
    query = pl.LazyFrame(pl.from_arrow(arrow_table(SOME))).with_columns(
        pl.col("other").map_batches(lambda _: 1 // 0, return_dtype=pl.Int64)
    )
    assert coded_rows(ArrowSource(query, "answer"), SCHEMA) == expected(SOME)


def test_a_polars_without_batches_collects_all(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    source = ArrowSource(KINDS["lazy polars"](SOME), "answer")
    assert coded_rows(source, SCHEMA) == expected(SOME)


@pytest.mark.parametrize("kind", ["pandas", "lazy polars", "duckdb", "reader"])
def test_names_may_have_blanks_and_quotes(kind):
    name = ' si"ze, '
    schema = Schema({name: Numeric(0, 9), "colour": SCHEMA.features["colour"]}, ["yes", "no"])
    table = arrow_table(SOME).rename_columns([name, " colour ", *list(TYPES)[2:]])
    data = {
        "pandas": table.to_pandas,
        "lazy polars": lambda: pl.from_arrow(table).lazy(),
        "duckdb": lambda: duckdb.connect().from_arrow(table),
        "reader": table.to_reader,
    }[kind]()
    frame = pandas_frame(SOME).rename(columns={"size": name})
    expected = coded_frame(frame[[name, "colour"]], frame["answer"], schema)
    assert coded_rows(ArrowSource(data, "answer"), schema) == expected


def test_a_result_is_not_held_as_a_whole():
    query = duckdb.connect().sql("select range / 2 as x, range % 2 as y from range(1000000)")
    schema = Schema({"x": Numeric(0, 10**6)}, [0, 1])
    source = ArrowSource(query, "y")
    source.open(schema)
    before, most, n_rows = pa.total_allocated_bytes(), 0, 0
    for part in source._list_parts():
        n_rows += sum(batch.n_rows for batch in source._read_part(part))
        most = max(most, pa.total_allocated_bytes() - before)
    assert n_rows == 10**6
    assert most < 8 * 10**6


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_contradict_the_schema_are_refused_before_any_pass(kind):
    source = ArrowSource(KINDS[kind](SOME), "answer")
    with pytest.raises(SchemaError, match=r"^data: .*lacks 'sizes'\. Did you mean 'size'"):
        source.open(Schema({"sizes": Numeric(0, 1)}, ["yes", "no"]))
    with pytest.raises(SchemaError, match=r"data: column 'colour' .* declares it numeric"):
        source.open(Schema({"colour": Numeric(0, 1)}, ["yes", "no"]))
    with pytest.raises(SchemaError, match=r"data: column 'answer' .* number classes"):
        source.open(Schema({"size": Numeric(0, 1)}, [0, 1]))
    assert coded_rows(source, SCHEMA) == expected(SOME)


@pytest.mark.parametrize("data", [None, 3, "data.parquet", [[1, 2]], np.zeros((2, 2))])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(ParameterError, match=f"got {type(data).__name__}"):
        ArrowSource(data, "answer")
    with pytest.raises(ParameterError, match=f"got {type(data).__name__}"):
        ArrowSource(lambda: data, "answer").open(SCHEMA)


def test_columns_must_have_names():
    with pytest.raises(SchemaError, match="names"):
        ArrowSource(pd.DataFrame(np.zeros((2, 2))), "answer").open(SCHEMA)


def broken_polars():
    frame = pl.from_arrow(arrow_table(SOME)).lazy()
    text = pl.concat_str(pl.lit(CANARY), pl.col("colour"))
    return frame.with_columns(text.str.to_integer(strict=True).alias("count"))


def broken_duckdb():
    relation = duckdb.connect().from_arrow(arrow_table(SOME))
    return relation.project(f"* exclude (count), cast('{CANARY}' || colour as bigint) as count")


def broken_reader():
    def batches():
        yield arrow_table(SOME).to_batches()[0]
        raise ValueError(CANARY)

    return pa.RecordBatchReader.from_batches(arrow_table(SOME).schema, batches())


def broken_function():
    raise ValueError(CANARY)


@pytest.mark.parametrize(
    "broken",
    [broken_polars, broken_duckdb, broken_reader, lambda: broken_function],
    ids=["polars", "duckdb", "reader", "function"],
)
def test_errors_of_others_are_not_shown(broken):
    source = ArrowSource(broken(), "answer")
    with pytest.raises(SourceError) as raised:
        coded_rows(source, SCHEMA)
    assert "data could not be read" in str(raised.value)
    assert CANARY not in str(raised.value)
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None
