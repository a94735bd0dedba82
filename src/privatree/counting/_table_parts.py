"""Counts of higher order that do not fit in memory at once: a pass for as many rows as do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.counting._counts import Rows, Wanted

MakePass: TypeAlias = Callable[[Mapping[int, Wanted | None]], list[NDArray[np.int64]]]
"""Asks about some nodes of a level, and returns their counts of higher order."""


class _Part(NamedTuple):
    """Rows of a node that are asked for together."""

    node: int
    is_upper: bool
    """Whether they are upper rows, each with a table by all other rows and codes."""
    rows: range


class TableParts:
    """The tables of some nodes of a level, of which only some rows are held at a time.

    Parameters
    ----------
    wanted : mapping of int to Wanted
        What each node will be asked for.
    offsets : array of int64
        Where the codes of each feature lie.
    max_rows : int
        How many rows of tables may be held at once. A part that has more is held alone.

    Notes
    -----
    A part is what is needed at once: the rows of a feature for the counts of pairs, one upper row
    for those of triples. What is not held is counted in a new pass, with as many of the parts after
    it as fit. If they are asked for in their order, no part is counted twice.
    """

    def __init__(
        self, wanted: Mapping[int, Wanted], offsets: NDArray[np.int64], max_rows: int
    ) -> None:
        self._wanted, self._offsets, self._max_rows = wanted, offsets, max_rows
        pairs = {node: self._pairs(node) for node in wanted}
        triples = {node: self._triples(node) for node in wanted if wanted[node].upper is not None}
        # The order of a learner: before any triples, it asks for the pairs of the same nodes.
        above = [part for node in triples for part in pairs[node]]
        self._order = above + [part for node in wanted for part in triples.get(node, pairs[node])]
        self._place = {part: place for place, part in enumerate(self._order)}
        self._held: dict[_Part, NDArray[np.int64]] = {}

    def has(self, node: int) -> bool:
        """Whether the counts of a node come from here."""
        return node in self._wanted

    def pairs(self, node: int, feature: int, make_pass: MakePass) -> tuple[Rows, NDArray[np.int64]]:
        """The rows of a feature, and their counts: an array (row, class, code)."""
        rows = self._wanted[node].rows
        part = _Part(node, False, range(*rows.firsts[feature : feature + 2].tolist()))
        return rows.of(feature, self._offsets), self._counted(part, make_pass)

    def triples(self, node: int, feature: int, make_pass: MakePass) -> Iterator[NDArray[np.int64]]:
        """For each upper row of a feature an array (row, class, code), the rows of all features."""
        for part in self._triples(node, feature):
            yield self._counted(part, make_pass)[0]

    def _pairs(self, node: int) -> list[_Part]:
        rows = self._wanted[node].rows
        return [
            _Part(node, False, range(*rows.firsts[feature : feature + 2].tolist()))
            for feature in rows.used()
        ]

    def _triples(self, node: int, feature: int | None = None) -> list[_Part]:
        """One for each upper row, of one feature or of all."""
        upper = self._wanted[node].upper
        if upper is None:
            return []
        first, end = (0, -1) if feature is None else (feature, feature + 1)
        rows = range(int(upper.firsts[first]), int(upper.firsts[end]))
        return [_Part(node, True, range(row, row + 1)) for row in rows]

    def _counted(self, part: _Part, make_pass: MakePass) -> NDArray[np.int64]:
        if part not in self._held:
            self._held.clear()  # before the new ones take their place
            self._held.update(self._count(self._from(part), make_pass))
        return self._held[part]

    def _from(self, part: _Part) -> dict[int, list[_Part]]:
        """This part and those after it that fit, by node; pairs and triples of a node apart."""
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

    def _count(
        self, chosen: Mapping[int, list[_Part]], make_pass: MakePass
    ) -> Iterator[tuple[_Part, NDArray[np.int64]]]:
        tables = make_pass({node: self._some(node, parts) for node, parts in chosen.items()})
        for parts, table in zip(chosen.values(), tables, strict=True):
            end = 0
            for part in parts:
                start, end = end, end + len(part.rows)
                yield part, table[start:end]

    def _some(self, node: int, parts: list[_Part]) -> Wanted:
        """What to ask for, to get these parts."""
        rows, upper = self._wanted[node]
        chosen = np.concatenate([np.array(part.rows) for part in parts])
        if upper is None or not parts[0].is_upper:
            return Wanted(rows.some(chosen, self._offsets))
        return Wanted(rows, upper.some(chosen, self._offsets))
