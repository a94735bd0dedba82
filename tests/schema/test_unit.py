"""The column that says who a row is about, in schemas and their files."""

import json
import pickle
from dataclasses import replace

import pandas as pd
import pytest

from privatree import load
from privatree.errors import SchemaError
from privatree.estimators import PrivaTreeClassifier
from privatree.schema import Numeric, Schema

FEATURES = {"age": Numeric(0, 120), "stay": Numeric(0, 365)}
SCHEMA = Schema(FEATURES, ["no", "yes"], unit="patient_id")

TOML = """\
classes = ["no", "yes"]
{unit}

[features.age]
kind = "numeric"
low = 0
high = 120
"""


def read(tmp_path, unit):
    path = tmp_path / "schema.toml"
    path.write_text(TOML.format(unit=unit), encoding="utf-8")
    return Schema.from_toml(path)


def test_a_file_names_the_unit(tmp_path):
    assert read(tmp_path, 'unit = "patient_id"').unit == "patient_id"
    assert read(tmp_path, "").unit is None


@pytest.mark.parametrize("unit", ["patient_id", "Patient Nr.", 'a "quoted" name', "Kunden-Nr ü"])
def test_it_survives_toml_json_and_copies(tmp_path, unit):
    schema = replace(SCHEMA, unit=unit)
    schema.to_toml(tmp_path / "schema.toml")
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert hash(replace(schema, unit=unit)) == hash(schema)
    assert schema != replace(SCHEMA, unit=None)


def test_without_a_unit_the_file_does_not_mention_it(tmp_path):
    schema = replace(SCHEMA, unit=None)
    schema.to_toml(tmp_path / "schema.toml")
    assert "unit" not in (tmp_path / "schema.toml").read_text(encoding="utf-8")
    assert "unit" not in schema.to_dict()


@pytest.mark.parametrize(
    ("unit", "got"),
    [("7", "7"), ("true", "True"), ('["a", "b"]', "['a', 'b']"), ('""', "''"), ('" "', "' '")],
)
def test_what_is_no_name_is_refused(tmp_path, unit, got):
    with pytest.raises(SchemaError) as raised:
        read(tmp_path, f"unit = {unit}")
    must = "unit must be the name of a column, or None, got"
    assert str(raised.value) == f"{tmp_path / 'schema.toml'}: {must} {got}."


def test_a_feature_cannot_be_the_unit(tmp_path):
    with pytest.raises(SchemaError, match=r"the unit 'age' must not be a feature of the schema"):
        read(tmp_path, 'unit = "age"')
    with pytest.raises(SchemaError, match="Remove it from the features"):
        Schema(FEATURES, [0, 1], unit="stay")


def test_a_name_that_utf_8_cannot_write_is_refused():
    with pytest.raises(SchemaError, match="unit must be valid Unicode"):
        Schema(FEATURES, [0, 1], unit="\ud800")


# --- guessed, and not confirmed -------------------------------------------------------------------


def test_a_guessed_unit_is_marked_and_costs_the_guarantee():
    guessed = replace(SCHEMA, unit_confirmed=False)
    assert guessed.unconfirmed == (("unit",),)
    assert guessed.shown_unconfirmed() == "unit"
    assert guessed.confirmed() == SCHEMA
    assert SCHEMA.unconfirmed == ()
    assert ("unit",) in SCHEMA.all_unconfirmed().unconfirmed
    assert ("unit",) not in replace(SCHEMA, unit=None).all_unconfirmed().unconfirmed


def test_the_mark_is_a_word_in_the_file(tmp_path):
    guessed = read(tmp_path, 'unit = "patient_id"\nunconfirmed = ["unit"]')
    assert not guessed.unit_confirmed
    assert Schema.from_dict(guessed.to_dict()) == guessed
    with pytest.raises(SchemaError, match="unit must be given where it is marked as unconfirmed"):
        read(tmp_path, 'unconfirmed = ["unit"]')
    with pytest.raises(SchemaError, match="unit_confirmed must be"):
        Schema(FEATURES, [0, 1], unit="id", unit_confirmed="no")


# --- in a model -----------------------------------------------------------------------------------


def test_a_model_publishes_the_name_and_no_id(tmp_path):
    ids = [f"SECRET-{n // 2}" for n in range(40)]
    records = {"age": [float(n) for n in range(40)], "stay": [1.0] * 40, "patient_id": ids}
    model = PrivaTreeClassifier(1.0, schema=SCHEMA, random_state=0)
    model.fit(pd.DataFrame(records), ["no", "yes"] * 20).save(tmp_path / "model.json")
    saved = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert "SECRET" not in saved
    assert load(tmp_path / "model.json").schema_.unit == "patient_id"
    assert json.loads(saved)["schema"]["unit"] == "patient_id"
