from __future__ import annotations

import math
import random
import re
import struct
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.export import export_sql
from privatree.export.sql._dialects import DIALECTS
from privatree.model import TreeBuilder
from privatree.schema import Categorical, Numeric, Schema

SHARED = ["duckdb", "sqlite", "postgresql"]
"""Databases that read what is written without a dialect."""
WHERE = [*((name, None) for name in SHARED), *((name, name) for name in DIALECTS)]
EVERYWHERE = pytest.mark.parametrize(
    ("database", "dialect"), WHERE, ids=[f"{name}-{dialect}" for name, dialect in WHERE]
)
TRANSLATED = ("sqlserver", "bigquery", "snowflake")
"""By sqlglot, which takes its time."""
NAMES_OF_MYSQL = re.compile(r".*\S", re.DOTALL)
"""No name there ends with a blank."""


def same(got: list[Any], wanted: list[Any]) -> None:
    """Equal, and of the same kind but for SQLite's booleans."""
    assert got == wanted
    if not isinstance(wanted[0], bool):
        assert {type(label) for label in got} <= {type(label) for label in wanted}


@pytest.mark.slow
@EVERYWHERE
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_strange_names_and_values(strange, databases, database, dialect, seed) -> None:
    case = strange(seed)
    assume(can_be_there(case, dialect))
    query = export_sql(case.model, table="t", proba=True, dialect=dialect)
    rows = databases[database](case.arrow(), query)
    n_classes = len(case.model.schema_.classes)
    same([row[-1 - n_classes] for row in rows], case.model.predict(case.frame()).tolist())
    shares = [list(row[-n_classes:]) for row in rows]
    assert shares == case.model.predict_proba(case.frame()).tolist()
    assert all(type(share) is float for share in shares[0])


@pytest.mark.slow
@EVERYWHERE
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_the_expression_alone(strange, databases, database, dialect, seed) -> None:
    case = strange(seed)
    assume(can_be_there(case, dialect))
    expression = export_sql(case.model, dialect=dialect)
    rows = databases[database](case.arrow(), f"SELECT 1 + 1, {expression} FROM t")
    same([label for _, label in rows], case.model.predict(case.frame()).tolist())


@pytest.mark.slow
@EVERYWHERE
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_numbers_to_the_last_bit(strange_number, databases, database, dialect, seed) -> None:
    case = strange_number(seed)
    assume(can_be_there(case, dialect))
    query = export_sql(case.model, table="t", dialect=dialect)
    got = [row[-1] for row in databases[database](case.arrow(), query)]
    same(got, case.model.predict(case.frame()).tolist())


def can_be_there(case: Any, dialect: str | None) -> bool:
    """Whether a table of the database can have these columns, and tell the categories apart."""
    names, features = case.model.schema_.names, case.model.schema_.features.values()
    if dialect in ("mysql", "mariadb"):
        return all(map(NAMES_OF_MYSQL.fullmatch, names))
    if dialect == "bigquery":
        return not any("." in name for name in names)
    if dialect == "sqlserver":
        texts = [set(feature.categories) for feature in features if has_text(feature)]
        numbers = [x for values in case.records.values() for x in values if isinstance(x, float)]
        can_hold = all(holds(dialect, number) for number in numbers)
        return can_hold and not any({"", " "} <= categories for categories in texts)
    return True


def has_text(feature: Any) -> bool:
    return isinstance(feature, Categorical) and isinstance(feature.categories[0], str)


def test_how_it_looks(small_tree) -> None:
    assert export_sql(small_tree()) == "\n".join(
        [
            "CASE",
            '  WHEN -CAST("age" AS DOUBLE PRECISION) < -37',
            '   AND CAST("gain" AS DOUBLE PRECISION) <= 0.5',
            "  THEN 'low'",
            "  WHEN -CAST(\"age\" AS DOUBLE PRECISION) < -37 THEN 'high'",
            "  WHEN \"work\" = 'private' THEN 'high'",
            "  ELSE 'low'",
            "END",
        ]
    )


def test_a_query_and_a_list_of_columns(by_hand) -> None:
    model = by_hand(Categorical(["a", "b"]), [0], name="x y")
    case = "CASE\n  WHEN {} = 'b' THEN {}\n  ELSE {}\nEND"
    columns = [
        case.format('{}"x y"', "'yes'", "'no'") + ' AS "prediction"',
        case.format(
            '{}"x y"', "CAST(0 AS DOUBLE PRECISION)", "CAST(1 AS DOUBLE PRECISION)"
        ) + ' AS "probability of no"',
        case.format(
            '{}"x y"', "CAST(1 AS DOUBLE PRECISION)", "CAST(0 AS DOUBLE PRECISION)"
        ) + ' AS "probability of yes"',
    ]  # fmt: skip
    assert export_sql(model, proba=True) == ",\n".join(columns).format(*[""] * 3)
    query = 'SELECT "my ""t".*,\n' + ",\n".join(columns) + '\nFROM "my ""t"'
    assert export_sql(model, table='my "t', proba=True) == query.format(*['"my ""t".'] * 3)
    assert export_sql(model, table="t").count("CASE") == 1


