"""Pair and triple counts that do not fit in memory at once: each pass counts the rows that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.counting._counts import Rows, Wanted

MakePass: TypeAlias = Callable[[Mapping[int, Wanted | None]], list[NDArray[np.int64]]]
"""Makes a pass: what is wanted of some nodes to their counts of higher order."""


class _Part(NamedTuple):
    """Rows of a node that are needed at the same time."""

    node: int
    is_upper: bool
    """Whether the rows are upper rows, each with pair counts of its own."""
    rows: range


class TableParts:
    """Pair or triple counts of some nodes of a level, with only some rows in memory at a time.

    A part is the rows that are needed at the same time: the rows of one feature for pair counts,
    one upper row for triple counts. A part that is not in memory is counted in a new pass, together
    with the later parts that fit: up to `max_rows` rows, or a larger part alone. If a learner asks
    in order, no part is counted twice.
    """

    def __init__(
        self, wanted: Mapping[int, Wanted], offsets: NDArray[np.int64], max_rows: int
    ) -> None:
        self._wanted, self._offsets, self._max_rows = wanted, offsets, max_rows
        pairs = {node: self._pair_parts(node) for node in wanted}
        triples = {
            node: self._triple_parts(node) for node in wanted if wanted[node].upper is not None
        }
        # A learner asks for the pairs of all these nodes before it asks for any triples.
        above = [part for node in triples for part in pairs[node]]
        self._order = above + [part for node in wanted for part in triples.get(node, pairs[node])]
        self._place = {part: place for place, part in enumerate(self._order)}
        self._held: dict[_Part, NDArray[np.int64]] = {}

    def has_node(self, node: int) -> bool:
        return node in self._wanted

    def pair_counts(
        self, node: int, feature: int, make_pass: MakePass
    ) -> tuple[Rows, NDArray[np.int64]]:
        """Return the rows of a feature, and their counts: an array (row, class, code)."""
        rows = self._wanted[node].rows
        part = _Part(node, False, range(*rows.firsts[feature : feature + 2].tolist()))
        return rows.rows_of_feature(feature, self._offsets), self._counts_of_part(part, make_pass)

    def triple_counts(
        self, node: int, feature: int, make_pass: MakePass
    ) -> Iterator[NDArray[np.int64]]:
        """Yield an array (row, class, code) over the rows of all features, for each upper row."""
        for part in self._triple_parts(node, feature):
            yield self._counts_of_part(part, make_pass)[0]

    def _pair_parts(self, node: int) -> list[_Part]:
        rows = self._wanted[node].rows
        return [
            _Part(node, False, range(*rows.firsts[feature : feature + 2].tolist()))
            for feature in rows.used_features()
        ]

    def _triple_parts(self, node: int, feature: int | None = None) -> list[_Part]:
        """Return one part for each upper row of one feature, or of all features."""
        upper = self._wanted[node].upper
        if upper is None:
            return []
        first, end = (0, -1) if feature is None else (feature, feature + 1)
        rows = range(int(upper.firsts[first]), int(upper.firsts[end]))
        return [_Part(node, True, range(row, row + 1)) for row in rows]

    def _counts_of_part(self, part: _Part, make_pass: MakePass) -> NDArray[np.int64]:
        if part not in self._held:
            self._held.clear()  # first free the memory that the new parts need
            self._held.update(self._count_parts(self._parts_from(part), make_pass))
        return self._held[part]

    def _parts_from(self, part: _Part) -> dict[int, list[_Part]]:
        """Return this part and later ones of the same kind (pairs or triples) that fit, by node."""
        chosen: dict[int, list[_Part]] = {}
        n_rows = 0
        for later in self._order[self._place[part] :]:
            n_rows += self._n_rows(later)
            others = chosen.setdefault(later.node, [])
            if chosen[part.node] and n_rows > self._max_rows:
                break
            if others and others[0].is_upper != later.is_upper:
                break
            others.append(later)
        return {node: parts for node, parts in chosen.items() if parts}

    def _n_rows(self, part: _Part) -> int:
        return len(part.rows) * (self._wanted[part.node].rows.n_rows if part.is_upper else 1)

    def _count_parts(
        self, chosen: Mapping[int, list[_Part]], make_pass: MakePass
    ) -> Iterator[tuple[_Part, NDArray[np.int64]]]:
        tables = make_pass({node: self._wanted_for(node, parts) for node, parts in chosen.items()})
        for parts, table in zip(chosen.values(), tables, strict=True):
            end = 0
            for part in parts:
                start, end = end, end + len(part.rows)
                yield part, table[start:end]

    def _wanted_for(self, node: int, parts: list[_Part]) -> Wanted:
        rows, upper = self._wanted[node]
        chosen = np.concatenate([np.array(part.rows) for part in parts])
        if upper is None or not parts[0].is_upper:
            return Wanted(rows.select_rows(chosen, self._offsets))
        return Wanted(rows, upper.select_rows(chosen, self._offsets))
