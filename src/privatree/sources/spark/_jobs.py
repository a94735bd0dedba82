"""Jobs on a Spark cluster that can be interrupted, and what to say of those that fail.

Spark's own text can show values of records. So nothing of it is shown but what is known to be
public: the name of an error condition, a file, a Python module.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, TypeVar
from urllib.parse import unquote

from privatree.errors import PrivatreeError, SourceError
from privatree.sources.spark._counting import OTHER_VERSION

_SECONDS = 0.2  # between two looks at a job that runs
_FILE = re.compile(r"\[FAILED_READ_FILE[A-Z_.]*\][^\n]*? reading file (.+?)\.(?:\s|$)")
_NO_PATH = re.compile(r"\[PATH_NOT_FOUND\] Path does not exist: (.+?)\.(?:\s|$)")
_MODULE = re.compile(r"(?m)^ModuleNotFoundError: No module named '([A-Za-z_][\w.]*)'")
_CONDITION = re.compile(r"(?:^|(?:Exception|Error): )\[([A-Z][A-Z0-9_.]*)\]")
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_SHIP = (
    "Install privatree[spark] on every executor, or ship an environment that has it with "
    "spark.archives, and set PYSPARK_PYTHON to its Python."
)
_KNOWN = {
    "PYTHON_VERSION_MISMATCH": "executors must run the same Python as the driver. Set "
    "PYSPARK_PYTHON to the same version everywhere.",
    OTHER_VERSION: f"{OTHER_VERSION}. {_SHIP}",
    "spark.driver.maxResultSize": "the counts must fit spark.driver.maxResultSize. Set it higher.",
    "Python worker exited unexpectedly": "a Python process of an executor ended, most likely for "
    "want of memory. Set spark.executor.memoryOverhead higher.",
    "stopped SparkContext": "the Spark session must be running, and was stopped. Start a new one.",
}
"""What Spark says, and what is said instead."""

_TURNS = count()

Result = TypeVar("Result")


def run_job(spark: Any, job: Callable[[], Result], look: Callable[[], None]) -> Result:
    """Run a job of a session; if this is interrupted, cancel it.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session.
    job : callable
        Waits for Spark. It runs in a thread of its own: whoever waits for Spark's answer cannot
        tell Spark to stop.
    look : callable
        Is called now and then while the job runs.

    Raises
    ------
    SourceError
        If the job fails.
    """
    from pyspark import InheritableThread

    context = context_of(spark)
    # A session's own tags cannot be cancelled from another thread, unless it is far away.
    add, cancel = (
        (spark.addTag, spark.interruptTag)
        if context is None
        else (context.addJobTag, context.cancelJobsWithTag)
    )
    tag = f"privatree-{os.getpid()}-{next(_TURNS)}"
    results: list[Result] = []
    failures: list[BaseException] = []
    finished = threading.Event()  # Thread.join, once interrupted, takes any thread for finished

    def work() -> None:
        try:
            add(tag)
            with _without_logs():
                results.append(job())
        except BaseException as failure:
            failures.append(failure)
        finally:
            finished.set()

    InheritableThread(work, session=spark, daemon=True).start()
    try:
        while not finished.wait(_SECONDS):
            look()
    except BaseException:
        while not finished.is_set():  # it may not yet have started what is to be cancelled
            with suppress(Exception):
                cancel(tag)
            finished.wait(_SECONDS)
        raise
    if failures:
        raise public_error(failures[0])
    return results[0]


def context_of(spark: Any) -> Any:
    """The context of a session; None if it is on the other side of Spark Connect."""
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except PySparkException:
        return None


@contextmanager
def quiet_spark() -> Iterator[None]:
    """Leave out its warning of a pandas newer than it knows: what we use of Spark needs none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        yield


@contextmanager
def _without_logs() -> Iterator[None]:
    """Keep what Spark logs here about a failed query, a value of a record perhaps, off stderr."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def public_error(failure: BaseException) -> BaseException:
    """What may be shown of a failure of Spark.

    Parameters
    ----------
    failure : BaseException
        What Spark raised.

    Returns
    -------
    BaseException
        A :class:`SourceError` that does not refer to the failure, or the failure itself if it is
        not Spark's.
    """
    if isinstance(failure, PrivatreeError | MemoryError) or not isinstance(failure, Exception):
        return failure
    said, condition = str(failure), _condition(failure)
    # Spark names what happened before it quotes any value: only where the name says that a path
    # follows is one looked for.
    if condition.startswith("FAILED_READ_FILE") and (found := _FILE.search(said)):
        return SourceError(f"{_path(found[1])}: Spark cannot read this file.")
    if condition == "PATH_NOT_FOUND" and (found := _NO_PATH.search(said)):
        return SourceError(f"{_path(found[1])}: Spark finds no such file or folder.")
    if found := _MODULE.search(said):
        how = _SHIP if found[1].startswith("privatree") else "Install it on every executor."
        return SourceError(f"executors must have the Python module {found[1]!r}. {how}")
    for mark, message in _KNOWN.items():
        if mark in said:
            return SourceError(message)
    return SourceError(
        f"Spark could not read the records ({condition}). Its log says more, and can show values "
        "of records."
    )


def _path(uri: str) -> str:
    """A file as a person names it, if it is on a disk."""
    if found := re.fullmatch(r"file:(?://)?(/.*)", uri):
        return unquote(found[1])
    return uri


def _condition(failure: Exception) -> str:
    """How Spark calls what happened; in its text this comes before anything else."""
    from pyspark.errors import PySparkException

    named = failure.getCondition() if isinstance(failure, PySparkException) else None
    if named is None and (found := _CONDITION.search(str(failure))):
        named = found[1]
    return named or type(failure).__name__
