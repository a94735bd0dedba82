"""Databases that run what is exported: in the process, in servers of our own, or in translation."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from functools import cached_property
from typing import Any, TypeAlias

import database_servers
import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import expressions

Rows: TypeAlias = list[tuple[Any, ...]]
Run: TypeAlias = Callable[[pa.Table, str], Rows]
"""Runs a query on a table that it calls t."""

_LARGEST = 1.7976931348623157e308
_POSTGRESQL = {"string": "TEXT", "double": "DOUBLE PRECISION", "float": "REAL", "bool": "BOOLEAN",
               "int64": "BIGINT", "uint8": "SMALLINT"}  # fmt: skip
_MARIADB = {**_POSTGRESQL, "string": "LONGTEXT", "double": "DOUBLE", "float": "FLOAT"}
_PLACE = "place of the row"
_READ_AS = {"sqlserver": "tsql", "bigquery": "bigquery", "snowflake": "snowflake"}


class Databases:
    """Functions by the name of the dialect that they run, opened when they are first used.

    There is no SQL Server, BigQuery or Snowflake to be had. What is written for them is read by
    sqlglot as their dialect, written again as DuckDB's, and run there. MySQL's runs in MariaDB,
    after sqlglot has read it.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __getitem__(self, name: str) -> Run:
        if name in _READ_AS:
            return lambda table, query: self._translated(name, table, query)
        return getattr(self, f"_{name}")

    @cached_property
    def _duckdb(self) -> Run:
        opened = self._stack.enter_context(duckdb.connect(config={"threads": 1}))

        def run(table: pa.Table, query: str) -> Rows:
            opened.register("records", table)
            opened.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM records")
            return opened.execute(query).fetchall()

        return run

    @cached_property
    def _sqlite(self) -> Run:
        def run(table: pa.Table, query: str) -> Rows:
            """The columns have no types."""
            with closing(sqlite3.connect(":memory:")) as opened:
                columns = ", ".join(_quoted(name, '"') for name in table.column_names)
                opened.execute(f"CREATE TABLE t ({columns})")
                gaps = ", ".join("?" * table.num_columns)
                opened.executemany(f"INSERT INTO t VALUES ({gaps})", _rows(table))
                return opened.execute(query).fetchall()

        return run

    @cached_property
    def postgresql_connection(self) -> Any:
        """With psycopg, to a server of our own."""
        return self._stack.enter_context(database_servers.postgresql())

    @cached_property
    def mariadb_connection(self) -> Any:
        """With PyMySQL, to a server of our own, in an empty database called privatree."""
        opened = self._stack.enter_context(database_servers.mariadb())
        with opened.cursor() as cursor:
            cursor.execute("CREATE DATABASE privatree CHARACTER SET utf8mb4")
            cursor.execute("USE privatree")
        return opened

    @cached_property
    def _postgresql(self) -> Run:
        opened = self.postgresql_connection

        def run(table: pa.Table, query: str) -> Rows:
            table = _with_places(table)
            opened.execute("DROP TABLE IF EXISTS t")
            columns = _columns(table, '"', _POSTGRESQL)
            opened.execute(f"CREATE TABLE t ({columns})")
            with opened.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
                for row in _rows(table):
                    copy.write_row(row)
            return opened.execute(f'{query} ORDER BY "{_PLACE}"').fetchall()

        return run

    @cached_property
    def _mariadb(self) -> Run:
        opened = self.mariadb_connection

        def run(table: pa.Table, query: str) -> Rows:
            table = _with_places(_without_special_numbers(table))
            with opened.cursor() as cursor:
                cursor.execute("DROP TABLE IF EXISTS t")
                columns = _columns(table, "`", _MARIADB)
                cursor.execute(f"CREATE TABLE t ({columns})")
                gaps = ", ".join(["%s"] * table.num_columns)
                cursor.executemany(f"INSERT INTO t VALUES ({gaps})", list(_rows(table)))
                cursor.execute(f"{query} ORDER BY `{_PLACE}`")
                return list(cursor.fetchall())

        return run

    @cached_property
    def _mysql(self) -> Run:
        def run(table: pa.Table, query: str) -> Rows:
            sqlglot.parse_one(query, read="mysql")
            return self._mariadb(table, query)

        return run

    def _translated(self, name: str, table: pa.Table, query: str) -> Rows:
        if name != "snowflake":
            table = _without_special_numbers(table)
        return self._duckdb(table, _as_duckdb(query, _READ_AS[name]))


def _rows(table: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _quoted(name: str, quote: str) -> str:
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"


def _columns(table: pa.Table, quote: str, types: dict[str, str]) -> str:
    named = zip(table.column_names, table.schema.types, strict=True)
    return ", ".join(f"{_quoted(name, quote)} {types[str(kind)]}" for name, kind in named)


def _with_places(table: pa.Table) -> pa.Table:
    """With a column to sort by: a server gives rows in any order."""
    return table.append_column(_PLACE, pa.array(range(table.num_rows), pa.int64()))


def _without_special_numbers(table: pa.Table) -> pa.Table:
    """What the table is where there are no NaN (so NULL) and no infinities (so large numbers)."""
    columns = [
        pa.array([_plain(value) for value in column.to_pylist()], column.type)
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _plain(value: Any) -> Any:
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else math.copysign(_LARGEST, value)


def _as_duckdb(query: str, dialect: str) -> str:
    """Translate; what sqlglot leaves are collations (DuckDB has the right one) and two types."""
    read = sqlglot.parse_one(query, read=dialect)
    for collated in list(read.find_all(expressions.Collate)):
        collated.replace(collated.this)
    for text in list(read.find_all(expressions.National)):
        text.replace(expressions.Literal.string(text.this))
    for cast in read.find_all(expressions.Cast):
        if cast.to.is_type("bit"):
            cast.set("to", expressions.DataType.build("BOOLEAN"))
        elif cast.to.is_type("nvarchar"):
            cast.set("to", expressions.DataType.build("TEXT"))
    return read.sql(dialect="duckdb")
