"""Class counts from passes over records that are not in memory: usually one pass for each level.

A pass sends every row down the tree so far, and counts it at the node it reaches, for all nodes of
the level at once. If a node has counts of higher order, the counts of the subtree below it that is
drawn jointly follow from them, without another pass. If the counts of higher order do not fit in
memory at once, several passes count them in parts (``_table_parts.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner, MergedClasses
from privatree.counting._counts import (
    THREADS,
    Groups,
    Item,
    Result,
    Router,
    Rows,
    Wanted,
    class_count_differences,
    merge_counts,
    multiply_classes,
)
from privatree.counting._leaf_targets import LEAF, LeafNodes
from privatree.counting._queries import CountQuery, TableQuery, full_weight_of
from privatree.counting._table_parts import TableParts
from privatree.counting._target_queries import LeafQuery, TargetQuery
from privatree.counting._weights import Weigher
from privatree.counting.sums._pass_sums import PassSums
from privatree.counting.sums._signed_sums import SignedSums
from privatree.errors import SourceError

MAX_CELLS = 2**29
"""Largest number of counts of higher order in one pass: 4 GiB."""

RECORDS_CHANGED = (
    "the records must be the same in every pass over them, but were not: rows were added, removed "
    "or changed during the training. Train on a copy that does not change."
)


@dataclass
class _Node:
    """Node of the current level, and its counts as far as they are known."""

    number: int
    exact_totals: NDArray[np.int64] | None = None
    exact_counts: NDArray[np.int64] | None = None
    wanted: Wanted | None = None
    exact_table: NDArray[np.int64] | None = None
    """Counts of higher order that `wanted` describes."""
    exact_part: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """Some codes and their class counts, known from the node above."""
    is_derived: bool = False
    """Whether the counts come from a table of a node above. Then no pass sends records here."""

    def agrees_with_pass(self, counts: NDArray[np.int64], totals: NDArray[np.int64]) -> bool:
        """Tell whether the counts of a new pass equal the known counts of earlier passes."""
        codes, exact_part = self.exact_part or (np.arange(0), counts[:, :0])
        return (
            (self.exact_totals is None or np.array_equal(self.exact_totals, totals))
            and (self.exact_counts is None or np.array_equal(self.exact_counts, counts))
            and np.array_equal(counts[:, codes], exact_part)
        )

    def exact_pairs(self) -> NDArray[np.int64]:
        """Return the counts of feature pairs, an array (group of codes, class, code).

        Where the pass counted triples of features, they are summed over the third feature.
        """
        wanted, exact_table = _require_pass(self.wanted), _require_pass(self.exact_table)
        return exact_table if wanted.upper is None else _sum_pass_table(exact_table, wanted.upper)


class PassCounts:
    """Class counts (:class:`privatree.counting.ClassCounts`) from passes over a source.

    `answer` makes one pass. A SourceError is raised if a later pass finds other records.
    """

    def __init__(
        self,
        answer: Callable[[Any], Any],
        binner: Binner,
        weigher: Weigher | None = None,
    ) -> None:
        self._answer, self._binner, self._weigher = answer, binner, weigher
        self._factors: Sequence[int] | None = None  # of the classes, if they have weights
        self.full_weight = full_weight_of(weigher)
        self.n_codes = list(binner.n_codes)
        self.n_classes = binner.n_classes
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)
        self._features = [-1]  # this list and the next two are the fields of a Router
        self._splits = [-1]
        self._children: list[NDArray[np.int32]] = []
        self._level = [_Node(0)]
        self._leaves: LeafNodes | None = None  # only if classes were merged
        self._exact_targets: NDArray[np.int64] | None = None  # by code, only for a numeric target
        self._in_parts: TableParts | None = None  # only if the level's counts do not fit in memory
        self.n_passes = 0
        self.exact_rows = 0
        if binner.schema.target is None:
            self.prepare_counts({})
        else:
            (exact_totals,) = self._make_pass(TargetQuery(binner, weigher))
            self._level[0].exact_totals = self._exact_targets = exact_totals

    @property
    def n_nodes(self) -> int:
        return len(self._level)

    def merge_codes(self, binner: Binner, merged: Sequence[NDArray[np.int64]]) -> None:
        (root,) = self._level
        if root.exact_counts is not None:
            root.exact_counts = merge_counts(root.exact_counts, self.n_codes, binner, merged)
        self._binner = binner.with_merged(self._binner.merged)
        self.n_codes = list(binner.n_codes)
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)

    def merge_classes(self, merged: NDArray[np.uint8], n_classes: int) -> None:
        (root,) = self._level
        exact_totals = np.zeros(n_classes, dtype=np.int64)
        np.add.at(exact_totals, merged, _require_pass(root.exact_totals))
        root.exact_totals, self.n_classes = exact_totals, n_classes
        self._binner = self._binner.with_merged(MergedClasses(merged, n_classes))
        self._leaves = LeafNodes()

    def weigh_classes(self, factors: Sequence[int], full_factor: int) -> None:
        (root,) = self._level
        root.exact_counts = multiply_classes(_require_pass(root.exact_counts), factors)
        root.exact_totals = _require_pass(root.exact_totals) * np.array(factors, dtype=np.int64)
        self._factors, self.full_weight = factors, self.full_weight * full_factor

    def open_sums(self, n_scores: int) -> SignedSums:
        return PassSums(
            self._answer,
            self._binner.with_merged(None),
            self._weigher,
            self._factors,
            self.full_weight,
            self.exact_rows,
            self.class_totals()[0] if self._exact_targets is None else self._exact_targets,
            n_scores,
            RECORDS_CHANGED,
        )

    # --- passes ---------------------------------------------------------------------------------

    def prepare_counts(self, wanted: Mapping[int, Wanted]) -> None:
        """Make a pass, unless all counts are known."""
        unknown = {
            place: asked
            for place, asked in wanted.items()
            if self._level[place].exact_table is None
        }
        row_cells = self.n_classes * int(self.offsets[-1])
        if row_cells * sum(asked.n_rows for asked in unknown.values()) > MAX_CELLS:
            self._in_parts = TableParts(unknown, self.offsets, MAX_CELLS // row_cells)
            unknown = {}
        places = [place for place, node in enumerate(self._level) if node.exact_counts is None]
        asked = {place: unknown.get(place) for place in sorted({*places, *unknown})}
        if not asked:
            return
        tables = iter(self._count_in_one_pass(asked))
        for place, found in unknown.items():
            node = self._level[place]
            node.wanted, node.exact_table = found, next(tables)

    def _count_in_one_pass(self, asked: Mapping[int, Wanted | None]) -> list[NDArray[np.int64]]:
        """Count some nodes: keep their class counts, and return their counts of higher order.

        Raise a SourceError if the counts contradict earlier passes.
        """
        places = np.full(len(self._features), -1, dtype=np.int32)
        for turn, place in enumerate(asked):
            places[self._level[place].number] = turn
        router = self._current_router(places)
        exact_counts, *tables = self._make_pass(
            CountQuery(self._binner, router, tuple(asked.values()), self._weigher)
        )
        if self._factors is not None:
            exact_counts = multiply_classes(exact_counts, self._factors)
            tables = [multiply_classes(table, self._factors) for table in tables]
        same = True
        for place, counts in zip(asked, exact_counts, strict=True):
            node = self._level[place]
            exact_totals = counts[:, : self.n_codes[0]].sum(axis=1)
            same &= node.agrees_with_pass(counts, exact_totals)
            if (
                node.exact_counts is None
            ):  # else the node would keep the tables of this pass in memory
                node.exact_totals, node.exact_counts = exact_totals, counts
        if not same:
            raise SourceError(RECORDS_CHANGED)
        return tables

    def _make_pass(self, query: TableQuery[Any]) -> list[NDArray[np.int64]]:
        """Return the tables of a query. Raise a SourceError if the number of rows has changed."""
        found = self._answer(query)
        self.n_passes += 1
        if self.n_passes > 1 and self.exact_rows != found.exact_rows:
            raise SourceError(RECORDS_CHANGED)
        self.exact_rows = found.exact_rows
        tables: list[NDArray[np.int64]] = found.tables
        return tables

    def _current_router(self, places: NDArray[np.int32]) -> Router:
        return Router(
            np.array(self._features, dtype=np.int32),
            np.array(self._splits, dtype=np.int32),
            np.array(self._children, dtype=np.int32).reshape(-1, max(self.n_codes)),
            places,
        )

    # --- answers --------------------------------------------------------------------------------

    def class_counts(self) -> NDArray[np.int64]:
        self.prepare_counts({})
        shape = (self.n_nodes, self.n_classes, int(self.offsets[-1]))
        return np.array(
            [_require_pass(node.exact_counts) for node in self._level], np.int64
        ).reshape(shape)

    def class_totals(self) -> NDArray[np.int64]:
        shape = (self.n_nodes, self.n_classes)
        return np.array(
            [_require_pass(node.exact_totals) for node in self._level], np.int64
        ).reshape(shape)

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[Any], NDArray[np.int64]]:
        if self._in_parts is not None and self._in_parts.has_node(node):
            own, exact_rows = self._in_parts.pair_counts(
                node, upper.feature, self._count_in_one_pass
            )
        else:
            held = self._level[node]
            groups = _require_pass(held.wanted).rows
            own = groups.rows_of_feature(upper.feature, self.offsets)
            first, end = groups.firsts[upper.feature : upper.feature + 2]
            exact_rows = held.exact_pairs()[first:end]
        table = np.zeros((upper.n_rows, *exact_rows.shape[1:]), dtype=np.int64)
        # A row that is asked for is a row that was counted, or a union of such rows.
        pairs = np.unique(np.stack((own.row_of_code, upper.row_of_code)), axis=1).T.tolist()
        for counted, asked in pairs:
            if counted < own.n_rows and asked < upper.n_rows:  # else no record has this code
                table[asked] += exact_rows[counted]
        return self._differences_and_totals(table)

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        if self._in_parts is not None and self._in_parts.has_node(node):
            for exact_table in self._in_parts.triple_counts(
                node, upper.feature, self._count_in_one_pass
            ):
                yield self._differences_and_totals(exact_table)
            return
        held = self._level[node]
        first = int(_require_pass(_require_pass(held.wanted).upper).firsts[upper.feature])
        for exact_table in _require_pass(held.exact_table)[first : first + upper.n_rows]:
            yield self._differences_and_totals(exact_table)

    def target_sums(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        merged: MergedClasses = _require_pass(self._binner.merged)
        leaves: LeafNodes = _require_pass(self._leaves)
        known = leaves.class_totals(self.n_classes)
        of_class = np.eye(self.n_classes, dtype=np.int64)[merged.class_of_code]
        (exact_sums,) = self._make_pass(
            LeafQuery(
                self._binner.with_merged(None),
                self._current_router(leaves.places(len(self._features))),
                np.hstack([table, of_class]),
                len(known),
                self._weigher,
            )
        )
        if not np.array_equal(exact_sums[:, table.shape[1] :], known):
            raise SourceError(RECORDS_CHANGED)
        return exact_sums[:, : table.shape[1]].copy()

    def _differences_and_totals(
        self, exact_table: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        exact_totals = exact_table[:, :, : self.n_codes[0]].sum(axis=2)
        kind = np.int32 if exact_totals.max(initial=0) <= np.iinfo(np.int32).max else np.int64
        return class_count_differences(exact_table).astype(kind), exact_totals

    def map_in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        if self._in_parts is not None:  # one part after the other: only some are in memory
            return [work(item) for item in items]
        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            return list(pool.map(work, items))

    # --- the next level -------------------------------------------------------------------------

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        found: dict[int, _Node] = {}
        for node, feature, child_of_code in zip(self._level, features, children, strict=True):
            if feature < 0:
                continue
            going = child_of_code[: self.n_codes[feature]]
            numbers = {int(child): len(self._features) + at
                       for at, child in enumerate(np.unique(going[going != -1]))}  # fmt: skip
            for child, number in numbers.items():
                if child <= LEAF:
                    self._add_leaf(node, number, child, int(feature), going == child)
                else:
                    found[child] = self._child_node(node, number, int(feature), going == child)
            self._features += [-1] * len(numbers)
            self._splits += [-1] * len(numbers)
            is_counted_below = not node.is_derived and node.exact_table is None
            if is_counted_below or self._leaves is not None:
                self._add_split(node, int(feature), going, numbers)
        self._level, self._in_parts = [found[child] for child in sorted(found)], None

    def _add_leaf(
        self, node: _Node, number: int, child: int, feature: int, is_here: NDArray[np.bool_]
    ) -> None:
        exact_totals = node.exact_totals
        if not is_here.all():
            codes = int(self.offsets[feature]) + np.flatnonzero(is_here)
            exact_totals = _require_pass(node.exact_counts)[:, codes].sum(axis=1)
        _require_pass(self._leaves).add(number, child, _require_pass(exact_totals))

    def _add_split(
        self, node: _Node, feature: int, going: NDArray[np.int32], numbers: Mapping[int, int]
    ) -> None:
        """Add a split to the router, so that records go on to the children."""
        self._features[node.number] = feature
        self._splits[node.number] = len(self._children)
        entry = np.full(max(self.n_codes), -1, dtype=np.int32)
        for code, child in enumerate(going.tolist()):
            entry[code] = numbers.get(child, -1)
        self._children.append(entry)

    def _child_node(
        self, node: _Node, number: int, feature: int, is_here: NDArray[np.bool_]
    ) -> _Node:
        """Return the child of some codes of a feature, with the counts known from its parent."""
        start = int(self.offsets[feature])
        codes = start + np.flatnonzero(is_here)
        exact_counts = _require_pass(node.exact_counts)
        exact_part = codes, exact_counts[:, codes]
        child = _Node(number, exact_part[1].sum(axis=1), exact_part=exact_part)
        child.is_derived = node.is_derived or node.exact_table is not None
        if not child.is_derived:
            return child
        wanted = _require_pass(node.wanted)
        child.wanted = Wanted(wanted.rows)
        if is_here.all():  # all records go to one child
            child.exact_counts, child.exact_table = exact_counts, node.exact_pairs()
            return child
        above = wanted.rows if wanted.upper is None else wanted.upper
        rows_here = above.firsts[feature] + np.unique(above.row_of_code[codes])
        exact_table = _require_pass(node.exact_table)[rows_here].sum(axis=0)
        if wanted.upper is None:
            child.exact_counts = exact_table
        else:
            child.exact_table = exact_table
            child.exact_counts = _sum_pass_table(exact_table, wanted.rows)
        return child


def _sum_pass_table(exact_table: NDArray[np.int64], rows: Groups) -> NDArray[np.int64]:
    """Sum a table over the rows of one feature: in these rows, each record is counted once."""
    used = rows.used_features()[0]
    total: NDArray[np.int64] = exact_table[rows.firsts[used] : rows.firsts[used + 1]].sum(axis=0)
    return total


def _require_pass(value: Any) -> Any:
    """Return a value that a pass has set. Raise a RuntimeError if it is None."""
    if value is None:
        raise RuntimeError(
            "prepare_counts must be called before pair and triple counts are asked for, and "
            "merge_classes before the leaves of a numeric target."
        )
    return value
