"""Records in memory: a frame and its labels."""

from __future__ import annotations

from privatree.counting import THREADS, BinnedRecords, Binner
from privatree.schema import Schema
from privatree.sources._source import Records
from privatree.tables import Table, frame_batch


class FrameRecords(Records):
    """A frame and its labels, found to have the columns of a schema.

    Parameters
    ----------
    table, labels : Table
        As opened by :func:`~privatree.tables.open_frame` and ``open_labels``.
    schema : Schema
        What is public.

    Raises
    ------
    SchemaError, ValueError
        If they have not the columns of the schema, or not the same number of rows.
    """

    def __init__(self, table: Table, labels: Table, schema: Schema) -> None:
        self._batch = frame_batch(table, labels, schema)

    def counts(self, binner: Binner) -> tuple[BinnedRecords, int]:
        """See :class:`~privatree.sources.Records`."""
        codes, labels = binner.bin_batch(self._batch, threads=THREADS)
        n_classes = len(binner.schema.classes)
        return BinnedRecords(codes, binner.n_codes, labels, n_classes), self._batch.n_rows
