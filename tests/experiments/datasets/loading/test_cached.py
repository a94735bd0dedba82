import os
from pathlib import Path

import pandas as pd
import pytest

from privatree.errors import ParameterError
from privatree.experiments.datasets.loading import cached
from privatree.experiments.datasets.loading.cleaning import clean


@pytest.fixture
def records():
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "real": [0.1, 0.2, 0.3],
            "kind": pd.Categorical(["x", "z", "x"], categories=["z", "never", "x"]),
        }
    )
    return clean(frame, pd.Series(["a", "b", "a"]), origin="OpenML", where="a test")


def test_what_is_stored_comes_back_the_same(tiny, records, cache):
    assert cached.load(tiny) is None
    assert cached.store(tiny, records) is records
    found = cached.load(tiny)
    pd.testing.assert_frame_equal(found.frame, records.frame)
    pd.testing.assert_series_equal(found.labels, records.labels)
    assert found.schema == records.schema
    assert found.fingerprint == records.fingerprint
    assert found.origin == "cache"
    assert [path.name for path in cache.iterdir()] == ["tiny.parquet"]


def test_storing_changes_nothing_in_what_is_stored(tiny, records):
    cached.store(tiny, records)
    assert list(records.frame.columns) == ["whole", "real", "kind"]


def test_the_file_appears_only_when_it_is_whole(tiny, records, cache, monkeypatch):
    write, written = pd.DataFrame.to_parquet, []

    def watched(frame, path, **options):
        write(frame, path, **options)
        written.append((Path(path), (cache / "tiny.parquet").exists()))

    monkeypatch.setattr(pd.DataFrame, "to_parquet", watched)
    cached.store(tiny, records)
    ((path, was_there),) = written
    assert not was_there
    assert cache in path.parents  # on the same disk, or moving it there would not be one step
    assert (cache / "tiny.parquet").exists()


def test_a_write_that_fails_leaves_nothing_behind(tiny, records, cache, monkeypatch):
    def break_off(frame, path, **_):
        Path(path).write_bytes(b"PAR1 half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", break_off)
    with pytest.raises(OSError, match="No space left"):
        cached.store(tiny, records)
    assert list(cache.iterdir()) == []
    assert cached.load(tiny) is None


def test_a_write_that_fails_leaves_the_file_of_before(tiny, records, monkeypatch):
    cached.store(tiny, records)

    def break_off(frame, path, **_):
        Path(path).write_bytes(b"PAR1 half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_parquet", break_off)
    with pytest.raises(KeyboardInterrupt):
        cached.store(tiny, records)
    assert cached.load(tiny).fingerprint == records.fingerprint


def test_a_damaged_file_is_named(tiny, cache):
    cache.mkdir(parents=True)
    (cache / "tiny.parquet").write_bytes(b"PAR1")
    with pytest.raises(ParameterError, match="must be a Parquet file") as refused:
        cached.load(tiny)
    assert str(cache / "tiny.parquet") in str(refused.value)


def test_a_cache_folder_that_cannot_be_is_refused_with_the_way_out(tiny, records, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    with pytest.raises(ParameterError, match="PRIVATREE_CACHE") as refused:
        cached.store(tiny, records)
    assert str(cache) in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"PRIVATREE_CACHE": "/p", "XDG_CACHE_HOME": "/x"}, "/p"),
        ({"XDG_CACHE_HOME": "/x", "LOCALAPPDATA": "/l"}, "/x/privatree"),
        ({"LOCALAPPDATA": "/l"}, "/l/privatree"),
        ({"PRIVATREE_CACHE": "", "XDG_CACHE_HOME": ""}, "/home/me/.cache/privatree"),
        ({"PRIVATREE_CACHE": "~/mine"}, "/home/me/mine"),
    ],
)
def test_the_folder_follows_the_environment(environment, expected, monkeypatch):
    for name in ("PRIVATREE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    home = "USERPROFILE" if os.name == "nt" else "HOME"
    for name, value in {home: "/home/me", **environment}.items():
        monkeypatch.setenv(name, value)
    assert cached.cache_folder() == Path(expected)
