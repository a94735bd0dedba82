"""Ids of units: whole numbers and text, compared exactly, from any container."""

import datetime
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privatree.errors import SchemaError
from privatree.tables import check_unit_type, check_weight_type, open_labels, read_unit_ids


def ids_of(values):
    (column,) = open_labels(values).columns
    check_unit_type("units", column.type)
    found = read_unit_ids(column.read())
    assert len(found.ids) == len(set(found.ids)) == len(found.distinct)
    return [None if place < 0 else found.ids[place] for place in found.places]


NUMBERS = ["3", "1", "3", "-7"]


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, 3, -7],
        ["3", "1", " 3", "-7\t"],
        [3, "1", np.int8(3), -7.0],
        np.array([3, 1, 3, -7]),
        np.array([3, 1, 3, -7], dtype=np.int16),
        np.array(["3", "1", "3", "-7"]),
        pd.Series([3, 1, 3, -7]),
        pd.Series([3, 1, 3, -7], dtype="Int64"),
        pd.Series(["3", "1", "3", "-7"], dtype="category"),
        pd.Series([3, 1, 3, -7], dtype="category"),
        pl.Series([3, 1, 3, -7]),
        pl.Series(["3", "1", "3", "-7"]),
        pa.array([3, 1, 3, -7]),
        pa.chunked_array([["3", "1"], ["3", "-7"]]),
        pa.array(["3", "1", "3", "-7"]).dictionary_encode(),
    ],
    ids=lambda values: type(values).__name__,
)
def test_ids_are_the_same_from_every_container(values):
    assert ids_of(values) == NUMBERS


def test_what_is_no_id_is_missing():
    values = ["a", None, "", "  ", "NA", "nan", "a ", "A", 1.5, True, Decimal("2.5"), object()]
    expected = ["a", None, None, None, None, None, "a", "A", None, None, None, None]
    assert ids_of(values) == expected
    assert ids_of(pd.Series([7, None, 8], dtype="Int64")) == ["7", None, "8"]
    assert ids_of(pa.array(["x", None, "y"])) == ["x", None, "y"]


def test_an_id_that_may_have_been_another_one_is_missing():
    lost = ["Ren\ufffd", "\ud83d", "\ud83d\ude00", 2.0**53, Fraction(2**60), 10**5000, b"a"]
    assert ids_of(lost) == [None] * len(lost)
    exact = [Decimal(2**53), Decimal(2**53 + 1), Decimal("7.0"), UUID(int=5), 2.0**52]
    assert ids_of(exact) == [str(2**53), str(2**53 + 1), "7", str(UUID(int=5)), str(2**52)]
    assert ids_of([Decimal("NaN"), Decimal("1e999999"), Decimal("0.5")]) == [None] * 3


def test_numbers_that_a_float_cannot_hold_are_different():
    assert ids_of(np.array([2**53, 2**53 + 1])) == [str(2**53), str(2**53 + 1)]
    assert ids_of(np.array([2**64 - 1], dtype=np.uint64)) == [str(2**64 - 1)]
    assert ids_of([10**30, 10**30 + 1]) == [str(10**30), str(10**30 + 1)]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, 2.0]),
        pd.Series([1, None]),
        np.array([True, False]),
        pa.array([Decimal("1")]),
        pd.Series(pd.to_datetime(["2026-11-18"])),
        pa.array([datetime.date(2026, 11, 18)]),
    ],
    ids=["floats", "pandas with gaps", "booleans", "decimals", "times", "dates"],
)
def test_other_types_are_refused(values):
    with pytest.raises(SchemaError, match="units must have whole numbers or text as ids of units"):
        ids_of(values)


@pytest.mark.parametrize("values", [np.array(["1"]), pd.Series(["1"]), pa.array(["1"])])
def test_text_is_no_weight(values):
    (column,) = open_labels(values).columns
    with pytest.raises(SchemaError, match="w must have numbers as weights, but has type"):
        check_weight_type("w", column.type)
