"""A tree as SQL: predictions where the records are, the same in SQLite and DuckDB as in Python.

python examples/predict_in_sql.py
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd

from privatree import PrivaTreeClassifier, Schema
from privatree.export import export_sql

folder = Path(__file__).parent
schema = Schema.from_toml(folder / "patients.toml")
patients = pd.read_csv(folder / "patients.csv")
X = patients[list(schema.features)]
model = PrivaTreeClassifier(1.0, max_depth=3, schema=schema).fit(X, patients["readmitted"])

query = export_sql(model, table="patients")  # without table=: an expression, for a query of yours
print(query)

with closing(sqlite3.connect(":memory:")) as database:
    patients.to_sql("patients", database, index=False)
    in_sqlite = pd.read_sql_query(query, database)["prediction"]

with duckdb.connect() as database:
    database.register("patients", patients)
    in_duckdb = database.sql(query).df()["prediction"]

in_python = model.predict(X)
print("SQLite agrees:", (in_sqlite == in_python).all())
print("DuckDB agrees:", (in_duckdb == in_python).all())
