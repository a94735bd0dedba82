"""What is missing for Spark is said before Spark says it."""

from __future__ import annotations

import sys

import pytest

from privatree.errors import ParameterError
from privatree.sources import SparkSource
from privatree.sources.spark import spark_session


@pytest.mark.parametrize("use", [spark_session, lambda: SparkSource(None, target="label")])
def test_spark_that_is_not_installed_is_said(monkeypatch, use):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[spark\]'"):
        use()


@pytest.mark.parametrize(
    ("says", "expected"),
    [(None, "got none"), ("1.8.0_392", "got 1"), ("11.0.2", "got 11")],
    ids=["none", "8", "11"],
)
def test_java_that_is_missing_or_too_old_is_said(monkeypatch, tmp_path, says, expected):
    pytest.importorskip("pyspark")
    if says is not None:
        java = tmp_path / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{says}\"' >&2\n")
        java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ParameterError, match=f"Spark needs Java 17 or newer, {expected}"):
        spark_session()
