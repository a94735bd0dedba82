"""Numeric targets in the infer, draft and check of a schema."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privatree import Numeric, Schema, Target
from privatree.errors import PrivacyLeakWarning
from privatree.inspection import (
    NextCommands,
    check_files_against_schema,
    draft_schema,
    infer_schema,
    profile_table,
)

N = 300
RNG = np.random.default_rng(0)
AGE = RNG.integers(18, 93, N)
COMMANDS = NextCommands(["data.csv"], "days", "schema.toml")


def draft_of(labels, *, is_csv=True, predict=None, **columns):
    facts = profile_table(pa.table({"age": AGE, **columns}), labels, trim=is_csv, predict=predict)
    return draft_schema(facts, COMMANDS, is_csv=is_csv)


# --- infer --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([1.5, 7.0, -2.0], Target(-2.0, 7.0)),
        ([1, 7, 2], Target(1, 7)),
        ([True, False, True], Target(0, 1)),
        (np.array([1, 2.5, 3], dtype=object), Target(1, 3)),
        ([3, 3, 3], Target(0, 6)),
        ([-3.0, -3.0, -3.0], Target(-6.0, 0)),
        ([0.0, 0.0, 0.0], Target(0, 1)),
    ],
)
def test_the_inferred_range_is_that_of_the_values(y, expected):
    with pytest.warns(PrivacyLeakWarning, match="of 'x0' and the range of the target were read"):
        schema = infer_schema([[1.0], [2.0], [3.0]], y, numeric_target=True)
    assert schema == Schema({"x0": Numeric(1.0, 3.0)}, target=expected).all_unconfirmed()
    with pytest.warns(PrivacyLeakWarning):
        assert Schema.infer([[1.0], [2.0], [3.0]], y, numeric_target=True) == schema


@pytest.mark.parametrize("y", [["a", "b", "c"], pd.to_datetime(["2020-01-01"] * 3)])
def test_a_target_that_is_no_number_cannot_be_inferred(y):
    with pytest.raises(ValueError, match="Unknown label type: y must be numbers, got type"):
        infer_schema([[1.0], [2.0], [3.0]], y, numeric_target=True)


# --- draft --------------------------------------------------------------------------------------


def test_many_different_numbers_are_drafted_as_a_target():
    draft = draft_of(pd.Series(RNG.integers(0, 60, N)))
    assert draft.schema.target == Target(
        0, 59, integer=True, unconfirmed=["low", "high", "integer"]
    )
    assert draft.schema.classes == ()
    assert draft.schema.about.target == "days"
    assert draft.schema.min_records == 100
    text = " ".join(draft.text.split("\n# "))
    assert '"days": The number that a model predicts.' in text
    assert "that have a number as their target" in text
    assert "\n[target]\nlow = 0\nhigh = 59\ninteger = true\nunconfirmed = [" in draft.text


def test_few_numbers_are_drafted_as_classes_unless_a_number_is_asked_for():
    labels = pd.Series(RNG.integers(0, 20, N))
    draft = draft_of(labels)
    assert draft.schema.classes == tuple(range(20))
    assert "draft again with --predict number" in " ".join(draft.text.split("\n# "))
    asked = draft_of(labels, predict="number")
    assert asked.schema.target.high == 19
    assert draft_of(pd.Series(RNG.integers(0, 99, N)), predict="classes").schema.target is None


def test_text_that_is_mostly_numbers_is_a_target_in_files():
    labels = [str(number) for number in RNG.integers(0, 60, N)]
    labels[:9], labels[9] = ["unknown"] * 9, None
    draft = draft_of(pa.chunked_array([labels]))
    assert draft.schema.target.high == 59
    assert "10 records without a number: left out" in " ".join(draft.text.split("\n# "))
    labels[:100] = ["unknown"] * 100
    assert draft_of(pa.chunked_array([labels])).schema.target is None
    assert draft_of(pa.chunked_array([labels]), predict="number").schema.target.high == 59


def test_text_is_no_number():
    with pytest.raises(ValueError, match="must have numbers to predict, but has none"):
        draft_of(["yes", "no"] * (N // 2), predict="number")


def test_a_column_made_from_the_target_is_noticed():
    labels = RNG.gamma(2, 10, N)
    text = draft_of(pd.Series(labels), cost=labels * 3 + 1, noise=RNG.normal(size=N)).text
    blocks = {name: next(b for b in text.split("\n\n") if f"[features.{name}]" in b)
              for name in ("age", "cost", "noise")}  # fmt: skip
    assert "alone determines the label" in " ".join(blocks["cost"].split("\n# "))
    assert "determines the label" not in blocks["age"] + blocks["noise"]


# --- check --------------------------------------------------------------------------------------

SCHEMA = Schema({"age": Numeric(0, 100)}, target=Target(0, 60, integer=True))


def test_what_does_not_fit_in_a_file(tmp_path):
    file = tmp_path / "data.csv"
    days = ["1", "NA", "", "many", "70", "-1", "2.5", "inf", "3", "4", "5", "6", "7", "8", "9"]
    file.write_text("age,days\n" + "".join(f"50,{value}\n" for value in days))
    checked = check_files_against_schema([file], SCHEMA, "days")
    assert [(m.column, m.what, m.records, m.examples) for m in checked.misfits] == [
        ("days", "missing: left out", 2, ("'NA'",)),
        ("days", "not a number: left out", 1, ("'many'",)),
        ("days", "below the range", 1, ("-1",)),
        ("days", "above the range", 2, ("70", "inf")),
        ("days", "not a whole number", 1, ("2.5",)),
    ]
    assert checked.n_usable == len(days) - 3


def test_a_target_that_is_text_everywhere_is_noticed(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("age,days\n50,short\n60,long\n")
    text = check_files_against_schema([file], SCHEMA, "days").to_text()
    assert "only 0 of 2 records can be used: the others have no number as their target." in text


def test_what_does_not_fit_in_a_frame():
    checked = SCHEMA.check([[50], [60], [70]], [1.0, np.nan, 99.0])
    assert [(m.what, m.records) for m in checked.misfits] == [("missing: left out", 1),
                                                             ("above the range", 1)]  # fmt: skip
    assert checked.n_usable == 2
    (misfit,) = SCHEMA.check([[50], [60]], pd.Series(["a", "b"], dtype="string")).misfits
    assert misfit.records is None
    assert "the schema declares a numeric target" in misfit.what
