"""Readers: from files to what a learner trains on.

Reading is part of what is audited. A reader in which one line changes how others are read lets one
record change many, whatever the learner does with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privatree._support.suggestions import did_you_mean
from privatree.audit.pairs._neighbours import Records
from privatree.errors import ParameterError
from privatree.schema import Categorical, CsvDialect, Schema
from privatree.sources import CsvSource, find_files, partition_values, read_files

if TYPE_CHECKING:
    import pandas as pd

Reader = Callable[[Path, Schema, str], Records]
"""Takes a folder of CSV files, what is public about them, and the column of labels."""


@dataclass(frozen=True)
class FileTable:
    """A table in files that is read again for each training.

    Parameters
    ----------
    folder : Path
        Where the files are.
    schema : Schema
        What is public about them.
    target : str
        The column of labels.
    reader : callable
        Turns them into records.
    encode : callable, optional
        Turns rows, given the schema, into what the learner takes.
    """

    folder: Path
    schema: Schema
    target: str
    reader: Reader
    encode: Callable[[Any, Schema], Any] | None = None

    def read(self) -> Records:
        """Read it; whatever goes wrong is an outcome of the training."""
        X, y = self.reader(self.folder, self.schema, self.target)
        return Records(X if self.encode is None else self.encode(X, self.schema), y)

    def without_place(self, text: str) -> str:
        """A message without the name of the folder, by which it could be told from another."""
        return text.replace(str(self.folder), "FOLDER")


# --- ours -----------------------------------------------------------------------------------------


def read_table(folder: Path, schema: Schema, target: str) -> Records:
    """Read all of it into a frame, as :func:`privatree.sources.read_files` does."""
    read = read_files(find_files([folder]), schema, target, allow_ragged=True)
    return _for_any_learner(read.features.to_pandas(), read.labels.to_pandas(), schema)


def read_stream(folder: Path, schema: Schema, target: str) -> Records:
    """Leave it to the learner to read the files again in each pass."""
    return Records(CsvSource(folder, target, progress=False), None)


def read_memory(folder: Path, schema: Schema, target: str) -> Records:
    """Leave it to the learner to read the files once."""
    return Records(CsvSource(folder, target, progress=False, in_memory=True), None)


def read_multiline(folder: Path, schema: Schema, target: str) -> Records:
    """Read values that may span lines: what a privacy statement names as an assumption."""
    return read_table(folder, replace(schema, csv=CsvDialect(multiline=True)), target)


# --- of others ------------------------------------------------------------------------------------


def read_pandas(folder: Path, schema: Schema, target: str) -> Records:
    """Read files by ``pandas.read_csv``."""
    import pandas as pd

    return _read_each(pd.read_csv, folder, schema, target)


def read_pyarrow(folder: Path, schema: Schema, target: str) -> Records:
    """Read files by ``pyarrow.csv.read_csv``, with values that may span lines."""
    from pyarrow import csv

    read = partial(csv.read_csv, parse_options=csv.ParseOptions(newlines_in_values=True))
    return _read_each(lambda file: read(file).to_pandas(), folder, schema, target)


def _read_each(
    read: Callable[[Path], pd.DataFrame], folder: Path, schema: Schema, target: str
) -> Records:
    """Read file by file; what folders give is added."""
    import pandas as pd

    files = find_files([folder])
    frames = [read(file).assign(**partition_values(file)) for file in files]
    whole = pd.concat(frames, ignore_index=True)
    return _for_any_learner(whole[list(schema.names)], whole[target], schema)


def _for_any_learner(X: pd.DataFrame, labels: pd.Series, schema: Schema) -> Records:
    """Rows with a known label, nothing missing: not every learner takes others."""
    import pandas as pd

    classes = pd.Index(schema.classes)
    label_codes = classes.get_indexer(pd.Index(labels))
    is_known = label_codes >= 0
    columns: dict[str, Any] = {}
    for name, feature in schema.features.items():
        column = X[name][is_known].reset_index(drop=True)
        if isinstance(feature, Categorical):
            categories = pd.Index(feature.categories)
            codes = categories.get_indexer(pd.Index(column))
            codes[codes < 0] = feature.missing_place
            columns[name] = pd.Categorical.from_codes(codes, categories)
        else:
            columns[name] = column.fillna(feature.missing_place)
    return Records(pd.DataFrame(columns), classes.to_numpy()[label_codes[is_known]])


READERS: dict[str, Reader] = {
    "table": read_table,
    "stream": read_stream,
    "memory": read_memory,
    "multiline": read_multiline,
    "pandas": read_pandas,
    "pyarrow": read_pyarrow,
}
"""Every reader by name."""
SOURCE_READERS = ("stream", "memory")
"""Those that give a source, which only some learners take."""


def chosen_reader(name: str) -> Reader:
    """One of the readers, by name."""
    if name not in READERS:
        raise ParameterError(
            f"reader must be one of {', '.join(READERS)}, got {name!r}."
            f"{did_you_mean(name, tuple(READERS))}",
            "reader",
        )
    return READERS[name]
