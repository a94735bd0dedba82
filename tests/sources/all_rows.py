"""All rows of a file together, for tests."""

import numpy as np
import pyarrow as pa

from privatree.sources._data_file import FileRows


def all_rows(file, positions, *, allow_ragged=True):
    """Columns of a file whose rows are read some at a time."""
    parts = list(file.read_rows(positions, allow_ragged=allow_ragged))
    columns = [
        pa.chunked_array([c for part in parts for c in part.columns[at].chunks], pa.string())
        for at in range(len(positions))
    ]
    n_values = np.concatenate([np.zeros(0, np.int32), *(part.n_values for part in parts)])
    is_valid = file.has_valid_names and all(part.is_valid for part in parts)
    return FileRows(columns, n_values, len(file.own_names), is_valid)
