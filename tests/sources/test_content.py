"""What the records contain can be anything, and is never an error."""

import warnings
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree import PrivaTreeClassifier
from privatree.schema import Categorical, Numeric, Schema
from privatree.tables import prediction_matrix, read_arrow_column, read_features, read_labels

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


# --- nasty content ------------------------------------------------------------------------------


class Hostile:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("compared")

    def __float__(self):
        raise RuntimeError("converted")

    def __bool__(self):
        raise RuntimeError("asked")


class HostileText(str):
    def __hash__(self):
        raise RuntimeError("hashed")

    def __eq__(self, other):
        raise RuntimeError("compared")


class HostileNumber(Fraction):
    def __float__(self):
        raise RuntimeError("converted")


class Colour(str, Enum):  # noqa: UP042
    RED = "red"


class Unhashable(type):
    __hash__ = None


class Impostor(type):
    """Of classes that say they are str."""

    def __hash__(cls):
        return hash(str)

    def __eq__(cls, other):
        return True


class Refusing(type):
    def __hash__(cls):
        raise RuntimeError("hashed")

    def __eq__(cls, other):
        raise RuntimeError("compared")


class OfUnhashable(metaclass=Unhashable):
    pass


class OfImpostor(metaclass=Impostor):
    __hash__ = None


class OfRefusing(metaclass=Refusing):
    pass


class UnhashableText(str, metaclass=Unhashable):
    pass


class WholeOfUnhashable(int, metaclass=Unhashable):
    pass


class Classless:
    @property
    def __class__(self):
        raise RuntimeError("asked for its class")

    def __str__(self):
        raise RuntimeError("written")

    def __getattr__(self, name):
        raise RuntimeError("asked for an attribute")


class HostileList(list):
    def __len__(self):
        raise RuntimeError("counted")

    def __getitem__(self, place):
        raise RuntimeError("read")


class Warning3(float):
    """Three, that warns when it is asked."""

    def __float__(self):
        warnings.warn("a float", UserWarning, stacklevel=2)
        return 4.0


class WarningWhole3(int):
    def __int__(self):
        warnings.warn("an int", UserWarning, stacklevel=2)
        return 4

    __index__ = __float__ = __int__


class WarningHalf(Fraction):
    def __float__(self):
        warnings.warn("a fraction", UserWarning, stacklevel=2)
        return 0.5


def signalling(kind):
    """A NaN that complains where it is computed with."""
    bits = {"f2": 0x7D00, "f4": 0x7FA00000, "f8": 0x7FF4000000000000}
    return np.array([bits[kind]], dtype=f"u{kind[1]}").view(kind)


def recursive_list():
    value = []
    value.append(value)
    return value


def deep_tuple():
    value = ()
    for _ in range(100_000):
        value = (value,)
    return value


NASTY = [
    None, pd.NA, pd.NaT, np.nan, np.datetime64("NaT"), np.timedelta64(3), 1j, b"red", b"\xff", [],
    {}, {"red"}, ("red",), [3], np.arange(3), np.array(3), Hostile(), object(), Hostile, "\ud800",
    "3", " red", Decimal("NaN"), Decimal("sNaN"), deep_tuple(), float, lambda: 3,
    HostileNumber(1, 3), OfUnhashable(), OfUnhashable, OfImpostor(), OfImpostor, OfRefusing(),
    OfRefusing, Classless(), HostileList([3]), recursive_list(), signalling("f2")[0],
    signalling("f4")[0], signalling("f8")[0], signalling("f4"), np.zeros(1, "i4,f4")[0],
]  # fmt: skip


