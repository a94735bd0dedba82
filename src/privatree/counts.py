"""Exact class counts by node and code, for one, two or three features at a time.

This is the only code that touches coded records. Splits and labels are decided from these counts,
through a mechanism. Their names start with ``exact_`` wherever they go: they are secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.compiling import compiled

THREADS = 2
_FEW_RECORDS = 20_000  # below this, starting threads costs more than it saves

Item = TypeVar("Item")
Result = TypeVar("Result")


class Rows(NamedTuple):
    """A feature's codes in groups, which are the rows of a table of counts.

    Parameters
    ----------
    feature : int
        Position of the feature.
    row_of_code : array of int32
        The row of each of its codes.
    n_rows : int
        How many rows there are.
    """

    feature: int
    row_of_code: NDArray[np.int32]
    n_rows: int


class CodedRecords:
    """Records as small integer codes, each at the node of a growing tree it has reached.

    Parameters
    ----------
    codes : array (record, feature) of unsigned integers
        The codes of each record. It is not changed.
    n_codes : sequence of int
        How many codes each feature has.
    labels : array of unsigned integers
        The class code of each record.
    n_classes : int
        How many classes there are.

    Notes
    -----
    Active nodes are numbered 0, 1, ... within the current level; at first all records are at
    node 0. The records of a node lie next to each other, so that counting is one walk over them.
    """

    def __init__(
        self,
        codes: NDArray[Any],
        n_codes: Sequence[int],
        labels: NDArray[Any],
        n_classes: int,
    ) -> None:
        self._codes = codes
        self._labels = labels
        self.n_codes = list(n_codes)
        self.n_classes = n_classes
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)
        self._starts = np.array([0, len(labels)], dtype=np.int64)  # node i: starts[i:i + 2]

    @property
    def n_nodes(self) -> int:
        """How many nodes the current level has."""
        return len(self._starts) - 1

    def class_counts(self) -> NDArray[np.int64]:
        """An array (node, class, code) of exact counts, the codes of all features side by side."""
        shape = (self.n_nodes, self.n_classes, int(self.offsets[-1]))

        def count(chunk: tuple[int, int]) -> NDArray[np.int32]:
            table = np.zeros(shape, dtype=np.int32)
            _count_codes(self._codes, self._labels, self._starts, *chunk, self.offsets, table)
            return table

        first, *others = self.in_threads(count, self._chunks())
        exact_counts = first.astype(np.int64)
        for other in others:
            exact_counts += other
        return exact_counts

    def class_totals(self) -> NDArray[np.int64]:
        """An array (node, class) of exact counts."""
        return np.array(
            [
                np.bincount(self._labels[start:stop], minlength=self.n_classes)
                for start, stop in pairwise(self._starts.tolist())
            ],
            dtype=np.int64,
        ).reshape(self.n_nodes, self.n_classes)

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Exact counts of one node by the rows of one feature and the codes of all.

        Returns
        -------
        differences : array (row, class but the first, code)
            Count of the class minus count of the first class.
        totals : array (row, class)
            Records of each class.
        """
        start, stop = self._starts[node], self._starts[node + 1]
        rows = _rows_of(self._codes, start, stop, upper.feature, upper.row_of_code)
        table = self._empty(upper.n_rows)
        totals = np.zeros((upper.n_rows, self.n_classes), dtype=np.int64)
        _count_pairs(self._codes, self._labels, start, rows, self.offsets, table, totals)
        return _differences(table), totals

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """For each row of `upper` the pair counts of its records, by the rows of all `middle`.

        The rows of the first feature of `middle` come first, then those of the second, and so on.
        """
        start, stop = self._starts[node], self._starts[node + 1]
        rows = _rows_of(self._codes, start, stop, upper.feature, upper.row_of_code)
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(np.bincount(rows, minlength=upper.n_rows))
        features = np.array([group.feature for group in middle])
        firsts = np.cumsum([0, *(group.n_rows for group in middle)])
        row_of_code = np.zeros((len(middle), max(self.n_codes)), dtype=np.int32)
        for place, group in enumerate(middle):
            row_of_code[place, : len(group.row_of_code)] = group.row_of_code + firsts[place]
        for first, last in pairwise([0, *ends.tolist()]):
            table = self._empty(int(firsts[-1]))
            totals = np.zeros((int(firsts[-1]), self.n_classes), dtype=np.int64)
            records = order[first:last] + start
            _count_triples(
                self._codes,
                self._labels,
                records,
                features,
                row_of_code,
                self.offsets,
                table,
                totals,
            )
            yield _differences(table), totals

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        """Move every record to the next level.

        Parameters
        ----------
        features : array (node,)
            The feature each node splits on; -1 where it became a leaf.
        children : array (node, code)
            The number, in the next level, of the child that a code goes to.
        """
        n_children = int(children[features >= 0].max(initial=-1)) + 1
        chunks = self._chunks()
        counts = np.zeros((len(chunks), n_children), dtype=np.int64)
        arguments = (self._codes, self._starts, features, children)
        self.in_threads(
            lambda place: _count_children(*arguments, *chunks[place], counts[place]),
            range(len(chunks)),
        )
        sizes = counts.sum(axis=0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = starts[:-1] + np.concatenate([[np.zeros_like(sizes)], np.cumsum(counts, axis=0)])
        codes = np.empty((int(starts[-1]), self._codes.shape[1]), self._codes.dtype)
        labels = np.empty(int(starts[-1]), self._labels.dtype)
        self.in_threads(
            lambda place: _move(
                *arguments, *chunks[place], self._labels, places[place], codes, labels
            ),
            range(len(chunks)),
        )
        self._codes, self._labels, self._starts = codes, labels, starts

    def in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The results of compiled `work` on each item, in order; in threads if it is worth it."""
        if len(self._labels) < _FEW_RECORDS or len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            return list(pool.map(work, items))

    def _chunks(self) -> list[tuple[int, int]]:
        """The records of the level in one part for each thread."""
        n_records = int(self._starts[-1])
        parts = 1 if n_records < _FEW_RECORDS else THREADS
        edges = [n_records * part // parts for part in range(parts + 1)]
        return list(pairwise(edges))

    def _empty(self, n_rows: int) -> NDArray[np.int32]:
        """A table of counts; of two classes only the difference is counted."""
        n_classes = 1 if self.n_classes == 2 else self.n_classes
        return np.zeros((n_rows, n_classes, int(self.offsets[-1])), dtype=np.int32)


def code_numbers(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[Any]:
    """How many of the increasing cuts lie below each value, in one byte if they fit."""
    codes = np.empty(len(values), dtype=np.min_scalar_type(len(cuts)))
    _code(values, cuts, codes)
    return codes


def _differences(table: NDArray[np.int32]) -> NDArray[np.int32]:
    return table if table.shape[1] == 1 else table[:, 1:] - table[:, :1]


# --- kernels ------------------------------------------------------------------------------------

_unsigned = np.uint64  # an unsigned index spares the kernel a test for negative ones


@compiled
def _count_codes(
    codes: Any, labels: Any, starts: Any, first: Any, last: Any, offsets: Any, table: Any
) -> None:
    n_features = _unsigned(codes.shape[1])
    node = 0
    for record in range(first, last):
        while record >= starts[node + 1]:
            node += 1
        row, record_codes = table[node, labels[record]], codes[record]
        for feature in range(n_features):
            row[_unsigned(offsets[feature]) + _unsigned(record_codes[feature])] += 1


@compiled
def _rows_of(codes: Any, start: Any, stop: Any, feature: Any, row_of_code: Any) -> Any:
    rows = np.empty(stop - start, dtype=np.int32)
    for place in range(stop - start):
        rows[place] = row_of_code[codes[start + place, feature]]
    return rows


@compiled
def _count_pairs(
    codes: Any, labels: Any, start: Any, rows: Any, offsets: Any, table: Any, totals: Any
) -> None:
    n_features = _unsigned(codes.shape[1])
    signed = table.shape[1] == 1
    for place in range(rows.size):
        label = labels[start + place]
        totals[rows[place], label] += 1
        row, record_codes = table[rows[place], 0 if signed else label], codes[start + place]
        step = np.int32(2 * np.int32(label) - 1 if signed else 1)
        for feature in range(n_features):
            row[_unsigned(offsets[feature]) + _unsigned(record_codes[feature])] += step


@compiled
def _count_triples(
    codes: Any,
    labels: Any,
    records: Any,
    middle: Any,
    row_of_code: Any,
    offsets: Any,
    table: Any,
    totals: Any,
) -> None:
    n_features = _unsigned(codes.shape[1])
    signed = table.shape[1] == 1
    for record in records:
        label, record_codes = labels[record], codes[record]
        step = np.int32(2 * np.int32(label) - 1 if signed else 1)
        for place in range(middle.size):
            group = row_of_code[place, codes[record, middle[place]]]
            totals[group, label] += 1
            row = table[group, 0 if signed else label]
            for feature in range(n_features):
                row[_unsigned(offsets[feature]) + _unsigned(record_codes[feature])] += step


@compiled
def _count_children(
    codes: Any, starts: Any, features: Any, children: Any, first: Any, last: Any, counts: Any
) -> None:
    node = 0
    for record in range(first, last):
        while record >= starts[node + 1]:
            node += 1
        if features[node] >= 0:
            counts[children[node, codes[record, features[node]]]] += 1


@compiled
def _move(
    codes: Any,
    starts: Any,
    features: Any,
    children: Any,
    first: Any,
    last: Any,
    labels: Any,
    places: Any,
    new_codes: Any,
    new_labels: Any,
) -> None:
    n_features = codes.shape[1]
    node = 0
    for record in range(first, last):
        while record >= starts[node + 1]:
            node += 1
        if features[node] >= 0:
            child = children[node, codes[record, features[node]]]
            place = places[child]
            places[child] += 1
            new_labels[place] = labels[record]
            for feature in range(n_features):
                new_codes[place, feature] = codes[record, feature]


@compiled
def _code(values: Any, cuts: Any, codes: Any) -> None:
    for record in range(values.size):
        value = values[record]
        low, length = 0, cuts.size
        while length > 0:  # halving without unpredictable branches
            half = (length + 1) >> 1
            low += half if cuts[low + half - 1] < value else 0
            length -= half
        codes[record] = low
