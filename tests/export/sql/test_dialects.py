"""What the databases do by themselves, and must not do to a model: collations, types, settings.

That every value gets its prediction is in test_expression.py; here are columns and servers that are
set up so that a plain comparison would be wrong.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot

from privatree.errors import ParameterError
from privatree.export import export_sql
from privatree.export.sql._dialects import DIALECTS
from privatree.model import TreeBuilder
from privatree.schema import Categorical, Numeric, Schema

TEXTS = ["a", "A", "ä", "Ä", "a ", "á", "", "it's", "back\\slash", "\\", "𝔸", "null"]


def told_apart(texts: list[str], name: str = "x") -> Any:
    """A tree that gives each text its position, and a missing or unknown one the last."""
    feature = Categorical([*texts, "not there"], missing="not there")
    builder = TreeBuilder(Schema({name: feature}, [*map(str, range(len(texts) + 1))]))
    node = builder.root
    for code in range(len(texts)):
        leaf, node = builder.split_categories(node, 0, [code])
        builder.leaf(leaf, code)
    builder.leaf(node, len(texts))
    return builder.build()


def execute(databases: Any, database: str, *statements: str) -> list[Any]:
    """Run statements in a server; what the last one gives."""
    if database == "postgresql":
        for statement in statements:
            cursor = databases.postgresql_connection.execute(statement)
        return cursor.fetchall() if cursor.description else []
    with databases.mariadb_connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


def bytes_of(text: str | None, database: str) -> str:
    """A literal that does not depend on what is tested."""
    if text is None:
        return "NULL"
    if database == "postgresql":
        return f"CONVERT_FROM(DECODE('{text.encode().hex()}', 'hex'), 'UTF8')"
    return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"


def places(databases: Any, database: str, column: str, texts: list[Any], tree: Any) -> list[Any]:
    """What a tree gives the texts in a column of this type."""
    inserts = [
        f"INSERT INTO odd VALUES ({place}, {bytes_of(text, database)})"
        for place, text in enumerate(texts)
    ]
    query = f"SELECT {export_sql(tree, dialect=database)} FROM odd ORDER BY place"
    rows = execute(databases, database, "DROP TABLE IF EXISTS odd",
                   f"CREATE TABLE odd (place INT, x {column})", *inserts, query)  # fmt: skip
    return [label for (label,) in rows]


def expected(texts: list[str], values: list[Any]) -> list[str]:
    return [str(texts.index(v) if v in texts else len(texts)) for v in values]


# --- text is compared as it is ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "column",
    [
        "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",  # it has blanks at the end ignored
        "VARCHAR(20) CHARACTER SET utf16",
    ],
)
@pytest.mark.parametrize("names", ["utf8mb4", "utf8mb4 COLLATE utf8mb4_unicode_ci", "latin1"])
def test_collations_of_mariadb(databases, column, names) -> None:
    values = [*TEXTS, "b", "A ", None]
    try:
        execute(databases, "mariadb", f"SET NAMES {names}")
        # The client still sends UTF-8: a file read by a client that thinks it is something else.
        got = places(databases, "mariadb", column, values, told_apart(TEXTS))
    finally:
        execute(databases, "mariadb", "SET NAMES utf8mb4")
    assert got == expected(TEXTS, values)


def test_a_latin_column_of_mariadb(databases) -> None:
    texts = [text for text in TEXTS if text != "𝔸"]
    got = places(databases, "mariadb", "VARCHAR(20) CHARACTER SET latin1", texts, told_apart(TEXTS))
    assert got == expected(TEXTS, texts)


@pytest.mark.parametrize("mode", ["", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT"])
def test_settings_of_mariadb(databases, mode) -> None:
    """The labels that come back are right too."""
    builder = TreeBuilder(Schema({"x": Categorical(["no", "back\\slash"])}, ["ä", "a\\b'"]))
    for code, child in enumerate(builder.split_categories(builder.root, 0, [0])):
        builder.leaf(child, code)
    try:
        execute(databases, "mariadb", f"SET SESSION sql_mode = '{mode}'")
        values = ["back\\slash", "no", None]
        got = places(databases, "mariadb", "TEXT", values, builder.build())
        assert got == ["a\\b'", "ä", "ä"]
    finally:
        execute(databases, "mariadb", "SET SESSION sql_mode = DEFAULT")


def test_labels_that_mariadb_keeps(by_hand, databases) -> None:
    """What is stored is the label, also where the client says that it sends another encoding."""
    query = export_sql(by_hand(Numeric(0, 1), 0.5, classes=["no", "ä"]), dialect="mariadb")
    try:
        execute(databases, "mariadb", "SET NAMES latin1")
        (row,) = execute(databases, "mariadb", "DROP TABLE IF EXISTS odd, kept",
                         "CREATE TABLE odd AS SELECT 1e0 AS x",
                         f"CREATE TABLE kept AS SELECT {query} AS label FROM odd",
                         "SELECT HEX(CONVERT(label USING utf8mb4)) FROM kept")  # fmt: skip
    finally:
        execute(databases, "mariadb", "SET NAMES utf8mb4")
    assert bytes.fromhex(row[0]).decode() == "ä"


def test_an_enumeration_and_filled_up_text_of_mariadb(databases) -> None:
    tree = told_apart(["a", "b"])
    for column in ("ENUM('a', 'b', 'c')", "CHAR(5)"):
        assert places(databases, "mariadb", column, ["a", "b", "c", None], tree) == [*"0122"]


@pytest.mark.slow
def test_collations_of_postgresql(databases) -> None:
    execute(databases, "postgresql", "CREATE COLLATION IF NOT EXISTS loose (provider = icu, "
            "locale = 'und-u-ks-level1', deterministic = false)")  # fmt: skip
    values = [*TEXTS, "b", None]
    got = places(databases, "postgresql", "TEXT COLLATE loose", values, told_apart(TEXTS))
    assert got == expected(TEXTS, values)


def test_settings_of_postgresql(databases) -> None:
    try:
        execute(databases, "postgresql", "SET standard_conforming_strings = off",
                "SET escape_string_warning = off")  # fmt: skip
        got = places(databases, "postgresql", "TEXT", TEXTS, told_apart(TEXTS))
    finally:
        execute(databases, "postgresql", "RESET standard_conforming_strings")
    assert got == expected(TEXTS, TEXTS)


def test_an_enumeration_and_filled_up_text_of_postgresql(databases) -> None:
    """An enumeration refuses to be compared with what is not one of its values."""
    execute(databases, "postgresql", "DROP TABLE IF EXISTS odd", "DROP TYPE IF EXISTS abc",
            "CREATE TYPE abc AS ENUM ('a', 'b', 'c')")  # fmt: skip
    rows = "INSERT INTO odd VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)"
    query = f"SELECT {export_sql(told_apart(['a', 'b']), dialect='postgresql')} FROM odd"
    for column in ("abc", "CHAR(5)"):
        got = execute(databases, "postgresql", "DROP TABLE IF EXISTS odd",
                      f"CREATE TABLE odd (place INT, x {column})", rows,
                      f"{query} ORDER BY place")  # fmt: skip
        assert [label for (label,) in got] == [*"0122"]


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_collations_of_sqlite_and_duckdb(databases, database) -> None:
    """A view that gives the column a collation; DuckDB's cast would keep it."""
    values = [*TEXTS, "b", None]
    expression = export_sql(told_apart(TEXTS), dialect=database)
    query = f"SELECT {expression} FROM (SELECT x COLLATE NOCASE AS x FROM t) AS t"
    got = databases[database](pa.table({"x": values}), query)
    assert [label for (label,) in got] == expected(TEXTS, values)


