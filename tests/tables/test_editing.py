"""Which values a column takes: those it can hold as they are."""

import copy
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privatree.errors import ParameterError
from privatree.tables import (
    append_rows,
    column_position,
    labels_as_objects,
    set_column,
    set_labels,
    take_rows,
)

NAN = float("nan")

TEXT = "string" if pd.Series(["a"]).dtype == object else "str"  # before pandas 3, "str" is object


def columns():
    """Columns, values that they hold, values that they cannot."""
    numpy = [
        (np.array([1, 2], dtype=np.uint8), [0, 255, 7.0, np.int64(3)], [256, -1, 1.5, "1", NAN]),
        (np.array([1, 2], dtype=np.int64), [-(2**63)], [2**63, "x", None]),
        (np.array([1, 2], dtype=np.float32), [0.1, np.float64(0.1), 3, NAN], [1e39, "1"]),
        (np.array([1.0, 2.0]), [1e39, float("inf")], ["1.0", "x"]),
        (np.array([True, False]), [True, 1], [2, "True"]),
        (np.array(["a", "b"]), ["a", "longer"], [1, None]),
        (np.array(["a", 1], dtype=object), ["longer", 2, None], []),
        (np.array(["2020-01-01"] * 2, dtype="M8[D]"), [np.datetime64("2021-01-01")], ["x", "y"]),
    ]
    pandas = [
        (pd.Series([1, 2], dtype="int16"), [5], [2**15, 0.5, "5"]),
        (pd.Series([1, None], dtype="Int8"), [5], [2**15, 0.5, "5", "x"]),
        (pd.Series([1.0, 2.0]), [0.5, 3], ["x"]),
        (pd.Series(["a", "b"], dtype=TEXT), ["longer"], [5]),
        (pd.Series(["a", "b"], dtype="category"), ["b"], ["c", 1]),
        (pd.Series(["a", "b"], dtype=object), ["c", 5], []),
        (pd.Series([True, None], dtype="boolean"), [False], [2, "x"]),
    ]
    polars = [
        (pl.Series("c", [1, 2], dtype=pl.UInt8), [255], [256, -1, 0.5, "1"]),
        (pl.Series("c", [1, 2], dtype=pl.Float32), [0.1, 3], ["x", 1e39]),
        (pl.Series("c", ["a", "b"]), ["longer"], [5]),
        (pl.Series("c", ["a", "b"], dtype=pl.Enum(["a", "b"])), ["b"], ["c", 5]),
        (pl.Series("c", ["a", "b"], dtype=pl.Categorical), ["c"], [5]),
        (pl.Series("c", [datetime.date(2020, 1, 1)] * 2), [datetime.date(2021, 1, 1)], ["x"]),
    ]
    return numpy + pandas + polars


def frame_of(column):
    if isinstance(column, np.ndarray):
        return np.column_stack([column, column])
    frame = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
    return frame({"other": column, "c": column})


def column_of(frame, position):
    if isinstance(frame, np.ndarray):
        return frame[:, position].tolist()
    return frame[frame.columns[position]].to_list()


def same(one, other):
    return one == other or (one != one and other != other)


@pytest.mark.parametrize(("column", "fits", "fails"), columns(), ids=lambda value: str(value)[:20])
def test_values_are_held_as_they_are_or_refused(column, fits, fails):
    before = copy.deepcopy(column)
    first, _ = column
    for value in fits:
        wanted = np.float32(value) if "loat32" in str(column.dtype) else value
        changed = set_labels(column, np.array([1]), value)
        left, right = changed
        assert left == first
        assert same(right, wanted)
        assert type(changed) is type(column)
        assert changed.dtype == column.dtype or changed.dtype.kind == "U"
        edited = set_column(frame_of(column), 1, value)
        assert all(same(found, wanted) for found in column_of(edited, 1))
        assert str(column_of(edited, 0)) == str(column_of(frame_of(column), 0))
    for value in fails:
        with pytest.raises(
            ParameterError, match=r"y must have (a type that can hold|the category)"
        ):
            set_labels(column, np.array([1]), value)
        with pytest.raises(ParameterError, match=r"^column (1|'c') must"):
            set_column(frame_of(column), 1, value)
    assert str(before) == str(column)


