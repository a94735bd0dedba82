"""Spark on a real cluster: a master and two workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from spark_cluster import java, running_cluster

from privatree import (
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
)
from privatree.audit import file_pairs
from privatree.baselines.paper._value_counts import ValueCountsQuery
from privatree.counting import Binner, Candidates
from privatree.counting._counts import Router
from privatree.counting._queries import CountQuery
from privatree.errors import (
    BudgetExceededError,
    PaperClaimWarning,
    ParameterError,
    SchemaError,
    SourceError,
)
from privatree.evaluation import private_scores
from privatree.privacy import Budget
from privatree.schema import Categorical, Numeric, Schema, Target
from privatree.sources import ArrowSource, CsvSource, ParquetSource, SparkSource
from privatree.sources.spark import SparkFileSource, spark_session
from privatree.sources.spark._jobs import ignore_pandas_warning
from privatree.tables import frame_batch

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
CANDIDATES = Candidates.from_schema(SCHEMA, 16)
BINNER = Binner(SCHEMA, CANDIDATES.cuts, CANDIDATES.groups, CANDIDATES.n_codes)
CLUSTER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.python.task.killTimeout": "100ms",
    "spark.sql.shuffle.partitions": "4",
    "spark.task.maxFailures": "2",  # what always fails need not fail four times
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
    before = signal.getsignal(signal.SIGINT)
    started = spark_session(cluster.url, CLUSTER)
    assert signal.getsignal(signal.SIGINT) is before, "Spark's own cancels what we have not"
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


def visits(n=3000, seed=1):
    """Records of persons, some of whom have a hundred, with weights that are clipped and others."""
    rng = np.random.default_rng(seed)
    who = np.minimum(rng.geometric(0.02, n), rng.integers(1, 400, n))
    written = [str(number) if number < 2 else ("{}", " {}", "{}\t", "0{}")[way].format(number)
               for number, way in zip(who, rng.integers(0, 4, n), strict=True)]  # fmt: skip
    ids = np.array([*written[:-90], *["NA", "", " ", "a\x00"] * 5, *["p", "P"] * 35], dtype=object)
    ids[rng.random(n) < 0.05] = None
    weight = rng.uniform(-0.3, 2.5, n)
    weight[rng.random(n) < 0.05] = np.nan
    table = records(n, seed)
    table = table.append_column("who.is", pa.array(ids, pa.string()))
    return table.append_column("Work", pa.array(weight))  # Spark takes it for a feature's name


def one_split():
    """All that is young goes left; both sides are asked about."""
    children = np.array([[1] * 8 + [2] * (BINNER.n_codes[0] - 8)], dtype=np.int32)
    router = Router(
        features=np.array([0, -1, -1], np.int32),
        split_of=np.array([0, -1, -1], np.int32),
        children=children,
        places=np.array([-1, 0, 1], np.int32),
    )
    return CountQuery(BINNER, router, (None, None))


def in_memory(query, table):
    answer = query.new_partial()
    answer.add_batch(frame_batch(table.select(SCHEMA.names), table["label"], SCHEMA))
    return answer


def opened(dataframe, schema=SCHEMA, target="label"):
    source = SparkSource(dataframe, target=target, progress=False)
    source.open(schema)
    return source


def contents(answer):
    return dict(answer.serialize_parts())


def data_frame(spark, table, partitions):
    return spark.createDataFrame(table).repartition(partitions)


# --- what is counted ----------------------------------------------------------------------------


def test_counts_are_those_in_memory(spark):
    table = records()
    source = opened(data_frame(spark, table, 5))
    for query in (one_split(), ValueCountsQuery(SCHEMA, (0, 2))):
        found, expected = source.answer(query), in_memory(query, table)
        assert contents(found) == contents(expected)
        assert found.exact_rows == 3000
    assert source.n_passes == 2


def test_the_tree_with_questions_about_missing_values_is_that_in_memory(spark):
    table = records()
    features = {name: replace(f, missing="separate") for name, f in SCHEMA.features.items()}
    missing = np.isnan(table["age"].to_numpy()) | table["pay"].is_null().to_numpy()
    labels = pa.array(np.where(missing, "high", "low"))
    place = table.schema.get_field_index("label")
    table = table.set_column(place, "label", labels)
    schema = replace(SCHEMA, features=features).with_target("label")
    learner = PrivaTreeClassifier(100.0, max_depth=3, schema=schema, random_state=0)
    expected = learner.fit(table.select(SCHEMA.names), table["label"]).model_.to_dict()
    assert any(node.get("missing") for node in expected["tree"]["nodes"])
    source = SparkSource(data_frame(spark, table, 3), target="label", progress=False)
    assert learner.fit(source).model_.to_dict() == expected


def test_the_tree_of_the_paper_is_that_in_memory(spark):
    table = records()
    learner = PaperPrivaTreeClassifier(
        2.0, max_depth=2, schema=SCHEMA.with_target("label"), random_state=0
    )
    with pytest.warns(PaperClaimWarning):
        expected = learner.fit(table.select(SCHEMA.names), table["label"]).model_.to_dict()
    source = SparkSource(data_frame(spark, table, 3), target="label", progress=False)
    with pytest.warns(PaperClaimWarning):
        assert learner.fit(source).model_.to_dict() == expected
    assert source.ignored == ("flag",)


def test_the_ensemble_is_that_in_memory(spark):
    table = records()
    learner = PrivaBoostClassifier(
        2.0, rounds=3, schema=SCHEMA.with_target("label"), class_weight="balanced", random_state=0
    )
    expected = learner.fit(table.select(SCHEMA.names), table["label"]).model_.to_dict()
    source = SparkSource(data_frame(spark, table, 3), target="label", progress=False)
    assert learner.fit(source).model_.to_dict() == expected
    assert source.n_passes == 4  # class counts, then one pass for each round


@pytest.mark.parametrize(
    ("learner", "unit"),
    [
        (PrivaTreeRegressor(50.0, max_depth=2, max_sample_weight=2.0, random_state=0), None),
        (PrivaTreeRegressor(50.0, max_depth=2, zoom=True, random_state=0), "who.is"),
        (PrivaBoostRegressor(2.0, rounds=2, max_sample_weight=2.0, random_state=0), "who.is"),
    ],
)
def test_regression_models_are_those_in_memory_and_of_a_stream(spark, learner, unit):
    table = visits()
    features = {name: SCHEMA.features[name] for name in SCHEMA.names if name != "pay"}
    target = Target(-1000, 800, name="pay")  # a column of decimals, some of them missing
    learner.set_params(schema=Schema(features, target=target, unit=unit))
    weight = "Work" if learner.max_sample_weight > 1 else None
    frame = table.select([*features, *([unit] if unit else [])])
    weights = None if weight is None else table[weight]
    expected = learner.fit(frame, table["pay"], sample_weight=weights).model_.to_dict()
    stream = ArrowSource(table, "pay", weight=weight)
    assert learner.fit(stream).model_.to_dict() == expected
    source = SparkSource(data_frame(spark, table, 5), "pay", weight=weight, progress=False)
    assert learner.fit(source).model_.to_dict() == expected
    assert source.n_passes == stream.n_passes
    assert n_kept(spark) == 0


@pytest.mark.parametrize("unit", [None, "who.is"])
def test_private_scores_are_those_in_memory(spark, unit):
    table = visits()
    learner = PrivaTreeClassifier(3.0, max_depth=2, schema=SCHEMA, random_state=0)
    model = learner.fit(table.select(SCHEMA.names), table["label"]).model_
    columns = {"target": "label", "unit": unit, "weight": None if unit is None else "Work"}
    with ignore_pandas_warning():
        on_cluster = SparkSource(
            spark.createDataFrame(table.to_pandas()), progress=False, **columns
        )
    here = ArrowSource(table, progress=False, **columns)
    one, other = (
        private_scores(model, source, epsilon=1.0, max_sample_weight=2, random_state=0)
        for source in (on_cluster, here)
    )
    assert one == other
    assert one.noisy_size > 100


def test_nothing_is_counted_where_there_are_no_rows(spark):
    table = records()
    source = opened(data_frame(spark, table.slice(0, 0), 1))
    assert contents(source.answer(one_split())) == contents(one_split().new_partial())
    few = opened(data_frame(spark, table.slice(0, 2), 3))  # at least one partition is empty
    assert contents(few.answer(one_split())) == contents(in_memory(one_split(), table.slice(0, 2)))


def files_of(spark, *paths, kind=ParquetSource):
    source = SparkFileSource(kind(paths, target="label"), spark, progress=False)
    source.open(SCHEMA)
    return source


def test_files_are_read_on_executors_by_our_own_rules(spark, tmp_path):
    """What Spark's own reader refuses or guesses: folders, missing columns' types, mixed types."""
    table, ages = records(), ["7", " 33", "old", "", "S%C3%A3o"]
    for number, age in enumerate(ages):
        folder = tmp_path / "all" / f"age={age}"
        folder.mkdir(parents=True)
        part = table.drop_columns(["age", "flag"]).slice(number * 100, 100)
        if number == 1:
            part = part.drop_columns(["label"]).append_column("label", pa.nulls(100))
        pq.write_table(part, folder / "part.parquet")
    numbers = np.repeat([7, 33, np.nan, np.nan, np.nan], 100)
    labels = pa.chunked_array([table["label"].slice(0, 100).combine_chunks(),
                               pa.nulls(100, pa.string()),
                               table["label"].slice(200, 300).combine_chunks()])  # fmt: skip
    expected = table.slice(0, 500).set_column(1, "age", pa.array(numbers))
    expected = expected.set_column(expected.schema.get_field_index("label"), "label", labels)
    source = files_of(spark, tmp_path / "all")
    assert contents(source.answer(one_split())) == contents(in_memory(one_split(), expected))
    whole = table.drop_columns(["flag"])
    pacsv.write_csv(whole, tmp_path / "all.csv")
    source = files_of(spark, tmp_path / "all.csv", kind=CsvSource)
    assert contents(source.answer(one_split())) == contents(in_memory(one_split(), table))


# --- units and weights --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "weight", "more"),
    [
        ("who.is", None, {}),
        (None, "Work", {}),
        ("who.is", "Work", {"neighbours": "replace", "class_weight": "balanced"}),
    ],
)
def test_the_tree_with_units_and_weights_is_that_in_memory_and_of_a_stream(
    spark, unit, weight, more
):
    table = visits()
    schema = replace(SCHEMA, unit=unit).with_target("label")
    learner = PrivaTreeClassifier(
        50.0, max_depth=2, schema=schema, max_sample_weight=2.0, random_state=0, **more
    )
    frame = table.select([*SCHEMA.names, *([unit] if unit else [])])
    weights = None if weight is None else table[weight]
    expected = learner.fit(frame, table["label"], sample_weight=weights).model_.to_dict()
    stream = ArrowSource(table, "label", weight=weight)
    assert learner.fit(stream).model_.to_dict() == expected
    source = SparkSource(data_frame(spark, table, 5), "label", weight=weight, progress=False)
    assert learner.fit(source).model_.to_dict() == expected
    assert source.n_passes == stream.n_passes
    assert not {unit, weight} & set(source.ignored)
    assert n_kept(spark) == 0
    plain = learner.set_params(schema=SCHEMA.with_target("label"))
    assert plain.fit(table, table["label"]).model_.to_dict()["tree"] != expected["tree"]


def n_kept(spark):
    """How many data frames the executors keep."""
    return spark.sparkContext._jsc.sc().getPersistentRDDs().size()


def test_units_are_counted_on_the_cluster_and_stay_there(spark):
    table = visits()
    in_any_case = data_frame(spark, table, 3).selectExpr("*", "`who.is` collate UTF8_LCASE who")
    source = SparkSource(in_any_case, "label", unit="who", progress=False)
    source.open(SCHEMA)
    stream = ArrowSource(table, "label", unit="who.is", progress=False)
    stream.open(SCHEMA)
    counts, n_units = source.counts(BINNER)
    expected, n_expected = stream.counts(BINNER)
    assert n_units == n_expected
    assert np.array_equal(counts.class_counts(), expected.class_counts())
    plan = source._selected._jdf.queryExecution().executedPlan().toString()
    assert "SortMergeJoin" in plan
    assert "Broadcast" not in plan, "all ids would come to the driver"
    assert n_kept(spark) == 1
    source.close()
    assert n_kept(spark) == 0


def test_files_with_units_and_weights_give_the_same_tree_with_spark(spark, tmp_path):
    table = visits().drop_columns(["flag"])
    for part in range(3):
        pacsv.write_csv(table.slice(part * 1000, 1000), tmp_path / f"{part}.csv")
    learner = PrivaTreeClassifier(
        50.0, max_depth=2, schema=SCHEMA, neighbours="replace", max_sample_weight=2, random_state=0
    )
    files = CsvSource(tmp_path, "label", unit="who.is", weight="Work", progress=False)
    expected = learner.fit(files).model_.to_dict()
    source = SparkFileSource(files, spark, progress=False)
    assert learner.fit(source).model_.to_dict() == expected


# --- held-out parts -----------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["who.is", None])
def test_parts_model_and_scores_are_those_in_memory(spark, unit):
    """Copies of a row are on several executors, and are dealt by themselves all the same."""
    table = pa.concat_tables([visits(600)] * 2)
    learner = PrivaTreeClassifier(
        50.0, max_depth=1, schema=replace(SCHEMA, unit=unit), max_sample_weight=2.0, random_state=0
    )
    stream = ArrowSource(table, "label", weight="Work")
    expected = learner.fit(stream, holdout=0.4).model_.to_dict()
    source = SparkSource(data_frame(spark, table, 3), "label", weight="Work", progress=False)
    assert learner.fit(source, holdout=0.4).model_.to_dict() == expected
    assert source.n_passes == stream.n_passes
    assert n_kept(spark) == 0


def test_parts_of_files_with_equal_rows_are_those_without_spark(spark, tmp_path):
    table = records(200).drop_columns(["flag"])
    for part in range(3):
        pacsv.write_csv(table, tmp_path / f"{part}.csv")
    learner = PrivaTreeClassifier(50.0, max_depth=1, schema=SCHEMA, random_state=0)
    files = CsvSource(tmp_path, "label", progress=False)
    expected = learner.fit(files, holdout=0.4).model_.to_dict()
    source = SparkFileSource(files, spark, progress=False)
    assert learner.fit(source, holdout=0.4).model_.to_dict() == expected
    assert learner.fit(source).model_.to_dict() != expected


def test_a_training_that_stops_leaves_no_ids_behind(spark):
    learner = PrivaTreeClassifier(schema=SCHEMA, random_state=0, budget=Budget(0.1, unit="who.is"))
    source = SparkSource(data_frame(spark, visits(200), 1), "label", unit="who.is", progress=False)
    with pytest.raises(BudgetExceededError):
        learner.fit(source)
    assert source.n_passes == 2
    assert n_kept(spark) == 0


# --- what goes wrong ----------------------------------------------------------------------------


def test_sparks_writer_writes_the_line_with_which_readers_are_audited(spark, tmp_path):
    """A height in feet and inches: the backslash means nothing to readers of quotes alone."""
    row = spark.range(1).selectExpr(
        "50 x", "1 y", "'a' kind", "concat(5, chr(39), 11, chr(34)) note"
    )
    row.coalesce(1).write.csv(str(tmp_path / "heights"), header=True)
    (file,) = (tmp_path / "heights").glob("part-*.csv")
    files = file_pairs()["open-quote"].files[1]
    assert file.read_bytes().splitlines() == files["part-0.csv"].splitlines()[:2]


def test_columns_are_found_by_name_and_type(spark):
    dataframe = spark.createDataFrame(records(10).drop_columns(["flag"]))
    with pytest.raises(SchemaError, match=r"lacks 'work'\. Did you mean 'Work'\?"):
        opened(dataframe.withColumnRenamed("work", "Work"))
    with pytest.raises(SchemaError, match="got 'work' twice"):
        opened(dataframe.select("*", "work"))
    with pytest.raises(SchemaError, match="'age' has type string, but the schema declares"):
        opened(dataframe.withColumn("age", dataframe["age"].cast("string")))
    with pytest.raises(SchemaError, match="has type array, but the schema declares boolean"):
        opened(dataframe.drop("Flag").selectExpr("*", "array(true) Flag"))
    with pytest.raises(SchemaError, match="must not be a feature"):
        opened(dataframe, target="work")
    more = dataframe.selectExpr("*", "0.5D who", "'a' w")
    for wrong, message in (
        ({"unit": "whose"}, r"dataframe: must have every needed column, but lacks 'whose'\."),
        ({"unit": "who"}, "'who' must have whole numbers or text as ids of units, but has type"),
        ({"weight": "w"}, "'w' must have numbers as weights, but has type string"),
    ):
        with pytest.raises(SchemaError, match=message):
            SparkSource(more, "label", **wrong).open(SCHEMA)
    with pytest.raises(ParameterError, match=r"must be a pyspark\.sql\.DataFrame, got str"):
        SparkSource("table", target="label")


@pytest.mark.parametrize("damage", ["cut", "deleted"])
def test_a_file_that_cannot_be_read_is_named(spark, tmp_path, damage):
    table = records(400).drop_columns(["flag"])
    for part in range(4):
        pq.write_table(table.slice(part * 100, 100), tmp_path / f"part {part}.parquet")
    sources = [opened(spark.read.parquet(str(tmp_path))), files_of(spark, tmp_path)]
    broken = tmp_path / "part 2.parquet"
    if damage == "deleted":
        broken.unlink()
    else:
        broken.write_bytes(broken.read_bytes()[:1000])
    said = (
        "Spark cannot read this file. Check it.",
        "must be a complete Parquet file, but cannot be read to its end. Write it again.",
    )
    for source, message in zip(sources, said, strict=True):
        with pytest.raises(SourceError) as failed:
            source.answer(one_split())
        assert str(failed.value) == f"{broken}: {message}"
        assert failed.value.__cause__ is None
        assert failed.value.__context__ is None


def test_an_executor_without_privatree_is_said(spark, tmp_path, monkeypatch):
    package = tmp_path / "privatree"
    package.mkdir()
    (package / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'privatree'\", name='privatree')"
    )
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    source = opened(spark.createDataFrame(records(10)))
    with pytest.raises(SourceError, match=r"must have the Python module 'privatree'\. Install"):
        source.answer(one_split())


def gated(spark, table, folder):
    """A data frame of four partitions that, once armed, waits in each until the gate is open."""
    plain = data_frame(spark, table, 4).toDF(*"abcdefghi"[: table.num_columns])

    def gate(batches):  # inside a function, so that it is sent as it is, not by name
        if (folder / "armed").exists():
            (folder / f"waits-{os.getpid()}").touch()
            while not (folder / "open").exists():
                time.sleep(0.02)
        yield from batches

    with ignore_pandas_warning():
        return plain.mapInArrow(gate, plain.schema).toDF(*table.column_names)


def when_waiting(n_executors, folder, act):
    """Act as soon as a task waits behind the gate on each of so many executors."""

    def watch():
        end = time.monotonic() + 600
        while len(list(folder.glob("waits-*"))) < n_executors:
            if time.monotonic() >= end:  # open the gate, so that the test goes on and fails
                (folder / "open").touch()
                return
            time.sleep(0.02)
        act()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    return watcher


@pytest.fixture
def interruptible():
    """Interrupts are heard even if whoever started the tests ignores them, as nohup does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_pass_is_cancelled(spark, tmp_path):
    source = opened(gated(spark, records(), tmp_path))
    (tmp_path / "armed").touch()
    # One is enough: another may still be on its way, if its worker was killed by a test before.
    watcher = when_waiting(1, tmp_path, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        source.answer(one_split())
    watcher.join()
    jobs = spark.sparkContext.statusTracker()
    end = time.monotonic() + 600
    while jobs.getActiveJobsIds():  # the gate is shut: what is not cancelled stays
        assert time.monotonic() < end
        time.sleep(0.05)
    (tmp_path / "open").touch()
    source.answer(one_split())  # the session goes on


class ArmedInTheSecondPass(SparkSource):
    folder = None

    def _make_pass(self, query, advance):
        if self.n_passes == 2:
            (self.folder / "armed").touch()
        return super()._make_pass(query, advance)


def test_a_worker_killed_during_the_second_pass_changes_nothing(spark, cluster, tmp_path):
    """Some totals of units are lost with it. Another takes its place for the tests that follow."""
    table = visits()
    schema = replace(SCHEMA, unit="who.is").with_target("label")
    learner = PrivaTreeClassifier(5.0, schema=schema, random_state=0)
    expected = learner.fit(table, table["label"]).model_.to_dict()

    place = len(cluster.workers) - 1

    def kill():
        cluster.kill_worker(place)
        (tmp_path / "open").touch()

    source = ArmedInTheSecondPass(gated(spark, table, tmp_path), target="label", progress=False)
    source.folder = tmp_path
    watcher = when_waiting(2, tmp_path, kill)
    assert learner.fit(source).model_.to_dict() == expected
    watcher.join()
    assert source.n_passes >= 2
    assert cluster.workers[place].returncode == -signal.SIGKILL
    cluster.start_worker()
