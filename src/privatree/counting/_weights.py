"""Weights of records, as whole numbers, from what a record and its own unit say.

A weight of 1 is the whole number `FULL_WEIGHT`. All weights are rounded down, so the records of a
unit never weigh more than `FULL_WEIGHT` together. The weight of a record depends on the records of
its own unit alone (``docs/proofs/units.md``).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privatree.counting._queries import Query, SerializablePartial
from privatree.errors import SourceError
from privatree.schema import Schema
from privatree.tables import Batch, UnitIds, column_to_numbers, label_codes, read_unit_ids

FULL_WEIGHT = 2**14
"""The weight 1 as a whole number. A unit of more than this many records weighs nothing."""
MAX_UNITS = 10**8
"""Largest number of ids that this process keeps in memory: about 10 GB."""

_N_PARTS = 256  # in which totals are sent: each has some of the ids


@dataclass(frozen=True)
class Weigher:
    """Rule that gives each record of a batch its weight.

    Parameters
    ----------
    max_weight : float, default=1.0
        Largest sample weight; larger ones are clipped to it. It is public.
    totals : UnitTotals, optional
        Sample weights of the records of each unit, added up. None if records have no units, or if
        batches come with the totals of their units.
    """

    max_weight: float = 1.0
    totals: UnitTotals | None = None

    @property
    def full_weight(self) -> int:
        """What a record, or all records of a unit together, weigh at most."""
        return FULL_WEIGHT

    def weigh(self, batch: Batch, labels: NDArray[np.signedinteger]) -> NDArray[np.int32]:
        """Return the weight of each row; 0 for a row without a label, or without an id of a unit.

        `labels` are positions in the classes, or codes of a numeric target; -1 for rows without.
        """
        weights = _sample_weights(batch, labels, self.max_weight)
        exact_totals = self._exact_totals(batch)
        if exact_totals is None:
            return weights.astype(np.int32)
        # A unit that weighs at most 1 stays as it is; the weights of any other add up to 1 at most.
        shares = weights * FULL_WEIGHT // np.maximum(exact_totals, FULL_WEIGHT)
        return np.where(exact_totals > 0, shares, 0).astype(np.int32)

    def _exact_totals(self, batch: Batch) -> NDArray[np.int64] | None:
        """Return the total of each row's unit; None if records have no units."""
        if batch.exact_unit_totals is not None or batch.unit is None:
            return batch.exact_unit_totals
        if self.totals is None:
            raise RuntimeError("a batch with units must be weighed with their totals.")
        return self.totals.look_up(read_unit_ids(batch.unit.read()))


def _sample_weights(
    batch: Batch, labels: NDArray[np.signedinteger], max_weight: float
) -> NDArray[np.int64]:
    """Return the weight of each row without regard to units, from 0 to `FULL_WEIGHT`."""
    full = np.where(labels >= 0, FULL_WEIGHT, 0).astype(np.int64)
    if batch.weight is None:
        return full
    with np.errstate(all="ignore"):
        numbers = np.nan_to_num(column_to_numbers(batch.weight.read()), nan=0.0)
        numbers = np.clip(numbers, 0.0, max_weight) / max_weight
    return np.minimum(np.floor(numbers * FULL_WEIGHT).astype(np.int64), full)


def _sum_by_unit(
    batch: Batch, found: UnitIds, schema: Schema, max_weight: float
) -> NDArray[np.int64]:
    """Return the sum of the sample weights of the rows of each distinct id."""
    labels = label_codes(batch.labels.read(), schema)
    weights = _sample_weights(batch, labels, max_weight)
    exact_sums = np.zeros(len(found.distinct) + 1, dtype=np.int64)  # -1, no id, finds the last
    np.add.at(exact_sums, found.places, weights)
    return exact_sums[:-1]


def with_unit_totals(batch: Batch, schema: Schema, max_weight: float) -> tuple[Batch, int]:
    """Return a batch of all records with the totals of its units, and the number of units."""
    if batch.unit is None:
        raise RuntimeError("the totals of units need a batch with units.")
    found = read_unit_ids(batch.unit.read())
    exact_sums = _sum_by_unit(batch, found, schema, max_weight)
    exact_totals = np.append(exact_sums, 0)[found.places]
    return replace(batch, exact_unit_totals=exact_totals), len(exact_sums)


@dataclass(frozen=True)
class UnitQuery(Query["UnitTotals"]):
    """Sample weights of the records of each unit, added up."""

    schema: Schema
    max_weight: float

    def new_partial(self) -> UnitTotals:
        return UnitTotals(self.schema, self.max_weight)


class UnitTotals(SerializablePartial):
    """Sum of the sample weights of each unit's records with a known label. It is secret."""

    def __init__(self, schema: Schema, max_weight: float) -> None:
        self._schema, self._max_weight = schema, max_weight
        self._place_of: dict[str, int] = {}
        self._exact_totals = np.zeros(1024, dtype=np.int64)

    @property
    def exact_units(self) -> int:
        """Number of units, including those without any known label."""
        return len(self._place_of)

    def add_batch(self, batch: Batch) -> None:
        if batch.unit is None:
            raise RuntimeError("the totals of units need batches with units.")
        found = read_unit_ids(batch.unit.read())
        self._add_sums(found.ids, _sum_by_unit(batch, found, self._schema, self._max_weight))

    def merge(self, other: UnitTotals) -> None:
        self._add_sums(list(other._place_of), other._exact_totals[: other.exact_units])

    def serialize_parts(self) -> Iterator[tuple[int, bytes]]:
        parts: list[dict[str, int]] = [{} for _ in range(_N_PARTS)]
        for one, place in self._place_of.items():
            # This chooses the part, and nothing else: in each part, ids are compared exactly.
            part = zlib.crc32(one.encode("utf-8", "surrogatepass")) % _N_PARTS
            parts[part][one] = int(self._exact_totals[place])
        for part, sums in enumerate(parts):
            if sums or part == 0:  # the first part is sent with the number of rows
                yield part, json.dumps(sums).encode()

    def add_serialized(self, part: int, content: bytes) -> None:
        sums = json.loads(content)
        self._add_sums(list(sums), np.array(list(sums.values()), dtype=np.int64))

    @staticmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        sums = json.loads(one)
        for unit_id, exact_sum in json.loads(other).items():
            sums[unit_id] = sums.get(unit_id, 0) + exact_sum
        return json.dumps(sums).encode()

    def _add_sums(self, ids: Sequence[str], exact_sums: NDArray[np.int64]) -> None:
        """Add to the totals of distinct ids."""
        place_of = self._place_of
        places = np.array([place_of.setdefault(one, len(place_of)) for one in ids], dtype=np.int64)
        if len(place_of) > MAX_UNITS:
            raise SourceError(
                f"there must be at most {MAX_UNITS:,} units for training in one process. Train "
                "with Spark: SparkSource groups the records of a unit on the cluster."
            )
        missing = len(place_of) - len(self._exact_totals)
        if missing > 0:
            more = np.zeros(max(missing, len(self._exact_totals)), dtype=np.int64)
            self._exact_totals = np.concatenate([self._exact_totals, more])
        self._exact_totals[places] += exact_sums

    def look_up(self, found: UnitIds) -> NDArray[np.int64]:
        """Return the total of the unit of each row; 0 for a row without an id."""
        exact_totals = np.zeros(len(found.ids) + 1, dtype=np.int64)  # -1, no id, finds the last
        for position, one in enumerate(found.ids):
            place = self._place_of.get(one, -1)
            exact_totals[position] = self._exact_totals[place] if place >= 0 else 0
        total: NDArray[np.int64] = exact_totals[found.places]
        return total
