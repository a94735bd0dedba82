"""Records in memory, and sources, which answer queries by passes over all records."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from privatree._support.progress import rich_progress
from privatree.counting import (
    THREADS,
    AnyPartial,
    BinnedRecords,
    Binner,
    ClassCounts,
    CollectQuery,
    PassCounts,
    Query,
)
from privatree.errors import ParameterError
from privatree.schema import Feature, Schema
from privatree.sources._data_file import wanted_columns
from privatree.tables import Batch, Table, frame_batch

_LARGE = 2**24  # with more counts than this (128 MiB), only one thread counts


class Records(ABC):
    """Records that a learner trains on, in memory or elsewhere."""

    assumptions: tuple[str, ...] = ()
    """Conditions under which one row changes one record only. The privacy statement lists them."""

    @abstractmethod
    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """Return the counts that a learner can ask for, and the private number of rows.

        Records that cannot be read raise an error here, before the learner draws anything.
        """


class FrameRecords(Records):
    """Records in memory: a frame and its labels, matched with the columns of a schema."""

    def __init__(self, table: Table, labels: Table, schema: Schema) -> None:
        self._batch = frame_batch(table, labels, schema)

    def counts(self, binner: Binner) -> tuple[BinnedRecords, int]:
        codes, labels = binner.bin_batch(self._batch, threads=THREADS)
        n_classes = len(binner.schema.classes)
        return BinnedRecords(codes, binner.n_codes, labels, n_classes), self._batch.n_rows


class Source(Records):
    """Records that a learner sees only as counts. Each pass over all records computes some counts.

    Parameters
    ----------
    target : str
        Name of the label column.
    progress : bool or None
        Whether to show each pass on stderr. None shows it if stderr is a terminal.

    Attributes
    ----------
    n_passes : int
        Number of passes of the last training.
    ignored : tuple of str
        Columns of the source that are not read. Their names are public.
    """

    def __init__(self, target: str, progress: bool | None) -> None:
        if not isinstance(target, str):
            raise ParameterError(
                f"target must be the name of the label column, got {type(target).__name__}."
            )
        if progress is not None and not isinstance(progress, bool):
            raise ParameterError(f"progress must be True, False or None, got {progress!r}.")
        self.target = target
        self.progress = progress
        self.ignored: tuple[str, ...] = ()
        self.n_passes = 0
        self._exact_rows: int | None = None
        self._wanted: dict[str, Feature] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(..., target={self.target!r})"

    def open(self, schema: Schema) -> None:
        """Find the columns of a schema. This must be called before the first pass.

        Raises
        ------
        SchemaError
            If a column is missing, or its type contradicts the schema.
        """
        self._wanted = wanted_columns(schema, self.target)
        self.n_passes, self._exact_rows = 0, None
        self._find_columns(schema)

    def answer(self, query: Query[AnyPartial]) -> AnyPartial:
        """Answer a query by one pass over all records."""
        self.n_passes += 1
        exact_rows, turn = 0, threading.Lock()

        def count_rows(rows: int) -> None:
            nonlocal exact_rows
            with turn:
                exact_rows += rows
            advance(rows)

        with show_pass_progress(self.n_passes, self._exact_rows, self.progress) as advance:
            found = self._make_pass(query, count_rows)
        self._exact_rows = exact_rows or None
        return found

    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """Return the counts that a learner can ask for, and the private number of rows."""
        counts = PassCounts(self.answer, binner)
        return counts, counts.exact_rows

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

    def __init__(self, target: str, progress: bool | None, in_memory: bool) -> None:
        super().__init__(target, progress)
        if not isinstance(in_memory, bool):
            raise ParameterError(f"in_memory must be True or False, got {in_memory!r}.")
        self.in_memory = in_memory

    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """Return the counts that a learner can ask for, and the private number of rows."""
        if not self.in_memory:
            return super().counts(binner)
        return self.answer(CollectQuery(binner)).collected_records()

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
                    answer.add_batch(batch)
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


@contextmanager
def show_pass_progress(
    number: int, total: int | None, shown: bool | None
) -> Iterator[Callable[[int], None]]:
    """Show a bar with the rows of a pass and their rate, and remove it at the end of the pass.

    `total` is the number of rows, if an earlier pass has counted them. The bar is shown if `shown`
    is True, or if it is None, stderr is a terminal and rich is installed. The yielded function
    takes the number of rows that were counted since its last call.

    Notes
    -----
    The number of records is private. The bar is for the person who runs the training, who has the
    records anyway. Its numbers are rounded, they are not kept, and the model does not contain them.
    """
    if shown is None and not sys.stderr.isatty():
        shown = False  # a setting of rich can treat a file as a terminal; no count goes to a file
    bar = rich_progress(
        "Pass {task.fields[number]}",
        "bar",
        "{task.fields[rows]} rows, {task.fields[rate]}/s",
        "elapsed",
        shown=shown,
        transient=True,
    )
    if bar is None:
        yield lambda rows: None
        return
    with bar:
        task = bar.add_task("", total=total, number=number, rows="0", rate="0")

        def advance(rows: int) -> None:
            bar.advance(task, rows)
            now = bar.tasks[0]
            rate = now.completed / now.elapsed if now.elapsed else 0.0
            bar.update(
                task, rows=round_pass_progress(now.completed), rate=round_pass_progress(rate)
            )

        yield advance


def round_pass_progress(number: float) -> str:
    """Round a number to two digits, as text: 1,234,567 becomes "1.2 million"."""
    if number < 1000:
        return "fewer than 1,000"
    digits = float(f"{number:.2g}")
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if digits >= size:
            return f"{digits / size:g} {name}"
    return f"{digits:,.0f}"
