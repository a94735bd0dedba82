"""How the unit of a schema fits, and columns that look like a unit which nobody declared."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privatree import Numeric, Schema
from privatree.errors import SchemaError
from privatree.inspection import check_files_against_schema
from privatree.inspection._check_result import Misfit
from privatree.inspection._unit_sizes import UnitSizes

PLAIN = Schema({"age": Numeric(0, 120)}, ["no", "yes"])
SCHEMA = replace(PLAIN, unit="patient_id")


def visits():
    """Three patients with 1, 3 and 5 records, and two records without an id."""
    ids = ["A", *"BBB", *"CCCCC", None, ""]
    labels = ["no", "yes"] * 5 + ["no"]
    return pd.DataFrame({"patient_id": ids, "age": range(11), "ill": labels})


def check(tmp_path, frame, schema=SCHEMA, kind="csv"):
    file = tmp_path / f"data.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    return check_files_against_schema([file], schema, "ill")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_records_without_an_id_and_sizes_of_units(tmp_path, kind):
    checked = check(tmp_path, visits(), kind=kind)
    assert checked.misfits == [Misfit("patient_id", "no id: left out", 2)]
    assert checked.units == UnitSizes("patient_id", units=3, typical=3, largest=5)
    assert (checked.n_usable, checked.ignored, checked.possible_units) == (9, [], [])
    assert "  'patient_id'  2  no id: left out\n" in checked.to_text()
    assert (
        "Unit 'patient_id': 3 units, typically of 3 records, at most of 5 records. Epsilon holds "
        "for all records of a unit together."
    ) in checked.to_text()
    assert checked.to_dict()["unit"] == {
        "column": "patient_id", "units": 3, "typical": 3, "largest": 5
    }  # fmt: skip
    assert not checked


def test_a_frame_is_checked_alike(tmp_path):
    frame = visits()
    checked = SCHEMA.check(frame[["patient_id", "age"]], frame["ill"])
    assert checked.to_dict() == check(tmp_path, frame, kind="parquet").to_dict()
    assert SCHEMA.check(frame[["patient_id", "age"]]).units == checked.units


def test_several_files_are_one_dataset(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    files[0].write_text("patient_id,age,ill\n7,1,no\n8,1,no\n")
    files[1].write_text("ill,patient_id,age\nyes, 7 ,2\n")
    checked = check_files_against_schema(files, SCHEMA, "ill")
    assert checked.units == UnitSizes("patient_id", units=2, typical=1, largest=2)
    assert checked.ok
    assert "typically of 1 record, at most of 2 records" in checked.to_text()


def test_only_usable_records_count(tmp_path):
    frame = visits().assign(ill=["Yes", *["no"] * 3, *["yes"] * 2, *["YES"] * 5])
    checked = check(tmp_path, frame, replace(SCHEMA, min_records=3))
    assert checked.units == UnitSizes("patient_id", units=2, typical=2, largest=3)
    assert checked.n_usable == 5
    text = checked.to_text()
    assert (
        "But only 5 of 11 records can be used: the others have no class of the schema as their "
        in (text)
    )
    assert "label or no id. Check the spelling of the classes and the target, and the unit." in text
    assert "declares min_records = 3, and only 2 units can be used: fit will probably stop" in text
    assert "min_records" not in check(tmp_path, visits(), replace(SCHEMA, min_records=3)).to_text()


def test_a_column_that_is_not_there(tmp_path):
    frame = visits().rename(columns={"patient_id": "Patient_ID"})
    checked = check(tmp_path, frame)
    what = "fit will raise an error. Did you mean 'Patient_ID'?"
    assert checked.misfits == [Misfit("patient_id", f"not in {tmp_path / 'data.csv'}: {what}")]
    assert (checked.units, checked.n_usable) == (None, 11)
    in_memory = SCHEMA.check(frame[["age"]], frame["ill"])
    (misfit,) = in_memory.misfits
    assert misfit.column == "patient_id"
    assert misfit.what.endswith("fit needs a column of this name, or the ids as units=.")
    assert [m.column for m in SCHEMA.check([[1], [2]]).misfits] == ["patient_id"]
    assert SCHEMA.check([]).ok


@pytest.mark.parametrize("kind", ["parquet", "frame"])
def test_a_column_of_floats(tmp_path, kind):
    frame = visits().assign(patient_id=np.arange(11) / 2)
    if kind == "frame":
        checked = SCHEMA.check(frame, frame["ill"])
    else:
        checked = check(tmp_path, frame, kind=kind)
    (misfit,) = checked.misfits
    assert misfit.column == "patient_id"
    assert "must have whole numbers or text as ids of units, but has type" in misfit.what
    assert checked.units is None


def test_the_target_cannot_be_the_unit(tmp_path):
    with pytest.raises(SchemaError, match="the target 'ill' must not be the unit of the schema"):
        check(tmp_path, visits(), replace(PLAIN, unit="ill"))


# --- no unit is declared --------------------------------------------------------------------------


def named(tmp_path, schema=PLAIN, **columns):
    frame = pd.DataFrame(columns)
    frame = frame.assign(ill=["no", "yes"] * (len(frame) // 2))
    from_file = check(tmp_path, frame, schema)
    assert schema.check(frame.drop(columns="ill")).possible_units == from_file.possible_units
    return from_file


def test_a_column_of_ids_is_advised(tmp_path):
    checked = named(tmp_path, age=range(12), patient_id=["x", *"AABBBCCCCC", "y"])
    assert checked.possible_units == [UnitSizes("patient_id", units=5, typical=2, largest=5)]
    assert checked.ok
    assert checked.to_text("my.toml").splitlines()[-2] == (
        "'patient_id' sounds like ids of persons, and some of them have several records: typically "
        '2, at most 5. If it says who a row is about, write unit = "patient_id" in my.toml, or '
        "pass --unit: otherwise epsilon holds for each single record only."
    )
    assert checked.to_dict()["possible_units"][0]["largest"] == 5
    assert named(tmp_path, age=range(4), patient_id=range(4)).possible_units == []


def test_ids_that_are_a_feature_are_advised_too(tmp_path):
    schema = Schema({"patient_id": Numeric(0, 9)}, ["no", "yes"])
    (found,) = named(tmp_path, schema, patient_id=[1, 1, 2, 2]).possible_units
    assert found == UnitSizes("patient_id", units=2, typical=2, largest=2)


@pytest.mark.parametrize(
    ("name", "values", "is_advised"),
    [
        ("household", np.arange(400) // 4, True),
        ("household", np.arange(400) % 7, False),  # its size
        ("loan_id", np.arange(400) // 4, True),
        ("loan_id", np.r_[0, np.arange(399)], False),  # one slip among ids of rows
        ("shop_id", np.arange(4000) % 25, False),  # many rows of each
        ("visit_id", np.arange(400) // 4, False),
        ("code", np.arange(400) // 4, False),
        ("patient_id", np.arange(400) / 7, None),  # floats in a frame; text in a CSV file
    ],
)
def test_names_and_values_decide_together(name, values, is_advised):
    frame = pd.DataFrame({"age": 1, name: values})
    found = [sizes.column for sizes in PLAIN.check(frame).possible_units]
    assert found == ([name] if is_advised else [])
