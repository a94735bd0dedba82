"""Files of records: the names of their columns, where those of a schema are, and their rows.

This is the one way to read a file. Whoever trains, predicts, certifies, audits, drafts or checks
opens it as a :class:`DataFile`, finds columns in it, and gets rows, some at a time.

Everything that can go wrong here is about what is public: what the columns are called and, in
Parquet, of which type they are.
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
from privatree.schema import Categorical, Feature
from privatree.tables import (
    ColumnType,
    LazyColumn,
    arrow_column_type,
    check_class_type,
    check_feature_type,
    parse_text_column,
    read_arrow_column,
    repeat_text_in_column,
)

_TEXT = ColumnType("string", "text")

Part: TypeAlias = Callable[[], Iterator["FileRows"]]
"""Reads some rows of a file. Threads may read parts at the same time, each its own."""


@dataclass(frozen=True)
class FileRows:
    """Some columns of some rows of a file.

    Parameters
    ----------
    columns : list of pyarrow.ChunkedArray
        In the order asked for. In a ragged row every value is null.
    n_values : array of int
        How many values each row has; none or fewer if it is malformed. Both this and how many rows
        there are is private.
    n_expected : int
        How many values a row must have. Others are ragged.
    is_valid : bool
        Whether no bytes had to be replaced by U+FFFD to make text of them. **This leaks.**
    """

    columns: list[Any]
    n_values: NDArray[np.int32]
    n_expected: int
    is_valid: bool = True

    @property
    def n_rows(self) -> int:
        """How many rows there are, ragged ones included. It is private."""
        return len(self.n_values)

    @property
    def is_ragged(self) -> NDArray[np.bool_]:
        """Which rows have not as many values as they must. **This leaks.**"""
        return np.not_equal(self.n_values, self.n_expected)

    @property
    def n_ragged(self) -> int:
        """How many of them are ragged. **This leaks.**"""
        return int(self.is_ragged.sum())

    def whole_columns(self) -> list[Any]:
        """The columns without the ragged rows."""
        if not self.n_ragged:
            return self.columns
        whole = np.flatnonzero(~self.is_ragged)
        return [column.take(whole) for column in self.columns]


class DataFile(ABC):
    """A file whose columns are known.

    The names of folders above a file give columns too, if they are of the kind ``NAME=VALUE``: to
    whoever reads the file they are columns of text behind its own.

    Attributes
    ----------
    path : Path
        Where it is.
    folders : dict
        Names and values of the columns that the names of folders give.
    if_none_found : str
        What to say if no column is found, and nothing better is known.
    n_parts : int
        About how many parts can be read apart, where that is known.
    """

    path: Path
    folders: dict[str, str | None]
    if_none_found: ClassVar[str] = ""
    n_parts: int = 0

    @property
    @abstractmethod
    def own_names(self) -> list[str]:
        """What the columns in the file itself are called."""

    @property
    def names(self) -> list[str]:
        """What the columns are called, those that folders give last."""
        return [*self.own_names, *self.folders]

    @property
    def mistake(self) -> str:
        """Why columns are not found, if the file shows it, to end a message with."""
        return ""

    @property
    def has_valid_names(self) -> bool:
        """Whether no bytes of the names had to be replaced by U+FFFD."""
        return True

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers that are text."""
        return "."

    @abstractmethod
    def arrow_type(self, position: int) -> Any:
        """The type of a column, as Arrow has it."""

    @abstractmethod
    def is_text(self, position: int) -> bool:
        """Whether a column is text of which the schema decides what it is read as."""

    @abstractmethod
    def parts(
        self, positions: Sequence[int], *, coded: Collection[int] = (), apart: bool = False
    ) -> Iterator[Part]:
        """Read the file in parts.

        Parameters
        ----------
        positions : sequence of int
            Which columns, each once.
        coded : collection of int
            Those whose text may come as positions in a list of values.
        apart : bool
            Whether all the work of a part is left to the thread that reads it.
        """

    def rows(
        self,
        positions: Sequence[int],
        *,
        coded: Collection[int] = (),
        allow_ragged: bool = True,
    ) -> Iterator[FileRows]:
        """Read the file in the order of its rows, some at a time.

        Parameters
        ----------
        positions, coded
            As for :meth:`parts`.
        allow_ragged : bool
            What becomes of a CSV row that has not as many values as the first. True, as it must be
            where the records are private: it is taken, without a word, for one of which every value
            is missing. False, as it must be where each row needs its answer: it is an error.
        """
        for part in self.parts(positions, coded=coded):
            yield from part()

    def column(self, position: int, content: Any, feature: Feature) -> LazyColumn:
        """A column of some rows, as what a feature declares."""
        if self.is_text(position):
            return LazyColumn(_TEXT, partial(parse_text_column, content, feature, self.decimal))
        return LazyColumn(arrow_column_type(content.type), partial(read_arrow_column, content))

    def folder_text(self, position: int, n_rows: int) -> Any:
        """A column that a folder gives."""
        return repeat_text_in_column(
            list(self.folders.values())[position - len(self.own_names)], n_rows
        )


