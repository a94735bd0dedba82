"""Tiny universes: every record that a schema allows, and datasets as counts of these records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting import BinnedRecords, Candidates, FineCells
from privatree.learners.boosting import BoostPlan, NumberPlan
from privatree.learners.regression import N_CLASSES, RegressionPlan
from privatree.learners.tree import RecordPlan, Region
from privatree.schema import TARGET_CODES, Categorical, Numeric, Schema, Target

Record = tuple[tuple[int, ...], int]
"""A record: the code of each feature, and the class, or the position of its target."""
Table = tuple[int, ...]
"""A dataset, or the records of one unit: what all records of each kind in a universe weigh.
A record weighs the universe's `full_weight`, unless it is one of several of a unit."""


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
    full_weight : int, default=1
        What a record, or all records of a unit together, weigh. A number that the sizes of all
        units divide loses nothing by rounding.
    targets : tuple of int, default=()
        Target codes that a record can have, if the schema has a target.

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
    full_weight: int = 1
    targets: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        *sizes: int | str,
        n_classes: int = 2,
        full_weight: int = 1,
        targets: Sequence[int] = (),
    ) -> Universe:
        """Make a universe from the number of values of each feature.

        Parameters
        ----------
        *sizes : int or str
            3 is a feature of three whole numbers, ``"3"`` a feature of three categories.
        n_classes : int, default=2
            Number of classes.
        full_weight : int, default=1
            What a record, or all records of a unit together, weigh.
        targets : sequence of int, optional
            Target codes that a record can have. The schema then has a target instead of classes.
        """
        features = {f"f{place}": _make_universe_feature(size) for place, size in enumerate(sizes)}
        if targets:
            schema = Schema(features, target=Target(0, 1))
            return cls(schema, full_weight=full_weight, targets=tuple(targets))
        return cls(Schema(features, list(range(n_classes))), full_weight=full_weight)

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
        return tuple(product(features, range(self.n_labels)))

    @property
    def n_labels(self) -> int:
        """Number of classes, or of possible targets."""
        return len(self.targets) or len(self.schema.classes)

    def table(self, records: Mapping[Record, int]) -> Table:
        """Return the dataset that has the given number of records of each kind."""
        return tuple(self.full_weight * records.get(kind, 0) for kind in self.kinds)

    def tables(self, most: int) -> Iterator[Table]:
        """Iterate over all datasets of at most ``most`` records."""
        for n_records in range(most + 1):
            for kinds in combinations_with_replacement(self.kinds, n_records):
                yield self.table(Counter(kinds))

    def unit(self, *records: Record) -> Table:
        """Return the records of one unit, which weigh at most `full_weight` together.

        Examples
        --------
        >>> Universe.of(2, full_weight=6).unit(((0,), 0), ((1,), 1))
        (3, 0, 0, 3)
        """
        share, n_records = self.full_weight // len(records), Counter(records)
        return tuple(share * n_records[kind] for kind in self.kinds)

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

    def regression_plan(
        self, epsilon: Fraction | int, max_depth: int, **settings: Any
    ) -> RegressionPlan:
        """Return a plan of regression trees. ``settings`` go to :class:`RegressionPlan`."""
        of_classes = vars(self.plan(epsilon, max_depth))
        return RegressionPlan(**of_classes | {"n_classes": N_CLASSES} | settings)

    def boost_plan(self, epsilon: Fraction | int, **settings: Any) -> BoostPlan:
        """Return a plan of ensembles for this universe. ``settings`` go to :class:`BoostPlan`."""
        make = BoostPlan if self.schema.target is None else NumberPlan
        return make(
            epsilon=Fraction(epsilon),
            delta=Fraction(settings.pop("delta", 0)),
            n_classes=len(self.schema.classes),
            n_codes=self.candidates.n_codes,
            n_zoomed=len(self.cells.features),
            **settings,
        )

    def records(
        self, table: Table, candidates: Candidates | None = None, full_weight: int | None = None
    ) -> BinnedRecords:
        """Return the dataset in the form that the learner takes: with fine codes at first.

        Once the learner has zoomed in, the codes are those of its `candidates`. Once it has weighed
        the classes, a record weighs the `full_weight` that it then has.
        """
        codes, labels = self._arrays
        n_codes = self.cells.binner().n_codes
        if candidates is not None:
            codes, n_codes = self._merged_codes(candidates), candidates.n_codes
        full = self.full_weight if full_weight is None else full_weight
        whole, rest = np.divmod(np.array(table, dtype=np.int64), full)
        repeats = whole + (rest > 0)
        weights = None
        if full > 1:
            weights = np.full(repeats.sum(), full, dtype=np.int32)
            weights[np.cumsum(repeats)[rest > 0] - 1] = rest[rest > 0]
        labels, n_classes = np.repeat(labels, repeats), len(self.schema.classes)
        if self.targets:
            labels, n_classes = np.array(self.targets, dtype=np.uint16)[labels], TARGET_CODES
        return BinnedRecords(
            np.repeat(codes, repeats, axis=0),
            n_codes,
            labels,
            n_classes,
            weights=weights,
            full_weight=full,
        )

    def positions_of_targets(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the position among the possible targets of each of some target codes."""
        return np.searchsorted(np.array(self.targets), codes)

    def places(self, candidates: Candidates) -> Any:
        """Return an array (code of each feature, label) of positions of kinds.

        Kinds that have the same codes under these candidates share the position of the first.
        """
        found = np.full((*candidates.n_codes, self.n_labels), -1)
        columns = (*self._merged_codes(candidates).T, self._arrays[1])
        found[tuple(column[::-1] for column in columns)] = np.arange(len(self.kinds))[::-1]
        return found

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