# --- types of columns ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("database", "column", "values"),
    [
        ("postgresql", "NUMERIC", ["0.1", "0.10000000000000001", "0.2", "'NaN'", "-1e300"]),
        ("postgresql", "REAL", ["0.1", "0.2", "'NaN'", "'Infinity'", "'-Infinity'"]),
        ("postgresql", "SMALLINT", ["0", "1"]),
        ("mariadb", "DECIMAL(40, 30)", ["0.1", "0.10000000000000001", "0.2", "-1"]),
        ("mariadb", "FLOAT", ["0.1", "0.2", "-1e30"]),
        ("mariadb", "TINYINT(1)", ["0", "1", "TRUE", "FALSE"]),
        ("mariadb", "BIT(1)", ["0", "1"]),
    ],
)
@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_types_of_numbers(by_hand, databases, database, column, values, threshold) -> None:
    """Compared as doubles: what the server says the doubles are is what `predict` gets."""
    model = by_hand(Numeric(0, 1, missing=1.0), threshold)
    rows = ", ".join(f"({place}, {value})" for place, value in enumerate([*values, "NULL"]))
    kind = "DOUBLE PRECISION" if database == "postgresql" else "DOUBLE"
    got = execute(databases, database, "DROP TABLE IF EXISTS odd",
                  f"CREATE TABLE odd (place INT, x {column})", f"INSERT INTO odd VALUES {rows}",
                  f"SELECT CAST(x AS {kind}), {export_sql(model, dialect=database)} FROM odd "
                  "ORDER BY place")  # fmt: skip
    doubles = pa.array([number for number, _ in got], pa.float64())
    assert [label for _, label in got] == model.predict(pa.table({"x": doubles})).tolist()
    assert len(set(got)) > 1