@pytest.mark.parametrize("rows", [NASTY, NASTY * 3])
def test_objects_that_are_no_values_are_missing(rows):
    array = np.empty((len(rows), 4), dtype=object)
    for i, value in enumerate(rows):
        for j in range(4):
            array[i, j] = value
    frame = pd.DataFrame({name: pd.Series(list(array[:, j]), dtype=object)
                          for j, name in enumerate(SCHEMA.names)})  # fmt: skip
    wide = pl.DataFrame([pl.Series(name, rows, dtype=pl.Object) for name in SCHEMA.names])
    for data in (array, frame, array.tolist(), wide):
        for column, place in zip(read_features(data, SCHEMA), (1.0, 1, 2, 1), strict=True):
            assert_array_equal(column, np.full(len(rows), place))
        matrix, _ = prediction_matrix(data, SCHEMA, [0, 1])
        assert np.isnan(matrix[:, 0]).all()
    labels = np.empty(len(rows), dtype=object)
    labels[:] = array[:, 0]
    for y in (labels, rows, pd.Series(labels, dtype=object)):
        assert_array_equal(read_labels(y, SCHEMA), np.full(len(rows), -1))
        assert_array_equal(read_labels(y, NUMBERS), np.full(len(rows), -1))


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (3, 3), (True, 1), (np.int8(-1), -1), (np.uint64(4), 4), (np.float16(0.5), 0.5),
        (np.bool_(True), 1), (Decimal("2.5"), 2.5), (Fraction(1, 2), 0.5), (np.longdouble(2), 2),
        (10**400, 5), (-(10**400), -2), (Fraction(10**400), 5), (Decimal("1e999"), 5),
        (Decimal("-Infinity"), -2), ("3", 1), (np.str_("3"), 1), (3 + 0j, 1), (Warning3(3), 3),
        (WarningWhole3(3), 3), (WarningHalf(1, 2), 0.5), (WholeOfUnhashable(3), 3),
        (np.longdouble("1e4000"), 5),
    ],
)  # fmt: skip
def test_numbers_among_objects(value, place):
    for rows in ([[value, "red", 3, True]], [[value, "red", 3, True], [{}, {}, {}, {}]]):
        assert read_features(rows, SCHEMA)[0][0] == place


ORDINARY = [0, 1, 2.5, -1e300, True, False, "red", "yes", "no", "", np.float32(1), np.int8(3),
            10**400, Decimal("0.5"), Fraction(1, 3), Warning3(3), WarningWhole3(3),
            WarningHalf(1, 2), HostileText("yes"), UnhashableText("yes")]  # fmt: skip


