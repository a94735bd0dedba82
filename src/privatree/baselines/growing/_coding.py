"""The codes of values, and the splits that a node can choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._scores import Score
from privatree.counting import BinnedRecords, bin_numbers
from privatree.model import TreeBuilder
from privatree.schema import Categorical, Numeric, Schema

GRID = 255
"""Parts of the public range of a number without declared cuts, where thresholds are on a grid."""
ONE, MULTIWAY, CUT = "one code against the rest", "a child for each code", "codes up to one"


@dataclass(frozen=True)
class Coding:
    """The features that may be split on, and the codes of their values."""

    features: tuple[int, ...]
    """Positions of the features in the schema."""
    cuts: tuple[NDArray[np.float64] | None, ...]
    """Cuts of each numeric feature, increasing; None for categories. A value that is equal to a
    cut goes left."""
    n_codes: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, cuts: Mapping[int, NDArray[np.float64]]) -> Coding:
        """Return the coding of a schema: one code per category, and per interval between `cuts`.

        The keys of `cuts` are positions in the schema. A numeric feature without cuts, and a
        feature with a single code, are left out.
        """
        features, all_cuts, n_codes = [], [], []
        for position, feature in enumerate(schema.features.values()):
            own = cuts.get(position)
            size = len(feature.categories) if isinstance(feature, Categorical) else 1
            size += 0 if own is None else len(own)
            if size > 1:
                features.append(position)
                all_cuts.append(own)
                n_codes.append(size)
        return cls(tuple(features), tuple(all_cuts), tuple(n_codes))

    @classmethod
    def public(cls, schema: Schema, n_bins: int = 1) -> Coding:
        """Return the coding with declared cuts, else with `n_bins` equal intervals of the range.

        With one interval, a numeric feature without declared cuts is left out.
        """
        features = enumerate(schema.features.values())
        return cls.of(
            schema, {p: public_cuts(f, n_bins) for p, f in features if isinstance(f, Numeric)}
        )

    @property
    def n_numeric(self) -> int:
        return sum(cuts is not None for cuts in self.cuts)

    def bin_records(
        self, columns: Sequence[NDArray[Any]], labels: NDArray[np.int32], n_classes: int
    ) -> BinnedRecords:
        """Return the records as codes. `columns` has one array for each feature of the schema."""
        codes = [
            columns[feature] if cuts is None else bin_numbers(columns[feature], cuts)
            for feature, cuts in zip(self.features, self.cuts, strict=True)
        ]
        matrix = np.column_stack(codes) if codes else np.empty((len(labels), 0), dtype=np.uint8)
        return BinnedRecords(matrix, self.n_codes, labels, n_classes)

    def n_questions(self, split: Split) -> int:
        """Return how many nodes of a binary tree ask which child a record goes to."""
        child_of_code = split.child_of_code
        if self.cuts[split.position] is None:
            return int(child_of_code.max())
        return int(np.count_nonzero(np.diff(child_of_code)))

    def candidates(self, kind: str, of_numbers: str | None = None) -> Candidates:
        """Return all splits of one kind, or of another one for numbers."""
        other = of_numbers or kind
        return Candidates(self, tuple(kind if c is None else other for c in self.cuts))


def public_cuts(feature: Numeric, n_bins: int) -> NDArray[np.float64]:
    """Return the declared cuts, or else those between `n_bins` equal parts of the public range."""
    low, high = float(feature.low), float(feature.high)
    if feature.cuts is not None or low == high:
        return np.array(feature.cuts or (), dtype=np.float64)
    if feature.integer and high - low < n_bins:
        return np.asarray(low + 0.5 + np.arange(high - low))
    cuts = low + (high / n_bins - low / n_bins) * np.arange(1, n_bins)
    if feature.integer:
        cuts = np.floor(cuts) + 0.5
    return np.unique(np.clip(cuts, low, np.nextafter(high, low)))


class Split(NamedTuple):
    """A split of a node: a child for each code of one feature."""

    candidate: int
    position: int
    """Position of the feature among those of the coding."""
    child_of_code: NDArray[np.int32]


@dataclass(frozen=True)
class Candidates:
    """All splits of a coding, numbered consecutively over the features."""

    coding: Coding
    kinds: tuple[str, ...]
    """ONE, MULTIWAY or CUT, for each feature of the coding."""

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """Feature of each candidate."""
        sizes = [
            {ONE: n, MULTIWAY: 1, CUT: n - 1}[kind]
            for n, kind in zip(self.coding.n_codes, self.kinds, strict=True)
        ]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children of each candidate."""
        sizes = zip(self.coding.n_codes, self.kinds, strict=True)
        own = np.array([n if kind == MULTIWAY else 2 for n, kind in sizes], dtype=np.int64)
        return np.asarray(own[self.positions])

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.coding.n_codes)]).astype(np.int64)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Code of each candidate in its feature: that split off, or the last that goes left."""
        return np.arange(len(self)) - np.searchsorted(self.positions, self.positions)

    @cached_property
    def _of_kind(self) -> dict[str, NDArray[np.intp]]:
        kind = np.array(self.kinds, dtype=object)[self.positions]
        return {name: np.flatnonzero(kind == name) for name in set(self.kinds)}

    def split(self, candidate: int) -> Split:
        position = int(self.positions[candidate])
        codes = np.arange(self.coding.n_codes[position], dtype=np.int32)
        kind, code = self.kinds[position], self.codes[candidate]
        if kind == ONE:
            codes = (codes != code).astype(np.int32)
        elif kind == CUT:
            codes = (codes > code).astype(np.int32)
        return Split(candidate, position, codes)

    def tables(
        self, some: NDArray[np.intp], exact_counts: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        """Return counts (class, child) of some splits, of counts (class, code) of a node."""
        found = []
        for _, position, child_of_code in map(self.split, some.tolist()):
            own = exact_counts[:, self._offsets[position] : self._offsets[position + 1]]
            counts = np.zeros((len(own), int(child_of_code.max()) + 1), dtype=np.int64)
            np.add.at(counts.T, child_of_code, own.T)
            found.append(counts)
        return found

    def scores(
        self, score: Score, exact_counts: NDArray[np.int64], exact_totals: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the score of each candidate, of counts (class, code) and (class,) of a node."""
        counts, totals = exact_counts.astype(np.float64), exact_totals[:, np.newaxis]
        found = np.empty(len(self))
        for kind, here in self._of_kind.items():
            positions = self.positions[here]
            places = self._offsets[positions] + self.codes[here]
            if kind == MULTIWAY:
                values = np.append(score.of_children(counts), 0.0)
                found[here] = np.add.reduceat(values, self._offsets[:-1])[positions]
                continue
            one = counts[:, places]
            if kind == CUT:  # every record has one code of each feature before this one
                one = counts.cumsum(axis=1)[:, places] - totals * positions
            found[here] = score.of_children(one) + score.of_children(totals - one)
        return score.finish(found, exact_totals)