# --- columns of a schema ------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundColumns:
    """Where the columns of a schema are in a file.

    Parameters
    ----------
    file : DataFile
        The file.
    wanted : mapping
        Features, and perhaps the classes, by name.
    positions : list of int
        Their columns.
    kept : list of int
        Columns that are read beside them, as they are.
    ignored : list of str
        Columns that are not wanted. Their names are public.
    """

    file: DataFile
    wanted: Mapping[str, Feature]
    positions: list[int]
    kept: list[int]
    ignored: list[str]

    @cached_property
    def _place_of(self) -> dict[int, int]:
        """Of each position its place among those that are read."""
        read = dict.fromkeys((*self.positions, *self.kept))
        return {position: place for place, position in enumerate(read)}

    @cached_property
    def _coded(self) -> set[int]:
        return {*self.positions} - {*self.kept}

    def parts(self, *, apart: bool) -> Iterator[Part]:
        """See :meth:`DataFile.parts`."""
        return self.file.parts(list(self._place_of), coded=self._coded, apart=apart)

    def rows(self, *, allow_ragged: bool) -> Iterator[FileRows]:
        """See :meth:`DataFile.rows`."""
        places = list(self._place_of)
        return self.file.rows(places, coded=self._coded, allow_ragged=allow_ragged)

    def columns(self, rows: FileRows) -> list[LazyColumn]:
        """The wanted columns of some rows."""
        return [
            self.file.column(position, rows.columns[self._place_of[position]], feature)
            for position, feature in zip(self.positions, self.wanted.values(), strict=True)
        ]

    def kept_columns(self, rows: FileRows) -> list[Any]:
        """The kept columns of some rows."""
        return [rows.columns[self._place_of[position]] for position in self.kept]


def find_columns(
    file: DataFile,
    wanted: Mapping[str, Feature],
    target: str | None = None,
    keep: Sequence[str] = (),
) -> FoundColumns:
    """Find columns in a file, and check their types.

    Parameters
    ----------
    file : DataFile
        Where.
    wanted : mapping
        Features, and perhaps the classes, by name.
    target : str, optional
        Which of them is the column of labels.
    keep : sequence of str
        Columns to read beside them.

    Raises
    ------
    SchemaError
        If one is not there, or twice, or has a type that contradicts its feature.
    """
    kept, _ = matched_columns(file.path, file.names, keep, file.mistake)
    positions, ignored = matched_columns(
        file.path, file.names, wanted, file.mistake, file.if_none_found
    )
    for name, position in positions.items():
        if not file.is_text(position):
            kind = arrow_column_type(file.arrow_type(position))
            check_column_type(file.path, name, kind, wanted[name], name == target)
    return FoundColumns(file, wanted, list(positions.values()), list(kept.values()), ignored)


def matched_columns(
    file: Path,
    found: Sequence[str],
    wanted: Collection[str],
    mistake: str = "",
    if_none: str = "",
) -> tuple[dict[str, int], list[str]]:
    """Where the wanted columns are, and the names of the others; blanks around names are fine.

    Parameters
    ----------
    file : Path
        For messages.
    found : sequence of str
        The names of all columns, in their order, those that folders give included.
    wanted : collection of str
        Names that must be among them, once.
    mistake : str
        Why one that is not there is not found, if that is known, to end a message with.
    if_none : str
        What to say if none of them is there, and nothing better is known.

    Raises
    ------
    SchemaError
        If one is not there, or twice.
    """
    called = trimmed_names(found, wanted)
    if absent := [name for name in wanted if name not in called]:
        others = [name for name in called if name not in wanted]
        hint = mistake or did_you_mean(absent[0], others or called)
        if not hint and len(absent) == len(wanted):
            hint = if_none
        raise SchemaError(
            f"{file}: must have every column needed, lacks {list_some_names(absent)}.{hint}"
        )
    if twice := [name for name in wanted if called.count(name) > 1]:
        raise SchemaError(
            f"{file}: columns must be distinct, got {list_some_names(twice)} twice. Rename or "
            "delete one."
        )
    # Of a name no more than its first line: a stray quote in the first row can hide records in it.
    unused = [" ".join(name.splitlines()[:1]) for name in called if name not in wanted]
    return {name: called.index(name) for name in wanted}, unused


def trimmed_names(found: Sequence[str], wanted: Collection[str]) -> list[str]:
    """The names of columns without the blanks around them, unless they are wanted with these."""
    return [name if name in wanted else name.strip() for name in found]


def check_column_type(
    file: Path, name: str, found: ColumnType, feature: Feature, is_target: bool
) -> None:
    """Refuse a column of a file whose type contradicts its feature, or the classes.

    Raises
    ------
    SchemaError
        From the types alone, so it says nothing about the records.
    """
    try:
        if is_target and isinstance(feature, Categorical):
            check_class_type(f"column {name!r}", found, feature.categories)
        else:
            check_feature_type(name, found, feature, of_a_frame=True)
    except SchemaError as error:
        raise SchemaError(f"{file}: {error}") from None
