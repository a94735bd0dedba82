"""Class counts from passes over records that are not in memory: mostly at most one for a level.

A pass sends every row from the root along the tree so far to the node it reaches, and counts it
there, for all nodes of the level at once. Where a node was asked for counts of higher order, the
counts of everything below it that is drawn jointly follow from them, without another pass.
Counts of higher order that do not fit in memory at once are found in parts (``_table_parts.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._counts import (
    THREADS,
    Groups,
    Item,
    Result,
    Router,
    Rows,
    Wanted,
    differences,
)
from privatree.counting._queries import CountPartial, CountQuery
from privatree.counting._table_parts import TableParts
from privatree.errors import SourceError

MAX_CELLS = 2**29
"""Counts of higher order that a pass finds at once: 4 GiB."""

RECORDS_CHANGED = (
    "the records must be the same in every pass over them, and were not: rows were added, removed "
    "or changed while the tree was trained. Train on a copy that nobody writes to."
)


@dataclass
class _Node:
    """A node of the current level, and what is known of it."""

    number: int
    exact_totals: NDArray[np.int64] | None = None
    exact_counts: NDArray[np.int64] | None = None
    wanted: Wanted | None = None
    exact_table: NDArray[np.int64] | None = None
    """Counts of higher order, as wanted."""
    exact_part: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """Some codes, and their class counts, which the node above has shown."""
    is_derived: bool = False
    """Whether its counts come from a table: then no record needs to reach it."""

    def agrees(self, counts: NDArray[np.int64], totals: NDArray[np.int64]) -> bool:
        """Whether counts of a pass are those that passes before have shown, as far as they have."""
        codes, exact_part = self.exact_part or (np.arange(0), counts[:, :0])
        return (
            (self.exact_totals is None or np.array_equal(self.exact_totals, totals))
            and (self.exact_counts is None or np.array_equal(self.exact_counts, counts))
            and np.array_equal(counts[:, codes], exact_part)
        )

    def exact_pairs(self) -> NDArray[np.int64]:
        """The counts by rows, class and code: any feature's upper rows hold all records."""
        wanted, exact_table = _known(self.wanted), _known(self.exact_table)
        return exact_table if wanted.upper is None else _all_rows(exact_table, wanted.upper)