@pytest.mark.parametrize(
    ("database", "column"),
    [
        ("postgresql", "BOOLEAN"),
        ("postgresql", "INTEGER"),
        ("postgresql", "NUMERIC(3, 1)"),
        ("postgresql", "TEXT"),
        ("mariadb", "BOOLEAN"),
        ("mariadb", "BIT(1)"),
        ("mariadb", "DECIMAL(3, 1)"),
    ],
)
def test_types_of_booleans(by_hand, databases, database, column) -> None:
    yes, no = ("'True'", "'FALSE'") if column == "TEXT" else ("TRUE", "FALSE")
    if column in ("INTEGER", "NUMERIC(3, 1)"):
        yes, no = "1", "0"
    for missing, gap in ((True, "yes"), (False, "no")):
        model = by_hand(Categorical([True, False], missing=missing), [1])
        got = execute(databases, database, "DROP TABLE IF EXISTS odd",
                      f"CREATE TABLE odd (place INT, x {column})",
                      f"INSERT INTO odd VALUES (1, {yes}), (2, {no}), (3, NULL)",
                      f"SELECT {export_sql(model, dialect=database)} FROM odd "
                      "ORDER BY place")  # fmt: skip
        assert [label for (label,) in got] == ["yes", "no", gap]


# --- tables --------------------------------------------------------------------------------------

TABLES = [("clinic", "patients"), ("clinic", "patients.2024"), ('a "b', "c`d.e")]


@pytest.mark.parametrize(("schema", "table"), TABLES)
@pytest.mark.parametrize("database", ["postgresql", "mariadb", "duckdb"])
def test_tables_in_schemas(by_hand, databases, database, schema, table) -> None:
    model = by_hand(Numeric(0, 1), 0.5, name="a.b")
    given = ".".join('"' + part.replace('"', '""') + '"' for part in (schema, table))
    query = export_sql(model, table=given, proba=True, dialect=database)
    name = DIALECTS[database].quote_name
    there = f"{name(schema)}.{name(table)}"
    statements = [
        f"CREATE SCHEMA {name(schema)}",
        f"CREATE TABLE {there} ({name('a.b')} DOUBLE PRECISION)".replace(
            "DOUBLE PRECISION", DIALECTS[database].double_type
        ),
        f"INSERT INTO {there} VALUES (1)",
    ]
    drop = f"DROP SCHEMA {name(schema)}" + ("" if database == "mariadb" else " CASCADE")
    if database == "duckdb":
        with duckdb.connect() as opened:
            for statement in statements:
                opened.execute(statement)
            assert opened.execute(query).fetchall() == [(1.0, "yes", 0.0, 1.0)]
        return
    try:
        got = execute(databases, database, *statements, query)
    finally:
        execute(databases, database, drop)
    assert got == [(1.0, "yes", 0.0, 1.0)]


@pytest.mark.parametrize("dialect", [None, *DIALECTS])
def test_how_a_table_is_named(by_hand, dialect) -> None:
    written = export_sql(by_hand(Numeric(0, 1), 0.5), table="clinic.patients", dialect=dialect)
    opening, closing = {"mysql": "``", "mariadb": "``", "bigquery": "``", "sqlserver": "[]"}.get(
        dialect, '""'
    )
    schema, table = (f"{opening}{part}{closing}" for part in ("clinic", "patients"))
    assert written.startswith(f"SELECT {table}.*,\n")
    assert written.endswith(f"\nFROM {schema}.{table} AS {table}")
    assert f"({table}.{opening}x{closing} AS " in written


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("a..b", "several names with dots between"),
        ("a.", "several names with dots between"),
        ('"a"b', "several names with dots between"),
        ('""', "several names with dots between"),
        ("", "at least one character"),
        ("a\0", "NUL"),
    ],
)
def test_tables_that_are_none(by_hand, table, says) -> None:
    with pytest.raises(ParameterError, match=says):
        export_sql(by_hand(Numeric(0, 1), 0.5), table=table)


