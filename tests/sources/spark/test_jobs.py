"""What is said of failures of Spark: nothing that can come from a record."""

from __future__ import annotations

import pytest

from privatree.errors import SchemaError, SourceError
from privatree.sources.spark._counting import OTHER_VERSION, CountPartition
from privatree.sources.spark._jobs import redact_spark_job_error

SECRET = "Erika Mustermann"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "An error occurred while calling o69.getResult.\n: org.apache.spark.SparkException: "
            "Exception thrown in awaitResult: \nCaused by: org.apache.spark.SparkException: "
            "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
            f"file:///data/a%20b/p.0.parquet. SQLSTATE: KD001\nCaused by: {SECRET}",
            "/data/a b/p.0.parquet: Spark cannot read this file. Check it.",
        ),
        (
            "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file "
            "s3a://bucket/p.parquet. File does not exist.",
            "s3a://bucket/p.parquet: Spark cannot read this file. Check it.",
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/data/none. SQLSTATE: 42K03",
            "/data/none: Spark does not find this file or folder. Check the path.",
        ),
        (
            "Traceback:\nModuleNotFoundError: No module named 'numba'",
            "executors must have the Python module 'numba'. Install it on every executor.",
        ),
        (
            ": org.apache.spark.SparkException: [CAST_INVALID_INPUT] The value "
            f"'{SECRET}' of the type STRING. [OTHER_THING]",
            "Spark could not read the records (CAST_INVALID_INPUT). Look into Spark's log, "
            "which can show values of records.",
        ),
        (
            "[CAST_INVALID_INPUT] The value '[PATH_NOT_FOUND] Path does not exist: Erika. [FAILED_"
            "READ_FILE] reading file Erika. No module named 'Erika'' of the type STRING",
            "Spark could not read the records (CAST_INVALID_INPUT). Look into Spark's log, "
            "which can show values of records.",
        ),
        (
            f"something with {SECRET}",
            "Spark could not read the records (RuntimeError). Look into Spark's log, which can "
            "show values of records.",
        ),
    ],
    ids=["file", "far file", "no path", "module", "condition", "spelt", "nothing known"],
)
def test_only_what_is_public_is_shown(said, expected):
    error = redact_spark_job_error(RuntimeError(said))
    assert isinstance(error, SourceError)
    assert str(error) == expected
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize(
    ("said", "what_to_do"),
    [
        (f"privatree.errors.SourceError: {OTHER_VERSION}", "Install privatree[spark] on every"),
        ("ModuleNotFoundError: No module named 'privatree.sources'", "Install privatree[spark] on"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker", "Set PYSPARK_PYTHON to the same version"),
        ("Python worker exited unexpectedly (crashed)", "spark.executor.memoryOverhead higher"),
        ("is bigger than spark.driver.maxResultSize", "Set it higher"),
        ("Cannot call methods on a stopped SparkContext.", "Start a new one"),
    ],
)
def test_what_can_be_mended_is_said(said, what_to_do):
    assert what_to_do in str(redact_spark_job_error(RuntimeError(f"{said} {SECRET}")))
    assert SECRET not in str(redact_spark_job_error(RuntimeError(f"{said} {SECRET}")))


def test_our_own_errors_and_interrupts_go_on():
    for failure in (SchemaError("a column"), MemoryError(), KeyboardInterrupt()):
        assert redact_spark_job_error(failure) is failure


def test_an_executor_of_another_version_refuses_before_it_reads():
    pytest.importorskip("pyspark")
    with pytest.raises(SourceError, match=OTHER_VERSION):
        next(CountPartition(("0.0.0", "2.7"), b"not even a pickle")([]))
