"""A Spark session of one's own, as the command line needs it."""

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
from privatree.sources.spark._jobs import quiet_spark

_OLDEST_JAVA = 17
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "FATAL",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.eventLog.enabled": "false",  # it has numbers of rows, and values if a job fails
    "spark.driver.maxResultSize": "0",  # counts, as large as the query makes them
}


def spark_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """Start a quiet session, or take the one that runs.

    Parameters
    ----------
    master : str, optional
        The address of a cluster such as ``"spark://host:7077"``; None: what Spark's own
        configuration says, or else all cores of this machine.
    settings : mapping of str to str, optional
        Settings of Spark beside ours. Executors run the Python that ``PYSPARK_PYTHON`` names, or
        else one at the same place as here.

    Returns
    -------
    pyspark.sql.SparkSession
        Whatever Java writes to stderr is lost: it can show values of records.

    Raises
    ------
    ParameterError
        If Spark or a Java that is new enough is not installed.
    SourceError
        If the session does not start.
    """
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "Spark is not installed. Run: pip install 'privatree[spark]'"
        ) from None
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("privatree")
    if master is not None:
        builder = builder.master(master)
    for name, value in (_SETTINGS | dict(settings or {})).items():
        builder = builder.config(name, value)
    with _no_stderr(), quiet_spark(), _own_interrupts(), suppress(Exception):
        return builder.getOrCreate()
    raise SourceError(
        f"Spark must start with {'its own master' if master is None else f'the master {master}'}, "
        "and does not. Check the address, and that its cluster runs Spark "
        f"{pyspark.__version__} as this machine does."
    )


def _check_java() -> None:
    """Refuse to start without a Java that Spark runs on, before it prints what only Java reads."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise ParameterError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, and there is none. Install it, or set "
            "JAVA_HOME to its folder."
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if found and int(found[1]) < _OLDEST_JAVA:  # old ones call themselves 1.8
        raise ParameterError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, got {found[1]}. Install it, or set "
            "JAVA_HOME to its folder."
        )


@contextmanager
def _no_stderr() -> Iterator[None]:
    """Whatever is started now writes nowhere what it writes to stderr, as long as it lives."""
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
def _own_interrupts() -> Iterator[None]:
    """Keep what happens at Ctrl-C: Spark's own handler asks Java in the middle of an answer."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        with suppress(ValueError):  # only the main thread has handlers
            signal.signal(signal.SIGINT, before)
