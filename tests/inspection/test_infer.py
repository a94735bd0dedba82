import math
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree.errors import PrivacyLeakWarning
from privatree.inspection import check_data_to_infer_from, infer_schema
from privatree.schema import Categorical, Numeric, Schema
from privatree.tables import read_features, read_labels


def infer(X, y=("n", "y"), **arguments):
    with pytest.warns(PrivacyLeakWarning) as caught:
        schema = infer_schema(X, list(y), **arguments)
    assert len(caught) == 1
    return schema


def infer_feature(column):
    """The feature of a single column, with labels that fit its length."""
    if isinstance(column, pl.Series):
        frame = pl.DataFrame({"a": column})
    elif isinstance(column, pd.Series):
        frame = pd.DataFrame({"a": column})
    else:
        frame = pa.table({"a": column})
    schema = infer(frame)
    (marked,) = schema.features.values()
    assert marked.unconfirmed == (
        ("kind", "low", "high", "integer")
        if isinstance(marked, Numeric)
        else ("kind", "categories")
    )
    return schema.confirmed().features["a"]


# --- the warning --------------------------------------------------------------------------------


def test_the_warning_says_what_was_read_and_what_to_do():
    frame = pd.DataFrame({"age": [41, 73], "town": ["Hidden", "Secret"], "on": [True, False]})
    with pytest.warns(PrivacyLeakWarning) as caught:
        Schema.infer(frame, ["private", "quiet"])
    assert len(caught) == 1
    message = str(caught[0].message)
    assert caught[0].filename == __file__
    for said in ("ranges of 'age'", "categories of 'town', 'on'", "class labels", "Write a Schema"):
        assert said in message
    for value in ("41", "73", "Hidden", "Secret", "private ", "quiet"):
        assert value not in message


def test_everything_that_was_read_is_unconfirmed():
    frame = pd.DataFrame({"age": [41, 73], "town": ["Hidden", "Secret"]})
    schema = infer(frame)
    assert schema.unconfirmed == (
        ("classes",),
        ("features", "age", "kind"),
        ("features", "age", "low"),
        ("features", "age", "high"),
        ("features", "age", "integer"),
        ("features", "town", "kind"),
        ("features", "town", "categories"),
    )
    assert schema.confirmed() == Schema(
        {"age": Numeric(41, 73, integer=True), "town": Categorical(["Hidden", "Secret"])},
        ["n", "y"],
    )


def test_the_warning_points_where_it_is_told():
    def estimator():
        infer_schema(np.eye(2), [0, 1], stacklevel=2)  # this line

    with pytest.warns(PrivacyLeakWarning) as caught:
        estimator()
    assert caught[0].lineno == estimator.__code__.co_firstlineno + 1


def test_many_columns_are_not_all_listed():
    with pytest.warns(PrivacyLeakWarning, match="'x4' and 7 more columns"):
        infer_schema(np.eye(12), [0, 1] * 6)