class PassCounts:
    """Answers a learner from passes over a source (:class:`privatree.counting.ClassCounts`).

    Parameters
    ----------
    answer : callable
        Makes one pass: a query to its answer.
    binner : Binner
        How rows become codes.

    Raises
    ------
    SourceError
        If a later pass does not find the records of the first one.
    """

    def __init__(self, answer: Callable[[CountQuery], CountPartial], binner: Binner) -> None:
        self._answer, self._coder = answer, binner
        self.n_codes = list(binner.n_codes)
        self.n_classes = len(binner.schema.classes)
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.int64)
        self._features = [-1]  # the tree so far, as a router has it
        self._splits = [-1]
        self._children: list[NDArray[np.int32]] = []
        self._level = [_Node(0)]
        self._in_parts: TableParts | None = None  # of this level
        self.n_passes = 0
        self.exact_rows = 0
        self.prepare({})

    @property
    def n_nodes(self) -> int:
        """How many nodes the current level has."""
        return len(self._level)

    # --- passes ---------------------------------------------------------------------------------

    def prepare(self, wanted: Mapping[int, Wanted]) -> None:
        """Make a pass, unless everything that will be asked is known."""
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
        tables = iter(self._pass(asked))
        for place, found in unknown.items():
            node = self._level[place]
            node.wanted, node.exact_table = found, next(tables)

    def _pass(self, asked: Mapping[int, Wanted | None]) -> list[NDArray[np.int64]]:
        """Ask about some nodes: their class counts are kept, those of higher order returned.

        Refuse what contradicts passes before.
        """
        places = np.full(len(self._features), -1, dtype=np.int32)
        for turn, place in enumerate(asked):
            places[self._level[place].number] = turn
        found = self._answer(CountQuery(self._coder, self._router(places), tuple(asked.values())))
        self.n_passes += 1
        same = self.n_passes == 1 or self.exact_rows == found.exact_rows
        self.exact_rows = found.exact_rows
        exact_counts, *tables = found.tables
        for place, counts in zip(asked, exact_counts, strict=True):
            node = self._level[place]
            exact_totals = counts[:, : self.n_codes[0]].sum(axis=1)
            same &= node.agrees(counts, exact_totals)
            if node.exact_counts is None:  # else it would keep the tables of this pass alive
                node.exact_totals, node.exact_counts = exact_totals, counts
        if not same:
            raise SourceError(RECORDS_CHANGED)
        return tables

    def _router(self, places: NDArray[np.int32]) -> Router:
        return Router(
            np.array(self._features, dtype=np.int32),
            np.array(self._splits, dtype=np.int32),
            np.array(self._children, dtype=np.int32).reshape(-1, max(self.n_codes)),
            places,
        )

    # --- answers --------------------------------------------------------------------------------

    def class_counts(self) -> NDArray[np.int64]:
        """See :class:`~privatree.counting.ClassCounts`."""
        self.prepare({})
        shape = (self.n_nodes, self.n_classes, int(self.offsets[-1]))
        return np.array([_known(node.exact_counts) for node in self._level], np.int64).reshape(
            shape
        )

    def class_totals(self) -> NDArray[np.int64]:
        """See :class:`~privatree.counting.ClassCounts`."""
        shape = (self.n_nodes, self.n_classes)
        return np.array([_known(node.exact_totals) for node in self._level], np.int64).reshape(
            shape
        )

    def pair_counts(self, node: int, upper: Rows) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """See :class:`~privatree.counting.ClassCounts`."""
        if self._in_parts is not None and self._in_parts.has(node):
            own, exact_rows = self._in_parts.pairs(node, upper.feature, self._pass)
        else:
            held = self._level[node]
            groups, first = _known(held.wanted).rows, _known(held.wanted).rows.firsts
            own = groups.of(upper.feature, self.offsets)
            exact_rows = held.exact_pairs()[first[upper.feature] : first[upper.feature + 1]]
        table = np.zeros((upper.n_rows, *exact_rows.shape[1:]), dtype=np.int64)
        # A node's own rows are those that were counted above it, or unions of them.
        pairs = np.unique(np.stack((own.row_of_code, upper.row_of_code)), axis=1).T.tolist()
        for counted, asked in pairs:
            if counted < own.n_rows and asked < upper.n_rows:  # else no record has such a code
                table[asked] += exact_rows[counted]
        return self._compared(table)

    def triple_counts(
        self, node: int, upper: Rows, middle: Sequence[Rows]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        """See :class:`~privatree.counting.ClassCounts`."""
        if self._in_parts is not None and self._in_parts.has(node):
            for exact_table in self._in_parts.triples(node, upper.feature, self._pass):
                yield self._compared(exact_table)
            return
        held = self._level[node]
        first = int(_known(_known(held.wanted).upper).firsts[upper.feature])
        for exact_table in _known(held.exact_table)[first : first + upper.n_rows]:
            yield self._compared(exact_table)

    def _compared(self, exact_table: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Differences and totals of an array (row, class, code)."""
        exact_totals = exact_table[:, :, : self.n_codes[0]].sum(axis=2)
        kind = np.int32 if exact_totals.max(initial=0) <= np.iinfo(np.int32).max else np.int64
        return differences(exact_table).astype(kind), exact_totals

    def in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """See :class:`~privatree.counting.ClassCounts`."""
        if self._in_parts is not None:  # one part after the other: only some are held
            return [work(item) for item in items]
        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            return list(pool.map(work, items))

    # --- the next level -------------------------------------------------------------------------

    def descend(self, features: NDArray[np.int32], children: NDArray[np.int32]) -> None:
        """See :class:`~privatree.counting.ClassCounts`."""
        found: dict[int, _Node] = {}
        for node, feature, child_of_code in zip(self._level, features, children, strict=True):
            if feature < 0:
                continue
            going = child_of_code[: self.n_codes[feature]]
            numbers = {int(child): len(self._features) + at
                       for at, child in enumerate(np.unique(going[going >= 0]))}  # fmt: skip
            for child, number in numbers.items():
                found[child] = self._child(node, number, int(feature), going == child)
            self._features += [-1] * len(numbers)
            self._splits += [-1] * len(numbers)
            if not node.is_derived and node.exact_table is None:
                self._split(node, int(feature), going, numbers)
        self._level, self._in_parts = [found[child] for child in sorted(found)], None

    def _split(
        self, node: _Node, feature: int, going: NDArray[np.int32], numbers: Mapping[int, int]
    ) -> None:
        """Let records that reach a node go on to its children."""
        self._features[node.number] = feature
        self._splits[node.number] = len(self._children)
        entry = np.full(max(self.n_codes), -1, dtype=np.int32)
        for code, child in enumerate(going.tolist()):
            entry[code] = numbers.get(child, -1)
        self._children.append(entry)

    def _child(self, node: _Node, number: int, feature: int, is_here: NDArray[np.bool_]) -> _Node:
        """A child, which has some codes of a feature, with what is known of it."""
        start = int(self.offsets[feature])
        codes = start + np.flatnonzero(is_here)
        exact_counts = _known(node.exact_counts)
        exact_part = codes, exact_counts[:, codes]
        child = _Node(number, exact_part[1].sum(axis=1), exact_part=exact_part)
        child.is_derived = node.is_derived or node.exact_table is not None
        if not child.is_derived:
            return child
        wanted = _known(node.wanted)
        child.wanted = Wanted(wanted.rows)
        if is_here.all():  # the node itself, one level further in its subtree
            child.exact_counts, child.exact_table = exact_counts, node.exact_pairs()
            return child
        above = wanted.rows if wanted.upper is None else wanted.upper
        rows_here = above.firsts[feature] + np.unique(above.row_of_code[codes])
        exact_table = _known(node.exact_table)[rows_here].sum(axis=0)
        if wanted.upper is None:
            child.exact_counts = exact_table
        else:
            child.exact_table = exact_table
            child.exact_counts = _all_rows(exact_table, wanted.rows)
        return child


def _all_rows(exact_table: NDArray[np.int64], rows: Groups) -> NDArray[np.int64]:
    """The sum over the rows of one feature, which hold all records: those of any do."""
    used = rows.used()[0]
    total: NDArray[np.int64] = exact_table[rows.firsts[used] : rows.firsts[used + 1]].sum(axis=0)
    return total


def _known(value: Any) -> Any:
    """The value of something that must be known by now."""
    if value is None:
        raise RuntimeError("counts must be prepared before they are asked for.")
    return value
