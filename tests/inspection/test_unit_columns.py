"""Which column a draft proposes as the unit, and what it says about it."""

import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privatree import Schema
from privatree.errors import ParameterError
from privatree.inspection import NextCommands, draft_schema, profile_table
from privatree.inspection._unit_columns import find_unit_columns

COMMANDS = NextCommands(["data.csv"], "ill", "schema.toml")
N = 1200
PERSONS = np.arange(N) // 4  # each has four records


def facts_of(**columns):
    """Facts about some columns, each of N values, and one more that is a feature."""
    table = pa.table({**columns, "weight": np.linspace(40, 99.5, N)})
    return profile_table(table, ["no", "yes"] * (N // 2), trim=True)


def draft_of(unit=None, is_csv=True, **columns):
    return draft_schema(facts_of(**columns), COMMANDS, is_csv=is_csv, unit=unit)


def said(draft):
    """The comments of a draft, as one line."""
    lines = [line for line in draft.text.splitlines() if line.startswith("#")]
    return " ".join(line.removeprefix("#").strip() for line in lines)


def numbers(values=PERSONS):
    return pa.array(np.asarray(values) + 5000)


def texts(values=PERSONS):
    return [f"P-{value:05}" for value in values]


@pytest.mark.parametrize("ids", [numbers(), texts(), numbers(range(N)), texts(range(N))])
@pytest.mark.parametrize("name", ["patient_id", "patient", "Kundennummer"])
def test_a_column_that_is_called_like_persons_is_the_unit_and_no_feature(name, ids):
    draft = draft_of(**{name: ids})
    assert draft.schema.unit == name
    assert ("unit",) in draft.schema.unconfirmed
    assert draft.schema.names == ("weight",)
    assert draft.left_out == ()
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema
    assert f'In this file it is "{name}": see the line below.' in said(draft)
    n_ids = len(set(ids if isinstance(ids, list) else ids.to_pylist()))
    assert f'"{name}" looks like it, by its name: {n_ids} different values' in said(draft)
    assert "P-0" not in draft.text


def test_a_careless_owner_who_deletes_all_marks_is_protected():
    text = draft_of(patient_id=texts()).text
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("unconfirmed"))
    schema = Schema.from_dict(tomllib.loads(kept))
    assert (schema.unit, schema.unconfirmed) == ("patient_id", ())


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 1, N),  # an amount
        [True, False] * (N // 2),
        pd.date_range("2020-01-01", periods=N),
        ["2023-08-27", "2023-08-28"] * (N // 2),
        [None] * N,
        [7] * N,
        [b"x"] * N,
    ],
)
def test_what_cannot_be_ids_is_no_unit_whatever_its_name(values):
    draft = draft_of(patient_id=pa.array(values))
    assert draft.schema.unit is None
    assert "No column looks like it." in said(draft)


def test_the_size_of_a_household_is_a_feature():
    draft = draft_of(household=pa.array(np.arange(N) % 7), subject=["maths", "art"] * (N // 2))
    assert draft.schema.unit is None
    assert draft.schema.names == ("household", "subject", "weight")


def test_few_ids_are_ids_if_the_name_leaves_no_doubt():
    assert draft_of(patient_id=pa.array(np.arange(N) % 7)).schema.unit == "patient_id"


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        (PERSONS, "loan_id"),
        (np.arange(N), None),  # of rows
        (np.arange(N) % 12, None),  # of few things
        (np.arange(N) % 23, None),  # of things that have many rows: shops
    ],
)
def test_ids_of_unknown_things_are_proposed_if_each_has_a_few_rows(values, unit):
    assert draft_of(loan_id=numbers(values)).schema.unit == unit


@pytest.mark.parametrize("values", [PERSONS, np.arange(N)])
def test_ids_of_rows_and_visits_are_neither_units_nor_features(values):
    draft = draft_of(visit_id=numbers(values))
    assert (draft.schema.unit, draft.left_out) == (None, ("visit_id",))
    assert "so it looks like ids of rows, by its name." in said(draft)


