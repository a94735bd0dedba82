"""Exact class counts by node and code, for one, two or three features at a time.

Splits and labels are decided from these counts, through a mechanism. Their names start with
``exact_`` wherever they go: they are secret. Whoever answers :class:`ClassCounts` can be asked by
a learner: records in memory do (:class:`BinnedRecords`), and passes over records that live
elsewhere (:mod:`privatree.counting._passes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting._count_kernels import (
    children_of,
    code,
    count_codes,
    count_nodes,
    count_pairs,
    count_rows,
    move,
    nodes_of,
    rows_of,
)

THREADS = 2
_MAX_SMALL = 2**31 - 1  # records whose counts fit in 32 bits
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


class Groups(NamedTuple):
    """The codes of every feature in groups: the rows of a table of counts, side by side."""

    row_of_code: NDArray[np.int32]
    """Of every code, its row among those of its feature."""
    firsts: NDArray[np.int64]
    """First row of each feature, and the number of rows; features without groups have none."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.firsts[-1])

    def used(self) -> list[int]:
        """The features that have rows."""
        return [int(feature) for feature in np.flatnonzero(np.diff(self.firsts))]

    def of(self, feature: int, offsets: NDArray[np.int64]) -> Rows:
        """The rows of one feature."""
        codes = self.row_of_code[offsets[feature] : offsets[feature + 1]]
        return Rows(feature, codes, int(self.firsts[feature + 1] - self.firsts[feature]))

    def some(self, chosen: NDArray[np.int64], offsets: NDArray[np.int64]) -> Groups:
        """These rows alone (increasing); codes of the others have a row beyond the last."""
        row_of_code = np.empty_like(self.row_of_code)
        sizes = []
        for feature, (first, end) in enumerate(pairwise(self.firsts.tolist())):
            here = chosen[(chosen >= first) & (chosen < end)] - first
            new_row = np.full(end - first + 1, len(here), dtype=np.int32)
            new_row[here] = np.arange(len(here))
            codes = slice(offsets[feature], offsets[feature + 1])
            row_of_code[codes] = new_row[np.minimum(self.row_of_code[codes], end - first)]
            sizes.append(len(here))
        return Groups(row_of_code, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


class Wanted(NamedTuple):
    """Counts that a node will need besides its class counts."""

    rows: Groups
    """Counts by these rows and the codes of all features."""
    upper: Groups | None = None
    """If not None: the same for the records of each of these rows."""

    @property
    def n_rows(self) -> int:
        """How many rows the table has; each has a count for every class and code."""
        return self.rows.n_rows * (1 if self.upper is None else self.upper.n_rows)


class Router(NamedTuple):
    """The tree so far, for records that start at its root: nodes are numbered from 0, the root."""

    features: NDArray[np.int32]
    """Of each node the feature it splits on, or -1."""
    split_of: NDArray[np.int32]
    """Of each node that splits its row in `children`."""
    children: NDArray[np.int32]
    """(split, code): the node that a code goes to, or -1 where no record can be."""
    places: NDArray[np.int32]
    """Of each node that does not split its place among those asked about, or -1."""


class ClassCounts(Protocol):
    """Answers a learner's queries about the nodes 0, 1, ... of the current level of its tree.

    At first all records are at node 0.
    """

    n_codes: list[int]
    n_classes: int
    offsets: NDArray[np.int64]

    @property
    def n_nodes(self) -> int:
        """How many nodes the current level has."""

    def prepare(self, wanted: Mapping[int, Wanted]) -> None:
        """Say what some nodes of this level will be asked for, so that one pass can answer all."""

    def class_counts(self) -> NDArray[np.int64]:
        """An array (node, class, code) of exact counts, the codes of all features side by side."""

    def class_totals(self) -> NDArray[np.int64]:
        """An array (node, class) of exact counts."""

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Exact counts of one node by the rows of one feature and the codes of all.

        Returns
        -------
        differences : array (row, class but the first, code)
            Count of the class minus count of the first class.
        totals : array (row, class)
            Records of each class.
        """

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        """For each row of `upper` the pair counts of its records, by the rows of all `middle`.

        The rows of the first feature of `middle` come first, then those of the second, and so on.
        """

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        """Go on to the next level.

        Parameters
        ----------
        features : array (node,)
            The feature each node splits on; -1 where it became a leaf.
        children : array (node, code)
            The number, in the next level, of the child that a code goes to; -1 for codes that no
            record of the node can have.
        """

    def in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The results of compiled `work` on each item, in order; in threads if it is worth it."""


class BinnedRecords:
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
    threads : int, optional
        How many threads may count at the same time.

    Notes
    -----
    The records of a node lie next to each other, so that counting is one walk over them.
    """

    def __init__(
        self,
        codes: NDArray[Any],
        n_codes: Sequence[int],
        labels: NDArray[Any],
        n_classes: int,
        threads: int | None = None,
    ) -> None:
        self._threads = THREADS if threads is None else threads
        self._codes = codes
        self._labels = labels
        self.n_codes = list(n_codes)
        self.n_classes = n_classes
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)
        self._starts = np.array([0, len(labels)], dtype=np.int64)  # node i: starts[i:i + 2]
        self._kind = np.int32 if len(labels) <= _MAX_SMALL else np.int64  # small ones are faster

    @property
    def n_nodes(self) -> int:
        """How many nodes the current level has."""
        return len(self._starts) - 1

    def prepare(self, wanted: Mapping[int, Wanted]) -> None:
        """Nothing: records in memory are counted when it is asked."""

    # --- answers --------------------------------------------------------------------------------

    def class_counts(self) -> NDArray[np.int64]:
        """See :class:`ClassCounts`."""
        shape = (self.n_nodes, self.n_classes, int(self.offsets[-1]))

        def count(chunk: tuple[int, int]) -> NDArray[Any]:
            table = np.zeros(shape, dtype=self._kind)
            count_codes(self._codes, self._labels, self._starts, *chunk, self.offsets, table)
            return table

        first, *others = self.in_threads(count, self._chunks())
        exact_counts = first.astype(np.int64)
        for other in others:
            exact_counts += other
        return exact_counts

    def class_totals(self) -> NDArray[np.int64]:
        """See :class:`ClassCounts`."""
        return np.array(
            [
                np.bincount(self._labels[start:stop], minlength=self.n_classes)
                for start, stop in pairwise(self._starts.tolist())
            ],
            dtype=np.int64,
        ).reshape(self.n_nodes, self.n_classes)

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """See :class:`ClassCounts`."""
        start, stop = self._starts[node], self._starts[node + 1]
        rows = rows_of(self._codes, start, stop, upper.feature, upper.row_of_code)
        table = self._empty(upper.n_rows)
        totals = np.zeros((upper.n_rows, self.n_classes), dtype=np.int64)
        count_pairs(self._codes, self._labels, start, rows, self.offsets, table, totals)
        return differences(table), totals

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        """See :class:`ClassCounts`."""
        n_rows = sum(group.n_rows for group in middle)
        for records in self._by_row(node, upper):
            table = self._empty(n_rows)
            totals = np.zeros((n_rows, self.n_classes), dtype=np.int64)
            self._count_rows(records, middle, table, totals)
            yield differences(table), totals

    # --- adding to a table ------------------------------------------------------------------------

    def add_class_counts(self, table: NDArray[np.int64]) -> None:
        """Add the class counts of all nodes to an array (node, class, code)."""
        arguments = (self._codes, self._labels, self._starts)
        count_codes(*arguments, 0, int(self._starts[-1]), self.offsets, table)

    def add_wanted(self, node: int, wanted: Wanted, table: NDArray[np.int64]) -> None:
        """Add the counts of higher order of one node to an array (rows, class, code).

        With upper rows they come first: (upper row, row, class, code).
        """
        middle = [wanted.rows.of(feature, self.offsets) for feature in wanted.rows.used()]
        totals = np.zeros((wanted.rows.n_rows, self.n_classes), dtype=np.int64)
        if wanted.upper is None:
            everything = np.arange(self._starts[node], self._starts[node + 1])
            self._count_rows(everything, middle, table, totals)
            return
        for feature in wanted.upper.used():
            parts = self._by_row(node, wanted.upper.of(feature, self.offsets))
            for row, records in enumerate(parts, start=int(wanted.upper.firsts[feature])):
                self._count_rows(records, middle, table[row], totals)

    def _by_row(self, node: int, upper: Rows) -> Iterator[NDArray[np.int64]]:
        """The records of a node that are in each row of a feature."""
        start, stop = self._starts[node], self._starts[node + 1]
        rows = rows_of(self._codes, start, stop, upper.feature, upper.row_of_code)
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(np.bincount(rows, minlength=upper.n_rows))[: upper.n_rows]
        for first, last in pairwise([0, *ends.tolist()]):
            yield order[first:last] + start

    def _count_rows(
        self,
        records: NDArray[np.int64],
        middle: Sequence[Rows],
        table: NDArray[Any],
        totals: NDArray[np.int64],
    ) -> None:
        features = np.array([group.feature for group in middle])
        firsts = np.cumsum([0, *(group.n_rows for group in middle)])
        row_of_code = np.zeros((len(middle), max(self.n_codes)), dtype=np.int32)
        for place, group in enumerate(middle):
            row_of_code[place, : len(group.row_of_code)] = group.row_of_code + firsts[place]
        arguments = (self._codes, self._labels, records, features, row_of_code)
        count_rows(*arguments, self.offsets, table, totals)

    # --- movement -------------------------------------------------------------------------------

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        """See :class:`ClassCounts`."""
        found = np.empty(len(self._labels), dtype=np.int32)
        arguments = (self._codes, self._starts, features, children)
        self.in_threads(lambda chunk: children_of(*arguments, *chunk, found), self._chunks())
        self._send(found, int(children[features >= 0].max(initial=-1)) + 1)

    def follow(self, router: Router) -> None:
        """Send records that are all at the root to the nodes that are asked about."""
        if router.features[0] < 0:
            return
        found = np.empty(len(self._labels), dtype=np.int32)
        nodes_of(self._codes, *router, found)
        self._send(found, int(router.places.max(initial=-1)) + 1)

    def _send(self, found: NDArray[np.int32], n_nodes: int) -> None:
        """Put the records of each node next to each other; those at -1 are left out."""
        chunks = self._chunks()
        counts = np.zeros((len(chunks), n_nodes), dtype=np.int64)
        self.in_threads(
            lambda place: count_nodes(found, *chunks[place], counts[place]), range(len(chunks))
        )
        sizes = counts.sum(axis=0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = starts[:-1] + np.concatenate([[np.zeros_like(sizes)], np.cumsum(counts, axis=0)])
        codes = np.empty((int(starts[-1]), self._codes.shape[1]), self._codes.dtype)
        labels = np.empty(int(starts[-1]), self._labels.dtype)
        arguments = (self._codes, self._labels, found)
        self.in_threads(
            lambda place: move(*arguments, *chunks[place], places[place], codes, labels),
            range(len(chunks)),
        )
        self._codes, self._labels, self._starts = codes, labels, starts

    def in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """See :class:`ClassCounts`."""
        if len(self._labels) < _FEW_RECORDS or len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(max_workers=self._threads) as pool:
            return list(pool.map(work, items))

    def _chunks(self) -> list[tuple[int, int]]:
        """The records of the level in one part for each thread."""
        n_records = int(self._starts[-1])
        parts = 1 if n_records < _FEW_RECORDS else self._threads
        edges = [n_records * part // parts for part in range(parts + 1)]
        return list(pairwise(edges))

    def _empty(self, n_rows: int) -> NDArray[Any]:
        """A table of counts; of two classes only the difference is counted."""
        n_classes = 1 if self.n_classes == 2 else self.n_classes
        return np.zeros((n_rows, n_classes, int(self.offsets[-1])), dtype=self._kind)


def bin_numbers(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[Any]:
    """How many of the increasing cuts lie below each value, in one byte if they fit."""
    codes = np.empty(len(values), dtype=np.min_scalar_type(len(cuts)))
    code(values, cuts, codes)
    return codes


def differences(table: NDArray[Any]) -> NDArray[Any]:
    """Counts of each class minus those of the first, from an array (row, class, code)."""
    return table if table.shape[1] == 1 else table[:, 1:] - table[:, :1]
