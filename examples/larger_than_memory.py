"""Records that stay in their files: read in passes, a few thousand rows at a time.

python examples/larger_than_memory.py
"""

import tempfile
from pathlib import Path

import duckdb

from privatree import PrivaTreeClassifier, datasets, export_text
from privatree.sources import ArrowSource, ParquetSource

# Files that stand for ones larger than memory: the labels are a column like the others.
frame, labels, schema = datasets.load("adult")
folder = Path(tempfile.mkdtemp())
whole = frame.assign(income=labels)
for part in range(4):
    whole.iloc[part::4].to_parquet(folder / f"part-{part}.parquet")

# A source takes the place of X and y. Only counts leave it, so a file can have any size.
source = ParquetSource(folder, target="income")
model = PrivaTreeClassifier(epsilon=0.5, schema=schema, random_state=0).fit(source)
print(f"{source.n_passes} passes over the files; depth {model.tree_.depth}")

# The same seed gives the same tree and the same statement, wherever the records live. (A seed is
# for such comparisons only: never publish a model that was trained with one.)
in_memory = PrivaTreeClassifier(epsilon=0.5, schema=schema, random_state=0).fit(frame, labels)
print("the same as in memory:", export_text(model) == export_text(in_memory))

# A query of DuckDB is run again in each pass. (So is a lazy frame of polars. A data frame of Spark
# is counted where its partitions are: SparkSource.)
query = duckdb.sql(f"select * from '{folder}/*.parquet' where age >= 18")
adults = PrivaTreeClassifier(epsilon=0.5, schema=schema).fit(ArrowSource(query, target="income"))
print(f"adults only: right for {adults.score(frame, labels):.0%} of the records")
