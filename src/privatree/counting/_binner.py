"""Batches of records to matrices of small integer codes, which a learner counts.

The code of a number is its bin: how many public cuts lie below it. The code of a category is its
position. Rows are binned in tiles that stay in the cache, so no copy of the whole batch is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privatree.counting._cut_search import CutSearch
from privatree.schema import TARGET_CODES, Categorical, Label, Schema
from privatree.tables import (
    Batch,
    Column,
    NumberColumn,
    ValueColumn,
    batch_label_codes,
    category_code_dtype,
    column_to_codes,
    column_to_numbers,
)

if TYPE_CHECKING:
    from privatree.counting._weights import Weigher

_TILE_CELLS = 2**17  # largest number of values in a tile,
_MIN_ROWS, _MAX_ROWS = 1024, 8192  # except that a tile has this many rows at least and at most

_RowCodes: TypeAlias = Callable[[slice], NDArray[Any]]
"""Returns the codes of some rows of one column."""


class MergedClasses(NamedTuple):
    """Classes of a numeric target: intervals of its codes."""

    class_of_code: NDArray[np.uint8]
    n_classes: int


@dataclass(frozen=True, eq=False)
class Binner:
    """Rule by which the records of a schema become codes. It can be pickled.

    Parameters
    ----------
    schema : Schema
        Features and classes.
    cuts : tuple of ndarray of float64, or None
        Increasing cut points of each numeric feature, None for a categorical one. All are finite,
        except for a first cut of minus infinity, which only missing values are left of.
    groups : tuple of ndarray of int64, or None
        Code of each category of each categorical feature, and of separate missing values after
        them; None for a numeric feature.
    n_codes : tuple of int
        Number of codes of each feature.
    merged : MergedClasses, optional
        Classes of a numeric target. By default, each code of the target is a class of its own.
    """

    schema: Schema
    cuts: tuple[NDArray[np.float64] | None, ...]
    groups: tuple[NDArray[np.int64] | None, ...]
    n_codes: tuple[int, ...]
    merged: MergedClasses | None = None

    def __reduce__(self) -> Any:  # without cached properties, which can be computed again
        return Binner, (self.schema, self.cuts, self.groups, self.n_codes, self.merged)

    @property
    def n_classes(self) -> int:
        """Number of classes, or of codes of a numeric target whose classes are not merged."""
        if self.merged is not None:
            return self.merged.n_classes
        return TARGET_CODES if self.schema.target is not None else len(self.schema.classes)

    def with_merged(self, merged: MergedClasses | None) -> Binner:
        """Return a binner with other classes of the numeric target."""
        return replace(self, merged=merged)

    def read_labels_and_weights(
        self, batch: Batch, weigher: Weigher | None
    ) -> tuple[NDArray[Any], NDArray[np.int32] | None, NDArray[np.bool_]]:
        """Return the labels and weights of all rows, and whether each row counts.

        Labels are positions in the classes, or classes or codes of the numeric target; those of
        rows that do not count mean nothing. Without a weigher, there are no weights.
        """
        labels = batch_label_codes(batch, self.schema)
        weights = None if weigher is None else weigher.weigh(batch, labels)
        counted = labels >= 0 if weights is None else weights > 0
        if self.merged is not None:
            return self.merged.class_of_code[labels], weights, counted
        return labels, weights, counted

    def bin_batch(self, batch: Batch, threads: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the codes and the labels of the rows that have a known label.

        Both are C-contiguous arrays of the smallest unsigned type that holds them: codes of shape
        (n_known_rows, n_features), and labels as positions in the schema's classes, or classes or
        codes of the numeric target. The code of a
        number is how many cuts lie below it: a value equal to a cut belongs to the bin on its left.
        The code of a category is in `groups`. A missing or unknown value has the code of the
        feature's ``missing_place``. If several batches are binned at once, give each one thread.
        """
        codes, labels, _ = self.bin_and_weigh(batch, None, threads)
        return codes, labels

    def bin_and_weigh(
        self, batch: Batch, weigher: Weigher | None, threads: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int32] | None]:
        """Return codes and labels as :meth:`bin_batch` does, and the weights of these rows.

        Rows without a weight are left out. Without a weigher, there are no weights.
        """
        dtype = np.min_scalar_type(max(self.n_codes) - 1)
        codes = np.empty((batch.n_rows, len(self.n_codes)), dtype)
        labels, weights, counted = self.read_labels_and_weights(batch, weigher)
        read_numbers, row_codes = (
            self._numeric_feature_reader(batch),
            self._category_code_readers(batch),
        )
        places, search = self._numeric_positions, self._cut_search
        size = min(max(_TILE_CELLS // max(1, len(places)), _MIN_ROWS), _MAX_ROWS)

        def bin_tiles(tiles: Sequence[slice]) -> None:
            numbers = np.empty((len(places), size))
            for rows in tiles:
                part = codes[rows]
                with np.errstate(all="ignore"):  # wider floats overflow to infinity, as they should
                    read_numbers(rows, numbers[:, : len(part)])
                search.fill_bins(numbers, part, places)
                for place, read in row_codes.items():
                    part[:, place] = read(rows)

        tiles = [slice(start, start + size) for start in range(0, batch.n_rows, size)]
        if min(threads, len(tiles)) < 2:
            bin_tiles(tiles)
        else:
            with ThreadPoolExecutor(max_workers=threads) as pool:
                list(pool.map(bin_tiles, [tiles[i::threads] for i in range(threads)]))
        if not counted.all():
            codes, labels = codes[counted], labels[counted]
            weights = None if weights is None else weights[counted]
        return codes, labels.astype(np.min_scalar_type(self.n_classes - 1)), weights

    @cached_property
    def _numeric_positions(self) -> NDArray[np.int64]:
        return np.flatnonzero([part is not None for part in self.cuts])

    @cached_property
    def _cut_search(self) -> CutSearch:
        features = self.schema.features.values()
        pairs = [pair for pair in zip(self.cuts, features, strict=True) if pair[0] is not None]
        cuts = [part for part, _ in pairs if part is not None]
        places = [feature.missing_place for _, feature in pairs]
        missing = [
            int(np.searchsorted(*pair)) for pair in zip(cuts, map(float, places), strict=True)
        ]
        return CutSearch(cuts, missing)

    def _numeric_feature_reader(self, batch: Batch) -> Callable[[slice, NDArray[np.float64]], None]:
        """Return a function that copies rows of all numeric features to an array (feature, row).

        All values become float64, NaN where missing; integers beyond 2^53 are rounded.
        """
        array = batch.array
        if array is not None:
            columns = (
                slice(None)
                if len(self._numeric_positions) == array.shape[1]
                else self._numeric_positions
            )

            def read_array(rows: slice, numbers: NDArray[np.float64]) -> None:
                numbers[...] = array[rows].T[columns]

            return read_array
        contents = [
            _as_number_column_to_bin(batch.features[place].read())
            for place in self._numeric_positions
        ]

        def read_columns(rows: slice, numbers: NDArray[np.float64]) -> None:
            for row, content in zip(numbers, contents, strict=True):
                row[...] = content.values[rows]
                if content.missing is not None:
                    row[content.missing[rows]] = np.nan

        return read_columns

    def _category_code_readers(self, batch: Batch) -> dict[int, _RowCodes]:
        readers: dict[int, _RowCodes] = {}
        for place, feature in enumerate(self.schema.features.values()):
            groups = self.groups[place]
            if isinstance(feature, Categorical) and groups is not None:
                column = batch.features[place].read()
                dtype = category_code_dtype(feature)
                readers[place] = _category_code_reader(
                    column, feature.categories, feature.missing_place, dtype
                )
                if self.n_codes[place] < len(groups):
                    readers[place] = _grouped_code_reader(readers[place], groups)
        return readers


def _as_number_column_to_bin(column: Column) -> NumberColumn:
    return column if isinstance(column, NumberColumn) else NumberColumn(column_to_numbers(column))


def _category_code_reader(
    column: Column, labels: Sequence[Label], place: int, dtype: DTypeLike
) -> _RowCodes:
    """Return a function that gives positions in `labels`, or `place` for any other value."""
    if isinstance(column, NumberColumn):
        values, missing = column.values, column.missing

        def read_number_codes(rows: slice) -> NDArray[Any]:
            part = NumberColumn(values[rows], None if missing is None else missing[rows])
            return column_to_codes(part, labels, place, dtype)

        return read_number_codes
    if isinstance(column, ValueColumn):
        return column_to_codes(column, labels, place, dtype).__getitem__
    positions = column.codes
    found = column_to_codes(ValueColumn(column.values), labels, place, dtype)
    table = np.append(found, np.array([place], dtype=dtype))  # -1, a missing value, finds the last
    return lambda rows: np.take(table, positions[rows])


def _grouped_code_reader(row_codes: _RowCodes, groups: NDArray[np.int64]) -> _RowCodes:
    return lambda rows: groups[row_codes(rows)]
