import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.reproduction.loading._cleaning import clean_records
from privatree.schema import Categorical, Numeric

LABELS = pd.Series(["no", "yes", "no", "yes"])


def cleaned(column, labels=LABELS, **options):
    frame = pd.DataFrame({"x": column})
    return clean_records(frame, labels, origin="here", where="there", **options)


def only(records):
    return records.frame["x"], records.schema.features["x"]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "Int64", "float32", "float64"])
def test_whole_numbers_become_int64_whatever_their_type(dtype):
    column, feature = only(cleaned(pd.Series([3, -1, 7, 0]).abs().astype(dtype)))
    assert column.dtype == np.int64
    assert feature == Numeric(0, 7, integer=True)


def test_other_numbers_become_float64_with_the_range_of_the_rows():
    column, feature = only(cleaned(pd.Series([0.5, -2.0, 7.0, 1.0], dtype="float32")))
    assert column.dtype == np.float64
    assert feature == Numeric(-2.0, 7.0)


@pytest.mark.parametrize("huge", [2.0**53, -(2.0**60), 1e300])
def test_numbers_too_large_to_be_exact_stay_floats(huge):
    column, feature = only(cleaned(pd.Series([1.0, huge, 2.0, 3.0])))
    assert column.dtype == np.float64
    assert not feature.integer


def test_unsigned_integers_beyond_int64_become_floats():
    column, _ = only(cleaned(pd.Series([1, 2**64 - 1, 2, 3], dtype="uint64")))
    assert column.tolist() == [1.0, 2.0**64, 2.0, 3.0]


def test_a_constant_column_stays_with_a_range_without_width():
    column, feature = only(cleaned([5, 5, 5, 5]))
    assert feature == Numeric(5, 5, integer=True)
    assert column.tolist() == [5, 5, 5, 5]


def test_declared_categories_are_kept_in_their_order_as_strings():
    given_ = pd.Categorical(["b", "a", "b", "b"], categories=["c", "b", "a"], ordered=True)
    column, feature = only(cleaned(given_))
    assert feature == Categorical(["c", "b", "a"])
    assert column.tolist() == ["b", "a", "b", "b"]
    assert not column.cat.ordered


@pytest.mark.parametrize("categories", [[2, 0, 1], [2.0, 0.0, 1.0], ["2", "0", "1"]])
def test_categories_that_are_numbers_have_one_spelling(categories):
    codes = pd.Categorical.from_codes([0, 1, 2, 0], categories=pd.Index(categories))
    column, feature = only(cleaned(codes))
    assert feature == Categorical(["2", "0", "1"])
    assert column.tolist() == ["2", "0", "1", "2"]


@pytest.mark.parametrize("dtype", ["str", "object"])
def test_text_becomes_the_sorted_categories_that_occur(dtype):
    column, feature = only(cleaned(pd.Series(["z", "b", "z", "a"], dtype=dtype)))
    assert feature == Categorical(["a", "b", "z"])
    assert column.tolist() == ["z", "b", "z", "a"]


@pytest.mark.parametrize("dtype", ["bool", "boolean", "object"])
def test_booleans_become_both_categories(dtype):
    column, feature = only(cleaned(pd.Series([True] * 4, dtype=dtype)))
    assert feature == Categorical(["False", "True"])
    assert column.tolist() == ["True"] * 4


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "Int64"])
def test_listed_numbers_become_categories_in_the_order_of_numbers(dtype):
    column, feature = only(cleaned(pd.Series([10, 9, 10, 2], dtype=dtype), categorical={"x"}))
    assert feature == Categorical(["2", "9", "10"])
    assert column.tolist() == ["10", "9", "10", "2"]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([1, 0, 1, 1], ("0", "1")),
        ([1.0, 0.0, 1.0, 1.0], ("0", "1")),
        ([True, False, True, True], ("False", "True")),
        (["P", "N", "P", "P"], ("N", "P")),
        (pd.Categorical(["P", "N", "P", "P"], categories=["P", "unused", "N"]), ("N", "P")),
    ],
)
def test_labels_become_strings_and_classes_are_sorted(labels, classes):
    records = cleaned([1, 2, 3, 4], pd.Series(labels))
    low, high = classes
    assert records.labels.tolist() == [high, low, high, high]
    assert records.labels.name == "target"
    assert all(type(label) is str for label in records.labels)
    assert records.schema.classes == classes


