"""What the caller declares: containers, dimensions, types, labels."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from privatree.errors import SchemaError
from privatree.schema import Categorical, Numeric, Schema
from privatree.tables import open_frame, open_labels, read_features, read_labels

NUMBERS = Schema({"a": Numeric(0, 1), "b": Numeric(0, 10), "c": Numeric(-1, 1)}, [0, 1])


# --- types and containers -----------------------------------------------------------------------

DATES = pd.to_datetime(["2020-01-01"])
TEXT = "string" if pd.Series(["a"]).dtype == object else "str"  # before pandas 3, "str" is object
BAD_NUMERIC = {
    "str": pd.Series(["1"], dtype=TEXT),
    "category of str": pd.Series(["1"], dtype=TEXT).astype("category"),
    r"datetime64\[\w+\]": pd.Series(DATES),
    r"datetime64\[\w+, UTC\]": pd.Series(DATES.tz_localize("UTC")),
    r"timedelta64\[\w+\]": pd.Series(DATES - DATES),
    "period": pd.Series(DATES.to_period("D")),
    "category of interval": pd.cut(pd.Series([1.0]), 2),
    "complex128": pd.Series([1j]),
    "String": pl.Series(["1"]),
    "Categorical": pl.Series(["1"], dtype=pl.Categorical),
    "Date": pl.Series([DATES[0].date()]),
    "List": pl.Series([[1]]),
    "Struct": pl.Series([{"a": 1}]),
    "string": pa.array(["1"]),
    "dictionary of string": pa.array(["1"]).dictionary_encode(),
    "binary": pa.array([b"1"]),
    "struct": pa.array([{"a": 1}]),
    "list": pa.array([[1]]),
    r"timestamp\[us\]": pa.array([DATES[0].to_pydatetime()]),
}


def in_frame(**columns):
    first = next(iter(columns.values()))
    if isinstance(first, pl.Series):
        return pl.DataFrame(columns)
    return pa.table(columns) if isinstance(first, pa.Array) else pd.DataFrame(columns)


@pytest.mark.parametrize("name", BAD_NUMERIC)
def test_numeric_features_refuse_other_types(name):
    schema = Schema({"age": Numeric(0, 1)}, [0, 1])
    column = BAD_NUMERIC[name]
    for data in (column, column[:0]):  # the type decides, with or without rows
        with pytest.raises(
            SchemaError, match=f"column 'age' has type .*{name}.*declares it numeric"
        ):
            read_features(in_frame(age=data), schema)
        with pytest.raises(SchemaError, match=f"y has type .*{name}.*declares number classes"):
            read_labels(data, schema)


NUMERIC_COLUMNS = [
    pd.Series([1]), pd.Series([True]), pd.Series([1], dtype="Int64"),
    pd.Series([1]).astype("category"), pl.Series([1]), pl.Series([True]),
    pa.array([1]).dictionary_encode(), pd.Series(DATES), pa.array([b"red"]),
]  # fmt: skip


@pytest.mark.parametrize("column", NUMERIC_COLUMNS)
def test_string_categories_and_classes_refuse_numbers(column):
    schema = Schema({"colour": Categorical(["red", "1"])}, ["1", "2"])
    for data in (column, column[:0]):
        with pytest.raises(SchemaError, match=r"column 'colour' has type .*declares string categ"):
            read_features(in_frame(colour=data), schema)
        with pytest.raises(SchemaError, match=r"y has type .*declares string classes"):
            read_labels(data, schema)


FLOATS = {
    "pandas, all missing": pd.Series([np.nan, np.nan]),
    "pandas category, all missing": pd.Series([np.nan, np.nan]).astype("category"),
    "pandas": pd.Series([np.nan, 1.5]),
    "polars": pl.Series([None, 1.5]),
    "Arrow": pa.array([None, 1.5]),
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_unknown_strings(name):
    # pandas gives text of which all is missing a floating type; what the values are must not
    # matter, or an error would tell of one record.
    schema = Schema({"colour": Categorical(["red", "1.5"], missing="1.5")}, ["1.5", "2"])
    column = FLOATS[name]
    for data in (column, column[:0]):
        unknown = len(data)
        assert read_features(in_frame(colour=data), schema)[0].tolist() == [1] * unknown
        assert read_labels(data, schema).tolist() == [-1] * unknown


@pytest.mark.parametrize("labels", [[], [np.nan], [np.nan, 1.5]])
def test_arrays_of_floats_are_unknown_string_classes(labels):
    schema = Schema({"a": Numeric(0, 1)}, ["1.5", "2"])
    for dtype in ("f8", "f4"):
        found = read_labels(np.array(labels, dtype=dtype), schema)
        assert found.tolist() == [-1] * len(labels)
    with pytest.raises(SchemaError, match=r"y has type int64, but.*declares string classes"):
        read_labels(np.zeros(len(labels), dtype="i8"), schema)


def test_types_of_arrays_hold_for_every_column():
    text = np.array([["1", "2"]])
    schema = Schema({"a": Categorical(["1"]), "b": Numeric(0, 1)}, [0, 1])
    with pytest.raises(SchemaError, match=r"column 'b' has type str, but.*numeric"):
        read_features(text, schema)
    with pytest.raises(SchemaError, match=r"column 'a' has type float64, but.*string categories"):
        read_features(np.ones((1, 2)), schema)
    booleans = Schema({"a": Categorical([True, False])}, [False, True])
    with pytest.raises(SchemaError, match="type str, but the schema declares boolean categories"):
        read_features(text[:, :1], booleans)
    for array in (np.array([[1j]]), np.array([[b"1"]]), np.array([["2020"]], "M8[Y]")):
        with pytest.raises(SchemaError, match="declares boolean categories"):
            read_features(array, booleans)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([{"secret": 1}]),
        pa.array([[{"secret": 1}]]),
        pa.array([[{"secret": 1}]], pa.list_(pa.struct([("secret", pa.int64())]), 1)),
        pa.array([b"secret"], pa.binary(6)),
        pa.array([b"secret"], pa.binary(6)).dictionary_encode(),
        pa.array([[("secret", 1)]], pa.map_(pa.string(), pa.int64())),
    ],
    ids=lambda column: str(column.type).partition("<")[0],
)
def test_errors_do_not_show_what_is_inside_a_type(column):
    schema = Schema({"a": Numeric(0, 1)}, [0, 1])
    with pytest.raises(SchemaError, match=r"column 'a' has type [a-z_ ]+, but") as stopped:
        read_features(pa.table({"a": column}), schema)
    assert "secret" not in str(stopped.value)


def test_errors_do_not_depend_on_the_length_of_strings():
    messages = set()
    for text in ("a", "a much longer text"):
        for array in (np.array([[text]]), np.array([[text.encode()]])[:0]):
            with pytest.raises(SchemaError) as caught:
                read_features(array, Schema({"a": Numeric(0, 1)}, [0, 1]))
            messages.add(str(caught.value))
    assert len(messages) == 2


@pytest.mark.parametrize(
    "data",
    [np.ones(3), np.array([]), [1, 2, 3], ["ab", "cd"], pd.Series([1.0]), pl.Series([1.0]),
     pa.array([1.0]), pa.chunked_array([[1.0]]), np.ones((1, 1, 1)), np.array(3.0)],
    ids=lambda data: f"{type(data).__name__}",
)  # fmt: skip
def test_frames_must_have_two_dimensions(data):
    with pytest.raises(ValueError, match=r"Expected 2D array, got \dD array.*Reshape your data"):
        read_features(data, NUMBERS)


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.coo_array])
def test_sparse_is_refused(make):
    with pytest.raises(TypeError, match=r"X must be dense, got a sparse \w+. Pass X.toarray\(\)"):
        read_features(make(np.eye(3)), NUMBERS)
    with pytest.raises(TypeError, match="y must be dense, got a sparse"):
        read_labels(make(np.eye(1)), NUMBERS)


@pytest.mark.parametrize("data", ["text", 3, None, {"a": [1]}, iter([])])
def test_other_containers_are_refused(data):
    with pytest.raises(TypeError, match=r"X must be a 2-D numpy array, a list of rows.*got "):
        read_features(data, NUMBERS)


class OneColumn:
    def __arrow_c_stream__(self, requested_schema=None):
        return pa.chunked_array([[1]]).__arrow_c_stream__(requested_schema)


class FailingStream:
    def __arrow_c_stream__(self, requested_schema=None):
        raise ArithmeticError("could not convert 'a secret'")


def failing_batches():
    schema = pa.schema({"a": pa.float64()})
    rows = ([{"a": value}] for value in (1.0, "a secret"))
    batches = (pa.RecordBatch.from_pylist(row, schema=schema) for row in rows)
    return pa.RecordBatchReader.from_batches(schema, batches)


class FailingArray:
    def __array__(self, dtype=None, copy=None):
        raise ArithmeticError("could not convert 'a secret'")


@pytest.mark.parametrize("make", [OneColumn, FailingStream, failing_batches])
def test_a_stream_that_is_no_table_is_refused_without_its_own_words(make):
    with pytest.raises(TypeError, match=r"X must be a table, got a .*pyarrow.table"
                       ) as stopped:  # fmt: skip
        read_features(make(), NUMBERS)
    assert "secret" not in str(stopped.value)
    assert stopped.value.__context__ is None


def test_an_array_that_fails_is_refused_without_its_own_words():
    for name, read in (("X", read_features), ("y", read_labels)):
        with pytest.raises(TypeError, match=f"{name} must be an array, got a Fail") as stopped:
            read(FailingArray(), NUMBERS)
        assert "secret" not in str(stopped.value)
        assert stopped.value.__context__ is None


@pytest.mark.parametrize("kind", ["table", "array"])
def test_lack_of_memory_is_passed_on(monkeypatch, kind):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(FailingStream, "__arrow_c_stream__", fail)
    monkeypatch.setattr(FailingArray, "__array__", fail)
    with pytest.raises(MemoryError):
        read_features(FailingStream() if kind == "table" else FailingArray(), NUMBERS)


def test_a_lazy_frame_is_collected():
    frame = pl.DataFrame({"a": [1.5, None, 9.0], "b": ["x", "y", None]})
    table = open_frame(frame.lazy().filter(pl.col("a").is_null() | (pl.col("a") < 5)))
    assert (table.names, table.n_rows) == (["a", "b"], 2)
    assert_array_equal(table.columns[1].read().codes, [0, 1])


def test_a_lazy_frame_that_fails_is_refused_without_its_own_words():
    lazy = pl.LazyFrame({"a": ["CANARY"]}).with_columns(pl.col("a").cast(pl.Int64, strict=True))
    with pytest.raises(TypeError, match="LazyFrame that cannot be collected") as caught:
        open_frame(lazy)
    assert "CANARY" not in str(caught.value)
    assert caught.value.__context__ is None


def test_rows_must_have_one_length():
    with pytest.raises(ValueError, match="every row of X must have the same number of values"):
        read_features([[1, 2, 3], [1, 2]], NUMBERS)


def test_anything_that_is_an_array_is_read():
    class ArrayLike:
        def __array__(self, dtype=None, copy=None):
            return np.array([[0.5, 3.0, 0.25]])

    for data in (ArrayLike(), [np.array([0.5, 3.0, 0.25])]):
        assert_array_equal(np.ravel(read_features(data, NUMBERS)), [0.5, 3, 0.25])


# --- labels -------------------------------------------------------------------------------------

TEXT_LABELS = ["no", "yes", None, "?", "no"]
LABELS = {
    "list": TEXT_LABELS,
    "tuple": tuple(TEXT_LABELS),
    "numpy object": np.array(TEXT_LABELS, dtype=object),
    "numpy text": np.array(["no", "yes", "None", "?", "no"]),
    "pandas object": pd.Series(TEXT_LABELS, dtype=object, index=[5, 5, 1, 0, 2]),
    "pandas str": pd.Series(TEXT_LABELS, dtype="str"),
    "pandas string": pd.Series(TEXT_LABELS, dtype="string"),
    "pandas arrow": pd.Series(TEXT_LABELS, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": pd.Series(TEXT_LABELS).astype("category"),
    "pandas Categorical": pd.Categorical(TEXT_LABELS),
    "pandas Index": pd.Index(TEXT_LABELS),
    "polars": pl.Series(TEXT_LABELS),
    "polars category": pl.Series(TEXT_LABELS, dtype=pl.Categorical),
    "arrow": pa.array(TEXT_LABELS),
    "arrow chunks": pa.chunked_array([TEXT_LABELS[:2], TEXT_LABELS[2:]]),
    "arrow dictionary": pa.array(TEXT_LABELS).dictionary_encode(),
}


@pytest.mark.parametrize("kind", LABELS)
def test_text_labels(kind):
    found = read_labels(LABELS[kind], Schema({"a": Numeric(0, 1)}, ["yes", "no"]))
    assert found.dtype == np.int32
    assert_array_equal(found, [1, 0, -1, -1, 1])


@pytest.mark.parametrize(
    "labels",
    [
        [2, 1, None, 7],
        np.array([2, 1, np.nan, 7]),
        np.array([2.0, 1, 1.5, np.inf], dtype="f4"),
        pd.Series([2, 1, None, 7], dtype="Int64"),
        pd.Series([2, 1, None, 7]).astype("category"),
        pl.Series([2, 1, None, 7]),
        pa.array([2, 1, None, 7], pa.int8()),
        [np.int64(2), [True], "1", [1, 1]],
    ],
)
def test_number_labels(labels):
    schema = Schema({"a": Numeric(0, 1)}, [1, 2])
    assert_array_equal(read_labels(labels, schema), [1, 0, -1, -1])


def test_boolean_labels():
    schema = Schema({"a": Numeric(0, 1)}, [False, True])
    for labels in (np.array([True, False]), [True, False], np.array([1, 0]), pa.array([1.0, 0.0])):
        assert_array_equal(read_labels(labels, schema), [1, 0])


@pytest.mark.parametrize(
    "labels",
    [np.array([[1], [0]]), pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]}),
     pa.table({"y": [1, 0]}), np.array([[1], [0]], dtype=object)],
    ids=lambda labels: type(labels).__name__,
)  # fmt: skip
def test_a_column_vector_is_read_with_a_warning(labels):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        found = read_labels(labels, NUMBERS)
    assert_array_equal(found, [1, 0])


def test_labels_opened_once_warn_once():
    with pytest.warns(DataConversionWarning):
        opened = open_labels(np.array([[1], [0]]))
    for _ in range(2):
        assert_array_equal(read_labels(opened, NUMBERS), [1, 0])


@pytest.mark.parametrize(
    "labels",
    [np.ones((7, 2)), np.ones((7, 1, 1)), np.array(1), "abcdefg", 7, {"y": 1},
     pd.DataFrame({"y": [1], "z": [1]}), pl.DataFrame({"y": [1], "z": [1]})],
    ids=lambda labels: type(labels).__name__,
)  # fmt: skip
def test_labels_must_be_one_column(labels):
    with pytest.raises(ValueError, match="y should be a 1d array, got") as caught:
        read_labels(labels, NUMBERS)
    assert "7" not in str(caught.value)  # neither a value nor the number of rows


def test_labels_are_needed():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        read_labels(None, NUMBERS)


def test_each_label_of_a_list_is_read_by_itself():
    assert open_labels([["p"], "q", ("p",), ["p", "q"]]).columns[0].read().values == [
        "p", "q", "p", ["p", "q"],
    ]  # fmt: skip
