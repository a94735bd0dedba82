"""The same table gives the same columns, whatever holds it."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree.errors import SchemaError
from privatree.schema import Categorical, Numeric, Schema
from privatree.tables import frame_batch, open_frame, prediction_matrix, read_features

SCHEMA = Schema(
    {
        "size": Numeric(-2, 5, missing=1),
        "colour": Categorical(["red", "grün", ""], missing="grün"),
        "grade": Categorical([3, 0.5, 1], missing=1),
        "member": Categorical([True, False], missing=False),
    },
    ["yes", "no"],
)
NUMBERS = Schema({"a": Numeric(0, 1), "b": Numeric(0, 10), "c": Numeric(-1, 1)}, [0, 1])


def expected(rows):
    """The rule of the schema, written down naively."""
    columns = [[], [], [], []]
    for size, colour, grade, member in rows:
        is_number = size is not None and size == size
        columns[0].append(min(max(size, -2.0), 5.0) if is_number else 1.0)
        columns[1].append({"red": 0, "grün": 1, "": 2}.get(colour, 1))
        columns[2].append({3: 0, 0.5: 1, 1: 2}.get(grade, 2))
        columns[3].append({True: 0, False: 1}.get(member, 1))
    return columns


# --- the same table in every container ----------------------------------------------------------


def object_array(rows):
    array = np.empty((len(rows), 4), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


def pandas_frame(rows, *dtypes):
    columns = zip(*rows, strict=True) if rows else [()] * 4
    return pd.DataFrame(
        {
            name: pd.Series(list(values), dtype=dtype)
            for name, values, dtype in zip(SCHEMA.names, columns, dtypes, strict=True)
        }
    )


def categories_of(rows):
    frame = pandas_frame(rows, "Float64", "str", "Float64", "boolean")
    return frame.astype("category")


def arrow_table(rows, text=None, encode=False):
    types = [pa.float64(), text or pa.string(), pa.float64(), pa.bool_()]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 4
    arrays = [pa.array(values, t) for values, t in zip(columns, types, strict=True)]
    if encode:
        arrays[:3] = [array.dictionary_encode() for array in arrays[:3]]
    return pa.table(arrays, names=list(SCHEMA.names))


def chunked(rows):
    """Every row its own chunk, with its own dictionary."""
    tables = [arrow_table([row], encode=True) for row in rows]
    return pa.concat_tables(tables) if tables else arrow_table([], encode=True)


class Stream:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


CONTAINERS = {
    "lists": lambda rows: [list(row) for row in rows],
    "tuples": tuple,
    "numpy object": object_array,
    "pandas object": lambda rows: pandas_frame(rows, *[object] * 4),
    "pandas numpy types": lambda rows: pandas_frame(rows, float, object, float, object),
    "pandas nullable": lambda rows: pandas_frame(rows, "Float64", "string", "Float64", "boolean"),
    "pandas str": lambda rows: pandas_frame(rows, "Float64", "str", "Float64", "boolean"),
    "pandas python strings": lambda rows: pandas_frame(
        rows, "Float64", "string[python]", "Float64", "boolean"
    ),
    "pandas arrow": lambda rows: pandas_frame(
        rows, "double[pyarrow]", "string[pyarrow]", "double[pyarrow]", "bool[pyarrow]"
    ),
    "pandas category": categories_of,
    "polars": lambda rows: pl.from_arrow(arrow_table(rows)),
    "polars category": lambda rows: pl.from_arrow(arrow_table(rows)).with_columns(
        pl.col("colour").cast(pl.Categorical)
    ),
    "arrow": arrow_table,
    "arrow large": lambda rows: arrow_table(rows, pa.large_string()),
    "arrow view": lambda rows: arrow_table(rows, pa.string_view()),
    "arrow dictionary": lambda rows: arrow_table(rows, encode=True),
    "arrow chunks": chunked,
    "arrow stream": lambda rows: Stream(arrow_table(rows)),
    "record batch": lambda rows: (
        arrow_table(rows).combine_chunks().to_batches()[0]
        if rows
        else pa.RecordBatch.from_pylist([], schema=arrow_table([]).schema)
    ),
}

ROWS = st.lists(
    st.tuples(
        st.none() | st.floats() | st.sampled_from([-2.0, 5.0, 0.0]),
        st.none() | st.sampled_from(["red", "grün", "", "blue", "1"]),
        st.none() | st.sampled_from([3.0, 0.5, 1.0, 2.0, float("nan"), float("inf")]),
        st.none() | st.booleans(),
    ),
    max_size=6,
)


def check_rows(container, rows):
    data = CONTAINERS[container](rows)
    assert open_frame(data).n_rows == len(rows)
    found = read_features(data, SCHEMA)
    assert [column.dtype for column in found] == ["f8", "u1", "u1", "u1"]
    for column, values in zip(found, expected(rows), strict=True):
        assert column.flags.c_contiguous
        assert_array_equal(column, values, strict=False)
    return data, found


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=25, deadline=None)
@given(rows=ROWS, used=st.sets(st.integers(0, 3)))
def test_every_container_gives_the_same_columns(container, rows, used):
    data, found = check_rows(container, rows)
    used = sorted(used)
    matrix, columns = prediction_matrix(data, SCHEMA, used)
    assert columns.dtype == np.int64
    assert [j for j, place in enumerate(columns) if place >= 0] == used
    assert matrix.shape == (len(rows), max(len(used), 1))
    for j in used:
        values = matrix[:, columns[j]]
        if j == 0:
            values = np.where(np.isnan(values), 1.0, np.clip(values, -2, 5))
        assert_array_equal(values, found[j])


@pytest.mark.parametrize("container", CONTAINERS)
def test_one_fixed_table(container):
    nan, inf = float("nan"), float("inf")
    check_rows(
        container,
        [(-9.0, "red", 3.0, True), (nan, "blue", 0.5, False), (None, None, None, None),
         (inf, "", 1.0, True), (-inf, "grün", nan, None), (4.5, "1", -inf, True)],
    )  # fmt: skip


@pytest.mark.parametrize("container", CONTAINERS)
def test_all_missing(container):
    check_rows(container, [(None, None, None, None)] * 3)


# --- memory layouts -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [0, 1, 4095, 4096, 4097, 9000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", ">f8", "O"])
def test_layouts_agree_and_the_data_is_untouched(n_rows, dtype):
    values = np.random.default_rng(0).integers(-3, 13, (n_rows, 3))
    by_rows = values.astype(dtype)
    expected_columns = [np.clip(values[:, j], f.low, f.high)
                        for j, f in enumerate(NUMBERS.features.values())]  # fmt: skip
    doubled = np.repeat(by_rows, 2, axis=0)[::2]
    frames = [by_rows, np.asfortranarray(by_rows), doubled, by_rows[::-1][::-1]]
    frames += [pd.DataFrame(by_rows, columns=list("abc")), by_rows.view(np.ndarray).tolist()]
    frames += [pd.DataFrame({name: by_rows[:, j].copy() for j, name in enumerate("abc")})]
    for frame in frames:
        before = np.array(frame, copy=True)
        for column, wanted in zip(read_features(frame, NUMBERS), expected_columns, strict=True):
            assert column.dtype == np.float64
            assert column.flags.c_contiguous
            assert_array_equal(column, wanted)
            column[:] = 77  # ours, not the caller's
        assert_array_equal(np.array(frame), before)


def test_read_only_data_is_fine():
    array = np.full((5, 3), 20.0)
    array.flags.writeable = False
    assert_array_equal(read_features(array, NUMBERS), [[1] * 5, [10] * 5, [1] * 5])
    assert prediction_matrix(array, NUMBERS, [1])[0] is not None


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_float_arrays_are_not_copied_for_prediction(dtype):
    array = np.ones((4, 3), dtype=dtype)
    for data, names, places in [
        (array, None, [-1, 1, 2]),
        (array, ["c", "a", "b"], [-1, 2, 0]),
        (pd.DataFrame(array, columns=["b", "c", "a"], copy=False), None, [-1, 0, 1]),
    ]:
        matrix, columns = prediction_matrix(data, NUMBERS, [1, 2], names)
        assert np.shares_memory(matrix, array)
        assert matrix.dtype == dtype
        assert columns.tolist() == places


@pytest.mark.parametrize("dtype", ["i8", ">f8", "bool", "g", "O"])
def test_other_arrays_are_converted_for_prediction(dtype):
    array = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
    matrix, columns = prediction_matrix(array, NUMBERS, [0, 2])
    assert matrix.dtype == np.float64
    assert columns.tolist() == [0, -1, 1]
    assert_array_equal(matrix, [[1, 1], [0, 1]])


def test_a_float_array_with_a_used_category_is_coded():
    schema = Schema({"a": Numeric(0, 1), "b": Categorical([7, 5])}, [0, 1])
    array = np.array([[0.5, 5], [9, 7], [np.nan, 6]])
    assert np.shares_memory(prediction_matrix(array, schema, [0])[0], array)
    assert_array_equal(prediction_matrix(array, schema, [0, 1])[0], [[0.5, 1], [9, 0], [np.nan, 0]])


def test_nothing_used_still_checks_the_columns():
    matrix, columns = prediction_matrix(np.ones((4, 3)), NUMBERS, [])
    assert matrix.shape == (4, 1)
    assert columns.tolist() == [-1, -1, -1]
    with pytest.raises(SchemaError, match="3 columns of the schema, got 2"):
        prediction_matrix(np.ones((4, 2)), NUMBERS, [])
    text = pd.DataFrame({"a": [1], "b": [1], "c": pd.Series(["x"], dtype="string")})
    with pytest.raises(SchemaError, match="column 'c' has type str"):
        prediction_matrix(text, NUMBERS, [0])


# --- names and order ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, lambda d: Stream(pa.table(d))]
)
def test_columns_are_matched_by_name(make):
    frame = make({"c": [0.5], "a": [0.25], "b": [3.0]})
    assert_array_equal(np.ravel(read_features(frame, NUMBERS)), [0.25, 3, 0.5])
    with pytest.raises(SchemaError, match=r"lacks 'b', 'c'\. Add them"):
        read_features(make({"a": [0.25], "z": [1.0]}), NUMBERS)
    frame = make({"c": [0.5], "z": [b"?"], "a": [0.25], "b": [3.0], "y": [1]})
    assert_array_equal(np.ravel(read_features(frame, NUMBERS)), [0.25, 3, 0.5])
    with pytest.raises(SchemaError, match=r"lacks 'a'\. .* from the schema\. Did you mean 'A'\?$"):
        read_features(make({"A": [0.25], "b": [1.0], "c": [1.0]}), NUMBERS)


def test_names_for_arrays():
    array = np.array([[0.5, 0.25, 3.0]])
    for data in (array, array.tolist(), pd.DataFrame(array)):
        found = read_features(data, NUMBERS, names=["c", "a", "b"])
        assert_array_equal(np.ravel(found), [0.25, 3, 0.5])
    with pytest.raises(SchemaError, match="got 2 names for 3 columns"):
        read_features(array, NUMBERS, names=["c", "a"])
    with pytest.raises(SchemaError, match="lacks 'c'"):
        read_features(array, NUMBERS, names=["a", "b", "d"])
    with pytest.raises(SchemaError, match=r"'b'.*more than once"):
        read_features(array, NUMBERS, names=["a", "b", "b"])


def test_own_names_win_over_given_ones():
    frame = pd.DataFrame({"c": [0.5], "a": [0.25], "b": [3.0]})
    found = read_features(frame, NUMBERS, names=["a", "b", "c"])
    assert_array_equal(np.ravel(found), [0.25, 3, 0.5])


def test_columns_numbered_in_order_count_by_position():
    frame = pd.DataFrame([[0.25, 3.0, 0.5]])
    assert_array_equal(np.ravel(read_features(frame, NUMBERS)), [0.25, 3, 0.5])


@pytest.mark.parametrize("columns", [[2, 1, 0], [1, 2, 3], [("a", 1), ("b", 2), ("c", 3)]])
def test_other_names_that_are_no_strings_are_refused(columns):
    frame = pd.DataFrame([[0.25, 3.0, 0.5]], columns=pd.Index(columns, tupleize_cols=False))
    with pytest.raises(SchemaError, match="column names must be strings, or 0, 1, 2"):
        read_features(frame, NUMBERS)


def test_mixed_and_repeated_names_are_refused():
    with pytest.raises(SchemaError, match="column names must be strings"):
        read_features(pd.DataFrame([[1, 2, 3]], columns=["a", "b", 0]), NUMBERS)
    for frame in (
        pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "c", "b"]),
        pa.table([[1], [2], [3], [4]], names=["a", "b", "c", "b"]),
    ):
        with pytest.raises(SchemaError, match=r"distinct, got.*'b'.*more than once"):
            read_features(frame, NUMBERS)


@pytest.mark.parametrize("width", [0, 2, 4])
def test_arrays_need_the_columns_of_the_schema(width):
    for data in (np.ones((5, width)), np.ones((0, width)), np.ones((5, width)).tolist()):
        with pytest.raises(SchemaError, match=f"the 3 columns of the schema, got {width}"):
            read_features(data, NUMBERS)


def test_a_stream_can_be_opened_once_and_used_often():
    table = open_frame(pa.table({"a": [0.5], "b": [3.0], "c": [0.25]}).to_reader())
    assert table.n_rows == 1
    for _ in range(2):
        assert_array_equal(np.ravel(read_features(table, NUMBERS)), [0.5, 3, 0.25])


def test_importing_and_reading_arrays_needs_no_frame_library():
    code = (
        "import sys, numpy as np\n"
        "from privatree.schema import Numeric, Schema\n"
        "from privatree.tables._frames import read_features, read_labels\n"
        "schema = Schema({'a': Numeric(0, 1)}, [0, 1])\n"
        "assert read_features(np.ones((2, 1)), schema)[0].sum() == 2\n"
        "assert read_labels([0, 1], schema).sum() == 1\n"
        "print(sorted({'pandas', 'polars', 'pyarrow'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- batches ------------------------------------------------------------------------------------

PAIR = Schema({"a": Numeric(0, 9), "b": Numeric(0, 9)}, ["yes", "no"])


@pytest.mark.parametrize("names", [["a", "b"], ["b", "a"]])
def test_a_batch_has_the_columns_in_the_order_of_the_schema(names):
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    batch = frame_batch(array, ["yes", None], PAIR, names)
    assert batch.n_rows == 2
    for name, column in zip(PAIR.names, batch.features, strict=True):
        assert_array_equal(column.read().values, array[:, names.index(name)])
    assert batch.labels.read().values == ["yes", None]
    assert (batch.array is not None) == (names == ["a", "b"])  # else its columns are not in order


def test_a_batch_refuses_labels_that_do_not_fit():
    with pytest.raises(ValueError, match="same number of rows") as caught:
        frame_batch(np.zeros((7, 2)), ["yes"] * 5, PAIR)
    assert not {"5", "7"} & set(str(caught.value))  # they are private
    with pytest.raises(SchemaError, match="y has type int64, but the schema declares string"):
        frame_batch(np.zeros((2, 2)), np.array([0, 1]), PAIR)
    with pytest.raises(SchemaError, match="2 columns"):
        frame_batch(np.zeros((2, 3)), ["yes", "no"], PAIR)
