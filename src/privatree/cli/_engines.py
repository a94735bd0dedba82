"""The option --engine: ``fit`` counts records in memory, in passes over files or on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._learner_options import print_ignored_columns
from privatree.cli._output import show_spinner
from privatree.errors import ParameterError

Engine = Annotated[
    Literal["auto", "memory", "stream", "spark"],
    typer.Option(
        help="Where the records are counted. memory reads the files once and keeps the records. "
        "stream reads the files again in each pass of a training: 2 to 5 for a tree, and one for "
        "each round of an ensemble. spark counts on a cluster. auto is memory, or stream if the "
        "records would not fit comfortably in memory. The model is the same with all of them."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="With --engine spark: the address of the cluster, such as spark://host:7077. The "
        "default is the address in Spark's own configuration, or this machine.",
    ),
]


def check_engine(engine: str, master: str | None, *, has_schema: bool) -> None:
    """Raise ParameterError for --master without spark, or stream or spark without a schema."""
    if master is not None and engine != "spark":
        raise ParameterError(
            "--master must be used with --engine spark. Add that option, or leave --master out."
        )
    if engine in ("stream", "spark") and not has_schema:
        raise ParameterError(
            f"--engine {engine} must be used with --schema: a schema can be inferred only from "
            "records in memory."
        )


@contextmanager
def open_source_for_engine(
    files: Sequence[Path],
    target: str,
    schema: Any,
    engine: str,
    master: str | None,
    quiet: bool,
    *,
    weight: str | None = None,
) -> Iterator[Any]:
    """Open the files as a source for ``fit``, and show a spinner or progress bar unless quiet.

    `weight` is the column of sample weights; the schema names that of units.

    With Spark, every executor must find the files at the same paths.
    """
    from privatree.sources import CsvSource, ParquetSource, fits_in_memory, is_csv_path
    from privatree.sources.csv import StandardInput

    if engine == "spark" and any(isinstance(file, StandardInput) for file in files):
        raise ParameterError(
            "--engine spark must be used with files that executors can read, not with the standard "
            "input."
        )
    in_memory = engine == "memory" or (
        engine == "auto" and fits_in_memory(files, len(schema.features))
    )
    kind = CsvSource if is_csv_path(files[0]) else ParquetSource
    progress = False if quiet or in_memory else None
    source = kind(files, target=target, weight=weight, progress=progress, in_memory=in_memory)
    on_cluster = _open_engine_spark(source, master, progress) if engine == "spark" else None
    with on_cluster or nullcontext(source) as opened:
        if engine == "auto" and not in_memory and not quiet:
            typer.echo(
                "Streaming: the records would not fit comfortably in memory, so each pass of the "
                "training reads the files again. To keep the records in memory, pass --engine "
                "memory.",
                err=True,
            )
        with show_spinner("Training", shown=in_memory and not quiet):
            yield opened
    if not quiet:
        print_ignored_columns(source.ignored)


@contextmanager
def _open_engine_spark(source: Any, master: str | None, progress: bool | None) -> Iterator[Any]:
    from privatree.sources.spark import SparkFileSource, spark_session

    with show_spinner("Starting Spark", shown=progress is None):
        spark = spark_session(master)
    try:
        yield SparkFileSource(source, spark, progress=progress)
    finally:
        spark.stop()