def test_a_lone_leaf_is_a_constant(databases) -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["it's", "b"]))
    builder.leaf(builder.root, 0)
    assert export_sql(builder.build()) == "'it''s'"


# --- numbers ------------------------------------------------------------------------------------


def some_doubles(n: int) -> list[float]:
    rng = random.Random(0)
    bits = [struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0] for _ in range(n)]
    found = [x for x in bits if math.isfinite(x)]
    found += [rng.random() * 10.0 ** rng.randint(-30, 30) for _ in range(n)]
    found += [round(rng.random() * 1000, rng.randint(0, 6)) for _ in range(n)]
    return [*found, 0.0, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53, 2.0**53 - 1, 2.0**63, 0.1]


@pytest.mark.slow
@EVERYWHERE
def test_a_double_arrives_as_it_is(databases, database, dialect) -> None:
    """Seen in a result: SQLite rounds some literals of 17 digits."""
    classes = sorted(x for x in set(some_doubles(200)) if holds(dialect, x))
    builder = TreeBuilder(Schema({"x": Numeric(0, len(classes))}, classes))
    node = builder.root
    for label in range(len(classes) - 1):
        leaf, node = builder.split_numeric(node, 0, label + 0.5)
        builder.leaf(leaf, label)
    builder.leaf(node, len(classes) - 1)
    records = pa.table({"x": np.arange(len(classes))})
    rows = databases[database](records, sql_of(builder.build(), dialect))
    assert [label for (label,) in rows] == classes


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("threshold", [37.0, 0.1, 1 / 3, -0.1 - 0.2, 1e15 + 0.5, 2.0**53, 1e-310])
@pytest.mark.parametrize("missing", ["left", "right"])
def test_both_sides_of_a_threshold(
    by_hand, databases, database, dialect, threshold, missing
) -> None:
    low, high = threshold - abs(threshold), threshold + abs(threshold)
    model = by_hand(Numeric(low, high, missing=low if missing == "left" else high), threshold)
    values = [threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf), None,
              math.nan, math.inf, -math.inf, low, high]  # fmt: skip
    gap = "no" if missing == "left" else "yes"
    wanted = ["no", "yes", "no", gap, gap, "yes", "no", "no", "yes"]
    assert model.predict(pd.DataFrame({"x": values}, dtype=float)).tolist() == wanted
    table = pa.table({"x": pa.array(values, pa.float64()), "wanted": wanted})
    table = table.filter([holds(dialect, value) for value in values])
    rows = databases[database](table, sql_of(model, dialect))
    assert [label for (label,) in rows] == table["wanted"].to_pylist()


def holds(dialect: str | None, number: float | None) -> bool:
    """SQL Server has no numbers so close to zero that they have fewer digits."""
    return dialect != "sqlserver" or not number or not abs(number) < 2.0**-1022


def sql_of(model: Any, dialect: str | None = None) -> str:
    return f"SELECT {export_sql(model, dialect=dialect)} FROM t"


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0.1, 0.5, float(np.float32(0.7)), None], pa.float32()),
        pa.array([1, 0, None], pa.uint8()),
        pa.array([-(2**63), 0, 1, 2**63 - 1, None], pa.int64()),
        pa.array([True, False, None], pa.bool_()),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.7, float(np.float32(0.7)), 0.0])
@pytest.mark.parametrize("missing", [0.0, 1.0])
def test_types_of_numeric_columns_in_duckdb(by_hand, databases, column, threshold, missing) -> None:
    model = by_hand(Numeric(0, 1, missing=missing), threshold)
    rows = databases["duckdb"](pa.table({"x": column}), sql_of(model))
    assert [label for (label,) in rows] == model.predict(pa.table({"x": column})).tolist()


@pytest.mark.slow
@EVERYWHERE
def test_whole_numbers_beyond_the_doubles(by_hand, databases, database, dialect) -> None:
    values = pa.array([2**53 + d for d in range(-2, 4)] + [2**62 + 1, None], pa.int64())
    for threshold in (2.0**53, 2.0**53 + 2, 2.0**62):
        model = by_hand(Numeric(0, 2.0**63), threshold)
        rows = databases[database](pa.table({"x": values}), sql_of(model, dialect))
        assert [label for (label,) in rows] == model.predict(pa.table({"x": values})).tolist()


# --- categories ---------------------------------------------------------------------------------

WIDE = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**62 + 1, float(2**61), 2**63 - 1]


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("missing", [WIDE[0], WIDE[2], WIDE[-1]])
@pytest.mark.parametrize("column", ["int64", "double"])
def test_large_categories(by_hand, databases, database, dialect, missing, column) -> None:
    around = {int(number) + d for number in WIDE for d in (-1, 0, 1)} - {2**63}
    whole = [*sorted(around), None]
    values = pa.array([None if n is None else n if column == "int64" else float(n) for n in whole])
    for left in ([0, 2, 4, 6], [1, 2, 5], [3, 7], [2]):
        model = by_hand(Categorical(WIDE, missing=missing), left)
        rows = databases[database](pa.table({"x": values}), sql_of(model, dialect))
        assert [label for (label,) in rows] == model.predict(pa.table({"x": values})).tolist()


