"""A Spark session for the command line."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from privatree.errors import ParameterError, SourceError
from privatree.sources.spark._jobs import ignore_pandas_warning

_OLDEST_JAVA = 17
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "FATAL",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.eventLog.enabled": "false",  # the log has numbers of rows, and values if a job fails
    "spark.driver.maxResultSize": "0",  # no limit for the counts
}


def spark_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """Start a Spark session without output, or return the running one.

    `master` is the address of a cluster, such as ``"spark://host:7077"``. Without `master`, Spark's
    configuration names the cluster; if it names none, all cores of this machine are used.
    `settings` of Spark are added to those of privatree. Executors run the Python that
    ``PYSPARK_PYTHON`` names, by default the Python at the same path as here. The output of Java on
    stderr is discarded: it can show values of records.
    """
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "Spark is not installed. Run: pip install 'privatree[spark]'"
        ) from None
    _check_session_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("privatree")
    if master is not None:
        builder = builder.master(master)
    for name, value in (_SETTINGS | dict(settings or {})).items():
        builder = builder.config(name, value)
    with _silence_session(), ignore_pandas_warning(), _keep_session_handler(), suppress(Exception):
        return builder.getOrCreate()
    raise SourceError(
        f"Spark must start with {'its own master' if master is None else f'the master {master}'}, "
        "but did not start. Check the address of the master, and that the cluster runs the same "
        f"version of Spark as this machine, which is {pyspark.__version__}."
    )


def _check_session_java() -> None:
    """Raise a ParameterError if Java is missing or too old: Spark's own message is hard to read."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise ParameterError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, got none. Install Java {_OLDEST_JAVA}, or "
            "set JAVA_HOME to its folder."
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if found and int(found[1]) < _OLDEST_JAVA:  # old versions are called 1.8 and the like
        raise ParameterError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, got {found[1]}. Install Java "
            f"{_OLDEST_JAVA}, or set JAVA_HOME to its folder."
        )


@contextmanager
def _silence_session() -> Iterator[None]:
    """Discard stderr of every process that is started in the context, until that process ends."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _keep_session_handler() -> Iterator[None]:
    """Keep the handler of Ctrl-C: Spark's own handler calls Java in the middle of another call."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        with suppress(ValueError):  # only the main thread has handlers
            signal.signal(signal.SIGINT, before)