def test_of_several_the_one_with_the_fewest_ids_is_proposed_and_the_others_are_named():
    draft = draft_of(
        loan_id=numbers(PERSONS // 10), patient_id=texts(), household=numbers(PERSONS // 3)
    )
    assert draft.schema.unit == "household"
    assert draft.left_out == ("loan_id", "patient_id")
    assert 'Others may be it: "patient_id", "loan_id".' in said(draft)
    assert '- "patient_id": looks like ids of persons, too.' in said(draft)
    ids = facts_of(loan_id=numbers(PERSONS // 10), patient_id=texts())
    assert find_unit_columns(ids.columns).proposed.name == "patient_id", "persons before things"


def test_numbers_that_look_like_ids_by_their_values_stay_a_feature_with_a_question():
    draft = draft_of(code=numbers(), age=pa.array(np.arange(N) % 75 + 18))
    assert draft.schema.unit is None
    assert draft.schema.names == ("code", "age", "weight")
    assert 'Some may be it: "code".' in said(draft)
    assert said(draft).count("Are these ids of persons, of which several records have") == 1


def test_text_that_looks_like_ids_by_its_values_is_named():
    assert 'Some may be it: "code".' in said(draft_of(code=texts()))
    assert "No column looks like it." in said(draft_of(town=[f"town {n}" for n in PERSONS]))
    assert "No column looks like it." in said(draft_of(code=texts(range(N)))), "of rows"


def test_with_missing_ids_and_with_a_type_that_training_refuses():
    ids = [None if place % 10 == 0 else float(n) for place, n in enumerate(PERSONS)]
    draft = draft_of(is_csv=False, patient_id=pa.array(ids))
    assert draft.schema.unit == "patient_id"
    assert "120 records without an id." in said(draft)
    assert "The type of the column is double, which fit refuses: convert it to whole" in said(draft)
    assert "which fit refuses" not in said(draft_of(patient_id=pa.array(ids)))


# --- as a user says -------------------------------------------------------------------------------


def test_a_unit_that_a_user_names_is_confirmed():
    draft = draft_of("shop", shop=pa.array(np.arange(N) % 9), patient_id=texts())
    assert draft.schema.unit == "shop"
    assert ("unit",) not in draft.schema.unconfirmed
    assert ("classes",) in draft.schema.unconfirmed
    assert draft.left_out == ("patient_id",)
    assert 'In this file it is "shop": see the line below. Others may be it: "patient_id".' in (
        said(draft)
    )
    assert "by its name" not in said(draft)
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema


def test_a_unit_that_is_no_column_is_refused():
    with pytest.raises(ParameterError) as raised:
        draft_of("pateint_id", patient_id=texts())
    assert str(raised.value) == (
        "--unit must name a column of the data that is not the target, got 'pateint_id'. Did you "
        "mean 'patient_id'?"
    )
    assert raised.value.parameter == "unit"


def test_the_unit_cannot_be_the_only_column():
    facts = profile_table(pa.table({"patient_id": texts()}), ["no", "yes"] * (N // 2), trim=True)
    with pytest.raises(ParameterError, match="a schema must have a feature"):
        draft_schema(facts, COMMANDS, is_csv=True)


# --- the number of units --------------------------------------------------------------------------


def test_min_records_is_half_of_the_units():
    draft = draft_of(patient_id=texts())
    assert draft.schema.min_records == 100  # of 300 persons
    assert "fit first draws the noisy number of units that have" in said(draft)
    assert "With fewer than 300/epsilon units, delete this line." in said(draft)
    assert draft_of(age=pa.array(np.arange(N) % 75)).schema.min_records == 600
    few = draft_of(patient_id=texts(PERSONS // 4))
    assert few.schema.min_records is None
