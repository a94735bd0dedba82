import random
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.reproduction.datasets._dataset import PaperDataset
from privatree.reproduction.loading import _cached as cached
from privatree.reproduction.loading._cleaning import clean_records


@pytest.fixture
def records():
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4, 5, 6, 7],
            "real": [0.1, 0.2, 0.3, -0.0, 0.0, 1e300, 5e-324],
            "kind": pd.Categorical(list("xzxxxzx"), categories=["z", "never", "x"]),
        }
    )
    return clean_records(frame, pd.Series(list("abababa")), origin="OpenML", where="a test")


def test_what_is_stored_comes_back_the_same(tiny, records, cache):
    assert cached.load_cached(tiny) is None
    assert cached.store_in_cache(tiny, records) is records
    found = cached.load_cached(tiny)
    pd.testing.assert_frame_equal(found.frame, records.frame)
    pd.testing.assert_series_equal(found.labels, records.labels)
    assert found.schema == records.schema
    assert found.fingerprint == records.fingerprint
    assert found.origin == "cache"
    assert [path.name for path in cache.iterdir()] == ["tiny.parquet"]


def test_storing_changes_nothing_in_what_is_stored(tiny, records):
    cached.store_in_cache(tiny, records)
    assert list(records.frame.columns) == ["whole", "real", "kind"]


def test_the_file_appears_only_when_it_is_whole(tiny, records, cache, monkeypatch):
    write, written = pq.write_table, []

    def watched(table, path, **options):
        write(table, path, **options)
        written.append((Path(path), (cache / "tiny.parquet").exists()))

    monkeypatch.setattr(pq, "write_table", watched)
    cached.store_in_cache(tiny, records)
    ((path, was_there),) = written
    assert not was_there
    assert cache in path.parents  # on the same disk, or moving it there would not be one step
    assert (cache / "tiny.parquet").exists()


def test_a_write_that_fails_leaves_nothing_behind(tiny, records, cache, monkeypatch):
    def break_off(table, path, **_):
        Path(path).write_bytes(b"PAR1 half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", break_off)
    with pytest.raises(OSError, match="No space left"):
        cached.store_in_cache(tiny, records)
    assert list(cache.iterdir()) == []
    assert cached.load_cached(tiny) is None


def test_a_write_that_fails_leaves_the_file_of_before(tiny, records, monkeypatch):
    cached.store_in_cache(tiny, records)

    def break_off(table, path, **_):
        Path(path).write_bytes(b"PAR1 half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(pq, "write_table", break_off)
    with pytest.raises(KeyboardInterrupt):
        cached.store_in_cache(tiny, records)
    assert cached.load_cached(tiny).fingerprint == records.fingerprint


# --- a file that does not hold what was stored ---------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no Parquet at all"])
def test_what_cannot_be_read_counts_as_absent(tiny, cache, content):
    cache.mkdir(parents=True)
    (cache / "tiny.parquet").write_bytes(content)
    assert cached.load_cached(tiny) is None


def test_no_damage_loads_as_something_else(tiny, records):
    cached.store_in_cache(tiny, records)
    path = cached.cached_file(tiny)
    whole, source, n_absent = path.read_bytes(), random.Random(7), 0
    for _ in range(200):
        damaged = bytearray(whole)
        for _ in range(source.randint(1, 3)):
            damaged[source.randrange(len(whole))] ^= 1 << source.randrange(8)
        path.write_bytes(damaged[: source.choice([len(whole), source.randrange(len(whole))])])
        found = cached.load_cached(tiny)
        n_absent += found is None
        assert found is None or found.fingerprint == records.fingerprint
        assert found is None or found.schema == records.schema
    assert n_absent > 100


def rewritten(tiny, change, metadata=MappingProxyType({})):
    """Change the file in the cache, as a table of Arrow with its metadata."""
    path = cached.cached_file(tiny)
    table = pq.read_table(path)
    changed = change(table).replace_schema_metadata({**table.schema.metadata, **metadata})
    pq.write_table(changed, path)


def test_a_file_rewritten_with_the_same_content_is_used(tiny, records):
    cached.store_in_cache(tiny, records)
    rewritten(tiny, lambda table: table)
    assert cached.load_cached(tiny).fingerprint == records.fingerprint


def test_another_value_in_a_file_that_is_whole_is_found(tiny, records):
    cached.store_in_cache(tiny, records)
    other = pa.array([1, 2, 3, 4, 5, 7, 7])
    rewritten(tiny, lambda table: table.set_column(0, "whole", other))
    assert cached.load_cached(tiny) is None


@pytest.mark.parametrize("fingerprint", [b"0" * 16, b"", b"\xff"])
def test_another_fingerprint_is_found(tiny, records, fingerprint):
    cached.store_in_cache(tiny, records)
    rewritten(tiny, lambda table: table, {b"privatree.fingerprint": fingerprint})
    assert cached.load_cached(tiny) is None


def test_a_file_without_a_fingerprint_counts_as_absent(tiny, records):
    cached.store_in_cache(tiny, records)
    path = cached.cached_file(tiny)
    pd.read_parquet(path).to_parquet(path)
    assert cached.load_cached(tiny) is None


@pytest.mark.parametrize(
    "change", [{"n_records": 8}, {"n_features": 4}, {"n_categorical": 2}, {"majority_share": 0.572}]
)
def test_another_shape_than_the_papers_counts_as_absent(tiny, records, change):
    cached.store_in_cache(tiny, records)
    assert cached.load_cached(tiny) is not None
    assert cached.load_cached(replace(tiny, **change)) is None


def test_a_table_that_cannot_be_cleaned_counts_as_absent(tiny, records):
    cached.store_in_cache(tiny, records)
    rewritten(tiny, lambda table: table.drop_columns(["target"]))
    assert cached.load_cached(tiny) is None


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=30),
    st.lists(st.text(max_size=4), min_size=2, max_size=9, unique=True),
    st.sampled_from(["x", "", "é", "0", "a.b"]),
)
def test_whatever_is_stored_verifies(tmp_path_factory, numbers, texts, name):
    """Else it would be fetched again every time."""
    n = len(numbers)
    codes = np.arange(n) % len(texts)
    frame = pd.DataFrame({name: numbers, "k": pd.Categorical.from_codes(codes, categories=texts)})
    labels = pd.Series(np.array(texts[:2], dtype=object)[np.arange(n) % 2])
    records = clean_records(frame, labels, origin="OpenML", where="a test")
    share = round(float(records.labels.value_counts(normalize=True).max()), 3)
    dataset = PaperDataset("any", "any", "mixed", 1, n, 2, 1, share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVATREE_CACHE", str(tmp_path_factory.mktemp("cache")))
        cached.store_in_cache(dataset, records)
        assert cached.load_cached(dataset).schema == records.schema


# --- the folder ---------------------------------------------------------------------------------


def test_a_cache_folder_that_cannot_be_is_refused_with_the_way_out(tiny, records, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    with pytest.raises(ParameterError, match="PRIVATREE_CACHE") as refused:
        cached.store_in_cache(tiny, records)
    assert str(cache) in str(refused.value)
