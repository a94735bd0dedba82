"""Exact class counts by node and code, for one, two or three features at a time.

If records have weights, a count is the sum of their weights. Weights are whole numbers, so all sums
are exact.

Counts of higher order are pair counts, for two features, and triple counts, for three.

A learner chooses splits and labels from these counts, through a mechanism. The counts are secret,
so their names start with ``exact_`` everywhere. :class:`ClassCounts` is what a learner may ask for.
Two classes answer: :class:`BinnedRecords` from records in memory, and ``PassCounts`` from passes
over records elsewhere (``_passes.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting._count_kernels import (
    add_class_totals,
    count_cuts_below,
    count_feature_pairs,
    count_records_by_code,
    count_records_by_rows,
    count_records_of_nodes,
    find_record_children,
    find_record_nodes,
    find_record_rows,
    move_records,
    translate_codes,
)
from privatree.counting._leaf_targets import LeafTargets, count_leaves

if TYPE_CHECKING:
    from privatree.counting._binner import Binner
    from privatree.counting.sums._signed_sums import SignedSums

THREADS = 2
_MAX_SMALL = 2**31 - 1  # largest number of records whose counts fit in 32 bits
_FEW_RECORDS = 20_000  # for fewer records, starting threads costs more than it saves

Item = TypeVar("Item")
Result = TypeVar("Result")


class Rows(NamedTuple):
    """Groups of the codes of one feature. Each group is a row of a table of counts."""

    feature: int
    row_of_code: NDArray[np.int32]
    n_rows: int


class Groups(NamedTuple):
    """Groups of the codes of each feature. One table of counts has the rows of all features."""

    row_of_code: NDArray[np.int32]
    """Row of each code, counted from the first row of its feature."""
    firsts: NDArray[np.int64]
    """First row of each feature, and the number of all rows. A feature may have no rows."""

    @property
    def n_rows(self) -> int:
        return int(self.firsts[-1])

    def used_features(self) -> list[int]:
        return [int(feature) for feature in np.flatnonzero(np.diff(self.firsts))]

    def rows_of_feature(self, feature: int, offsets: NDArray[np.int64]) -> Rows:
        codes = self.row_of_code[offsets[feature] : offsets[feature + 1]]
        return Rows(feature, codes, int(self.firsts[feature + 1] - self.firsts[feature]))

    def select_rows(self, chosen: NDArray[np.int64], offsets: NDArray[np.int64]) -> Groups:
        """Keep the chosen, increasing rows. Codes of other rows get a row beyond the last."""
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
    """Pair or triple counts that a node needs besides its class counts."""

    rows: Groups
    """Rows of the pair counts: each row has a count for every class and code."""
    upper: Groups | None = None
    """Rows of the triple counts: each has pair counts of its own. None if no triples are needed."""

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows * (1 if self.upper is None else self.upper.n_rows)


class Router(NamedTuple):
    """Splits drawn so far, which send a record from the root, node 0, to the node it reaches."""

    features: NDArray[np.int32]
    """Feature on which each node splits, or -1."""
    split_of: NDArray[np.int32]
    """Row in `children` of each node that splits."""
    children: NDArray[np.int32]
    """(split, code): node to which a code goes, or -1 if no record can have this code."""
    places: NDArray[np.int32]
    """Place of each node among those that are asked about, or -1."""


class ClassCounts(Protocol):
    """Counts that a learner can ask for, of the nodes 0, 1, ... of the current level of its tree.

    At first all records are at node 0.
    """

    n_codes: list[int]
    n_classes: int
    offsets: NDArray[np.int64]
    full_weight: int
    """What a record, or all records of a unit together, add to a count at most; 1 if every record
    counts once. It is public."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the current level."""

    def merge_codes(self, binner: Binner, merged: Sequence[NDArray[np.int64]]) -> None:
        """Go over to coarser codes, before the first level.

        `merged` has, for each feature, the code under `binner` of each code so far.
        """

    def merge_classes(self, merged: NDArray[np.uint8], n_classes: int) -> None:
        """Go over to coarser classes, before the first level.

        `merged` has the class of each code of a numeric target. Before, there are as many classes
        as codes, and only ``class_totals`` may be asked for.
        """

    def weigh_classes(self, factors: Sequence[int], full_factor: int) -> None:
        """Multiply the weight of each record by the factor of its class, before the first level.

        Factors are public or released, from 1 to `full_factor`. ``full_weight`` is multiplied by
        `full_factor`.
        """

    def open_sums(self, n_scores: int) -> SignedSums:
        """Return signed sums of the same records with the same weights, for an ensemble.

        `n_scores` is the number of scores of a record: 1 for two classes and for a numeric target,
        else one for each class. Of a numeric target, they have the codes, merged or not.
        """

    def prepare_counts(self, wanted: Mapping[int, Wanted]) -> None:
        """Announce which pair and triple counts are needed, so that one pass can count all."""

    def class_counts(self) -> NDArray[np.int64]:
        """Return exact counts, an array (node, class, code) over the codes of all features."""

    def class_totals(self) -> NDArray[np.int64]:
        """Return exact counts, an array (node, class)."""

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return exact counts of one node by the rows of one feature and the codes of all features.

        The first array (row, class but the first, code) has the count of the class minus the count
        of the first class. The second array (row, class) has the number of records.
        """

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        """Yield, for each row of `upper`, the pair counts of its records by all rows of `middle`.

        The rows of the first feature of `middle` come first, then those of the second, and so on.
        """

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        """Go on to the next level.

        `features` has the feature on which each node splits, or -1 for a leaf. `children` is an
        array (node, code) of the child in the next level, or -1 if no record can have this code.
        After ``merge_classes``, ``LEAF - k`` stands for leaf k: its records leave the levels, and
        ``target_sums`` counts them.
        """

    def target_sums(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return exact sums over the records of each leaf so far, an array (leaf, column).

        Each record adds the row of `table` of its target code, times its weight.
        """

    def map_in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the results of compiled `work` on each item, in order. Large work uses threads."""


class BinnedRecords:
    """Records in memory as small integer codes, sorted by the node of the growing tree they reach.

    The records of a node are adjacent in memory, so one loop counts them.

    Parameters
    ----------
    codes : array (record, feature) of unsigned integers
        Code of each value. The array is not changed.
    n_codes : sequence of int
        Number of codes of each feature.
    labels : array of unsigned integers
        Class code of each record.
    n_classes : int
        Number of classes.
    threads : int, optional
        Largest number of threads that count at the same time.
    weights : array of int32, optional
        Weight of each record, from 0 to `full_weight`. By default, every record counts once.
    full_weight : int, default=1
        What a record, or all records of a unit together, weigh at most.
    """

    def __init__(
        self,
        codes: NDArray[Any],
        n_codes: Sequence[int],
        labels: NDArray[Any],
        n_classes: int,
        threads: int | None = None,
        *,
        weights: NDArray[np.int32] | None = None,
        full_weight: int = 1,
    ) -> None:
        self._threads = THREADS if threads is None else threads
        self._codes = codes
        self._labels = labels
        self._weights = weights
        self.full_weight = full_weight
        self.n_codes = list(n_codes)
        self.n_classes = n_classes
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)
        self._starts = np.array([0, len(labels)], dtype=np.int64)  # node i: starts[i:i + 2]
        self._exact_counts: NDArray[np.int64] | None = None  # of this level, once asked for
        self._targets: NDArray[Any] | None = None  # their codes, if classes were merged
        self._leaf_targets = LeafTargets()

    @property
    def n_nodes(self) -> int:
        return len(self._starts) - 1

    def merge_codes(self, binner: Binner, merged: Sequence[NDArray[np.int64]]) -> None:
        kind = np.min_scalar_type(max(binner.n_codes) - 1)
        table = np.zeros((len(merged), max(map(len, merged))), dtype=kind)
        for feature, new_codes in enumerate(merged):
            table[feature, : len(new_codes)] = new_codes
        codes = np.empty(self._codes.shape, dtype=kind)
        self.map_in_threads(
            lambda chunk: translate_codes(self._codes, table, *chunk, codes),
            self._chunks_for_threads(),
        )
        if self._exact_counts is not None:
            exact_counts = merge_counts(self._exact_counts[0], self.n_codes, binner, merged)
            self._exact_counts = exact_counts[np.newaxis]
        self._codes, self.n_codes = codes, list(binner.n_codes)
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)

    def merge_classes(self, merged: NDArray[np.uint8], n_classes: int) -> None:
        self._targets, self._labels = self._labels, merged[self._labels]
        self.n_classes, self._exact_counts = n_classes, None

    def weigh_classes(self, factors: Sequence[int], full_factor: int) -> None:
        weights = np.array(factors, dtype=np.int32)[self._labels]
        if self._weights is not None:
            weights *= self._weights
        self._weights, self.full_weight = weights, self.full_weight * full_factor
        if self._exact_counts is not None:
            self._exact_counts = multiply_classes(self._exact_counts, factors)

    def open_sums(self, n_scores: int) -> SignedSums:
        from privatree.counting.sums._signed_sums import MemorySums

        codes = np.ascontiguousarray(self._codes.T)
        labels = self._labels if self._targets is None else self._targets
        arguments = (labels, self._weights, self.full_weight, n_scores, self._threads)
        return MemorySums(codes, self.offsets, *arguments)

    @property
    def _count_dtype(self) -> type[np.signedinteger[Any]]:
        """Type of counts: a small one, which is faster, if all counts fit in it."""
        return np.int32 if len(self._labels) * self.full_weight <= _MAX_SMALL else np.int64

    def prepare_counts(self, wanted: Mapping[int, Wanted]) -> None:
        """Do nothing: records in memory are counted when counts are asked for."""

    # --- answers --------------------------------------------------------------------------------

    def class_counts(self) -> NDArray[np.int64]:
        if self._exact_counts is None:
            self._exact_counts = self._count_classes()
        return self._exact_counts

    def _count_classes(self) -> NDArray[np.int64]:
        shape = (self.n_nodes, self.n_classes, int(self.offsets[-1]))

        def count_chunk(chunk: tuple[int, int]) -> NDArray[Any]:
            table = np.zeros(shape, dtype=self._count_dtype)
            arguments = (self._codes, self._labels, self._weights, self._starts)
            count_records_by_code(*arguments, *chunk, self.offsets, table)
            return table

        first, *others = self.map_in_threads(count_chunk, self._chunks_for_threads())
        exact_counts = first.astype(np.int64)
        for other in others:
            exact_counts += other
        return exact_counts

    def class_totals(self) -> NDArray[np.int64]:
        exact_totals = np.zeros((self.n_nodes, self.n_classes), dtype=np.int64)
        for node, (start, stop) in enumerate(pairwise(self._starts.tolist())):
            add_class_totals(self._labels, self._weights, start, stop, exact_totals[node])
        return exact_totals

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[Any], NDArray[np.int64]]:
        start, stop = self._starts[node], self._starts[node + 1]
        rows = find_record_rows(self._codes, start, stop, upper.feature, upper.row_of_code)
        table = self._zero_table(upper.n_rows)
        totals = np.zeros((upper.n_rows, self.n_classes), dtype=np.int64)
        arguments = (self._codes, self._labels, self._weights, start, rows)
        count_feature_pairs(*arguments, self.offsets, table, totals)
        return class_count_differences(table), totals

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        n_rows = sum(group.n_rows for group in middle)
        for records in self._records_by_row(node, upper):
            table = self._zero_table(n_rows)
            totals = np.zeros((n_rows, self.n_classes), dtype=np.int64)
            self._count_by_rows(records, middle, table, totals)
            yield class_count_differences(table), totals

    def target_sums(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._leaf_targets.sums(table)

    # --- adding to a table ------------------------------------------------------------------------

    def add_class_counts(self, table: NDArray[np.int64]) -> None:
        arguments = (self._codes, self._labels, self._weights, self._starts)
        count_records_by_code(*arguments, 0, int(self._starts[-1]), self.offsets, table)

    def add_wanted(self, node: int, wanted: Wanted, table: NDArray[np.int64]) -> None:
        """Add the pair or triple counts of one node to an array (row, class, code).

        With upper rows the array is (upper row, row, class, code).
        """
        middle = [
            wanted.rows.rows_of_feature(feature, self.offsets)
            for feature in wanted.rows.used_features()
        ]
        totals = np.zeros((wanted.rows.n_rows, self.n_classes), dtype=np.int64)
        if wanted.upper is None:
            everything = np.arange(self._starts[node], self._starts[node + 1])
            self._count_by_rows(everything, middle, table, totals)
            return
        for feature in wanted.upper.used_features():
            parts = self._records_by_row(node, wanted.upper.rows_of_feature(feature, self.offsets))
            for row, records in enumerate(parts, start=int(wanted.upper.firsts[feature])):
                self._count_by_rows(records, middle, table[row], totals)

    def _records_by_row(self, node: int, upper: Rows) -> Iterator[NDArray[np.int64]]:
        """Yield the positions of the records of a node, for each row of a feature."""
        start, stop = self._starts[node], self._starts[node + 1]
        rows = find_record_rows(self._codes, start, stop, upper.feature, upper.row_of_code)
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(np.bincount(rows, minlength=upper.n_rows))[: upper.n_rows]
        for first, last in pairwise([0, *ends.tolist()]):
            yield order[first:last] + start

    def _count_by_rows(
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
        arguments = (self._codes, self._labels, self._weights, records, features, row_of_code)
        count_records_by_rows(*arguments, self.offsets, table, totals)

    # --- movement -------------------------------------------------------------------------------

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        found = np.empty(len(self._labels), dtype=np.int32)
        arguments = (self._codes, self._starts, features, children)
        self.map_in_threads(
            lambda chunk: find_record_children(*arguments, *chunk, found),
            self._chunks_for_threads(),
        )
        going = children[features >= 0]
        if self._targets is not None:
            self._leaf_targets.add(count_leaves(going), found, self._targets, self._weights)
        self._move_to_nodes(found, int(going.max(initial=-1)) + 1)

    def follow_router(self, router: Router) -> None:
        """Send all records from the root to the nodes that are asked about."""
        if router.features[0] < 0:
            return
        found = np.empty(len(self._labels), dtype=np.int32)
        find_record_nodes(self._codes, *router, found)
        self._move_to_nodes(found, int(router.places.max(initial=-1)) + 1)

    def _move_to_nodes(self, found: NDArray[np.int32], n_nodes: int) -> None:
        """Copy records so that those of a node are adjacent; leave out those without a node."""
        chunks = self._chunks_for_threads()
        counts = np.zeros((len(chunks), n_nodes), dtype=np.int64)
        self.map_in_threads(
            lambda place: count_records_of_nodes(found, *chunks[place], counts[place]),
            range(len(chunks)),
        )
        sizes = counts.sum(axis=0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = starts[:-1] + np.concatenate([[np.zeros_like(sizes)], np.cumsum(counts, axis=0)])
        codes = np.empty((int(starts[-1]), self._codes.shape[1]), self._codes.dtype)
        labels = np.empty(int(starts[-1]), self._labels.dtype)
        weights = None if self._weights is None else np.empty(int(starts[-1]), np.int32)
        targets = None if self._targets is None else np.empty(int(starts[-1]), self._targets.dtype)
        before = self._codes, self._labels, self._weights, self._targets
        after = codes, labels, weights, targets
        self.map_in_threads(
            lambda place: move_records(*before, found, *chunks[place], places[place], *after),
            range(len(chunks)),
        )
        self._codes, self._labels, self._weights, self._targets = after
        self._starts = starts
        self._exact_counts = None

    def map_in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        if len(self._labels) < _FEW_RECORDS or len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(max_workers=self._threads) as pool:
            return list(pool.map(work, items))

    def _chunks_for_threads(self) -> list[tuple[int, int]]:
        """Divide the records of the level into one range for each thread."""
        n_records = int(self._starts[-1])
        parts = 1 if n_records < _FEW_RECORDS else self._threads
        edges = [n_records * part // parts for part in range(parts + 1)]
        return list(pairwise(edges))

    def _zero_table(self, n_rows: int) -> NDArray[Any]:
        """Return a table of zeros. For two classes it will hold only the difference of counts."""
        n_classes = 1 if self.n_classes == 2 else self.n_classes
        return np.zeros((n_rows, n_classes, int(self.offsets[-1])), dtype=self._count_dtype)


def multiply_classes(exact_counts: NDArray[np.int64], factors: Sequence[int]) -> NDArray[np.int64]:
    """Return counts, an array (..., class, code), with those of each class times its factor."""
    product: NDArray[np.int64] = exact_counts * np.array(factors, dtype=np.int64)[:, np.newaxis]
    return product


def merge_counts(
    exact_counts: NDArray[np.int64],
    n_codes: Sequence[int],
    binner: Binner,
    merged: Sequence[NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return counts (class, code) of all records for the coarser codes of `binner`."""
    parts = []
    exact_parts = np.split(exact_counts, np.cumsum(n_codes)[:-1], axis=1)
    for exact_part, new_codes, n_new in zip(exact_parts, merged, binner.n_codes, strict=True):
        part = np.zeros((len(exact_counts), n_new), dtype=np.int64)
        np.add.at(part.T, new_codes, exact_part.T)
        parts.append(part)
    return np.concatenate(parts, axis=1)


def bin_numbers(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[Any]:
    """Return how many of the increasing cuts lie below each value, in the smallest integer type."""
    codes = np.empty(len(values), dtype=np.min_scalar_type(len(cuts)))
    count_cuts_below(values, cuts, codes)
    return codes


def class_count_differences(table: NDArray[Any]) -> NDArray[Any]:
    """Subtract the first class's counts from the others', in an array (row, class, code)."""
    return table if table.shape[1] == 1 else table[:, 1:] - table[:, :1]
