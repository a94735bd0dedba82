"""Batches of records to matrices of small integer codes, which is what a learner counts.

The code of a number is how many public cuts lie below it, that of a category its position. Rows are
coded in tiles that stay in the cache, so nothing as large as the batch is copied on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privatree.counting._cut_search import CutSearch
from privatree.schema import Categorical, Label, Schema
from privatree.tables import (
    Batch,
    Column,
    NumberColumn,
    ValueColumn,
    category_code_dtype,
    column_to_codes,
    column_to_numbers,
)

_TILE_CELLS = 2**17  # numbers that are coded together,
_MIN_ROWS, _MAX_ROWS = 1024, 8192  # but no fewer rows than this in a wide table, nor more

_RowCodes: TypeAlias = Callable[[slice], NDArray[Any]]
"""Gives the codes of some rows of one column."""


@dataclass(frozen=True, eq=False)
class Binner:
    """How the records of a schema become codes. It can be pickled.

    Parameters
    ----------
    schema : Schema
        What is public.
    cuts : tuple of ndarray of float64, or None
        For each numeric feature its increasing, finite cut points; None for categories.
    groups : tuple of ndarray of int64, or None
        For each category feature the code of each category; None for numbers.
    n_codes : tuple of int
        How many codes each feature has.
    """

    schema: Schema
    cuts: tuple[NDArray[np.float64] | None, ...]
    groups: tuple[NDArray[np.int64] | None, ...]
    n_codes: tuple[int, ...]

    def __reduce__(self) -> Any:
        """Leave out what can be computed again."""
        return Binner, (self.schema, self.cuts, self.groups, self.n_codes)

    def code(self, batch: Batch, threads: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
        """Code the rows that have a known label.

        Parameters
        ----------
        batch : Batch
            Columns of types that fit the schema.
        threads : int, default=1
            How many to use: more for a whole table, one where several batches are coded at once.

        Returns
        -------
        codes : ndarray of unsigned integers, shape (n_known_rows, n_features)
            C-contiguous, of the smallest type that holds all codes. The code of a number is how
            many cuts lie below it (a value equal to a cut belongs to its left), that of a category
            is given by `groups`. Missing and unknown values have the code of the feature's
            ``missing_place``.
        labels : ndarray of unsigned integers, shape (n_known_rows,)
            Positions in the schema's classes, of the smallest type that holds them.
        """
        dtype = np.min_scalar_type(max(self.n_codes) - 1)
        codes = np.empty((batch.n_rows, len(self.n_codes)), dtype)
        signed = np.min_scalar_type(-len(self.schema.classes))  # -1 is no class
        labels = column_to_codes(batch.labels.read(), self.schema.classes, -1, signed)
        read_numbers, row_codes = self._number_reader(batch), self._category_readers(batch)
        places, search = self._numeric, self._search
        size = min(max(_TILE_CELLS // max(1, len(places)), _MIN_ROWS), _MAX_ROWS)

        def code_tiles(tiles: Sequence[slice]) -> None:
            numbers = np.empty((len(places), size))
            for rows in tiles:
                part = codes[rows]
                with np.errstate(all="ignore"):  # wider floats overflow to infinity, as they should
                    read_numbers(rows, numbers[:, : len(part)])
                search.code(numbers, part, places)
                for place, read in row_codes.items():
                    part[:, place] = read(rows)

        tiles = [slice(start, start + size) for start in range(0, batch.n_rows, size)]
        if min(threads, len(tiles)) < 2:
            code_tiles(tiles)
        else:
            with ThreadPoolExecutor(max_workers=threads) as pool:
                list(pool.map(code_tiles, [tiles[i::threads] for i in range(threads)]))
        known = labels >= 0
        if not known.all():
            codes, labels = codes[known], labels[known]
        return codes, labels.astype(np.min_scalar_type(len(self.schema.classes) - 1))

    @cached_property
    def _numeric(self) -> NDArray[np.int64]:
        """Which features are numbers."""
        return np.flatnonzero([part is not None for part in self.cuts])

    @cached_property
    def _search(self) -> CutSearch:
        features = self.schema.features.values()
        pairs = [pair for pair in zip(self.cuts, features, strict=True) if pair[0] is not None]
        cuts = [part for part, _ in pairs if part is not None]
        places = [feature.missing_place for _, feature in pairs]
        missing = [
            int(np.searchsorted(*pair)) for pair in zip(cuts, map(float, places), strict=True)
        ]
        return CutSearch(cuts, missing)

    def _number_reader(self, batch: Batch) -> Callable[[slice, NDArray[np.float64]], None]:
        """What copies some rows of all numeric features into a matrix (feature, row).

        Whatever they are, they become floats of 64 bits, NaN where missing; whole numbers beyond
        2^53 are rounded like anywhere else.
        """
        array = batch.array
        if array is not None:
            columns = slice(None) if len(self._numeric) == array.shape[1] else self._numeric

            def read_array(rows: slice, numbers: NDArray[np.float64]) -> None:
                numbers[...] = array[rows].T[columns]

            return read_array
        contents = [_numbers(batch.features[place].read()) for place in self._numeric]

        def read_columns(rows: slice, numbers: NDArray[np.float64]) -> None:
            for row, content in zip(numbers, contents, strict=True):
                row[...] = content.values[rows]
                if content.missing is not None:
                    row[content.missing[rows]] = np.nan

        return read_columns

    def _category_readers(self, batch: Batch) -> dict[int, _RowCodes]:
        """For each category feature what gives the codes of some rows."""
        readers: dict[int, _RowCodes] = {}
        for place, feature in enumerate(self.schema.features.values()):
            groups = self.groups[place]
            if isinstance(feature, Categorical) and groups is not None:
                column = batch.features[place].read()
                dtype = category_code_dtype(feature)
                readers[place] = _row_codes(
                    column, feature.categories, feature.missing_place, dtype
                )
                if self.n_codes[place] < len(groups):
                    readers[place] = _grouped(readers[place], groups)
        return readers


def _numbers(column: Column) -> NumberColumn:
    return column if isinstance(column, NumberColumn) else NumberColumn(column_to_numbers(column))


def _row_codes(column: Column, labels: Sequence[Label], place: int, dtype: DTypeLike) -> _RowCodes:
    """What gives positions in a list of labels; unknown and missing values have `place`."""
    if isinstance(column, NumberColumn):
        values, missing = column.values, column.missing

        def of_numbers(rows: slice) -> NDArray[Any]:
            part = NumberColumn(values[rows], None if missing is None else missing[rows])
            return column_to_codes(part, labels, place, dtype)

        return of_numbers
    if isinstance(column, ValueColumn):
        return column_to_codes(column, labels, place, dtype).__getitem__
    positions = column.codes
    found = column_to_codes(ValueColumn(column.values), labels, place, dtype)
    table = np.append(found, np.array([place], dtype=dtype))  # last, where -1 finds it: missing
    return lambda rows: np.take(table, positions[rows])


def _grouped(row_codes: _RowCodes, groups: NDArray[np.int64]) -> _RowCodes:
    return lambda rows: groups[row_codes(rows)]