def as_containers(values):
    """The same objects in each container that has a type for them."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = [None] * len(values)
    for place, value in enumerate(values):
        objects[place] = value
    array = np.empty((len(values), 4), dtype=object)
    for column in range(4):
        array[:, column] = objects
    frame = pd.DataFrame({name: pd.Series(objects, dtype=object) for name in SCHEMA.names})
    return objects, (array, frame, [[value] * 4 for value in values])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(NASTY + ORDINARY) - 1) | st.text(max_size=3), max_size=6))
def test_any_objects_train_and_each_is_read_as_if_alone(drawn):
    """Whatever stands beside it; warnings are errors here, and a warning is an output."""
    # Places, as hypothesis hashes and prints what it draws.
    values = [(NASTY + ORDINARY)[one] if isinstance(one, int) else one for one in drawn]
    objects, tables = as_containers(values)
    alone = [read_features([[value] * 4], SCHEMA) for value in values]
    for table in tables:
        if len(values):
            together = zip(*read_features(table, SCHEMA), strict=True)
            assert [list(map(float, row)) for row in together] == [
                [float(column[0]) for column in row] for row in alone
            ]
        model = PrivaTreeClassifier(1.0, max_depth=1, lookahead=1, schema=SCHEMA)
        for y in (values, objects, pd.Series(objects, dtype=object)):
            assert len(model.fit(table, y).predict(table)) == len(values)
    for schema in (SCHEMA, NUMBERS):
        labels = [read_labels([value], schema)[0] for value in values]
        assert_array_equal(read_labels(values, schema), labels)


@pytest.mark.parametrize("filters", ["error", "always"])
def test_conversions_warn_nobody_and_leave_the_filters_alone(filters):
    values = [Warning3(3), WarningHalf(1, 2), signalling("f4")[0], np.longdouble("1e4000")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(filters)
        before = list(warnings.filters)
        found = read_features([[value] * 4 for value in values], SCHEMA)
        assert warnings.filters == before
    assert caught == []
    assert found[0].tolist() == [3, 0.5, 1, 5]


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_signalling_nans_in_arrays_are_missing(kind):
    column = np.repeat(signalling(kind), 3)
    frame = pd.DataFrame(dict.fromkeys(NUMBERS.names, column))
    classes = Schema({name: Categorical(range(9)) for name in NUMBERS.names}, [0, 1])
    for schema in (NUMBERS, classes):
        for data in (frame, frame.to_numpy()):
            model = PrivaTreeClassifier(1.0, max_depth=1, lookahead=1, schema=schema)
            assert len(model.fit(data, column).predict(data)) == 3
            places = [f.missing_place for f in schema.features.values()]
            assert_array_equal(np.transpose(read_features(data, schema)), [places] * 3)


def test_categories_among_objects_match_their_python_equals():
    text = [np.str_("red"), Colour.RED, HostileText("red"), UnhashableText("red"), "red"]
    assert_array_equal(read_features([[0, t, 3, True] for t in text], SCHEMA)[1], [0] * 5)
    numbers = [1, 1.0, True, np.int8(1), np.float32(1), np.True_, Decimal(1), Fraction(1)]
    found = read_features([[0, "red", n, n] for n in numbers], Schema(
        {**SCHEMA.features, "grade": Categorical([3, 1])}, [0, 1]))  # fmt: skip
    assert_array_equal(found[2], [1] * 8)
    assert_array_equal(found[3], [0] * 8)


def test_booleans_and_whole_numbers_of_every_type_match_number_categories():
    schema = Schema({"a": Categorical([7, 1, 0]), "b": Categorical([True, False])}, [0, 1])
    for dtype in ("bool", "int8", "uint8", ">i4", "int64", "uint64", "f2", "f4", ">f8", "g", "O"):
        first, second = read_features(np.array([[1, 1], [0, 0]], dtype=dtype), schema)
        assert_array_equal(first, [1, 2])
        assert_array_equal(second, [0, 1])


def test_wide_integers_match_exactly():
    schema = Schema({"a": Categorical([2**60, 2**60 + 1, 10**400, 0.5])}, [0, 1])
    values = [2**60 + 1, 2**60 + 2, 2**60]
    series = pd.Series([*values, None], dtype="Int64")
    assert_array_equal(read_features(np.array(values)[:, None], schema)[0], [1, 0, 0])
    assert_array_equal(read_features(pd.DataFrame({"a": series}), schema)[0], [1, 0, 0, 0])
    assert_array_equal(read_features([[10**400], [2**60 + 1]], schema)[0], [2, 1])
    odd = Schema({"a": Categorical([7, 2**60 + 1])}, [0, 1])  # no float equals it
    assert_array_equal(read_features(np.array([[2.0**60]]), odd)[0], [0])


def test_no_category_fits_the_type():
    schema = Schema({"a": Categorical([0.5, 300, -1], missing=-1)}, [0, 1])
    assert_array_equal(read_features(np.array([[0], [44], [255]], "u1"), schema)[0], [2, 2, 2])


@pytest.mark.slow
def test_code_types_are_the_smallest():
    for n, dtype in [(1, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")]:
        schema = Schema({"a": Categorical(range(n), missing=n - 1)}, [0, 1])
        for data in (np.array([[-1]]), [["?"]], pd.DataFrame({"a": ["?"]}, dtype="object")):
            codes = read_features(data, schema)[0]
            assert (codes.dtype, codes[0]) == (np.dtype(dtype), n - 1)


def test_text_arrays_with_characters_that_do_not_exist():
    array = np.array([[0x110000], [ord("r")]], dtype=np.uint32).view("<U1")
    schema = Schema({"a": Categorical(["x", "r"])}, [0, 1])
    assert_array_equal(read_features(array, schema)[0], [0, 1])


def test_arrow_text_that_is_not_unicode():
    buffers = [None, pa.py_buffer(np.array([0, 1, 2], "i4")), pa.py_buffer(b"\xffr")]
    table = pa.table({"a": pa.Array.from_buffers(pa.string(), 2, buffers)})
    schema = Schema({"a": Categorical(["x", "r"])}, [0, 1])
    assert_array_equal(read_features(table, schema)[0], [0, 1])


@pytest.mark.parametrize("text", [np.dtypes.StringDType(na_object=None), "U5"])
def test_numpy_text(text):
    schema = Schema({"a": Categorical(["x", "red"]), "b": Categorical(["b", "None"])}, [0, 1])
    array = np.array([["red", "b"], ["?", "None"]], dtype=text)
    first, second = read_features(array, schema)
    assert_array_equal(first, [1, 0])
    assert_array_equal(second, [0, 1])


def test_masked_values_are_missing():
    schema = Schema({"a": Numeric(0, 9, missing=5), "b": Categorical([1, 2])}, [0, 1])
    data = np.ma.array([[3, 2], [4, 2]], mask=[[False, True], [True, False]])
    for array in (data, data.astype(float), data.astype(object)):
        first, second = read_features(array, schema)
        assert_array_equal(first, [3, 5])
        assert_array_equal(second, [0, 1])
        assert_array_equal(prediction_matrix(array, schema, [0])[0], [[3], [np.nan]])
    assert_array_equal(read_labels(np.ma.array([0, 1], mask=[True, False]), NUMBERS), [-1, 1])


def test_wide_floats_overflow_to_the_ends_without_a_warning():
    array = np.array([["1e4000", "-1e4000", "0.5"]], dtype="g")
    assert_array_equal(np.ravel(read_features(array, NUMBERS)), [1, 0, 0.5])


ARROW_COLUMNS = [
    pa.array([1, None], pa.int8()), pa.array([1, None], pa.uint64()), pa.array([1, None], "f2"),
    pa.array([True, None]), pa.array([Decimal("1.00"), None], pa.decimal128(5, 2)),
    pa.array([Decimal("1.00"), None], pa.decimal256(50, 2)),
    pa.array([Decimal("1.00"), None]).dictionary_encode(),
    pa.array([1, None]).dictionary_encode(), pc.run_end_encode(pa.array([1, None])),
    pa.array([1, None], pa.int8()).cast(pa.bool8()),
    pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint64()), pa.array([None, 1.0])),
]  # fmt: skip


@pytest.mark.parametrize("column", ARROW_COLUMNS, ids=lambda column: str(column.type))
def test_arrow_types_of_numbers(column):
    schema = Schema({"a": Numeric(-1, 2), "b": Categorical([5, 1])}, [0, 1])
    first, second = read_features(pa.table({"a": column, "b": column}), schema)
    assert_array_equal(first, [1, -1])
    assert_array_equal(second, [1, 0])


@pytest.mark.parametrize("dtype", [pl.Int128, pl.Float32, pl.Decimal(8, 2), pl.UInt8, pl.Boolean])
def test_polars_types_of_numbers(dtype):
    schema = Schema({"a": Numeric(-1, 2), "b": Categorical([5, 1])}, [0, 1])
    column = pl.Series([1, None]).cast(dtype)
    first, second = read_features(pl.DataFrame({"a": column, "b": column}), schema)
    assert_array_equal(first, [1, -1])
    assert_array_equal(second, [1, 0])


def test_other_pandas_and_polars_categories():
    frame = pd.DataFrame({"a": pd.Series([2, 1, None]).astype("category"),
                          "b": pd.Series(["x", 3, None], dtype=object).astype("category"),
                          "c": pd.arrays.SparseArray([0, 1, 0])})  # fmt: skip
    schema = Schema({"a": Numeric(0, 9), "b": Categorical([4, 3]), "c": Numeric(0, 9)}, [0, 1])
    assert_array_equal(read_features(frame, schema), [[2, 1, 0], [0, 1, 0], [0, 1, 0]])
    enum = pl.DataFrame({"a": pl.Series(["x", "r", None], dtype=pl.Enum(["r", "x"]))})
    assert_array_equal(
        read_features(enum, Schema({"a": Categorical(["?", "x", "r"])}, [0, 1]))[0], [1, 2, 0]
    )


@pytest.mark.parametrize(
    "column", [pa.nulls(2), pl.Series([None, None]), pa.nulls(2, pa.dictionary("i1", pa.null()))]
)
def test_columns_of_type_null_fit_every_feature(column):
    data = dict.fromkeys(SCHEMA.names, column)
    frame = pl.DataFrame(data) if isinstance(column, pl.Series) else pa.table(data)
    assert_array_equal(read_features(frame, SCHEMA), [[1, 1], [1, 1], [2, 2], [1, 1]])
    assert_array_equal(read_labels(column, SCHEMA), [-1, -1])


@pytest.mark.parametrize("data", [[], ()])
def test_a_list_without_rows_fits_every_schema(data):
    assert [column.shape for column in read_features(data, SCHEMA)] == [(0,)] * 4
    assert [column.shape for column in read_features(data, SCHEMA, names=["?"])] == [(0,)] * 4
    assert prediction_matrix(data, SCHEMA, [0, 2])[0].shape == (0, 2)
    assert read_labels(data, SCHEMA).shape == (0,)


@pytest.mark.parametrize("kind", [pa.decimal128(9, 2), pa.decimal256(40, 2)])
def test_a_decimal_is_the_number_that_its_digits_say(kind):
    """Arrow's own conversion multiplies by 0.01, which makes 0.35 a little more than 0.35."""
    texts = [f"{sign}{cents / 100:.2f}" for cents in range(0, 20_000, 7) for sign in ("", "-")]
    content = read_arrow_column(pa.array([Decimal(text) for text in texts], kind))
    assert content.values.tolist() == [float(text) for text in texts]
