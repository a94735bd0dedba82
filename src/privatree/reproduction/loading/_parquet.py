"""Tables as Parquet files, with the fingerprint of what they hold."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from privatree.errors import ParameterError

_FINGERPRINT = b"privatree.fingerprint"


def read(path: Path) -> tuple[pd.DataFrame, str | None]:
    """Read a table, and the fingerprint that was written with it.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    table : pandas.DataFrame
        All of it.
    fingerprint : str or None
        As it is in the file, not compared with the table; None if there is none.

    Raises
    ------
    ParameterError
        If the file cannot be read.
    """
    try:
        with pq.ParquetFile(path) as file:
            found = file.read()
        found.validate(full=True)  # text that is none would be met much later
        table = found.to_pandas()
    except Exception as error:  # of a damaged file, pyarrow and pandas raise nearly anything
        raise ParameterError(
            f"{path}: must be a Parquet file that can be read, got {type(error).__name__}. "
            "Write it again, or remove it."
        ) from None
    stored = (found.schema.metadata or {}).get(_FINGERPRINT)
    return table, None if stored is None else stored.decode("ascii", "replace")


def write(path: Path, table: pd.DataFrame, fingerprint: str) -> None:
    """Write a table and the fingerprint of what it holds.

    Parameters
    ----------
    path : path
        The file.
    table : pandas.DataFrame
        All of it but its index.
    fingerprint : str
        Goes to the metadata of the file.
    """
    plain = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**plain.schema.metadata, _FINGERPRINT: fingerprint.encode("ascii")}
    pq.write_table(plain.replace_schema_metadata(metadata), path)
