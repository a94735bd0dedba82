from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_ensembles import random_ensemble, walked_label

from privatree.errors import ParameterError
from privatree.export import export_sql
from privatree.export.sql._dialects import DIALECTS
from privatree.model import EnsembleModel
from privatree.model.ensemble import Branch, Ensemble, Round, Step
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

WHERE = [*((name, None) for name in ("duckdb", "sqlite", "postgresql")),
         *((name, name) for name in DIALECTS)]  # fmt: skip
EVERYWHERE = pytest.mark.parametrize(
    ("database", "dialect"), WHERE, ids=[f"{name}-{dialect}" for name, dialect in WHERE]
)
XY = Schema({"x": Numeric(0, 10), "y": Categorical(["a", "b", "c"], missing="b")}, ["no", "yes"])


def ensemble(*functions: Any, schema: Schema = XY, signs: Any = (-1, 1)) -> Ensemble:
    return Ensemble(schema, 0.5, tuple(Round(function, signs) for function in functions))


@pytest.mark.slow
@EVERYWHERE
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_strange_names_and_values(strange_ensemble, databases, database, dialect, seed) -> None:
    case = strange_ensemble(seed)
    assume(can_be_there(case, dialect))
    query = export_sql(case.model, table="t", proba=True, dialect=dialect)
    rows = databases[database](case.arrow(), query)
    n_classes = len(case.model.schema_.classes)
    wanted = case.model.predict(case.frame()).tolist()
    assert [row[-1 - n_classes] for row in rows] == wanted
    records = list(zip(*case.records.values(), strict=True))
    assert [walked_label(case.model.ensemble_, list(one)) for one in records] == wanted
    shares = np.array([row[-n_classes:] for row in rows])
    assert shares.dtype == np.float64
    assert shares == pytest.approx(case.model.predict_proba(case.frame()), rel=1e-9, abs=1e-200)


def can_be_there(case: Any, dialect: str | None) -> bool:
    """Whether a table of the database can have these columns, and tell the categories apart."""
    names, features = case.model.schema_.names, case.model.schema_.features.values()
    if dialect in ("mysql", "mariadb"):
        return all(re.fullmatch(r".*\S", name, re.DOTALL) for name in names)
    if dialect == "bigquery":
        return not any("." in name for name in names)
    if dialect == "sqlserver":
        texts = [{*f.categories} for f in features if isinstance(f, Categorical)]
        numbers = [x for values in case.records.values() for x in values if isinstance(x, float)]
        smallest = DIALECTS[dialect].min_positive
        tiny = any(0 < abs(number) < smallest for number in numbers)
        return not tiny and not any({"", " "} <= categories for categories in texts)
    return True


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("n_classes", [2, 5])
def test_many_rounds(databases, database, dialect, n_classes) -> None:
    """No limit of a database on the depth or the size of expressions is reached."""
    features = {f"x{i}": Numeric(0, 1000, missing="separate" if i % 2 else None) for i in range(8)}
    features |= {f"c{i}": Categorical([f"k{j}" for j in range(10)]) for i in range(4)}
    rng = random.Random(n_classes)
    schema = Schema(features, [f"class {code}" for code in range(n_classes)])
    n_rounds = 60 if database in ("sqlserver", "bigquery", "snowflake") else 200
    found = random_ensemble(rng, schema, n_rounds, depth=1 if n_classes > 2 else 3)
    table = pa.table(
        {name: [rng.choice([None, rng.uniform(-5, 1005)]) for _ in range(30)] for name in features
         if name.startswith("x")}
        | {name: [rng.choice([None, f"k{rng.randrange(11)}"]) for _ in range(30)]
           for name in features if name.startswith("c")}
    )  # fmt: skip
    rows = databases[database](table, f"SELECT {export_sql(found, dialect=dialect)} FROM t")
    model = EnsembleModel(schema, found, PrivacyStatement("by hand", 1.0))
    wanted = model.predict(table)
    assert [label for (label,) in rows] == wanted.tolist()
    assert len({*wanted}) > 1