def write_split(
    builder: TreeBuilder,
    node: int,
    feature: int,
    cuts: NDArray[np.float64] | None,
    child_of_code: NDArray[np.int32],
) -> list[list[int]]:
    """Write a split as a balanced binary tree. Return the tree's nodes for each child.

    A child is written once for each run of neighbouring codes of a numeric feature: the rest, if a
    group in the middle is split off, has two copies.
    """
    n_children = int(child_of_code.max()) + 1
    if cuts is None:
        groups = [np.flatnonzero(child_of_code == child) for child in range(n_children)]
    else:
        ends = np.flatnonzero(np.diff(child_of_code)) + 1
        groups = np.split(np.arange(len(child_of_code)), ends)
    numbers: list[list[int]] = [[] for _ in range(n_children)]

    def write(node: int, groups: list[NDArray[np.intp]]) -> None:
        if len(groups) == 1:
            numbers[child_of_code[groups[0][0]]].append(node)
            return
        half = len(groups) // 2
        if cuts is None:
            codes = np.concatenate(groups[:half]).tolist()
            left, right = builder.split_categories(node, feature, codes)
        else:
            left, right = builder.split_numeric(node, feature, float(cuts[groups[half - 1][-1]]))
        write(left, groups[:half])
        write(right, groups[half:])

    write(node, groups)
    return numbers
