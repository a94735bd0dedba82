"""Records in memory, and sources, which answer queries by passes over all records."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from privatree.counting import (
    RECORDS_CHANGED,
    THREADS,
    AnyPartial,
    BinnedRecords,
    Binner,
    ClassCounts,
    CollectQuery,
    PassCounts,
    Query,
    UnitQuery,
    Weigher,
    full_weight_of,
    with_unit_totals,
)
from privatree.counting.dealing import Dealing, Part, PassDealing
from privatree.errors import ParameterError, SchemaError, SourceError
from privatree.schema import Feature, Schema
from privatree.sources._data_file import check_column_type, wanted_columns
from privatree.sources._pass_progress import show_pass_progress
from privatree.tables import (
    Batch,
    ColumnType,
    LazyColumn,
    Table,
    check_unit_type,
    check_weight_type,
    frame_batch,
)

_LARGE = 2**24  # with more counts than this (128 MiB), only one thread counts


class Records(ABC):
    """Records that a learner trains on, in memory or elsewhere."""

    assumptions: tuple[str, ...] = ()
    """Conditions under which one row changes one record only. The privacy statement lists them."""
    dealing: Dealing | None = None
    """Rule that deals the records to a training and a held-out part; None if all are trained on."""

    @abstractmethod
    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """Return the counts that a learner can ask for, and the private number of rows.

        If records have units, the number is that of the units. With a dealing, the counts are those
        of the training part, and the number is that of both parts. Records that cannot be read
        raise an error here, before the learner draws anything.
        """

    @abstractmethod
    def answer_held_out(self, query: Query[AnyPartial]) -> AnyPartial:
        """Answer a query about the held-out part. Call this after `counts`, with a dealing."""

    @property
    @abstractmethod
    def weigher(self) -> Weigher | None:
        """The rule that weighs the records, after `counts`; None if all weigh the same."""

    @abstractmethod
    def answer_weighed(
        self, schema: Schema, make_query: Callable[[Weigher | None], Query[AnyPartial]]
    ) -> AnyPartial:
        """Answer a query about all records, which is made from the rule that weighs them.

        The rule is None if records have neither units nor weights.
        """

    def close(self) -> None:  # noqa: B027 - most records keep nothing
        """Release what `counts` keeps outside of this process, once the learner is done.

        If `counts` fails, it has done this itself.
        """


class FrameRecords(Records):
    """Records in memory: a frame and its labels, matched with the columns of a schema.

    `units` has the id of each record's unit, and `weights` the sample weights, up to `max_weight`.
    """

    def __init__(
        self,
        table: Table,
        labels: Table,
        schema: Schema,
        *,
        units: LazyColumn | None = None,
        weights: LazyColumn | None = None,
        max_weight: float = 1.0,
    ) -> None:
        batch = frame_batch(table, labels, schema)
        self._batch = replace(batch, unit=units, weight=weights)
        self._max_weight = max_weight
        self._held_out: Batch | None = None

    def counts(self, binner: Binner) -> tuple[BinnedRecords, int]:
        batch, n_rows = self._batch, self._batch.n_rows
        if batch.unit is not None:
            batch, n_rows = with_unit_totals(batch, binner.schema, self._max_weight)
        if self.dealing is not None:
            are_held_out = PassDealing(self.dealing).are_held_out(batch)
            self._held_out = self.dealing.held_out.select(batch, are_held_out)
            batch = self.dealing.training.select(batch, are_held_out)
        weigher = self.weigher
        codes, labels, weights = binner.bin_and_weigh(batch, weigher, threads=THREADS)
        records = BinnedRecords(
            codes,
            binner.n_codes,
            labels,
            binner.n_classes,
            weights=weights,
            full_weight=full_weight_of(weigher),
        )
        return records, n_rows

    @property
    def weigher(self) -> Weigher | None:
        is_weighed = self._batch.unit is not None or self._batch.weight is not None
        return Weigher(self._max_weight) if is_weighed else None

    def answer_held_out(self, query: Query[AnyPartial]) -> AnyPartial:
        if self._held_out is None:
            raise RuntimeError("a held-out part needs a dealing, and counts of the other part.")
        answer = query.new_partial()
        answer.add_batch(self._held_out)
        return answer

    def answer_weighed(
        self, schema: Schema, make_query: Callable[[Weigher | None], Query[AnyPartial]]
    ) -> AnyPartial:
        batch = self._batch
        if batch.unit is not None:
            batch, _ = with_unit_totals(batch, schema, self._max_weight)
        answer = make_query(self.weigher).new_partial()
        answer.add_batch(batch)
        return answer


class Weighing(NamedTuple):
    """The rule that weighs records, and what the pass that made it has found."""

    weigher: Weigher | None
    exact_units: int | None = None
    """Number of units; None if records have no units."""
    exact_rows: int | None = None
    """Number of rows that the pass over the units has seen."""

    def exact_number(self, exact_rows: int) -> int:
        """Return the number of units, or of rows if there are no units.

        `exact_rows` is what the next pass has seen. Raise a SourceError if the records were others:
        their units could weigh more than one record.
        """
        if self.exact_units is None:
            return exact_rows
        if self.exact_rows != exact_rows:
            raise SourceError(RECORDS_CHANGED)
        return self.exact_units


class Source(Records):
    """Records that a learner sees only as counts. Each pass over all records computes some counts.

    Parameters
    ----------
    target : str
        Name of the label column.
    progress : bool or None
        Whether to show each pass on stderr. None shows it if stderr is a terminal.
    unit : str, optional
        Name of the column that says who a row is about, such as ``"patient_id"``. By default,
        it is the unit of the schema, if the schema has one.
    weight : str, optional
        Name of the column of sample weights.

    Attributes
    ----------
    n_passes : int
        Number of passes of the last training.
    ignored : tuple of str
        Columns of the source that are not read. Their names are public.
    """

    def __init__(
        self,
        target: str,
        progress: bool | None,
        unit: str | None = None,
        weight: str | None = None,
    ) -> None:
        if not isinstance(target, str):
            raise ParameterError(
                f"target must be the name of the label column, got {type(target).__name__}."
            )
        for called, name in (("unit", unit), ("weight", weight)):
            if name is not None and not isinstance(name, str):
                raise ParameterError(
                    f"{called} must be the name of a column, or None, got {type(name).__name__}.",
                    called,
                )
        self.unit, self.weight = unit, weight
        if progress is not None and not isinstance(progress, bool):
            raise ParameterError(f"progress must be True, False or None, got {progress!r}.")
        self.target = target
        self.progress = progress
        self.ignored: tuple[str, ...] = ()
        self.n_passes = 0
        self._exact_rows: int | None = None
        self._wanted: dict[str, Feature] = {}
        self._unit_column: str | None = None
        self._max_weight = 1.0
        self._part: Part | None = None  # that counts in the current pass
        self._weighing: Weighing | None = None  # of the last training

    def __repr__(self) -> str:
        return f"{type(self).__name__}(..., target={self.target!r})"

    def open(self, schema: Schema, *, max_weight: float = 1.0) -> None:
        """Find the columns of a schema. This must be called before the first pass.

        `max_weight` is the largest sample weight; larger ones are clipped to it.

        Raises
        ------
        SchemaError
            If a column is missing, or its type contradicts the schema.
        """
        self._wanted = wanted_columns(schema, self.target)
        unit = self.unit_name(schema)
        self._unit_column, self._max_weight = unit, max_weight
        for called, name in (("unit", unit), ("weight", self.weight)):
            if name in self._wanted:
                raise SchemaError(
                    f"the {called} {name!r} must not be a feature or the target. Remove it from "
                    "the features of the schema, or name another column."
                )
        if unit is not None and unit == self.weight:
            raise SchemaError(
                f"unit and weight must be two columns, got {unit!r} for both. Name another column."
            )
        self.n_passes, self._exact_rows, self.dealing = 0, None, None
        self._find_columns(schema)

    def answer(self, query: Query[AnyPartial], part: Part | None = None) -> AnyPartial:
        """Answer a query by one pass over all records, of which only those of a part count."""
        self.n_passes += 1
        self._part = part
        exact_rows, turn = 0, threading.Lock()

        def count_rows(rows: int) -> None:
            nonlocal exact_rows
            with turn:
                exact_rows += rows
            advance(rows)

        try:
            with show_pass_progress(self.n_passes, self._exact_rows, self.progress) as advance:
                found = self._make_pass(query, count_rows)
        finally:
            self._part = None  # it has the key of the dealing
        self._exact_rows = exact_rows or None
        return found

    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """Return the counts that a learner can ask for, and the private number of rows or units."""
        try:
            weighing = self._weighing = self._make_weigher(binner.schema)
            counts = PassCounts(self.answer_about_training, binner, weighing.weigher)
            return counts, weighing.exact_number(counts.exact_rows)
        except BaseException:
            self.close()
            raise

    def answer_about_training(self, query: Query[AnyPartial]) -> AnyPartial:
        """Answer a query about the training part, or about all records without a dealing."""
        return self.answer(query, None if self.dealing is None else self.dealing.training)

    @property
    def weigher(self) -> Weigher | None:
        return None if self._weighing is None else self._weighing.weigher

    def answer_held_out(self, query: Query[AnyPartial]) -> AnyPartial:
        if self.dealing is None:
            raise RuntimeError("a held-out part needs a dealing.")
        exact_rows = self._exact_rows
        found = self.answer(query, self.dealing.held_out)
        if self._exact_rows != exact_rows:
            raise SourceError(RECORDS_CHANGED)
        return found

    def answer_weighed(
        self, schema: Schema, make_query: Callable[[Weigher | None], Query[AnyPartial]]
    ) -> AnyPartial:
        try:
            weighing = self._make_weigher(schema)
            answer = self.answer(make_query(weighing.weigher))
            weighing.exact_number(self._exact_rows or 0)  # an error if the records have changed
            return answer
        finally:
            self.close()

    def unit_name(self, schema: Schema) -> str | None:
        """Return the name of the column of units; None if every record is a unit of its own."""
        return self.unit if self.unit is not None else schema.unit

    def _make_weigher(self, schema: Schema) -> Weighing:
        """Return the rule that weighs records. With units, this is one pass over all records."""
        if self._unit_column is None:
            return Weighing(Weigher(self._max_weight) if self.weight is not None else None)
        totals = self.answer(UnitQuery(schema, self._max_weight))
        weigher = Weigher(self._max_weight, totals)
        return Weighing(weigher, totals.exact_units, self._exact_rows or 0)

    def _check_type(self, where: Path, name: str, found: ColumnType) -> None:
        """Raise a SchemaError if the type of a column contradicts what it is for."""
        if name == self._unit_column:
            check_unit_type(f"{where}: column {name!r}", found)
        elif name == self.weight:
            check_weight_type(f"{where}: column {name!r}", found)
        else:
            check_column_type(where, name, found, self._wanted[name], name == self.target)

    @property
    def _side_names(self) -> tuple[str, ...]:
        """Names of the columns of units and weights, as far as there are any."""
        return tuple(name for name in (self._unit_column, self.weight) if name is not None)

    def _make_batch(
        self,
        n_rows: int,
        features: Sequence[LazyColumn],
        labels: LazyColumn,
        side_columns: Mapping[str, LazyColumn],
    ) -> Batch:
        """Return a batch of rows. `side_columns` has a column for each of `_side_names`."""
        unit = None if self._unit_column is None else side_columns[self._unit_column]
        weight = None if self.weight is None else side_columns[self.weight]
        return Batch(n_rows, features, labels, unit=unit, weight=weight)

    @abstractmethod
    def _find_columns(self, schema: Schema) -> None:
        """Find the columns. Raise a SchemaError if one is missing or has a wrong type."""

    @abstractmethod
    def _make_pass(self, query: Query[AnyPartial], advance: Callable[[int], None]) -> AnyPartial:
        """Make one pass. Call `advance` with the number of rows counted since its last call."""


class BatchSource(Source):
    """Source whose records come to this process in batches.

    With `in_memory`, records are read once and kept as codes, usually a byte for each value.
    """

    def __init__(
        self,
        target: str,
        progress: bool | None,
        in_memory: bool,
        unit: str | None = None,
        weight: str | None = None,
    ) -> None:
        super().__init__(target, progress, unit, weight)
        if not isinstance(in_memory, bool):
            raise ParameterError(f"in_memory must be True or False, got {in_memory!r}.")
        self.in_memory = in_memory

    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """Return the counts that a learner can ask for, and the private number of rows or units."""
        if not self.in_memory:
            return super().counts(binner)
        weighing = self._weighing = self._make_weigher(binner.schema)
        query = CollectQuery(binner, weighing.weigher)
        records, exact_rows = self.answer_about_training(query).collected_records()
        return records, weighing.exact_number(exact_rows)

    @abstractmethod
    def _list_parts(self) -> Iterator[Any]:
        """Yield the parts to read. One thread at a time asks for a part, so this should be fast."""

    @abstractmethod
    def _read_part(self, part: Any) -> Iterator[Batch]:
        """Read one part. Several threads do this at the same time, each with its own part."""

    def _make_pass(self, query: Query[AnyPartial], advance: Callable[[int], None]) -> AnyPartial:
        """Read and count in threads, each with its own parts and its own partial sum.

        Memory holds one batch for each thread, and whatever reading the batch needs.
        """
        turn, stopped = threading.Lock(), threading.Event()
        n_threads = 1 if query.size > _LARGE else THREADS
        select = (lambda batch: batch) if self._part is None else self._part.begin_pass()

        def read_batches(parts: Iterator[Any]) -> Iterator[Batch]:
            while not stopped.is_set():
                with turn:
                    part = next(parts, None)
                if part is None:
                    return
                yield from self._read_part(part)

        def count_parts(parts: Iterator[Any]) -> AnyPartial:
            answer = query.new_partial()
            try:
                for batch in read_batches(parts):
                    answer.add_batch(select(batch))
                    advance(batch.n_rows)
                    if stopped.is_set():
                        break
            except BaseException:
                stopped.set()
                raise
            return answer

        with (
            _close_parts_after_pass(self._list_parts(), turn) as parts,
            ThreadPoolExecutor(max_workers=n_threads) as pool,
        ):
            try:
                futures = [pool.submit(count_parts, parts) for _ in range(n_threads)]
                first, *others = [future.result() for future in futures]
            except BaseException:  # after an interrupt, too, no thread reads on
                stopped.set()
                raise
        for other in others:
            first.merge(other)
        return first


@contextmanager
def _close_parts_after_pass(parts: Iterator[Any], turn: threading.Lock) -> Iterator[Iterator[Any]]:
    """Close the parts of a pass, even if some are not read, once no thread asks for another."""
    try:
        yield parts
    finally:
        with turn:
            getattr(parts, "close", lambda: None)()
