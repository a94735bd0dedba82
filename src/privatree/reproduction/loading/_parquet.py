"""Parquet files with the fingerprint of their records in the metadata."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from privatree.errors import ParameterError

_FINGERPRINT = b"privatree.fingerprint"


def read_parquet_file(path: Path) -> tuple[pd.DataFrame, str | None]:
    """Read a table and the fingerprint in its metadata, if any. The fingerprint is not checked."""
    try:
        with pq.ParquetFile(path) as file:
            found = file.read()
        found.validate(full=True)  # without this, invalid text would raise an error much later
        table = found.to_pandas()
    except Exception as error:  # a damaged file can make pyarrow and pandas raise anything
        raise ParameterError(
            f"{path}: must be a readable Parquet file, but reading it failed with "
            f"{type(error).__name__}. Write the file again, or remove the file."
        ) from None
    stored = (found.schema.metadata or {}).get(_FINGERPRINT)
    return table, None if stored is None else stored.decode("ascii", "replace")


def write_parquet_file(path: Path, table: pd.DataFrame, fingerprint: str) -> None:
    """Write a table without its index, and the fingerprint of its records as metadata."""
    plain = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**plain.schema.metadata, _FINGERPRINT: fingerprint.encode("ascii")}
    pq.write_table(plain.replace_schema_metadata(metadata), path)
