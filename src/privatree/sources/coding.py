"""Frames to one matrix of small integer codes, which is what a learner counts.

The code of a number is how many public cuts lie below it, that of a category its position.
Records are read in blocks of rows, so nothing as large as the frame is copied on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.compiling import compiled
from privatree.schema import Categorical, Feature, Schema
from privatree.sources.columns import Column, NumberColumn, to_numbers
from privatree.sources.frames import category_codes, open_matched

THREADS = 2
_BLOCK_CELLS = 2**16  # values that are coded together: few enough to stay in the cache
_STEP = 16  # cuts that a search first passes over at once


def read_codes(
    X: Any,
    schema: Schema,
    cuts: Sequence[NDArray[np.float64] | None],
    names: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Read every feature of a schema from a frame as codes.

    Parameters
    ----------
    X : frame
        Anything :func:`privatree.sources.frames.open_frame` opens.
    schema : Schema
        What is public. Columns with names are matched by name, others by position.
    cuts : sequence of ndarray, or None
        For each numeric feature its increasing cut points, ``low <= cut < high``; None for
        categories.
    names : sequence of str, optional
        Names of the columns of a frame that has none of its own.

    Returns
    -------
    ndarray of unsigned integers, shape (n_rows, n_features)
        C-contiguous; bytes if no feature has more than 256 codes, else the next type that fits.
        The code of a number is how many cuts lie below it (a value equal to a cut belongs to its
        left), that of a category its position. Missing and unknown values have the code of the
        feature's ``missing_place``.

    Raises
    ------
    SchemaError
        If names, number or types of the columns contradict the schema.
    TypeError, ValueError
        If X is not a frame.
    """
    table, positions = open_matched(X, schema, names)
    coders = [_coder(*pair) for pair in zip(schema.features.values(), cuts, strict=True)]
    codes = np.empty((table.n_rows, len(coders)), dtype=np.min_scalar_type(_largest(coders)))
    one_by_one = dict(enumerate(coders))
    together = {p: coder for p, coder in one_by_one.items() if isinstance(coder, _Cut)}
    if table.array is not None and together:
        _code_numbers(table.array, [positions[place] for place in together], together, codes)
        one_by_one = {p: coder for p, coder in one_by_one.items() if p not in together}
    for place, coder in one_by_one.items():
        _code_column(table.columns[positions[place]].read(), coder, place, codes)
    return codes


class _Cut(NamedTuple):
    """A numeric feature: its cuts, and the code of a missing value."""

    cuts: NDArray[np.float64]
    missing: int


def _coder(feature: Feature, cuts: NDArray[np.float64] | None) -> _Cut | Categorical:
    if isinstance(feature, Categorical):
        return feature
    cuts = np.empty(0) if cuts is None else cuts
    return _Cut(cuts, int(np.searchsorted(cuts, float(feature.missing_place))))


def _largest(coders: Sequence[_Cut | Categorical]) -> int:
    """The largest code there can be."""
    return max(len(c.cuts) if isinstance(c, _Cut) else len(c.categories) - 1 for c in coders)


def _code_column(column: Column, coder: _Cut | Categorical, place: int, codes: Any) -> None:
    """Fill one column of the codes."""
    if isinstance(coder, _Cut):
        values = column.values if isinstance(column, NumberColumn) else to_numbers(column)
        _code_numbers(values[:, None], [0], {place: coder}, codes)
        if isinstance(column, NumberColumn) and column.missing is not None:
            codes[column.missing, place] = coder.missing
    elif isinstance(column, NumberColumn):
        values, missing = column.values, column.missing

        def code(rows: slice) -> None:
            part = NumberColumn(values[rows], None if missing is None else missing[rows])
            codes[rows, place] = category_codes(part, coder)

        _for_blocks(code, len(codes), 1)
    else:
        codes[:, place] = category_codes(column, coder)


