"""Sums of signed weights by code, and by pairs of codes, of records in memory or in passes.

A learner asks for the sums of a round, draws a function from them, and adds the function to the
scores of the records. Records in memory keep their scores. A pass over a source computes the scores
of each batch again, from the functions of all past rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.counting._counts import THREADS, Groups
from privatree.counting.sums._kernels import (
    add_pair_sums,
    add_round_signs,
    count_residuals,
    find_record_rows_of_feature,
    keep_left_records,
)
from privatree.counting.sums._rounds import CodeSplit, RoundTables
from privatree.counting.sums._weight_rule import FULL_SIGNED_WEIGHT, RecordRule

_MAX_SMALL = 2**31 - 1  # largest sum that fits in 32 bits
_FEW_RECORDS = 20_000  # for fewer records, starting threads costs more than it saves

Item = TypeVar("Item")
Result = TypeVar("Result")


class RowSums(NamedTuple):
    """Sums of signed weights over some records."""

    exact_sums: NDArray[np.int64]
    """Sum for each code of all features."""
    exact_rows: NDArray[np.int64]
    """(row, code): sum over the records of each row of the features that were asked for."""


class SignedSums(Protocol):
    """Sums that a learner of an ensemble can ask for. At first, every score is 0."""

    exact_largest_sum: int
    """No sum is larger than this number. It bounds the size of tables, and decides nothing else."""

    def round_sums(
        self, rule: RecordRule, rows: Groups, tops: Sequence[CodeSplit]
    ) -> list[RowSums]:
        """Return the sums over all records, then over the records that go left at each of `tops`.

        `rows` groups the codes of some features; features without rows are not paired.
        """

    def residual_counts(self, start: int, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of the records by the size of their residual, for a numeric target.

        The prediction of a record is `start` plus its score. A record counts at the first of the
        increasing `ends` that its residual is not above, or at the last. All are in fine steps.
        """

    def add_round(self, drawn: RoundTables) -> None:
        """Add the function of one round to the scores of all records."""

    def map_in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the results of compiled `work` on each item, in order. Large work uses threads."""


class MemorySums:
    """Signed sums of records in memory.

    Parameters
    ----------
    codes : array (feature, record) of unsigned integers
        Code of each value, the codes of a feature in a row.
    offsets : array of int64
        Position of the first code of each feature among all codes, and their number.
    labels : array of unsigned integers
        Class code of each record, or the code of its numeric target.
    weights : array of int32, optional
        Weight of each record, up to `full_weight`. By default, every record counts once.
    full_weight : int
        What a record, or all records of a unit together, weigh at most.
    n_scores : int
        Number of scores of a record: 1 for two classes and for a numeric target, else the number of
        classes.
    threads : int, optional
        Largest number of threads.
    """

    def __init__(
        self,
        codes: NDArray[Any],
        offsets: NDArray[np.int64],
        labels: NDArray[Any],
        weights: NDArray[np.int32] | None,
        full_weight: int,
        n_scores: int,
        threads: int | None = None,
    ) -> None:
        self._codes, self._offsets = codes, offsets
        self._labels, self._weights = labels, weights
        self._full_weight = full_weight
        self._threads = THREADS if threads is None else threads
        self._scores = np.zeros((len(labels), n_scores), dtype=np.int32)
        self.exact_largest_sum = len(labels) * full_weight * FULL_SIGNED_WEIGHT

    def round_sums(
        self, rule: RecordRule, rows: Groups, tops: Sequence[CodeSplit]
    ) -> list[RowSums]:
        n_all = 1 + len(tops)
        n_codes = int(self._offsets[-1])
        tables = [np.zeros((max(1, rows.n_rows), n_codes), np.int64) for _ in range(n_all)]
        self.add_round_sums(rule, rows, tops, tables)
        return [row_sums(table, rows) for table in tables]

    def add_round_sums(
        self,
        rule: RecordRule,
        rows: Groups,
        tops: Sequence[CodeSplit],
        tables: Sequence[NDArray[np.int64]],
    ) -> None:
        """Add the sums to tables (row, code); without rows, a table has one row for all records."""
        signed = self._signed_weights(rule)
        self._add_sums(signed, rows, tables[0])
        kept = np.empty_like(signed)
        for top, table in zip(tops, tables[1:], strict=True):
            keep_left_records(self._codes[top.feature], top.goes_left, signed, kept)
            self._add_sums(kept, rows, table)

    def residual_counts(self, start: int, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros(len(ends), dtype=np.int64)
        count_residuals(self._scores, self._labels, self._weights, start, ends, counts)
        return counts

    def add_round(self, drawn: RoundTables) -> None:
        self.map_in_threads(
            lambda chunk: add_round_signs(self._codes, *drawn, *chunk, self._scores),
            self._chunks(),
        )

    def map_in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        if len(self._labels) < _FEW_RECORDS or len(items) < 2 or self._threads < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(max_workers=self._threads) as pool:
            return list(pool.map(work, items))

    def _signed_weights(self, rule: RecordRule) -> NDArray[Any]:
        kind = np.int16 if self._weights is None else np.int64
        signed = np.empty(len(self._labels), dtype=kind)
        arguments = (self._scores, self._labels, self._weights)
        self.map_in_threads(
            lambda chunk: rule.sign_records(*arguments, *chunk, signed), self._chunks()
        )
        return signed

    def _add_sums(self, signed: NDArray[Any], rows: Groups, table: NDArray[np.int64]) -> None:
        kind = np.int32 if self.exact_largest_sum <= _MAX_SMALL else np.int64
        n_features = len(self._codes)
        paired = [
            (self._rows_of(feature, rows), int(rows.firsts[feature]), n_rows)
            for feature in rows.used_features()
            for n_rows in [int(rows.firsts[feature + 1] - rows.firsts[feature])]
        ] or [(np.zeros(len(signed), np.uint8), 0, 1)]

        def add_features(features: NDArray[np.int64]) -> None:
            n_codes = int(np.diff(self._offsets).max())
            for record_rows, first, n_rows in paired:
                block = np.empty((n_rows, n_codes), dtype=kind)
                arguments = (features, self._offsets, block, table)
                add_pair_sums(self._codes, signed, record_rows, first, *arguments)

        n_parts = min(self._threads, n_features)
        self.map_in_threads(
            add_features, [np.arange(part, n_features, n_parts) for part in range(n_parts)]
        )

    def _rows_of(self, feature: int, rows: Groups) -> NDArray[Any]:
        """Return the row of each record by its code of one feature."""
        of_feature = rows.rows_of_feature(feature, self._offsets)
        found = np.empty(len(self._labels), np.min_scalar_type(of_feature.n_rows))
        find_record_rows_of_feature(self._codes[feature], of_feature.row_of_code, found)
        return found

    def _chunks(self) -> list[tuple[int, int]]:
        n_records = len(self._labels)
        parts = 1 if n_records < _FEW_RECORDS else self._threads
        edges = [n_records * part // parts for part in range(parts + 1)]
        return list(pairwise(edges))


def row_sums(table: NDArray[np.int64], rows: Groups) -> RowSums:
    """Return the sums of a table (row, code). The rows of any one feature have all records."""
    used = rows.used_features()
    if not used:
        return RowSums(table[0], table[:0])
    first, end = rows.firsts[used[0] : used[0] + 2]
    return RowSums(table[first:end].sum(axis=0), table)
