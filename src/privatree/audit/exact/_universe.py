"""Tiny universes: every record that a schema allows, and datasets as counts of these records."""

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
"""A dataset: the number of records of each kind in a universe."""


@dataclass(frozen=True)
class Universe:
    """All records that a tiny schema allows.

    Parameters
    ----------
    schema : Schema
        Schema of few features with few values.
    n_bins : int, default=256
        Number of bins per numeric feature.

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
    def candidates(self) -> Candidates:
        """Candidate splits."""
        return Candidates.from_schema(self.schema, self.n_bins)

    @cached_property
    def kinds(self) -> tuple[Record, ...]:
        """Distinct records, in a fixed order."""
        features = product(*map(range, self.candidates.n_codes))
        return tuple(product(features, range(len(self.schema.classes))))

    def table(self, records: Mapping[Record, int]) -> Table:
        """Return the dataset that has the given number of records of each kind."""
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
            **settings,
        )

    def records(self, table: Table) -> BinnedRecords:
        """Return the dataset in the form that the learner takes."""
        codes, labels = self._arrays
        return BinnedRecords(
            np.repeat(codes, table, axis=0),
            self.candidates.n_codes,
            np.repeat(labels, table),
            len(self.schema.classes),
        )

    def inside(self, region: Region) -> tuple[bool, ...]:
        """Return for each kind of record whether it is inside a region."""
        offsets = self.candidates.offsets[:-1]
        return tuple(region.inside[offsets + self._arrays[0]].all(axis=1).tolist())

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        codes, labels = zip(*self.kinds, strict=True)
        return np.array(codes, dtype=np.uint8), np.array(labels, dtype=np.uint8)


def _make_universe_feature(size: int | str) -> Numeric | Categorical:
    if isinstance(size, str):
        return Categorical([f"c{place}" for place in range(int(size))])
    return Numeric(0, size - 1, integer=True)
