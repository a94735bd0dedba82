"""Readers: from files to the records that a learner trains on.

Reading is part of an audit. If one line changes how a reader reads other lines, then one record
changes many records, whatever the learner does.
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
from privatree.sources import CsvSource, find_files, partitions_of_path, read_files

if TYPE_CHECKING:
    import pandas as pd

Reader = Callable[[Path, Schema, str], Records]
"""Function from a folder of CSV files, a schema and the name of the target to records."""


@dataclass(frozen=True)
class FileTable:
    """A dataset in files that is read again for each training.

    ``encode``, if given, takes rows and the schema, and returns what the learner takes.
    """

    folder: Path
    schema: Schema
    target: str
    reader: Reader
    encode: Callable[[Any, Schema], Any] | None = None

    def read(self) -> Records:
        """Return the records in the files. An error counts as an outcome of the training."""
        X, y = self.reader(self.folder, self.schema, self.target)
        return Records(X if self.encode is None else self.encode(X, self.schema), y)

    def redact_folder(self, text: str) -> str:
        """Return a message with FOLDER in place of the path, which differs between datasets."""
        return text.replace(str(self.folder), "FOLDER")


# --- ours -----------------------------------------------------------------------------------------


def read_table(folder: Path, schema: Schema, target: str) -> Records:
    """Read all files into a frame, with :func:`privatree.sources.read_files`."""
    read = read_files(find_files([folder]), schema, target, allow_ragged=True)
    return _clean_read_records(read.features.to_pandas(), read.labels.to_pandas(), schema)


def read_stream(folder: Path, schema: Schema, target: str) -> Records:
    """Return a source that the learner reads again in each pass."""
    return Records(CsvSource(folder, target, progress=False), None)


def read_memory(folder: Path, schema: Schema, target: str) -> Records:
    """Return a source that the learner reads once."""
    return Records(CsvSource(folder, target, progress=False, in_memory=True), None)


def read_multiline(folder: Path, schema: Schema, target: str) -> Records:
    """Read values that may contain line breaks. Privacy statements name this as an assumption."""
    return read_table(folder, replace(schema, csv=CsvDialect(multiline=True)), target)


# --- of others ------------------------------------------------------------------------------------


def read_pandas(folder: Path, schema: Schema, target: str) -> Records:
    """Read with ``pandas.read_csv``."""
    import pandas as pd

    return _read_file_by_file(pd.read_csv, folder, schema, target)


def read_pyarrow(folder: Path, schema: Schema, target: str) -> Records:
    """Read with ``pyarrow.csv.read_csv``, with values that may contain line breaks."""
    from pyarrow import csv

    read = partial(csv.read_csv, parse_options=csv.ParseOptions(newlines_in_values=True))
    return _read_file_by_file(lambda file: read(file).to_pandas(), folder, schema, target)


def _read_file_by_file(
    read: Callable[[Path], pd.DataFrame], folder: Path, schema: Schema, target: str
) -> Records:
    """Read file by file, and add the columns whose values are in folder names."""
    import pandas as pd

    files = find_files([folder])
    frames = [read(file).assign(**partitions_of_path(file)) for file in files]
    whole = pd.concat(frames, ignore_index=True)
    return _clean_read_records(whole[list(schema.names)], whole[target], schema)


def _clean_read_records(X: pd.DataFrame, labels: pd.Series, schema: Schema) -> Records:
    """Return the records with a known label, without missing values, as some learners require.

    Missing values stay missing where the schema counts them separately.
    """
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
            if not feature.separates_missing:
                codes[codes < 0] = feature.missing_place
            columns[name] = pd.Categorical.from_codes(codes, categories)
        else:
            keeps = feature.separates_missing
            columns[name] = column if keeps else column.fillna(feature.missing_place)
    return Records(pd.DataFrame(columns), classes.to_numpy()[label_codes[is_known]])


READERS: dict[str, Reader] = {
    "table": read_table,
    "stream": read_stream,
    "memory": read_memory,
    "multiline": read_multiline,
    "pandas": read_pandas,
    "pyarrow": read_pyarrow,
}
"""All readers, by name."""
SOURCE_READERS = ("stream", "memory")
"""Names of the readers that return a source, which only some learners accept."""


def chosen_reader(name: str) -> Reader:
    if name not in READERS:
        raise ParameterError(
            f"reader must be one of {', '.join(READERS)}, got {name!r}."
            f"{did_you_mean(name, tuple(READERS))}",
            "reader",
        )
    return READERS[name]
