"""Signed sums by passes over a source: one pass for each question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privatree.counting._binner import Binner
from privatree.counting._count_kernels import add_class_totals
from privatree.counting._counts import THREADS, Groups
from privatree.counting._queries import TablePartial, TableQuery
from privatree.counting._weights import Weigher
from privatree.counting.sums._rounds import CodeSplit, RoundTables
from privatree.counting.sums._signed_sums import Item, MemorySums, Result, RowSums, row_sums
from privatree.counting.sums._weight_rule import FULL_SIGNED_WEIGHT, RecordRule
from privatree.errors import SourceError
from privatree.tables import Batch


class Question(Protocol):
    """What a pass is to answer about records and their scores. It is public or released."""

    def shapes(self, n_codes: int) -> list[tuple[int, ...]]:
        """Return the shapes of the tables of the answer, for so many codes of all features."""

    def add_records(self, records: MemorySums, tables: Sequence[NDArray[np.int64]]) -> None:
        """Add the answer for some records to the tables."""


@dataclass(frozen=True, eq=False)
class RoundQuestion:
    """Sums over all records, then on the left of each top split."""

    rule: RecordRule
    rows: Groups
    tops: tuple[CodeSplit, ...]

    def shapes(self, n_codes: int) -> list[tuple[int, ...]]:
        return [(max(1, self.rows.n_rows), n_codes)] * (1 + len(self.tops))

    def add_records(self, records: MemorySums, tables: Sequence[NDArray[np.int64]]) -> None:
        records.add_round_sums(self.rule, self.rows, self.tops, tables)


@dataclass(frozen=True, eq=False)
class ResidualQuestion:
    """Weight of the records by the size of their residual."""

    start: int
    ends: NDArray[np.int64]

    def shapes(self, n_codes: int) -> list[tuple[int, ...]]:
        return [(len(self.ends),)]

    def add_records(self, records: MemorySums, tables: Sequence[NDArray[np.int64]]) -> None:
        tables[0][:] += records.residual_counts(self.start, self.ends)


@dataclass(frozen=True, eq=False)
class SumQuery(TableQuery["SumPartial"]):
    """A question, and the functions of all rounds so far."""

    binner: Binner
    rounds: RoundTables
    question: Question
    weigher: Weigher | None
    factors: tuple[int, ...] | None
    """Factor of each class, if classes have weights."""
    full_weight: int

    def new_partial(self) -> SumPartial:
        return SumPartial(self)

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        return [*self.question.shapes(sum(self.binner.n_codes)), (self.binner.n_classes,)]


class SumPartial(TablePartial[SumQuery]):
    """The tables of the answer; last, the weight of each class, or of each target code."""

    def add_batch(self, batch: Batch) -> None:
        query = self._query
        codes, labels, weights = query.binner.bin_and_weigh(batch, query.weigher)
        if query.factors is not None:
            factors = np.array(query.factors, dtype=np.int32)[labels]
            weights = factors if weights is None else weights * factors
        offsets = np.concatenate([[0], np.cumsum(query.binner.n_codes)]).astype(np.int64)
        n_scores = query.rounds.amounts.shape[1]
        records = MemorySums(
            np.ascontiguousarray(codes.T), offsets, labels, weights, query.full_weight, n_scores, 1
        )
        records.add_round(query.rounds)
        *tables, exact_totals = self.tables
        query.question.add_records(records, tables)
        add_class_totals(labels, weights, 0, len(labels), exact_totals)
        self.count_rows(batch.n_rows)


class PassSums:
    """Signed sums from passes over a source, one for each question.

    `answer` makes one pass. `exact_totals` are the weights of all records of each class, or of each
    target code, from an earlier pass. A SourceError is raised if a pass finds others, or another
    number of rows.
    """

    def __init__(
        self,
        answer: Callable[[SumQuery], SumPartial],
        binner: Binner,
        weigher: Weigher | None,
        factors: Sequence[int] | None,
        full_weight: int,
        exact_rows: int,
        exact_totals: NDArray[np.int64],
        n_scores: int,
        changed: str,
    ) -> None:
        self._answer, self._binner, self._weigher = answer, binner, weigher
        self._factors = None if factors is None else tuple(factors)
        self._full_weight = full_weight
        self._exact_rows, self._exact_totals = exact_rows, exact_totals
        self._n_scores, self._changed = n_scores, changed
        self._rounds: RoundTables | None = None
        self.exact_largest_sum = exact_rows * full_weight * FULL_SIGNED_WEIGHT

    def round_sums(
        self, rule: RecordRule, rows: Groups, tops: Sequence[CodeSplit]
    ) -> list[RowSums]:
        tables = self._ask(RoundQuestion(rule, rows, tuple(tops)))
        return [row_sums(table, rows) for table in tables]

    def residual_counts(self, start: int, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        (counts,) = self._ask(ResidualQuestion(start, ends))
        return counts

    def _ask(self, question: Question) -> list[NDArray[np.int64]]:
        rounds = self._rounds or RoundTables.of_no_round(0, self._n_scores)
        found = self._answer(
            SumQuery(
                self._binner, rounds, question, self._weigher, self._factors, self._full_weight
            )
        )
        *tables, exact_totals = found.tables
        same = np.array_equal(exact_totals, self._exact_totals)
        if not same or found.exact_rows != self._exact_rows:
            raise SourceError(self._changed)
        return tables

    def add_round(self, drawn: RoundTables) -> None:
        self._rounds = drawn if self._rounds is None else RoundTables.stack([self._rounds, drawn])

    def map_in_threads(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            return list(pool.map(work, items))
