"""A pass that counts every value of some numbers: what the quantiles of Algorithm 1 need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privatree.counting import RECORDS_CHANGED, Binner, ClassCounts, Query, SerializablePartial
from privatree.errors import SourceError
from privatree.privacy.mechanisms import ValueCounts
from privatree.schema import Numeric, Schema
from privatree.sources import Source
from privatree.tables import Batch, column_to_clipped_numbers, column_to_codes


class UnbinnedSource:
    """Records of a source before their numbers have bins.

    Parameters
    ----------
    source : Source
        Opened with the schema.
    schema : Schema
        What is public.
    features : sequence of int
        The numeric features whose values will be asked for, all in one pass.
    """

    def __init__(self, source: Source, schema: Schema, features: Sequence[int]) -> None:
        self._source, self._schema = source, schema
        found = source.answer(ValueCountsQuery(schema, tuple(features)))
        self._tallies = dict(zip(features, found.tallies, strict=True))
        self.exact_rows = found.exact_rows

    def values(self, features: Sequence[int]) -> list[ValueCounts]:
        """Every value of some numeric features."""
        return [self._tallies[feature] for feature in features]

    def binned(
        self, cuts: Sequence[NDArray[np.float64] | None], n_codes: Sequence[int]
    ) -> ClassCounts:
        """The same records once the bins are known."""
        groups = [
            np.arange(n) if edges is None else None for edges, n in zip(cuts, n_codes, strict=True)
        ]
        binner = Binner(self._schema, tuple(cuts), tuple(groups), tuple(n_codes))
        counts, exact_rows = self._source.counts(binner)
        if exact_rows != self.exact_rows:
            raise SourceError(RECORDS_CHANGED)
        return counts


@dataclass(frozen=True)
class ValueCountsQuery(Query["ValueCountsPartial"]):
    """How often each value of some numeric features occurs among the labelled records.

    Parameters
    ----------
    schema : Schema
        What is public.
    features : tuple of int
        Positions of the features.
    """

    schema: Schema
    features: tuple[int, ...]

    def new_partial(self) -> ValueCountsPartial:
        """An answer before any row."""
        return ValueCountsPartial(self)


class ValueCountsPartial(SerializablePartial):
    """Distinct values with their counts. It needs as much memory as there are distinct values."""

    def __init__(self, query: ValueCountsQuery) -> None:
        self._query = query
        self.tallies = [ValueCounts(np.empty(0), np.empty(0, np.int64)) for _ in query.features]
        self.exact_rows = 0

    def add_batch(self, batch: Batch) -> None:
        """Count some more rows."""
        kinds = list(self._query.schema.features.values())
        labels = column_to_codes(batch.labels.read(), self._query.schema.classes, -1, np.int32)
        for turn, feature in enumerate(self._query.features):
            kind = kinds[feature]
            if not isinstance(kind, Numeric):
                raise TypeError("only numbers have quantiles.")
            values = column_to_clipped_numbers(batch.features[feature].read(), kind)[labels >= 0]
            found = ValueCounts(*np.unique(values, return_counts=True))
            self.tallies[turn] = _merged(self.tallies[turn], found)
        self.exact_rows += batch.n_rows

    def merge(self, other: ValueCountsPartial) -> None:
        """Add what another answer counted."""
        pairs = zip(self.tallies, other.tallies, strict=True)
        self.tallies = [_merged(one, two) for one, two in pairs]
        self.exact_rows += other.exact_rows

    def serialize_parts(self) -> Iterator[tuple[int, bytes]]:
        """The number of rows, then each feature's values."""
        yield 0, _sent(ValueCounts(np.zeros(1), np.array([self.exact_rows])))
        for part, tally in enumerate(self.tallies, start=1):
            yield part, _sent(tally)

    def add_serialized(self, part: int, content: bytes) -> None:
        """Add a part that was sent."""
        tally = _received(content)
        if part == 0:
            self.exact_rows += int(tally.exact_counts.sum())
        else:
            self.tallies[part - 1] = _merged(self.tallies[part - 1], tally)

    @staticmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        """The sum of the same part of two answers."""
        return _sent(_merged(_received(one), _received(other)))


def _merged(one: ValueCounts, other: ValueCounts) -> ValueCounts:
    if not len(one.exact_values):
        return other
    values = np.concatenate((one.exact_values, other.exact_values))
    counts = np.concatenate((one.exact_counts, other.exact_counts))
    distinct, place = np.unique(values, return_inverse=True)
    merged = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(merged, place, counts)
    return ValueCounts(distinct, merged)


def _sent(tally: ValueCounts) -> bytes:
    return tally.exact_values.tobytes() + tally.exact_counts.astype(np.int64).tobytes()


def _received(content: bytes) -> ValueCounts:
    half = len(content) // 2
    counts: NDArray[np.int64] = np.frombuffer(content[half:], dtype=np.int64)
    return ValueCounts(np.frombuffer(content[:half], dtype=np.float64), counts)
