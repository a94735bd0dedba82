"""Where ``fit`` counts: in memory, in passes over the files, or on a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._spinner import waiting
from privatree.errors import ParameterError

Engine = Annotated[
    Literal["auto", "memory", "stream", "spark"],
    typer.Option(
        help="Where the records are counted: memory reads the files once and keeps them, stream "
        "reads them again for each of the 2 to 5 passes of a training, spark leaves that to a "
        "cluster. auto is memory, or stream for what would not fit comfortably. The tree is the "
        "same."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="With --engine spark: the cluster, such as spark://host:7077. Without it, what "
        "Spark's own configuration says, or this machine.",
    ),
]


def check_engine(engine: str, master: str | None, *, has_schema: bool) -> None:
    """Refuse options that contradict each other."""
    if master is not None and engine != "spark":
        raise ParameterError("--master must be used with --engine spark.")
    if engine in ("stream", "spark") and not has_schema:
        raise ParameterError(
            f"--engine {engine} must be used with --schema: reading one from the records needs "
            "them in memory."
        )


@contextmanager
def file_source(
    files: Sequence[Path],
    target: str,
    schema: Any,
    engine: str,
    master: str | None,
    quiet: bool,
) -> Iterator[Any]:
    """The records as a source, with a sign of life while it is in use. ``fit`` opens it.

    Parameters
    ----------
    files : sequence of Path
        Where the records are; for Spark, also on every executor.
    target : str
        The column of labels.
    schema : Schema
        What is public.
    engine : {"auto", "memory", "stream", "spark"}
        Where to count.
    master : str or None
        Spark's cluster.
    quiet : bool
        Whether nothing is said.
    """
    from privatree.sources import CsvSource, ParquetSource, fits_in_memory, is_csv
    from privatree.sources.csv import StandardInput

    if engine == "spark" and any(isinstance(file, StandardInput) for file in files):
        raise ParameterError(
            "--engine spark must be used with files that executors can read, not with the standard "
            "input."
        )
    in_memory = engine == "memory" or (
        engine == "auto" and fits_in_memory(files, len(schema.features))
    )
    kind = CsvSource if is_csv(files[0]) else ParquetSource
    progress = False if quiet or in_memory else None
    source = kind(files, target=target, progress=progress, in_memory=in_memory)
    with (
        _on_cluster(source, master, progress) if engine == "spark" else nullcontext(source) as found
    ):
        if engine == "auto" and not in_memory and not quiet:
            typer.echo(
                "Streaming: the records would not fit comfortably in memory, so the files are read "
                "again in each pass of the training (--engine memory keeps them).",
                err=True,
            )
        with waiting("Training", shown=in_memory and not quiet):
            yield found
    if source.ignored and not quiet:
        names = ", ".join(map(repr, source.ignored))
        typer.echo(f"Not in the schema, so ignored: {names}.", err=True)


@contextmanager
def _on_cluster(source: Any, master: str | None, progress: bool | None) -> Iterator[Any]:
    """The same files, counted on a cluster."""
    from privatree.sources.spark import SparkFileSource, spark_session

    with waiting("Starting Spark", shown=progress is None):
        spark = spark_session(master)
    try:
        yield SparkFileSource(source, spark, progress=progress)
    finally:
        spark.stop()
