import math

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, ParameterError, Schema
from privatree.audit import own_pair

SCHEMA = Schema({"age": Numeric(0, 100), "ward": Categorical(["a", "b"])}, ["no", "yes"])


def table(*rows):
    ages, wards, labels = zip(*rows, strict=True) if rows else ((), (), ())
    return pd.DataFrame({"age": list(ages), "ward": list(wards)}), np.array(labels)


A, B, C = (10, "a", "no"), (20, "b", "yes"), (30, "a", "yes")
MISSING = (math.nan, "a", "no")


@pytest.mark.parametrize(
    ("first", "second", "replaced"),
    [
        ((A, B), (A, B, C), False),
        ((A, B, C), (C, A), False),
        ((A, B), (B, A, A), False),
        ((A, B), (C, B), True),
        ((A, B), (B, (10, "a", "yes")), True),
        ((A, MISSING), (MISSING, A, B), False),
        ((A, B), (A, B, MISSING), False),  # which makes the ages of the second floats
        ((A, (10, None, "no")), (A, (10, None, "no"), B), False),
    ],
    ids=["added", "removed", "copy", "replaced", "label", "missing", "added-missing", "none"],
)
def test_tables_that_differ_by_one_record_are_a_pair(first, second, replaced):
    pair = own_pair(SCHEMA, table(*first), table(*second), name="mine", max_depth=3)
    assert (pair.name, pair.schema, pair.max_depth) == ("mine", SCHEMA, 3)
    assert pair.replaced is replaced
    assert [len(records.y) for records in (pair.first, pair.second)] == [len(first), len(second)]
    assert (list(pair.events), pair.needs, pair.effort) == ([], None, 1)


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ((A, B), (B, A), (0, 0)),
        ((A,), (A, B, C), (0, 2)),
        ((A, B, C), (A, A, B, B), (1, 2)),
        ((A, A), (B, B), (2, 2)),
        ((A, MISSING), (MISSING, A), (0, 0)),
    ],
    ids=["same", "two", "one-and-two", "both-replaced", "same-missing"],
)
def test_others_are_refused_with_numbers_and_without_any_value(first, second, counts):
    with pytest.raises(ParameterError) as refused:
        own_pair(SCHEMA, table(*first), table(*second))
    assert str(refused.value) == (
        "the datasets must differ by one record added, removed or replaced, but "
        f"{counts[0]} records are only in the first and {counts[1]} only in the second. "
        "(Records whose label is not in the schema are not counted.)"
    )


def test_the_empty_table_has_neighbours():
    assert len(own_pair(SCHEMA, table(), table(A)).first.y) == 0


def test_tables_that_do_not_fit_are_refused():
    X, y = table(A, B)
    with pytest.raises(ParameterError, match="X and y must have the same number of rows"):
        own_pair(SCHEMA, (X, y[:1]), (X, y))
    for other in (X[["ward", "age"]], X[["age"]], X.to_numpy()):
        with pytest.raises(
            ParameterError, match="frames with the columns of the schema, in the order"
        ):
            own_pair(SCHEMA, (X, y), (other, y))


# --- units ----------------------------------------------------------------------------------------

OF_PERSONS = Schema(SCHEMA.features, SCHEMA.classes, unit="person")


def table_of_persons(*rows):
    X, y = table(*[row for row, _ in rows])
    return X.assign(person=[person for _, person in rows]), y


PERSONS = (A, 1), (B, 2), (C, 2)


@pytest.mark.parametrize("more", [[(A, 3)], [(A, 3), (B, 3), (A, 3)]], ids=["one", "three"])
def test_tables_that_differ_by_all_records_of_a_unit_are_a_pair(more):
    tables = table_of_persons(*PERSONS), table_of_persons(*PERSONS, *more)
    for first, second in (tables, tables[::-1]):
        pair = own_pair(OF_PERSONS, first, second)
        assert pair.after == "whatever one person of your own changes"
        assert sorted(pair.sizes) == [3, 3 + len(more)]


@pytest.mark.parametrize(
    "second",
    [PERSONS, [*PERSONS, (A, 2)], [*PERSONS, (A, 3), (A, 4)], [(A, 1), (B, 3), (C, 3)]],
    ids=["same", "part of a unit", "two units", "another id"],
)
def test_other_tables_of_units_are_refused_without_any_value(second):
    with pytest.raises(ParameterError, match="must differ by all records of one person") as refused:
        own_pair(OF_PERSONS, table_of_persons(*PERSONS), table_of_persons(*second))
    assert not any(character.isdigit() for character in str(refused.value))


def test_a_long_name_of_a_unit_is_shortened_and_stays_on_one_line():
    name = "person\n" + "x" * 100
    schema = Schema(SCHEMA.features, SCHEMA.classes, unit=name)
    first, second = (
        (X.rename(columns={"person": name}), y)
        for X, y in (table_of_persons(*PERSONS), table_of_persons(*PERSONS, (A, 3)))
    )
    assert own_pair(schema, first, second).after == (
        f"whatever one person {'x' * 52}… of your own changes"
    )
    with pytest.raises(ParameterError, match=r"no record of this person x+…, and") as refused:
        own_pair(schema, first, first)
    assert "\n" not in str(refused.value)


def test_a_table_without_the_column_of_the_unit_is_refused():
    with pytest.raises(ParameterError, match="and the unit 'person' after them"):
        own_pair(OF_PERSONS, table(A), table(A, B))