def test_too_many_parts(by_hand) -> None:
    model = by_hand(Numeric(0, 1), 0.5)
    with pytest.raises(ParameterError, match="MySQL must have at most 2 parts, got 3"):
        export_sql(model, table="a.b.c", dialect="mysql")
    assert "FROM `a`.`b`.`c` AS `c`" in export_sql(model, table="a.b.c", dialect="bigquery")


# --- what is written, where there is no server to ask --------------------------------------------


def test_an_unknown_database(by_hand) -> None:
    with pytest.raises(ParameterError, match=r"one of postgresql, .* got 'mysq'"):
        export_sql(by_hand(Numeric(0, 1), 0.5), dialect="mysq")


READ_AS = {"sqlserver": "tsql", "postgresql": "postgres", "mariadb": "mysql"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sqlglot_reads_every_dialect(small_tree, dialect) -> None:
    for table in (None, "clinic.patients"):
        written = export_sql(small_tree(True), table=table, proba=True, dialect=dialect)
        query = written if table else f"SELECT {written} FROM t"
        read = sqlglot.parse_one(query, read=READ_AS.get(dialect, dialect))
        assert len(list(read.find_all(sqlglot.exp.Case))) == 3


def test_sql_server(by_hand) -> None:
    """Its texts are of Unicode; a backslash at the end of a line would be taken away."""
    text = by_hand(Categorical(["a]'", "b\\\nc\\d"]), [0], name="x]y", classes=["é", "ö"])
    assert export_sql(text, dialect="sqlserver") == "\n".join(
        [
            "CASE",
            "  WHEN CAST([x]]y] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2 = N'b\\' + N'",
            "c\\d' THEN N'ö'",
            "  ELSE N'é'",
            "END",
        ]
    )
    truth = by_hand(Categorical([False, True]), [0], classes=[False, True])
    assert export_sql(truth, dialect="sqlserver") == (
        "CASE\n  WHEN [x] = 1 THEN CAST(1 AS BIT)\n  ELSE CAST(0 AS BIT)\nEND"
    )
    wide = by_hand(Numeric(0, 1), 0.25, classes=[1, 2**40])
    assert export_sql(wide, dialect="sqlserver") == (
        "CASE\n  WHEN CAST([x] AS DOUBLE PRECISION) > 0.25E0 THEN CAST(1099511627776 AS BIGINT)\n"
        "  ELSE CAST(1 AS BIGINT)\nEND"
    )


def test_numbers_close_to_zero_in_sql_server(by_hand) -> None:
    """It has none below 2**-1022, so a threshold there is one of those that there are."""
    for threshold, compared in ((1e-310, "> 0 "), (-1e-310, "> CAST(-1 AS DOUBLE PRECISION) / ")):
        model = by_hand(Numeric(-1e-300, 1e-300), threshold)
        assert compared in export_sql(model, dialect="sqlserver")
    categories = by_hand(Categorical([0, 1e-310, 7]), [0])
    assert "IN" not in export_sql(categories, dialect="sqlserver")
    labels = by_hand(Numeric(0, 1), 0.5, classes=[0.5, 1e-310])
    with pytest.raises(ParameterError, match=r"0 or at least 2\.2250738585072014e-308"):
        export_sql(labels, dialect="sqlserver")


def test_blanks_at_the_end_are_nothing_in_sql_server(by_hand) -> None:
    model = by_hand(Categorical(["a", "a "]), [0])
    with pytest.raises(ParameterError, match="more than blanks at the end, got 'a' and 'a '"):
        export_sql(model, dialect="sqlserver")
    assert export_sql(model, dialect="mysql")


def test_bigquery(by_hand) -> None:
    """Escapes in names and texts; few signs in the names of what comes out."""
    model = by_hand(Categorical(["no", "it's\\\n\u202e"]), [0], name="a`b", classes=["?", "!"])
    assert export_sql(model, dialect="bigquery", proba=True) == ",\n".join(
        "CASE\n  WHEN `a\\`b` = 'it\\'s\\\\\\u000a\\u202e' THEN " + results
        for results in (
            "'!'\n  ELSE '?'\nEND AS `prediction`",
            "CAST(0 AS FLOAT64)\n  ELSE CAST(1 AS FLOAT64)\nEND AS `probability of _ 0`",
            "CAST(1 AS FLOAT64)\n  ELSE CAST(0 AS FLOAT64)\nEND AS `probability of _ 1`",
        )
    )


def test_snowflake(by_hand) -> None:
    model = by_hand(Categorical(["no", "it's\\"]), [0], name='a"b')
    assert "\"a\"\"b\" = 'it''s\\\\' THEN" in export_sql(model, dialect="snowflake")


def test_more_large_categories_than_a_row_of_ors(by_hand, databases) -> None:
    """SQLite's expressions are at most a thousand deep."""
    numbers = [2**53 + 2 * place for place in range(3000)]
    model = by_hand(Categorical(numbers), list(range(1500)))
    table = pa.table({"x": pa.array([numbers[-1], numbers[1], 5], pa.int64())})
    got = databases["sqlite"](table, f"SELECT {export_sql(model, dialect='sqlite')} FROM t")
    assert [label for (label,) in got] == ["yes", "no", "no"]


# --- names of columns ----------------------------------------------------------------------------


def two_columns(*names: str) -> Any:
    builder = TreeBuilder(Schema({name: Numeric(0, 1) for name in names}, ["no", "yes"]))
    for code, child in enumerate(builder.split_numeric(builder.root, 1, 0.5)):
        builder.leaf(child, code)
    return builder.build()


def test_names_that_differ_in_case(databases) -> None:
    for dialect in ("mysql", "mariadb", "sqlite", "duckdb", "sqlserver", "bigquery"):
        with pytest.raises(ParameterError, match="differ in more than case"):
            export_sql(two_columns("A", "a"), dialect=dialect)
    assert '"a"' in export_sql(two_columns("A", "a"), dialect="snowflake")
    query = f"SELECT {export_sql(two_columns('A', 'a'), dialect='postgresql')} FROM t"
    table = pa.table({"A": [1.0, 0.0], "a": [0.0, 1.0]})
    assert databases["postgresql"](table, query) == [("no",), ("yes",)]


def test_names_that_postgresql_cuts_off() -> None:
    long = "x" * 63
    with pytest.raises(
        ParameterError, match="PostgreSQL needs column names that differ at their b"
    ):
        export_sql(two_columns(long + "1", long + "2"), dialect="postgresql")
    assert export_sql(two_columns(long + "1", long + "2"), dialect="duckdb")


def test_labels_that_are_no_names_in_mariadb(by_hand, databases) -> None:
    model = by_hand(Numeric(0, 1), 0.5, classes=["𝔸", ""])
    query = export_sql(model, table="t", proba=True, dialect="mariadb")
    (row,) = databases["mariadb"](pa.table({"x": [1.0]}), query)
    assert row[-3:] == ("", 0.0, 1.0)


# --- the programs that come with the servers -----------------------------------------------------


@pytest.mark.parametrize("database", ["postgresql", "mariadb"])
def test_a_file_for_the_client(by_hand, databases, database) -> None:
    """psql and mariadb look into what they are given: for commands, comments and semicolons."""
    name = "x; -- \\! \\q /* 'ü'"
    model = by_hand(Categorical(["a;b\\g 'ß'", "no"]), [0], name=name, classes=["é;\\q", "0"])
    query = export_sql(model, dialect=database, table="t")
    databases[database](pa.table({name: ["a;b\\g 'ß'", "no", None]}), "SELECT 1 FROM t")
    if database == "postgresql":
        info = databases.postgresql_connection.info
        command = ["psql", "-X", "-A", "-t", "-h", info.host, "-U", info.user, info.dbname]
    else:
        (row,) = execute(databases, "mariadb", "SELECT @@socket")
        command = ["mariadb", "--no-defaults", f"--socket={row[0]}", "-u", "root", "-N", "-B",
                   "--raw", "--default-character-set=utf8mb4", "privatree"]  # fmt: skip
    environment = {**os.environ, "PGCLIENTENCODING": "UTF8"}
    done = subprocess.run(
        command, input=f"{query}\n".encode(), capture_output=True, env=environment, check=True
    )
    assert done.stderr == b""
    lines = done.stdout.decode().replace("|", "\t").splitlines()
    assert sorted(line.rpartition("\t")[2] for line in lines) == ["0", "é;\\q", "é;\\q"]
