"""Tiny universes: every record that a schema allows, and tables of them as counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from privatree.counting import BinnedRecords, Candidates
from privatree.learners.tree import RecordPlan, Region
from privatree.schema import Categorical, Numeric, Schema

Record = tuple[tuple[int, ...], int]
"""The code of each feature, and the class."""
Table = tuple[int, ...]
"""How many records there are of each kind that a universe has."""


@dataclass(frozen=True)
class Universe:
    """Every record that a tiny schema allows.

    Parameters
    ----------
    schema : Schema
        Few features with few values.
    n_bins : int, default=256
        Codes of a number.
    """

    schema: Schema
    n_bins: int = 256

    @classmethod
    def of(cls, *sizes: int | str, n_classes: int = 2) -> Universe:
        """A universe from the number of values of each feature.

        Parameters
        ----------
        *sizes : int or str
            3 is for three whole numbers, ``"3"`` for three categories.
        n_classes : int, default=2
            How many classes there are.
        """
        features = {f"f{place}": _feature(size) for place, size in enumerate(sizes)}
        return cls(Schema(features, list(range(n_classes))))

    @cached_property
    def candidates(self) -> Candidates:
        """The candidate splits."""
        return Candidates.from_schema(self.schema, self.n_bins)

    @cached_property
    def kinds(self) -> tuple[Record, ...]:
        """The different records, in a fixed order."""
        features = product(*map(range, self.candidates.n_codes))
        return tuple(product(features, range(len(self.schema.classes))))

    def table(self, records: Mapping[Record, int]) -> Table:
        """The table with so many records of some kinds."""
        return tuple(records.get(kind, 0) for kind in self.kinds)

    def tables(self, most: int) -> Iterator[Table]:
        """Every table of at most so many records."""
        for n_records in range(most + 1):
            for places in combinations_with_replacement(range(len(self.kinds)), n_records):
                yield tuple(np.bincount(places, minlength=len(self.kinds)).tolist())

    def plan(self, epsilon: Fraction | int, max_depth: int, **settings: Any) -> RecordPlan:
        """A plan for tables of this universe; the settings are those of :class:`RecordPlan`."""
        n_codes = np.array(self.candidates.n_codes)
        is_category = self.candidates.is_category
        return RecordPlan(
            epsilon=Fraction(epsilon),
            n_classes=len(self.schema.classes),
            numeric_codes=tuple(n_codes[~is_category].tolist()),
            categorical_codes=tuple(n_codes[is_category].tolist()),
            max_depth=max_depth,
            **settings,
        )

    def records(self, table: Table) -> BinnedRecords:
        """The table as the learner gets it."""
        codes, labels = self._arrays
        return BinnedRecords(
            np.repeat(codes, table, axis=0),
            self.candidates.n_codes,
            np.repeat(labels, table),
            len(self.schema.classes),
        )

    def inside(self, region: Region) -> tuple[bool, ...]:
        """Which kinds are in a region."""
        offsets = self.candidates.offsets[:-1]
        return tuple(region.inside[offsets + self._arrays[0]].all(axis=1).tolist())

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        codes, labels = zip(*self.kinds, strict=True)
        return np.array(codes, dtype=np.uint8), np.array(labels, dtype=np.uint8)


def _feature(size: int | str) -> Numeric | Categorical:
    if isinstance(size, str):
        return Categorical([f"c{place}" for place in range(int(size))])
    return Numeric(0, size - 1, integer=True)
