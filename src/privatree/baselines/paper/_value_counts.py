"""A pass over a source that counts every value of numeric features, for Algorithm 1's quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from privatree.counting import RECORDS_CHANGED, Binner, ClassCounts, Query, SerializablePartial
from privatree.errors import SourceError
from privatree.privacy.mechanisms import ValueCounts
from privatree.schema import Numeric, Schema
from privatree.sources import Source
from privatree.tables import Batch, column_to_clipped_numbers, column_to_codes


class UnbinnedSource:
    """Records of a source, opened with the schema, whose numbers have no bins yet.

    One pass counts the values of all `features`, which are positions in the schema.
    """

    def __init__(self, source: Source, schema: Schema, features: Sequence[int]) -> None:
        self._source, self._schema = source, schema
        found = source.answer(ValueCountsQuery(schema, tuple(features)))
        self._value_counts = dict(zip(features, found.value_counts, strict=True))
        self.exact_rows = found.exact_rows

    def values(self, features: Sequence[int]) -> list[ValueCounts]:
        return [self._value_counts[feature] for feature in features]

    def binned(
        self, cuts: Sequence[NDArray[np.float64] | None], n_codes: Sequence[int]
    ) -> ClassCounts:
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
    """A query that counts each value of some numeric features among the labelled records."""

    schema: Schema
    features: tuple[int, ...]
    """Positions of the features in the schema."""

    def new_partial(self) -> ValueCountsPartial:
        return ValueCountsPartial(self)


class ValueCountsPartial(SerializablePartial):
    """Counts of distinct values. The memory grows with the number of distinct values."""

    def __init__(self, query: ValueCountsQuery) -> None:
        self._query = query
        self.value_counts = [
            ValueCounts(np.empty(0), np.empty(0, np.int64)) for _ in query.features
        ]
        self.exact_rows = 0

    def add_batch(self, batch: Batch) -> None:
        kinds = list(self._query.schema.features.values())
        labels = column_to_codes(batch.labels.read(), self._query.schema.classes, -1, np.int32)
        for turn, feature in enumerate(self._query.features):
            kind = cast("Numeric", kinds[feature])
            values = column_to_clipped_numbers(batch.features[feature].read(), kind)[labels >= 0]
            found = ValueCounts(*np.unique(values, return_counts=True))
            self.value_counts[turn] = _merge_value_counts(self.value_counts[turn], found)
        self.exact_rows += batch.n_rows

    def merge(self, other: ValueCountsPartial) -> None:
        pairs = zip(self.value_counts, other.value_counts, strict=True)
        self.value_counts = [_merge_value_counts(one, two) for one, two in pairs]
        self.exact_rows += other.exact_rows

    def serialize_parts(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of rows as part 0, then the counted values of each feature."""
        yield 0, _serialize_value_counts(ValueCounts(np.zeros(1), np.array([self.exact_rows])))
        for part, counts in enumerate(self.value_counts, start=1):
            yield part, _serialize_value_counts(counts)

    def add_serialized(self, part: int, content: bytes) -> None:
        counts = _parse_value_counts(content)
        if part == 0:
            self.exact_rows += int(counts.exact_counts.sum())
        else:
            self.value_counts[part - 1] = _merge_value_counts(self.value_counts[part - 1], counts)

    @staticmethod
    def merge_serialized(one: bytes, other: bytes) -> bytes:
        return _serialize_value_counts(
            _merge_value_counts(_parse_value_counts(one), _parse_value_counts(other))
        )


def _merge_value_counts(one: ValueCounts, other: ValueCounts) -> ValueCounts:
    if not len(one.exact_values):
        return other
    values = np.concatenate((one.exact_values, other.exact_values))
    counts = np.concatenate((one.exact_counts, other.exact_counts))
    distinct, place = np.unique(values, return_inverse=True)
    merged = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(merged, place, counts)
    return ValueCounts(distinct, merged)


def _serialize_value_counts(counts: ValueCounts) -> bytes:
    return counts.exact_values.tobytes() + counts.exact_counts.astype(np.int64).tobytes()


def _parse_value_counts(content: bytes) -> ValueCounts:
    half = len(content) // 2
    counts: NDArray[np.int64] = np.frombuffer(content[half:], dtype=np.int64)
    return ValueCounts(np.frombuffer(content[:half], dtype=np.float64), counts)
