"""Wherever records live, the same seed gives the same model and the same account of spends.

On a Spark cluster too: ``tests/sources/spark/test_source.py``.
"""

import warnings
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mixed_records import number_schema, schema_of, some_numbers, some_records

from privatree import (
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
)
from privatree.sources import ArrowSource, CsvSource, ParquetSource

LEARNERS = st.one_of(
    st.builds(
        PrivaTreeClassifier,
        st.sampled_from([0.1, 3.0, 50.0, 1000.0]),
        max_depth=st.sampled_from([2, 4]),
        lookahead=st.sampled_from(["auto", 1, 2]),
        zoom=st.booleans(),
        random_state=st.integers(0, 100),
    ),
    st.builds(
        PrivaBoostClassifier,
        st.sampled_from([0.5, 20.0, 1000.0]),
        delta=st.sampled_from([0, 1e-6]),
        max_depth=st.sampled_from([1, 2, 3]),
        rounds=st.just(4),
        random_state=st.integers(0, 100),
    ),
    st.builds(
        PaperPrivaTreeClassifier,
        st.sampled_from([0.5, 20.0]),
        max_depth=st.just(3),
        quantiles=st.sampled_from(["private", "exact"]),
        random_state=st.integers(0, 100),
    ),
)

REGRESSORS = st.one_of(
    st.builds(
        PrivaTreeRegressor,
        st.sampled_from([0.1, 3.0, 50.0, 1000.0]),
        max_depth=st.sampled_from([2, 4]),
        lookahead=st.sampled_from(["auto", 1, 2]),
        leaf_values=st.sampled_from(["mean", "median"]),
        neighbours=st.sampled_from(["add-remove", "replace"]),
        interval=st.sampled_from([None, (10, 50)]),
        zoom=st.booleans(),
        max_sample_weight=st.sampled_from([1.0, 3.0]),
        random_state=st.integers(0, 100),
    ),
    st.builds(
        PrivaBoostRegressor,
        st.sampled_from([0.5, 20.0, 1000.0]),
        delta=st.sampled_from([0, 1e-6]),
        max_depth=st.sampled_from([1, 2, 3]),
        neighbours=st.sampled_from(["add-remove", "replace"]),
        interval=st.sampled_from([None, (10, 50)]),
        max_sample_weight=st.sampled_from([1.0, 3.0]),
        rounds=st.just(4),
        random_state=st.integers(0, 100),
    ),
)

WEIGHED = st.one_of(
    *(
        st.builds(
            learner,
            st.sampled_from([3.0, 1000.0]),
            **more,
            neighbours=st.sampled_from(["add-remove", "replace"]),
            class_weight=st.sampled_from([None, "balanced", {"no": 1, "yes": 2.5}]),
            max_sample_weight=st.sampled_from([1.0, 3.0]),
            random_state=st.integers(0, 100),
        )
        for learner, more in [
            (PrivaTreeClassifier, {"max_depth": st.sampled_from([2, 3])}),
            (PrivaBoostClassifier, {"rounds": st.just(3)}),
        ]
    )
)


def places(frame, labels, folder, *, beside=(), weight=None):
    """The same records in every place, each as what ``fit`` takes; `beside` are more columns."""
    whole = frame.assign(target=labels, unused=1, **dict(beside))
    table = pa.Table.from_pandas(whole, preserve_index=False)
    half = len(whole) // 2
    files = [folder / f"{part}.parquet" for part in "ab"]
    for file, part in zip(files, (table[:half], table[half:]), strict=True):
        pq.write_table(part, file, row_group_size=7)
    whole.to_csv(folder / "all.csv", index=False)
    whole.to_csv(folder / "all.csv.gz", index=False)
    by_name = {"target": "target", "weight": weight}
    yield "numpy", (frame.to_numpy(dtype=object), labels.to_numpy())
    yield "pandas", (frame, labels)
    yield "polars", (pl.from_pandas(frame), pl.from_pandas(labels))
    yield "a frame as a source", (ArrowSource(whole, **by_name),)
    yield "lazy polars", (ArrowSource(pl.scan_parquet(files), **by_name),)
    yield "DuckDB", (ArrowSource(duckdb.read_parquet([*map(str, files)]), **by_name),)
    yield "an Arrow reader", (ArrowSource(table.to_reader(max_chunksize=9), **by_name),)
    yield "an Arrow dataset", (ArrowSource(ds.dataset(files), **by_name),)
    yield "a function", (ArrowSource(lambda: table.to_reader(max_chunksize=5), **by_name),)
    yield "Parquet", (ParquetSource(files, **by_name),)
    yield "Parquet in memory", (ParquetSource(folder / "?.parquet", in_memory=True, **by_name),)
    yield "CSV", (CsvSource(folder / "all.csv", **by_name),)
    yield (
        "CSV, compressed, in memory",
        (CsvSource(folder / "all.csv.gz", in_memory=True, **by_name),),
    )