def test_rows_with_missing_values_are_dropped_with_their_labels():
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 4.0, 5.0, 6.0],
            "text": ["a", "b", None, "d", "e", "f"],
            "flag": pd.Series([True, True, True, None, False, True], dtype=object),
            "kind": pd.Categorical(["u", "u", "u", "u", None, "v"]),
        }
    )
    records = clean_records(frame, pd.Series(list("pqrstq")), origin="here", where="there")
    assert records.frame["number"].tolist() == [1, 6]
    assert records.frame["number"].dtype == np.int64
    assert records.frame["flag"].tolist() == ["True", "True"]
    assert records.labels.tolist() == ["p", "q"]
    assert records.frame.index.equals(pd.RangeIndex(2))
    assert records.labels.index.equals(pd.RangeIndex(2))
    assert records.schema.features["number"] == Numeric(1, 6, integer=True)
    assert records.schema.features["text"] == Categorical(["a", "f"])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_label_is_refused(missing):
    with pytest.raises(ParameterError, match="there: every row must have a label"):
        cleaned([1, 2, 3, 4], pd.Series(["a", "b", missing, "a"], dtype=object))


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2020-01-01"] * 4),
        pd.Series([1j, 2, 3, 4]),
        pd.Series([b"a", b"b", b"c", b"d"]),
        pd.Series(["a", 1, "b", 2], dtype=object),
    ],
    ids=["dates", "complex", "bytes", "mixed"],
)
def test_a_column_of_another_kind_is_refused_by_name(column):
    with pytest.raises(ParameterError, match="there: column 'x' must hold numbers, text or"):
        cleaned(column)


@pytest.mark.parametrize("names", [[0, "0"], ["0", "0"]])
def test_columns_with_one_name_are_refused(names):
    frame = pd.DataFrame([[1, 2], [3, 4], [5, 6], [7, 8]], columns=pd.Index(names, dtype=object))
    with pytest.raises(ParameterError, match=r"there: column names must differ .* got '0'"):
        clean_records(frame, LABELS, origin="here", where="there")


def test_categories_with_one_text_are_refused_by_column_and_without_their_values():
    categories = pd.Index(["77", 77.0], dtype=object)
    column = pd.Categorical.from_codes([0, 1, 0, 1], categories=categories)
    with pytest.raises(ParameterError, match="there: the categories of column 'x'") as refused:
        cleaned(column)
    assert "77" not in str(refused.value)


def test_infinity_is_refused():
    with pytest.raises(ParameterError, match="there: column 'x' must hold finite numbers"):
        cleaned([1.0, np.inf, 2.0, 3.0])


def test_nothing_left_is_refused():
    with pytest.raises(ParameterError, match="there: must have at least one feature"):
        cleaned([np.nan] * 4)
    with pytest.raises(ParameterError, match="there: must have at least one feature"):
        clean_records(pd.DataFrame(index=range(4)), LABELS, origin="here", where="there")


def test_one_class_is_refused_also_when_dropping_rows_left_one():
    with pytest.raises(ParameterError, match="two classes, got 1"):
        cleaned([1.0, np.nan, 2.0, np.nan])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=2))
def test_every_number_lies_inside_the_range_and_both_ends_occur(numbers):
    labels = pd.Series(["a", "b"] * len(numbers))[: len(numbers)]
    column, feature = only(cleaned(pd.Series(numbers), labels))
    assert column.between(feature.low, feature.high).all()
    assert {feature.low, feature.high} <= set(column)
    assert column.tolist() == numbers
    assert feature.integer == (column.dtype == np.int64)