MISSING = (None, NAN, np.float32("nan"), pd.NA, pd.NaT)
CAN_MISS = [
    np.array([1.0, 2.0], dtype=np.float32),
    np.array(["2020-01-01"] * 2, dtype="M8[D]"),
    np.array([1, 2], dtype="m8[s]"),
    np.array(["a", 1], dtype=object),
    np.ma.masked_array([1, 2], mask=[False, False]),
    pd.Series([1.0, 2.0]),
    pd.Series(["a", "b"], dtype=object),
    pd.Series(["a", "b"], dtype="str"),
    pd.Series(["a", "b"], dtype="string"),
    pd.Series(["a", "b"], dtype="category"),
    pd.Series([1, 2], dtype="Int8"),
    pd.Series([1.5, 2.5], dtype="Float32"),
    pd.Series([True, False], dtype="boolean"),
    pd.Series(["2020-01-01"] * 2, dtype="datetime64[ns]"),
    pd.Series(["2020-01-01"] * 2, dtype="datetime64[ns, UTC]"),
    pl.Series("c", [1, 2], dtype=pl.UInt8),
    pl.Series("c", [1.0, 2.0]),
    pl.Series("c", ["a", "b"]),
    pl.Series("c", ["a", "b"], dtype=pl.Enum(["a", "b"])),
    pl.Series("c", [True, False]),
    pl.Series("c", [datetime.date(2020, 1, 1)] * 2),
]
CANNOT_MISS = [
    np.array([1, 2], dtype=np.uint8),
    np.array([True, False]),
    np.array(["a", "b"]),
    pd.Series([1, 2], dtype="int16"),
    pd.Series([True, False]),
    pd.Series([0, 1], dtype="Sparse[int64]"),
]


def gaps(column):
    """Where values are missing, as the container itself says."""
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.getmaskarray(column).tolist()
    found = column.is_null() if isinstance(column, pl.Series) else pd.isna(column)
    return found.tolist() if hasattr(found, "tolist") else found.to_list()


@pytest.mark.parametrize("column", CAN_MISS, ids=lambda column: str(column.dtype))
@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_every_missing_value_is_the_column_s_own(column, value):
    before = copy.deepcopy(column)
    changed = set_labels(column, np.array([1]), value)
    assert gaps(changed) == [False, True]
    assert (type(changed), changed.dtype) == (type(column), column.dtype)
    assert changed[0] == column[0]
    if isinstance(column, np.ndarray):
        table = np.ma.column_stack([column, column]) if np.ma.isMA(column) else frame_of(column)
        edited = set_column(table, 1, value)
        first, second = edited[:, 0], edited[:, 1]
        assert edited.dtype == table.dtype
    else:
        edited = set_column(frame_of(column), 1, value)
        first, second = edited["other"], edited["c"]
        assert second.dtype == column.dtype
    assert (gaps(first), gaps(second)) == ([False, False], [True, True])
    assert str(before) == str(column)
    assert gaps(column) == [False, False]


@pytest.mark.parametrize("column", CANNOT_MISS, ids=lambda column: str(column.dtype))
@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_where_nothing_can_be_missing_that_is_refused(column, value):
    with pytest.raises(ParameterError, match="y must have a type that can hold"):
        set_labels(column, np.array([1]), value)
    with pytest.raises(ParameterError, match=r"column (1|'c') must have a type that can hold"):
        set_column(frame_of(column), 1, value)


def test_a_missing_category_says_what_to_do():
    column = pd.Series(["a", "b"], dtype="category")
    with pytest.raises(ParameterError, match=r"y must have the category .c. .*cat\.add_categories"):
        set_labels(column, np.array([0]), "c")
    with pytest.raises(ParameterError) as refused:
        set_labels(column, np.array([0]), "c")
    assert "'b'" not in str(refused.value)  # no category of the data is told


def test_positions():
    array = np.zeros((1, 3))
    named = pd.DataFrame(array, columns=["a", "b", "c"])
    numbered = pd.DataFrame(array, columns=[2, 1, 0])
    assert column_position(array, 2) == column_position(array, np.int8(2)) == 2
    assert column_position(named, "c") == column_position(named, 2) == 2
    assert column_position(pl.DataFrame(named.to_dict("list")), 2) == 2
    assert column_position(numbered, 2) == 0
    for table, wrong in ((array, "a"), (array, 3), (array, -1), (array, 1.5)):
        with pytest.raises(ParameterError, match=r"must be a number from 0 to 2"):
            column_position(table, wrong)
    for table, wrong in ((named, "d"), (named, 3), (named, -1), (numbered, 3), (numbered, "a")):
        with pytest.raises(ParameterError, match="must be one of the columns of X"):
            column_position(table, wrong)


def test_columns_that_share_a_name():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert set_column(frame, 1, 9).to_numpy().tolist() == [[1, 9], [3, 9]]


def test_rows_of_masked_arrays_keep_their_mask():
    array = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    more = take_rows(array, np.array([0]))
    assert np.ma.getmaskarray(append_rows(array, more)).tolist() == [
        [False, True], [False, False], [False, True]
    ]  # fmt: skip


def test_missing_labels_are_none():
    for labels in (
        [1, None, NAN],
        [1, pd.NA, pd.NaT],
        np.array([1, NAN, NAN]),
        pd.Series([1, None, None], dtype="Int64"),
        pd.Series([1, NAN, NAN]),
        pl.Series([1, None, None]),
        pd.Series([1, None, None], dtype="category"),
    ):
        assert labels_as_objects(labels) == [1, None, None]
