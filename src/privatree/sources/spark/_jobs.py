"""Jobs on a Spark cluster that can be interrupted, and the errors of jobs that fail.

Spark's error messages can show values of records. So an error shows only parts that are public: the
name of the error condition, a file, a Python module.
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

_SECONDS = 0.2  # between two checks of a running job
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
    "spark.driver.maxResultSize": "the counts must fit into spark.driver.maxResultSize, but are "
    "larger. Set it higher.",
    "Python worker exited unexpectedly": "a Python process of an executor ended, probably because "
    "it ran out of memory. Set spark.executor.memoryOverhead higher.",
    "stopped SparkContext": "the Spark session must be running, but was stopped. Start a new one.",
}
"""Texts that occur in Spark's messages, and the messages that are shown instead."""

_TURNS = count()

Result = TypeVar("Result")


def run_spark_job(
    spark: Any, job: Callable[[], Result], show_progress: Callable[[], None]
) -> Result:
    """Run a job of a Spark session, and cancel it if this process is interrupted.

    The job runs in its own thread: a thread that waits for Spark cannot tell Spark to stop.
    Meanwhile `show_progress` is called repeatedly. A job that fails raises a SourceError.
    """
    from pyspark import InheritableThread

    context = spark_job_context(spark)
    # A tag of a session can be cancelled from another thread only over Spark Connect.
    add, cancel = (
        (spark.addTag, spark.interruptTag)
        if context is None
        else (context.addJobTag, context.cancelJobsWithTag)
    )
    tag = f"privatree-{os.getpid()}-{next(_TURNS)}"
    results: list[Result] = []
    failures: list[BaseException] = []
    finished = threading.Event()  # after an interrupt, Thread.join is not reliable

    def run_in_thread() -> None:
        try:
            add(tag)
            with _disable_job_logs():
                results.append(job())
        except BaseException as failure:
            failures.append(failure)
        finally:
            finished.set()

    InheritableThread(run_in_thread, session=spark, daemon=True).start()
    try:
        while not finished.wait(_SECONDS):
            show_progress()
    except BaseException:
        while not finished.is_set():  # the job may not have started yet
            with suppress(Exception):
                cancel(tag)
            finished.wait(_SECONDS)
        raise
    if failures:
        raise redact_spark_job_error(failures[0])
    return results[0]


def spark_job_context(spark: Any) -> Any:
    """Return the context of a session, or None with Spark Connect."""
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except PySparkException:
        return None


@contextmanager
def ignore_pandas_warning() -> Iterator[None]:
    """Ignore Spark's warning about a new pandas: privatree does not use pandas through Spark."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        yield


@contextmanager
def _disable_job_logs() -> Iterator[None]:
    """Disable Spark's logs of failed queries on stderr: they can show values of records."""
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


def redact_spark_job_error(failure: BaseException) -> BaseException:
    """Return a SourceError without private text, or the failure itself if it is not from Spark."""
    if isinstance(failure, PrivatreeError | MemoryError) or not isinstance(failure, Exception):
        return failure
    said, condition = str(failure), _job_error_name(failure)
    # Spark writes the name of the condition before any value. So a path is looked for only after
    # a name that promises a path.
    if condition.startswith("FAILED_READ_FILE") and (found := _FILE.search(said)):
        return SourceError(f"{_job_error_path(found[1])}: Spark cannot read this file. Check it.")
    if condition == "PATH_NOT_FOUND" and (found := _NO_PATH.search(said)):
        return SourceError(
            f"{_job_error_path(found[1])}: Spark does not find this file or folder. Check the path."
        )
    if found := _MODULE.search(said):
        how = _SHIP if found[1].startswith("privatree") else "Install it on every executor."
        return SourceError(f"executors must have the Python module {found[1]!r}. {how}")
    for mark, message in _KNOWN.items():
        if mark in said:
            return SourceError(message)
    return SourceError(
        f"Spark could not read the records ({condition}). Look into Spark's log, which can show "
        "values of records."
    )


def _job_error_path(uri: str) -> str:
    """Return the path of a local file, or the URI of any other file."""
    if found := re.fullmatch(r"file:(?://)?(/.*)", uri):
        return unquote(found[1])
    return uri


def _job_error_name(failure: Exception) -> str:
    """Return Spark's name for the error. In a message, the name comes before any value."""
    from pyspark.errors import PySparkException

    named = failure.getCondition() if isinstance(failure, PySparkException) else None
    if named is None and (found := _CONDITION.search(str(failure))):
        named = found[1]
    return named or type(failure).__name__