def test_the_largest_ensemble_in_sqlite(databases) -> None:
    """A sum of 10,000 terms in a row would be deeper than SQLite allows."""
    schema = Schema({"x": Numeric(0, 1)}, ["no", "yes"])
    cuts = np.linspace(0, 0.999, 10_000).tolist()
    inner = (Step(0, -1, (0.5,)), Step(0, 1, (0.25,)))
    rounds = [Branch(0, *inner, threshold=cut) for cut in cuts]
    found = ensemble(*rounds, schema=schema)
    values = [0.1, 0.3, 0.6, None, 1.0]
    query = f"SELECT {export_sql(found, dialect='sqlite')} FROM t"
    rows = databases["sqlite"](pa.table({"x": values}), query)
    assert [label for (label,) in rows] == [walked_label(found, [value]) for value in values]


def test_how_it_looks() -> None:
    found = ensemble(
        Step(0, -1, (2.5, 7.5)),
        Step(0, 1, (2.5,)),
        Step(1, positive=b"\1\0\0"),
        Branch(1, Step(0, -1, (5.0,)), Step(0, 1), goes_left=b"\0\0\1"),
    )
    assert export_sql(found, dialect="mysql") == "\n".join(
        [
            "CASE",
            "  WHEN CASE WHEN CAST(`x` AS DOUBLE) > 7.5e0 THEN -2 ELSE 0 END",
            "  + CASE WHEN CAST(CONVERT(`y` USING utf8mb4) AS BINARY) = 'a' THEN 1 ELSE -1 END",
            "  + CASE WHEN CAST(CONVERT(`y` USING utf8mb4) AS BINARY) = 'c' "
            "THEN CASE WHEN CAST(`x` AS DOUBLE) > 5 THEN 1 ELSE -1 END ELSE 1 END <= 0 THEN 'no'",
            "  ELSE 'yes'",
            "END",
        ]
    )


def test_constants_need_no_columns() -> None:
    assert export_sql(ensemble(Step(0, 1), Step(1, positive=b"\1\1\1"))) == (
        "CASE\n  WHEN 2 <= 0 THEN 'no'\n  ELSE 'yes'\nEND"
    )


def test_the_first_of_classes_that_are_always_equal() -> None:
    schema = Schema(XY.features, ["a", "b", "c"])
    found = ensemble(Step(0, 1, (5.0,)), schema=schema, signs=(1, 1, 1))
    assert export_sql(found) == "'a'"
    listed = export_sql(found, proba=True)
    third = " + ".join(["CAST(1 AS DOUBLE PRECISION)"] * 3)
    assert f"1 / ({third})" in re.sub(r"\s+", " ", listed)


def test_a_query_has_the_names_of_the_table(databases) -> None:
    found = ensemble(Step(0, -1, (2.5,)))
    query = export_sql(found, table="t", proba=True)
    assert query.startswith('SELECT "t".*,\nCASE\n')
    assert '"t"."x"' in query
    rows = databases["sqlite"](pa.table({"x": [1.0, 3.0, None], "y": ["a", "b", None]}), query)
    assert [row[2] for row in rows] == ["no", "yes", "no"]
    frame = pd.DataFrame({"x": [1.0, 3.0, None], "y": ["a", "b", None]})
    model = EnsembleModel(XY, found, PrivacyStatement("by hand", 1.0))
    assert np.array([row[3:] for row in rows]) == pytest.approx(model.predict_proba(frame))


def test_very_long_sql_is_refused() -> None:
    schema = Schema(XY.features, list(range(3000)))
    found = ensemble(Step(0, -1, (2.5,)), schema=schema, signs=(1,) * 3000)
    with pytest.raises(ParameterError, match="SQL must have at most 2,000,000 cases"):
        export_sql(found)


def test_categories_that_a_database_takes_for_equal_are_refused() -> None:
    schema = Schema({"y": Categorical(["a", "a "])}, ["no", "yes"])
    with pytest.raises(ParameterError, match="differ in more than blanks at the end"):
        export_sql(ensemble(Step(0, positive=b"\1\0"), schema=schema), dialect="sqlserver")