def _code_numbers(
    array: NDArray[Any], columns: Sequence[int], coders: dict[int, _Cut], codes: NDArray[Any]
) -> None:
    """Fill some columns of the codes, the keys of `coders`, from those of a 2-D array of numbers.

    Values need not be clipped to their range first: every cut lies inside it, so a value below
    the range is below all of them, as its lower end is, and one above it is above all of them.
    """
    # Every kind of number is turned into one of two floats, block by block; whole numbers beyond
    # 2^53 are rounded like anywhere else.
    kind = np.float32 if np.can_cast(array.dtype, np.float32) else np.float64
    cuts, starts = _search_table([coder.cuts for coder in coders.values()], kind)
    missing = np.array([coder.missing for coder in coders.values()], dtype=codes.dtype)
    sources, places = np.array(columns, dtype=np.int64), np.array(list(coders), dtype=np.int64)

    def code(rows: slice) -> None:
        with np.errstate(all="ignore"):  # wider floats can overflow to infinity, as they should
            values = array[rows].T.astype(kind, order="C")
        _code_block(values, sources, cuts, starts, missing, codes[rows], places)

    _for_blocks(code, len(array), array.shape[1])


def _search_table(
    cuts: Sequence[NDArray[np.float64]], kind: type[np.floating[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The cuts of all features in one array, and where those of each begin.

    They are rounded *down*: a value of the narrower kind is above a cut if and only if it is above
    the largest value of its own kind that is not above the cut. Behind the cuts of each feature
    comes at least one infinity, up to a multiple of `_STEP`: no value is above that.
    """
    starts = np.cumsum([0, *(_STEP * (len(part) // _STEP + 1) for part in cuts)], dtype=np.int64)
    table = np.full(starts[-1], np.inf, dtype=kind)
    for part, start in zip(cuts, starts, strict=False):
        with np.errstate(over="ignore"):
            rounded = part.astype(kind)
        below = np.nextafter(rounded, kind(-np.inf))
        table[start : start + len(part)] = np.where(rounded > part, below, rounded)
    return table, starts


def _for_blocks(work: Callable[[slice], None], n_rows: int, n_columns: int) -> None:
    """Work on all rows, a block at a time, in threads if there is more than one block."""
    size = max(1, _BLOCK_CELLS // n_columns)
    blocks = [slice(start, start + size) for start in range(0, n_rows, size)]
    if len(blocks) < 2:
        for block in blocks:
            work(block)
    else:
        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            list(pool.map(work, blocks))


_unsigned = np.uint64  # an unsigned index spares the kernel a test for negative ones


@compiled
def _code_block(
    values: Any, sources: Any, cuts: Any, starts: Any, missing: Any, codes: Any, places: Any
) -> None:  # pragma: no cover
    """Search feature by feature: how many steps of 16 cuts, then where in one step.

    Each 16th cut is compared with many values at once, which is faster than halving all the way;
    no branch depends on a value.
    """
    n_rows = _unsigned(values.shape[1])
    at = np.empty(n_rows, dtype=np.uint32)
    for feature in range(_unsigned(len(sources))):
        source, place = _unsigned(sources[feature]), _unsigned(places[feature])
        first, end = _unsigned(starts[feature]), _unsigned(starts[feature + _unsigned(1)])
        row_values = values[source]
        at[:] = first
        for last in range(first + _unsigned(_STEP - 1), end - _unsigned(1), _unsigned(_STEP)):
            cut = cuts[last]
            for row in range(n_rows):
                at[row] += np.uint32(_STEP) if cut < row_values[row] else np.uint32(0)
        for row in range(n_rows):
            value = row_values[row]
            here = _unsigned(at[row])
            here += _unsigned(8) if cuts[here + _unsigned(7)] < value else _unsigned(0)
            here += _unsigned(4) if cuts[here + _unsigned(3)] < value else _unsigned(0)
            here += _unsigned(2) if cuts[here + _unsigned(1)] < value else _unsigned(0)
            here += _unsigned(1) if cuts[here] < value else _unsigned(0)
            codes[row, place] = here - first if value == value else missing[feature]
