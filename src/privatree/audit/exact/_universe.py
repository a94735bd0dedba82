"""Tiny universes: every record that a schema allows, and datasets as counts of these records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from privatree.counting import BinnedRecords, Candidates, FineCells
from privatree.learners.tree import RecordPlan, Region
from privatree.schema import Categorical, Numeric, Schema

Record = tuple[tuple[int, ...], int]
"""A record: the code of each feature, and the class."""
Table = tuple[int, ...]
"""A dataset: how often each possible record occurs, in the order of ``Universe.kinds``."""


@dataclass(frozen=True)
class Universe:
    """All records that a tiny schema allows.

    Parameters
    ----------
    schema : Schema
        Schema of few features with few values.
    n_bins : int, default=256
        Number of bins per numeric feature.
    zoom_levels : int, default=0
        Level of the narrowest interval that the learner can draw for a feature; 0 for none.

    Examples
    --------
    >>> universe = Universe.of(3, "2")
    >>> len(universe.kinds)
    12
    >>> len(list(universe.tables(1)))
    13
    """

    schema: Schema
    n_bins: int = 256
    zoom_levels: int = 0

    @classmethod
    def of(cls, *sizes: int | str, n_classes: int = 2) -> Universe:
        """Make a universe from the number of values of each feature.

        Parameters
        ----------
        *sizes : int or str
            3 is a feature of three whole numbers, ``"3"`` a feature of three categories.
        n_classes : int, default=2
            Number of classes.
        """
        features = {f"f{place}": _make_universe_feature(size) for place, size in enumerate(sizes)}
        return cls(Schema(features, list(range(n_classes))))

    @cached_property
    def cells(self) -> FineCells:
        """Fine codes of the records, from which the learner zooms in."""
        return FineCells.from_schema(self.schema, self.n_bins, self.zoom_levels)

    @property
    def candidates(self) -> Candidates:
        """Candidate splits that follow from the schema alone."""
        return self.cells.plain

    @cached_property
    def kinds(self) -> tuple[Record, ...]:
        """All possible records, in a fixed order."""
        features = product(*map(range, self.cells.binner().n_codes))
        return tuple(product(features, range(len(self.schema.classes))))

    def table(self, records: Mapping[Record, int]) -> Table:
        """Return the dataset in which each record occurs the given number of times."""
        return tuple(records.get(kind, 0) for kind in self.kinds)

    def tables(self, most: int) -> Iterator[Table]:
        """Iterate over all datasets of at most ``most`` records."""
        for n_records in range(most + 1):
            for places in combinations_with_replacement(range(len(self.kinds)), n_records):
                yield tuple(np.bincount(places, minlength=len(self.kinds)).tolist())

    def plan(self, epsilon: Fraction | int, max_depth: int, **settings: Any) -> RecordPlan:
        """Return a plan for this universe. ``settings`` go to :class:`RecordPlan`."""
        n_codes = np.array(self.candidates.n_codes)
        is_category = self.candidates.is_category
        return RecordPlan(
            epsilon=Fraction(epsilon),
            n_classes=len(self.schema.classes),
            numeric_codes=tuple(n_codes[~is_category].tolist()),
            categorical_codes=tuple(n_codes[is_category].tolist()),
            max_depth=max_depth,
            n_zoomed=len(self.cells.features),
            **settings,
        )

    def records(self, table: Table, candidates: Candidates | None = None) -> BinnedRecords:
        """Return the dataset in the form that the learner takes.

        The codes are those of `candidates`, or the fine codes if there are no `candidates` yet.
        """
        codes, labels = self._arrays
        n_codes = self.cells.binner().n_codes
        if candidates is not None:
            codes, n_codes = self._merged_codes(candidates), candidates.n_codes
        return BinnedRecords(
            np.repeat(codes, table, axis=0),
            n_codes,
            np.repeat(labels, table),
            len(self.schema.classes),
        )

    def inside(self, region: Region, candidates: Candidates) -> tuple[bool, ...]:
        """Return, for each possible record, whether it lies in the region."""
        codes = candidates.offsets[:-1] + self._merged_codes(candidates)
        return tuple(region.inside[codes].all(axis=1).tolist())

    def _merged_codes(self, candidates: Candidates) -> Any:
        merged = self.cells.merged_codes(candidates)
        columns = zip(merged, self._arrays[0].T, strict=True)
        return np.stack([new[column] for new, column in columns], axis=1).astype(np.uint8)

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        codes, labels = zip(*self.kinds, strict=True)
        return np.array(codes, dtype=np.uint8), np.array(labels, dtype=np.uint8)


def _make_universe_feature(size: int | str) -> Numeric | Categorical:
    if isinstance(size, str):
        return Categorical([f"c{place}" for place in range(int(size))])
    return Numeric(0, size - 1, integer=True)
