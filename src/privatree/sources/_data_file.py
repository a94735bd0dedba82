"""A data file of any kind: its columns, where the columns of a schema are, and its rows.

This is the only way to read a file, for every command: open a :class:`DataFile`, find columns in
it, and read a batch of rows at a time.

Errors raised here depend only on what is public: the names of the columns and, in Parquet files,
their types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree._support.suggestions import did_you_mean
from privatree._support.validation import list_some_names
from privatree.errors import SchemaError
from privatree.schema import Categorical, Feature, Numeric, Schema
from privatree.tables import (
    ColumnType,
    LazyColumn,
    arrow_column_type,
    check_class_type,
    check_feature_type,
    check_target_type,
    check_unit_type,
    parse_text_column,
    parse_text_numbers,
    read_arrow_column,
    repeat_text_in_column,
)

_TEXT = ColumnType("string", "text")

Part: TypeAlias = Callable[[], Iterator["FileRows"]]
"""A function that reads some rows of a file. Several threads may read parts at the same time."""


@dataclass(frozen=True)
class FileRows:
    """Some columns of some rows of a file. The number of rows is private."""

    columns: list[Any]
    """Arrays of type pyarrow.ChunkedArray. In a ragged row every value is null."""
    n_values: NDArray[np.int32]
    """Number of values of each row, 0 or less if the row is malformed. The numbers are private."""
    n_expected: int
    """Number of values that a row must have. A row with another number is ragged."""
    is_valid: bool = True
    """Whether all bytes were valid text. Invalid bytes became U+FFFD. **This leaks.**"""

    @property
    def n_rows(self) -> int:
        return len(self.n_values)

    @property
    def is_ragged(self) -> NDArray[np.bool_]:
        """Whether each row is ragged: too many or too few values. **This leaks.**"""
        return np.not_equal(self.n_values, self.n_expected)

    @property
    def n_ragged(self) -> int:
        """Number of rows with too many or too few values. **This leaks.**"""
        return int(self.is_ragged.sum())

    def columns_without_ragged_rows(self) -> list[Any]:
        if not self.n_ragged:
            return self.columns
        whole = np.flatnonzero(~self.is_ragged)
        return [column.take(whole) for column in self.columns]


class DataFile(ABC):
    """An open file whose column names have been read.

    A folder called ``NAME=VALUE`` above the file adds a column of text, after the file's own
    columns.
    """

    path: Path
    folders: dict[str, str | None]
    """Names and values of the columns that folders add."""
    hint_if_none_found: ClassVar[str] = ""
    """Hint for the error about a file in which no column was found, if there is no other hint."""
    n_parts: int = 0
    """Approximate number of parts that threads can read at the same time, 0 if unknown."""

    @property
    @abstractmethod
    def own_names(self) -> list[str]:
        """Names of the columns in the file itself."""

    @property
    def names(self) -> list[str]:
        """Names of all columns. Those that folders add come last."""
        return [*self.own_names, *self.folders]

    @property
    def hint_if_not_found(self) -> str:
        """Likely reason why columns are not found, as the end of an error message; it can be ""."""
        return ""

    @property
    def has_valid_names(self) -> bool:
        """Whether all bytes of the column names were valid text."""
        return True

    @property
    def decimal(self) -> str:
        """Decimal mark of numbers that are written as text."""
        return "."

    @abstractmethod
    def arrow_type(self, position: int) -> Any:
        """Return the Arrow type of a column."""

    @abstractmethod
    def is_text(self, position: int) -> bool:
        """Tell whether a column is text that is parsed as the schema declares."""

    @abstractmethod
    def read_parts(
        self, positions: Sequence[int], *, coded: Collection[int] = (), apart: bool = False
    ) -> Iterator[Part]:
        """Yield functions that each read some rows of the columns at `positions`, all distinct.

        Text in the columns `coded` may be dictionary-encoded. With `apart`, each part is decoded
        only by the thread that reads it.
        """

    def read_rows(
        self,
        positions: Sequence[int],
        *,
        coded: Collection[int] = (),
        allow_ragged: bool = True,
    ) -> Iterator[FileRows]:
        """Read a batch of rows at a time, in the order of the file.

        `allow_ragged` is about CSV rows with more or fewer values than the first row. If True, all
        values of such a row count as missing; private records require this. If False, such a row
        raises a SchemaError; this is for predictions, which are needed for every row.
        """
        for part in self.read_parts(positions, coded=coded):
            yield from part()

    def lazy_column(self, position: int, content: Any, feature: Feature) -> LazyColumn:
        """Return a column of some rows, to be read later as the feature declares."""
        if self.is_text(position):
            return LazyColumn(_TEXT, partial(parse_text_column, content, feature, self.decimal))
        return LazyColumn(arrow_column_type(content.type), partial(read_arrow_column, content))

    def folder_text(self, position: int, n_rows: int) -> Any:
        """Return `n_rows` rows of a column that a folder called ``NAME=VALUE`` adds."""
        return repeat_text_in_column(
            list(self.folders.values())[position - len(self.own_names)], n_rows
        )


# --- columns of a schema ------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundColumns:
    """Columns of a schema that were found in a file."""

    file: DataFile
    wanted: Mapping[str, Feature]
    """Features by column name, with the target, if any."""
    positions: list[int]
    """Position of each wanted column."""
    kept: list[int]
    """Positions of the columns that are read unchanged."""
    ignored: list[str]
    """Names of all other columns. These names are public."""

    @cached_property
    def _place_of(self) -> dict[int, int]:
        """Position of each column among the columns that are read, by its position in the file."""
        read = dict.fromkeys((*self.positions, *self.kept))
        return {position: place for place, position in enumerate(read)}

    @cached_property
    def _coded(self) -> set[int]:
        return {*self.positions} - {*self.kept}

    def read_parts(self, *, apart: bool) -> Iterator[Part]:
        return self.file.read_parts(list(self._place_of), coded=self._coded, apart=apart)

    def read_rows(self, *, allow_ragged: bool) -> Iterator[FileRows]:
        places = list(self._place_of)
        return self.file.read_rows(places, coded=self._coded, allow_ragged=allow_ragged)

    def lazy_columns(self, rows: FileRows) -> list[LazyColumn]:
        return [
            self.file.lazy_column(position, rows.columns[self._place_of[position]], feature)
            for position, feature in zip(self.positions, self.wanted.values(), strict=True)
        ]

    def kept_lazy_columns(self, rows: FileRows, *, are_numbers: Sequence[bool]) -> list[LazyColumn]:
        """Return the kept columns; text of which `are_numbers` says so is parsed as numbers."""
        return [
            LazyColumn(_TEXT, partial(parse_text_numbers, column, self.file.decimal))
            if is_number and self.file.is_text(position)
            else LazyColumn(arrow_column_type(column.type), partial(read_arrow_column, column))
            for position, column, is_number in zip(
                self.kept, self.kept_columns(rows), are_numbers, strict=True
            )
        ]

    def kept_columns(self, rows: FileRows) -> list[Any]:
        return [rows.columns[self._place_of[position]] for position in self.kept]


def wanted_columns(schema: Schema, target: str | None) -> dict[str, Feature]:
    """Return the features by column name, with the target, if any, as one more feature."""
    if target is None:
        return dict(schema.features)
    if target in schema.features:
        raise SchemaError(
            f"the target {target!r} must not be a feature of the schema. Remove it from the "
            "features."
        )
    if target == schema.unit:
        raise SchemaError(
            f"the target {target!r} must not be the unit of the schema. Name the column that says "
            "who a row is about."
        )
    return {**schema.features, target: target_as_feature(schema)}


def target_as_feature(schema: Schema) -> Feature:
    """Return a Categorical of the classes, or a Numeric with the range of the numeric target."""
    found = schema.target
    if found is None:
        return Categorical(schema.classes)
    return Numeric(found.low, found.high, integer=found.integer)


def find_file_columns(
    file: DataFile,
    wanted: Mapping[str, Feature],
    target: str | None = None,
    keep: Sequence[str] = (),
) -> FoundColumns:
    """Find the wanted columns and the columns to keep in a file, and check the types.

    Raise a SchemaError if a column is missing or occurs twice, or if its type contradicts its
    feature.
    """
    kept, _ = match_columns(file.path, file.names, keep, file.hint_if_not_found)
    positions, ignored = match_columns(
        file.path, file.names, wanted, file.hint_if_not_found, file.hint_if_none_found
    )
    for name, position in positions.items():
        if not file.is_text(position):
            kind = arrow_column_type(file.arrow_type(position))
            check_column_type(file.path, name, kind, wanted[name], name == target)
    return FoundColumns(file, wanted, list(positions.values()), list(kept.values()), ignored)


def match_columns(
    file: Path,
    found: Sequence[str],
    wanted: Collection[str],
    hint: str = "",
    hint_if_none: str = "",
) -> tuple[dict[str, int], list[str]]:
    """Return the positions of the wanted columns, and the names of the others.

    Blanks around a name are ignored. Raise a SchemaError if a wanted column is missing or occurs
    twice. The error about missing columns ends with `hint`, with a similar name, or, if all wanted
    columns are missing, with `hint_if_none`.
    """
    called = trim_column_names(found, wanted)
    if absent := [name for name in wanted if name not in called]:
        others = [name for name in called if name not in wanted]
        hint = hint or did_you_mean(absent[0], others or called)
        if not hint and len(absent) == len(wanted):
            hint = hint_if_none
        raise SchemaError(
            f"{file}: must have every needed column, but lacks {list_some_names(absent)}.{hint}"
        )
    if twice := [name for name in wanted if called.count(name) > 1]:
        raise SchemaError(
            f"{file}: column names must be distinct, got {list_some_names(twice)} twice. Rename or "
            "delete one of the columns."
        )
    # Only the first line of a name: after a stray quote, a name can contain records.
    unused = [" ".join(name.splitlines()[:1]) for name in called if name not in wanted]
    return {name: called.index(name) for name in wanted}, unused


def trim_column_names(found: Sequence[str], wanted: Collection[str]) -> list[str]:
    """Remove the blanks around column names, unless a wanted name itself has these blanks."""
    return [name if name in wanted else name.strip() for name in found]


def check_file_unit_type(file: DataFile, name: str, position: int) -> None:
    """Raise a SchemaError if a column has a type that ids cannot have. Text without a type can."""
    if not file.is_text(position):
        kind = arrow_column_type(file.arrow_type(position))
        check_unit_type(f"{file.path}: column {name!r}", kind)


def check_column_type(
    file: Path, name: str, found: ColumnType, feature: Feature, is_target: bool
) -> None:
    """Raise a SchemaError if the type of a column contradicts its feature, or the classes.

    The error depends on the type alone, so it reveals nothing about the records.
    """
    try:
        if not is_target:
            check_feature_type(name, found, feature, of_a_frame=True)
        elif isinstance(feature, Numeric):
            check_target_type(f"column {name!r}", found)
        else:
            check_class_type(f"column {name!r}", found, feature.categories)
    except SchemaError as error:
        raise SchemaError(f"{file}: {error}") from None