@pytest.mark.parametrize("number", [2**53 + 2, 2**53 + 1, 0.1, 2.5])
def test_single_precision_is_not_double_precision(by_hand, databases, number) -> None:
    values = pa.array([0.1, 2.5, float(2**53), None], pa.float32())
    model = by_hand(Categorical([7, number]), [0])
    rows = databases["duckdb"](pa.table({"x": values}), sql_of(model))
    assert [label for (label,) in rows] == model.predict(pa.table({"x": values})).tolist()


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize(
    "values", [[True, False, None], [1.0, 0.0, 0.7, 2.0, None], [1, 0, 2, None]], ids=str
)
def test_booleans(by_hand, databases, database, dialect, missing, values) -> None:
    if (database, dialect) == ("postgresql", None) and not isinstance(values[0], bool):
        pytest.skip("without a dialect, PostgreSQL does not compare numbers with booleans")
    for left in ([0], [1], [0, 1], []):
        model = by_hand(Categorical([True, False], missing=missing), left)
        rows = databases[database](pa.table({"x": values}), sql_of(model, dialect))
        assert [label for (label,) in rows] == model.predict(pa.table({"x": values})).tolist()


def test_an_enumeration_in_duckdb(by_hand, databases) -> None:
    """A pandas or Arrow category is one, and need not have the categories of the schema."""
    column = pa.array(["a", "b", None, "other"]).dictionary_encode()
    for left in ([0], [1, 2], [2]):
        model = by_hand(Categorical(["a", "b", "not there"], missing="b"), left)
        rows = databases["duckdb"](pa.table({"x": column}), sql_of(model))
        assert [label for (label,) in rows] == model.predict(pa.table({"x": column})).tolist()


# --- deep and wide ------------------------------------------------------------------------------


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("to_right", [True, False])
def test_the_deepest_tree(chain, databases, database, dialect, to_right) -> None:
    model = chain(300 if database in TRANSLATED else 1000, to_right)
    values = pa.array([None, -1.0, *np.arange(0, 1002, 41.25).tolist(), 1e9])
    rows = databases[database](pa.table({"x": values}), sql_of(model, dialect))
    assert [label for (label,) in rows] == model.predict(pa.table({"x": values})).tolist()


def test_a_leaf_has_few_conditions_however_deep(chain) -> None:
    for to_right in (True, False):
        assert " AND " not in export_sql(chain(300, to_right))


# --- what cannot be written ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feature", "how", "name", "classes", "says"),
    [
        (Numeric(0, 1), 0.5, "", ("a", "b"), "at least one character"),
        (Numeric(0, 1), 0.5, "x\0", ("a", "b"), "NUL"),
        (Categorical(["a\0", "b"], missing="b"), [0], "x", ("a", "b"), "NUL"),
        (Numeric(0, 1), 0.5, "x", ("a\0", "b"), "NUL"),
        (Numeric(0, 1), 0.5, "x", (2**63, 1), "at most 63 bits"),
        (Numeric(0, 1), 0.5, "x", (2**53 + 1, 0.5), "doubles can hold exactly"),
        (Numeric(0, 1), 0.5, "x", (10**400, 0.5), "doubles can hold exactly"),
        (Categorical([1, 2**64 + 1]), [0], "x", ("a", "b"), "at most 63 bits"),
        (Categorical([1, 10**400]), [0], "x", ("a", "b"), "at most 63 bits"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_sql_cannot_say_is_refused(by_hand, feature, how, name, classes, says) -> None:
    model = by_hand(feature, how, name=name, classes=classes)
    with pytest.raises(ParameterError, match=says) as caught:
        export_sql(model)
    assert "\n" not in str(caught.value)


def test_a_table_needs_a_name(by_hand) -> None:
    with pytest.raises(ParameterError, match="at least one character"):
        export_sql(by_hand(Numeric(0, 1), 0.5), table="")


def test_names_that_differ_in_case_only_are_refused(by_hand) -> None:
    """DuckDB and SQLite take them for one column."""
    schema = Schema({"A": Numeric(0, 1), "a": Numeric(0, 1)}, ["no", "yes"])
    builder = TreeBuilder(schema)
    for code, child in enumerate(builder.split_numeric(builder.root, 1, 0.5)):
        builder.leaf(child, code)
    with pytest.raises(ParameterError, match="differ in more than case, got 'A' and 'a'"):
        export_sql(builder.build())


def test_more_probabilities_than_a_query_takes_are_refused() -> None:
    schema = Schema({"a": Numeric(0, 1)}, list(range(60_000)))
    builder = TreeBuilder(schema)
    for code, child in enumerate(builder.split_numeric(builder.root, 0, 0.5)):
        builder.leaf(child, code)
    tree = builder.build()
    assert export_sql(tree).startswith("CASE")
    with pytest.raises(ParameterError, match="at most 100,000"):
        export_sql(tree, proba=True)
