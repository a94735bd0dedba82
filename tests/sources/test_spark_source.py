"""Spark on a real cluster: a master and two workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privatree.candidates import Candidates
from privatree.counts import Router
from privatree.errors import ParameterError, SchemaError, SourceError
from privatree.schema import Categorical, Numeric, Schema
from privatree.sources.coding import Coder
from privatree.sources.frames import frame_batch, open_frame, open_labels
from privatree.sources.questions import CountQuestion
from privatree.sources.spark_session import folder_columns, read_parquet, spark_session
from privatree.sources.spark_source import SparkSource
from privatree.sources.tallies import TallyQuestion

from spark_cluster import java, running_cluster

SCHEMA = Schema(
    features={
        "age": Numeric(0, 100, integer=True),
        "work": Categorical(["private", "state", "none"], missing="none"),
        "pay": Numeric(-1000.0, 1000.0, missing=5.0),
        "Flag": Categorical([False, True]),
        "level.of": Categorical([1, 2, 3]),
    },
    classes=["low", "high"],
)
CANDIDATES = Candidates.of(SCHEMA, 16)
CODER = Coder(SCHEMA, CANDIDATES.cuts, CANDIDATES.groups, CANDIDATES.n_codes)
CLUSTER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if not java():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            "there is no Java: apt-get install openjdk-17-jre-headless, or set JAVA_HOME."
        )
    with running_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def spark(cluster):
    before = signal.getsignal(signal.SIGINT)  # Spark's own would cancel what we have not
    started = spark_session(cluster.url, CLUSTER)
    signal.signal(signal.SIGINT, before)
    yield started
    started.stop()


def records(n=3000, seed=1):
    """Of every kind, with missing and unknown values."""
    rng = np.random.default_rng(seed)
    work = rng.choice(["private", "state", "none", "unheard of", ""], n).astype(object)
    work[rng.random(n) < 0.1] = None
    labels = rng.choice(["low", "high", "neither"], n).astype(object)
    labels[rng.random(n) < 0.1] = None
    pay = [None if value > 900 else Decimal(int(value * 100)) / 100
           for value in rng.uniform(-1200, 1000, n)]  # fmt: skip
    age = rng.integers(-10, 120, n).astype(float)
    age[rng.random(n) < 0.1] = np.nan
    return pa.table(
        {
            "flag": pa.nulls(n, pa.string()),  # Spark takes it for the feature's name
            "age": pa.array(age),
            "Flag": pa.array(rng.random(n) < 0.5, mask=rng.random(n) < 0.1),
            "work": pa.array(work, pa.string()),
            "label": pa.array(labels, pa.string()),
            "pay": pa.array(pay, pa.decimal128(10, 2)),
            "level.of": pa.array(rng.integers(0, 5, n), pa.int16(), mask=rng.random(n) < 0.1),
        }
    )


def one_split():
    """All that is young goes left; both sides are asked about."""
    children = np.array([[1] * 8 + [2] * (CODER.n_codes[0] - 8)], dtype=np.int32)
    router = Router(
        features=np.array([0, -1, -1], np.int32),
        split_of=np.array([0, -1, -1], np.int32),
        children=children,
        places=np.array([-1, 0, 1], np.int32),
    )
    return CountQuestion(CODER, router, (None, None))


def in_memory(question, table):
    answer = question.start()
    answer.add(frame_batch(open_frame(table.select(SCHEMA.names)), open_labels(table["label"]), SCHEMA))
    return answer


def opened(dataframe, schema=SCHEMA, target="label"):
    source = SparkSource(dataframe, target=target, progress=False)
    source.open(schema)
    return source


def contents(answer):
    return dict(answer.pieces())


def data_frame(spark, table, partitions):
    return spark.createDataFrame(table).repartition(partitions)


# --- what is counted ----------------------------------------------------------------------------


def test_counts_are_those_in_memory(spark):
    table = records()
    source = opened(data_frame(spark, table, 5))
    for question in (one_split(), TallyQuestion(SCHEMA, (0, 2))):
        found, expected = source.answer(question), in_memory(question, table)
        assert contents(found) == contents(expected)
        assert found.exact_rows == 3000
    assert source.n_passes == 2