# --- features -----------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("column", "feature"),
    [
        (pd.Series([3, -1]), Numeric(-1, 3, integer=True)),
        (pd.Series([3, None], dtype="Int64"), Numeric(3, 3, integer=True)),
        (pd.Series([2**63, 1], dtype="uint64"), Numeric(1, 2**63, integer=True)),
        (pd.Series([0.5, -1.5]), Numeric(-1.5, 0.5)),
        (pd.Series([0.5, NAN, INF, -INF]), Numeric(0.5, 0.5)),
        (pd.Series([NAN, INF]), Numeric(0, 0)),
        (pd.Series([None, None], dtype="Int64"), Numeric(0, 0)),
        (pd.Series([True, True]), Categorical([False, True])),
        (pd.Series([True, None], dtype="boolean"), Categorical([False, True])),
        (pd.Series(["b", "a", "b", None]), Categorical(["a", "b"])),
        (pd.Series(["b", None, NAN], dtype=object), Categorical(["b"])),
        (pd.Series(["b", "a"], dtype="string[python]"), Categorical(["a", "b"])),
        (pd.Series([None, NAN], dtype=object), Numeric(0, 0)),
        (pd.Series([2, 1, None], dtype=object), Numeric(1, 2, integer=True)),
        (pd.Series([2, 1.5, pd.NA], dtype=object), Numeric(1.5, 2)),
        (pd.Series([Decimal("0.5"), Decimal("NaN")], dtype=object), Numeric(0.5, 0.5)),
        (pd.Series([True, False, None], dtype=object), Categorical([False, True])),
        (pd.Series([True, 5], dtype=object), Numeric(1, 5, integer=True)),
        (pd.Series(pd.Categorical(["b"], ["c", "b", "a"])), Categorical(["c", "b", "a"])),
        (pd.Series(pd.Categorical([2, 2], [9, 2])), Categorical([9, 2])),
        (pd.Series(pd.Categorical([None], [])), Numeric(0, 0)),
        (pd.Series(pd.Categorical([True, 3], [3, True])), Categorical([3, 1])),
        (pd.Series([1.5, 1.5], dtype=pd.ArrowDtype(pa.float64())), Numeric(1.5, 1.5)),
        (pl.Series([3, None]), Numeric(3, 3, integer=True)),
        (pl.Series(["b", "a", None]), Categorical(["a", "b"])),
        (pl.Series(["b"], dtype=pl.Enum(["c", "b"])), Categorical(["c", "b"])),
        (pl.Series([None, None]), Numeric(0, 0)),
        (pl.Series([3, 2**70], dtype=pl.Int128), Numeric(3, 2**70, integer=True)),
        (pa.array(["b", "a", None]), Categorical(["a", "b"])),
        (pa.array(["b", "a", None]).dictionary_encode(), Categorical(["b", "a"])),
        (pa.array([Decimal("1.25"), None]), Numeric(1.25, 1.25)),
        (pa.array([1.5, None], "f4"), Numeric(1.5, 1.5)),
        (pa.array([True, None]), Categorical([False, True])),
    ],
    ids=lambda value: str(value.dtype if hasattr(value, "dtype") else getattr(value, "type", "")),
)
def test_what_is_read_from_a_column(column, feature):
    found = infer_feature(column)
    assert found == feature
    if isinstance(feature, Numeric):
        assert found.integer == feature.integer
    else:
        assert [type(v) for v in found.categories] == [type(v) for v in feature.categories]


def test_polars_categories_of_other_frames_are_not_read():
    pl.Series(["elsewhere"], dtype=pl.Categorical)
    found = infer_feature(pl.Series(["b", "a"], dtype=pl.Categorical))
    assert set(found.categories) == {"a", "b"}


def test_ranges_stay_finite():
    feature = infer(np.array([[-1.7e308], [1.7e308]])).features["x0"]
    assert math.isfinite(feature.high - feature.low)
    assert feature.high > 1e307
    assert infer([[10**400], [1]]).features["x0"].high > 1e307


def test_names():
    array = np.eye(2)
    assert infer(array).names == ("x0", "x1")
    assert infer(array.tolist()).names == ("x0", "x1")
    assert infer(pd.DataFrame(array)).names == ("x0", "x1")
    assert infer(array, names=["b", "a"]).names == ("b", "a")
    assert infer(pd.DataFrame(array, columns=["q", "p"])).names == ("q", "p")


@pytest.mark.parametrize("value", [{"foo": "bar"}, [1], b"a", object(), 1j, "text"])
def test_objects_must_be_text_or_numbers(value):
    array = np.array([[1.0], [2.0]], dtype=object)
    array[0, 0] = value
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        infer_schema(array, [0, 1])


def test_dates_are_neither():
    with pytest.raises(TypeError, match=r"argument must be .* numbers, got a column of type dat"):
        infer_schema(pd.DataFrame({"a": pd.to_datetime(["2020", "2021"])}), [0, 1])


# --- classes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", "a", "b"], ("a", "b")),
        (np.array(["b", "a"]), ("a", "b")),
        (pd.Series(["b", None, "a"]), ("a", "b")),
        (pd.Series(pd.Categorical(["b", "a"], ["c", "b", "a"])), ("a", "b")),
        (np.array([3, 1, 3]), (1, 3)),
        (np.array([3.0, 1.0]), (1.0, 3.0)),
        (np.array([True, False]), (False, True)),
        (pd.Series([2, None, 1], dtype="Int64"), (1, 2)),
        ([2, None, 1], (1, 2)),
        (pl.Series(["b", "a"]), ("a", "b")),
        (pa.array([2, None, 1]), (1, 2)),
        (np.array([5, 4], dtype=object), (4, 5)),
    ],
)
def test_classes_are_the_sorted_labels(y, classes):
    with pytest.warns(PrivacyLeakWarning):
        found = infer_schema(np.ones((len(y), 1)), y).classes
    assert found == classes
    assert [type(v) for v in found] == [type(v) for v in classes]


