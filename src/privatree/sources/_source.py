"""Where records live: a source answers queries about them, one pass over all of them for each."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from privatree.counting import (
    THREADS,
    AnyPartial,
    Binner,
    ClassCounts,
    CollectQuery,
    PassCounts,
    Query,
)
from privatree.errors import ParameterError, SchemaError
from privatree.schema import Schema
from privatree.sources._pass_progress import pass_progress
from privatree.tables import Batch

_LARGE = 2**24  # counts of which one copy is enough: 128 MiB


class Records(ABC):
    """What a learner trains on, wherever it lives.

    Attributes
    ----------
    assumptions : tuple of str
        What has to hold for one record to change one record only, as it is read. The statement of a
        model names it.
    """

    assumptions: tuple[str, ...] = ()

    @abstractmethod
    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """The records as a learner sees them, and the number of rows, which is private.

        What cannot be read shows now, before anything is drawn.
        """


class Source(Records):
    """Records of which a learner sees counts, never rows, by passes over all of them.

    Parameters
    ----------
    target : str
        The column of labels.
    progress : bool or None
        Whether passes are shown on stderr; None: if it is a terminal.

    Attributes
    ----------
    n_passes : int
        How many passes the last training made.
    ignored : tuple of str
        Columns that were there and not read. Their names are public.
    """

    def __init__(self, target: str, progress: bool | None) -> None:
        if not isinstance(target, str):
            raise ParameterError(
                f"target must be the name of the column of labels, got {type(target).__name__}."
            )
        if progress is not None and not isinstance(progress, bool):
            raise ParameterError(f"progress must be True, False or None, got {progress!r}.")
        self.target = target
        self.progress = progress
        self.ignored: tuple[str, ...] = ()
        self.n_passes = 0
        self._exact_rows: int | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(..., target={self.target!r})"

    def open(self, schema: Schema) -> None:
        """Find the columns of a schema; to be called before any pass.

        Raises
        ------
        SchemaError
            If a column is not there, or its type contradicts the schema.
        """
        if self.target in schema.features:
            raise SchemaError(
                f"the target {self.target!r} must not be a feature of the schema. Take it out of "
                "there."
            )
        self.n_passes, self._exact_rows = 0, None
        self._open(schema)

    def answer(self, query: Query[AnyPartial]) -> AnyPartial:
        """Make one pass over all records."""
        self.n_passes += 1
        exact_rows, turn = 0, threading.Lock()

        def count(rows: int) -> None:
            nonlocal exact_rows
            with turn:
                exact_rows += rows
            advance(rows)

        with pass_progress(self.n_passes, self._exact_rows, self.progress) as advance:
            found = self._answer(query, count)
        self._exact_rows = exact_rows or None
        return found

    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """See :class:`Records`."""
        counts = PassCounts(self.answer, binner)
        return counts, counts.exact_rows

    @abstractmethod
    def _open(self, schema: Schema) -> None:
        """Find and check the columns."""

    @abstractmethod
    def _answer(self, query: Query[AnyPartial], advance: Callable[[int], None]) -> AnyPartial:
        """One pass; `advance` takes how many more rows are done."""


class BatchSource(Source):
    """Records that come to this process in batches.

    Parameters
    ----------
    target : str
        The column of labels.
    progress : bool or None
        Whether passes are shown on stderr; None: if it is a terminal.
    in_memory : bool
        Whether records are read once and kept as codes, a byte for most values, rather than read
        again in each pass.
    """

    def __init__(self, target: str, progress: bool | None, in_memory: bool) -> None:
        super().__init__(target, progress)
        if not isinstance(in_memory, bool):
            raise ParameterError(f"in_memory must be True or False, got {in_memory!r}.")
        self.in_memory = in_memory

    def counts(self, binner: Binner) -> tuple[ClassCounts, int]:
        """See :class:`Records`."""
        if not self.in_memory:
            return super().counts(binner)
        return self.answer(CollectQuery(binner)).collected_records()

    @abstractmethod
    def _parts(self) -> Iterator[Any]:
        """What is to be read, in parts; called by one thread at a time, so it should be quick."""

    @abstractmethod
    def _batches(self, part: Any) -> Iterator[Batch]:
        """Read a part; called by several threads at the same time, each with its own."""

    def _answer(self, query: Query[AnyPartial], advance: Callable[[int], None]) -> AnyPartial:
        """Read and count in threads, each with parts and an answer of its own.

        No more is in memory than a batch for each thread and what reading it needs.
        """
        turn, stopped = threading.Lock(), threading.Event()
        n_threads = 1 if query.size > _LARGE else THREADS

        def batches(parts: Iterator[Any]) -> Iterator[Batch]:
            while not stopped.is_set():
                with turn:
                    part = next(parts, None)
                if part is None:
                    return
                yield from self._batches(part)

        def work(parts: Iterator[Any]) -> AnyPartial:
            answer = query.new_partial()
            try:
                for batch in batches(parts):
                    answer.add_batch(batch)
                    advance(batch.n_rows)
                    if stopped.is_set():
                        break
            except BaseException:
                stopped.set()
                raise
            return answer

        with (
            _closed_at_the_end(self._parts(), turn) as parts,
            ThreadPoolExecutor(max_workers=n_threads) as pool,
        ):
            try:
                futures = [pool.submit(work, parts) for _ in range(n_threads)]
                first, *others = [future.result() for future in futures]
            except BaseException:  # an interrupt too: no thread reads on
                stopped.set()
                raise
        for other in others:
            first.merge(other)
        return first


@contextmanager
def _closed_at_the_end(parts: Iterator[Any], turn: threading.Lock) -> Iterator[Iterator[Any]]:
    """Files are closed even if not all is read; a thread that is at it ends its turn before."""
    try:
        yield parts
    finally:
        with turn:
            getattr(parts, "close", lambda: None)()