class FitWith:
    """A learner whose ``fit`` holds a part of the records out."""

    def __init__(self, learner, holdout):
        self.learner, self.holdout = learner, holdout

    def fit(self, *records, **beside):
        return self.learner.fit(*records, **beside, holdout=self.holdout)


def model_of(learner, records, **beside):
    """The model; `beside` are units and weights of records that are not in a source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the paper's claim
        return learner.fit(*records, **(beside if len(records) == 2 else {})).model_.to_dict()


@pytest.mark.slow
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(LEARNERS, st.integers(1, 120), st.sampled_from([2, 3]), st.integers(0, 2**32), st.booleans())
def test_the_same_tree_and_ledger_from_everywhere(tmp_path, learner, n, n_classes, seed, separate):
    frame, labels = some_records(n, n_classes, seed)
    separate = separate and not isinstance(learner, PaperPrivaTreeClassifier)
    schema = schema_of(n_classes, separate=separate).with_target("target")
    learner.set_params(schema=schema)
    (first, records), *others = places(frame, labels, tmp_path)
    expected = model_of(learner, records)
    assert expected["privacy"]["spends"]
    for place, records in others:
        assert model_of(learner, records) == expected, f"{place} differs from {first}"


@pytest.mark.slow
@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(WEIGHED, st.integers(1, 120), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_the_same_tree_with_units_and_weights_from_everywhere(
    tmp_path, learner, n, seed, has_units, has_weights
):
    frame, labels = some_records(n, 2, seed)
    learner.set_params(schema=schema_of(2).with_target("target"))
    check_the_same_with_units(tmp_path, learner, frame, labels, seed, has_units, has_weights)


@pytest.mark.slow
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    REGRESSORS, st.integers(1, 120), st.integers(0, 2**32), st.booleans(), st.booleans(),
    st.sampled_from([{}, {"integer": True}, {"log": True}])
)  # fmt: skip
def test_the_same_regression_tree_from_everywhere(
    tmp_path, learner, n, seed, has_units, has_weights, kind
):
    frame, targets = some_numbers(n, seed)
    learner.set_params(schema=number_schema(**kind))
    check_the_same_with_units(tmp_path, learner, frame, targets, seed, has_units, has_weights)


@pytest.mark.slow
@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.one_of(WEIGHED, REGRESSORS),
    st.integers(1, 60),
    st.integers(0, 2**32),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.2, 0.5]),
)
def test_the_same_parts_model_and_scores_from_everywhere(
    tmp_path, learner, n, seed, has_units, has_weights, share
):
    """With copies of every record, which are dealt by themselves."""
    is_number = isinstance(learner, PrivaTreeRegressor | PrivaBoostRegressor)
    frame, labels = some_numbers(n, seed) if is_number else some_records(n, 2, seed)
    learner.set_params(schema=number_schema() if is_number else schema_of(2).with_target("target"))
    frame, labels = (pd.concat([part] * 3, ignore_index=True) for part in (frame, labels))
    check_the_same_with_units(
        tmp_path, learner, frame, labels, seed, has_units, has_weights, holdout=share
    )


def check_the_same_with_units(
    folder, learner, frame, labels, seed, has_units, has_weights, holdout=None
):
    rng = np.random.default_rng(seed)
    n = len(frame)
    ids = np.array(["a", " a", "b", "B", "7", "7 ", "NA", "", None], dtype=object)
    units = pd.Series(rng.choice(ids, n), dtype=object)
    weights = pd.Series(np.where(rng.random(n) < 0.1, np.nan, rng.uniform(-0.5, 4, n)))
    beside = {"who": units, "heavy": weights}
    learner.set_params(schema=replace(learner.schema, unit="who" if has_units else None))
    weight = "heavy" if has_weights else None
    (first, records), *others = places(frame, labels, folder, beside=beside, weight=weight)
    aside = {
        "units": units if has_units else None,
        "sample_weight": weights if has_weights else None,
    }
    learner = FitWith(learner, holdout)
    expected = model_of(learner, records, **aside)
    assert ("scores" in expected) == (holdout is not None)
    assert expected["privacy"].get("unit") == ("who" if has_units else None)
    for place, records in others:
        found = model_of(learner, records, **aside)
        assert found == expected, f"{place} differs from {first}"


@pytest.mark.slow
def test_the_same_question_about_missing_values_from_everywhere(tmp_path):
    """A label that only missing values tell: unknown categories and no numbers count as missing."""
    frame, _ = some_records(400, 2, 0)
    is_missing = frame["size"].isna() | ~frame["colour"].isin(["red", "green", "blue", "grey"])
    labels = is_missing.map({True: "yes", False: "no"}).astype(object)
    schema = schema_of(2, separate=True).with_target("target")
    learner = PrivaTreeClassifier(1e3, schema=schema, random_state=0)
    (_, records), *others = places(frame, labels, tmp_path)
    expected = model_of(learner, records)
    questions = expected["tree"]["nodes"]
    assert any(node.get("missing") for node in questions)
    assert any(node.get("categories") == [None] for node in questions)
    assert learner.fit(frame, labels).score(frame, labels) == 1
    for place, records in others:
        assert model_of(learner, records) == expected, place


@pytest.mark.slow
def test_another_record_gives_another_account_of_counts(tmp_path):
    """What is compared above can differ: at a high epsilon the tree follows the records."""
    frame, labels = some_records(200, 2, 0)
    learner = PrivaTreeClassifier(
        1e6,
        schema=schema_of(2).with_target("target"),
        random_state=0,
        probability_share=0.5,
    )
    expected = model_of(learner, (frame, labels))
    keep = np.flatnonzero(labels != "?")[1:]
    for place, records in places(frame.iloc[keep], labels.iloc[keep], tmp_path):
        assert model_of(learner, records) != expected, place


@pytest.mark.slow
@pytest.mark.parametrize("learner", [PrivaTreeRegressor, PrivaBoostRegressor])
def test_another_target_gives_another_model(tmp_path, learner):
    frame, targets = some_numbers(200, 0)
    model = learner(1e6, schema=number_schema(), random_state=0)
    expected = model_of(model, (frame, targets))
    for place, records in places(frame, targets + 3, tmp_path):
        assert model_of(model, records) != expected, place


@pytest.mark.parametrize("learner", [PrivaTreeRegressor, PrivaBoostRegressor])
def test_no_targets_train_from_everywhere(tmp_path, learner):
    frame, targets = some_numbers(3, 0)
    model = learner(schema=number_schema(), random_state=0)
    expected = model_of(model, (frame[:0], targets[:0]))
    for place, records in places(frame[:0], targets[:0], tmp_path):
        assert model_of(model, records) == expected, place


@pytest.mark.parametrize(
    "learner", [PrivaTreeClassifier, PrivaBoostClassifier, PaperPrivaTreeClassifier]
)
def test_no_records_train_from_everywhere(tmp_path, learner):
    frame, labels = some_records(3, 2, 0)
    model = learner(schema=schema_of(2).with_target("target"), random_state=0)
    expected = model_of(model, (frame[:0], labels[:0]))
    for place, records in places(frame[:0], labels[:0], tmp_path):
        assert model_of(model, records) == expected, place