@pytest.mark.parametrize("y", [[1, 1], ["a", "a"], [None, None], [], [1, None]])
def test_one_class_is_not_enough(y):
    with pytest.raises(ValueError, match=r"at least two classes, got [01] class"):
        infer_schema(np.ones((len(y), 1)), y)


@pytest.mark.parametrize("y", [[0.5, 1.5, 2.5], np.array([0.5, 1.0]), pa.array([0.25, None, 1])])
def test_continuous_labels_are_refused(y):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        infer_schema(np.ones((len(y), 1)), y)


@pytest.mark.parametrize("y", [["a", 1], [{}, {}], pd.to_datetime(["2020", "2021"])])
def test_other_labels_are_refused(y):
    with pytest.raises(ValueError, match="Unknown label type"):
        infer_schema(np.ones((2, 1)), y)


# --- scikit-learn's errors ----------------------------------------------------------------------

X, Y = np.ones((3, 2)), np.array([0, 1, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.empty((0, 3)), [], r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is requi"),
        ([], [], r"0 sample\(s\)"),
        (np.empty((12, 0)), [0] * 12, r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1"),
        (X, None, "requires y to be passed, but the target y is None"),
        (X, Y[:2], r"inconsistent numbers of samples: \[3, 2\]"),
        (X, [0, NAN, 1], "Input y contains NaN"),
        (X, np.array([0, NAN, 1]), "Input y contains NaN"),
        (X, np.array([0, INF, 1]), "Input y contains infinity"),
        (X, ["a", None, "b"], "Input y contains NaN"),
        (X, pd.Series(["a", None, "b"]), "Input y contains NaN"),
        (X, pd.Series([1, None, 0], dtype="Int64"), "Input y contains NaN"),
        (X, pa.array([1, None, 0]), "Input y contains NaN"),
        (X, np.ones((3, 2)), "y should be a 1d array"),
        (X + 1j, Y, "Complex data not supported"),
        (X, Y + 1j, "Complex data not supported"),
        (X[0], Y, "Expected 2D array"),
    ],
)
def test_usual_errors(X, y, message):
    with pytest.raises(ValueError, match=message):
        check_data_to_infer_from(X, y)


@pytest.mark.parametrize("y", [Y, Y.tolist(), ["a", "b", "b"], pd.Series(["a", "b", "b"]), Y > 0])
def test_missing_and_infinite_numbers_in_x_are_fine(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_data_to_infer_from(np.array([[NAN, INF], [1, 2], [-INF, NAN]]), y)


def test_complex_data_cannot_be_described():
    for data, labels in ((X + 1j, Y), (X, Y + 1j)):
        with pytest.raises(ValueError, match="Complex data not supported"):
            infer_schema(data, labels)


# --- the inferred schema reads its own data back ------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(-9, 9),
            st.floats(-1e9, 1e9),
            st.text(st.characters(codec="utf-8"), max_size=3),
            st.booleans(),
        ),
        min_size=2,
        max_size=8,
    )
)
def test_inferred_schema_holds_every_value(rows):
    columns = dict(zip("ifsb", map(list, zip(*rows, strict=True)), strict=True))
    labels = ["no", "yes"] + ["no"] * (len(rows) - 2)
    codes = [0, 1] + [0] * (len(rows) - 2)
    schemas = []
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns),
                  np.array([list(row) for row in rows], dtype=object)):  # fmt: skip
        schema = infer(frame, labels, names=list("ifsb"))
        schemas.append(schema)
        found = dict(zip("ifsb", read_features(frame, schema), strict=True))
        assert_array_equal(found["i"], columns["i"])
        assert_array_equal(found["f"], columns["f"])
        for name in "sb":
            categories = schema.features[name].categories
            assert [categories[code] for code in found[name]] == columns[name]
        assert_array_equal(read_labels(labels, schema), codes)
    assert all(schema == schemas[0] for schema in schemas)
