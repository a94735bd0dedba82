"""scikit-learn's own fetch_openml runs here; only the sockets below it are faked."""

import gzip
import hashlib
import io
import json
import socket
from dataclasses import replace
from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.datasets import _catalogue
from privatree.reproduction.loading import _openml as openml
from privatree.schema import Categorical, Numeric

ARFF = b"""@RELATION tiny
@ATTRIBUTE whole REAL
@ATTRIBUTE real REAL
@ATTRIBUTE kind {b, '0', never}
@ATTRIBUTE class {P, N}
@DATA
4,0.5,'0',P
1,2.5,b,N
2,?,b,N
3,0.25,b,P
9,1.5,b,P
5,1.5,'0',N
6,1.5,b,P
7,1.5,b,N
"""


class Response(io.BytesIO):
    def info(self):
        return {"Content-Encoding": "gzip"}


class FakeOpenML:
    """Answers what OpenML answers about dataset 61, after failing as often as told."""

    def __init__(self):
        self.arff = ARFF
        self.down = False  # whether nothing answers any more
        self.failures = []  # what the next downloads fail with, last first
        self.timeouts = []

    def __call__(self, request, timeout=None):
        url = getattr(request, "full_url", request)
        self.timeouts.append(timeout or socket.getdefaulttimeout())
        if self.down:
            raise URLError(socket.gaierror(-2, "Name or service not known"))
        if url.endswith(".arff") and self.failures:
            raise self.failures.pop()
        body = self.arff if url.endswith(".arff") else json.dumps(self.answer(url)).encode()
        return Response(gzip.compress(body))

    def answer(self, url):
        if url.endswith("/features/61"):
            kinds = {"whole": "numeric", "real": "numeric", "kind": "nominal", "class": "nominal"}
            return {
                "data_features": {
                    "feature": [
                        {
                            "index": str(index),
                            "name": name,
                            "data_type": kind,
                            "is_target": str(name == "class").lower(),
                            "is_ignore": "false",
                            "is_row_identifier": "false",
                            "number_of_missing_values": str(int(name == "real")),
                        }
                        for index, (name, kind) in enumerate(kinds.items())
                    ]
                }
            }
        if url.endswith("/qualities/61"):
            return {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "8"}]}}
        assert url.endswith("/data/61")
        return {
            "data_set_description": {
                "id": "61",
                "name": "tiny",
                "version": "1",
                "description": "A tiny dataset.",
                "format": "ARFF",
                "status": "active",
                "file_id": "5",
                "url": "https://www.openml.org/data/v1/download/5/tiny.arff",
                "default_target_attribute": "class",
                "md5_checksum": hashlib.md5(self.arff).hexdigest(),
            }
        }


@pytest.fixture
def server(monkeypatch):
    fake = FakeOpenML()
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", fake)
    monkeypatch.setattr(openml, "urlopen", fake)
    return fake


@pytest.fixture
def naps(monkeypatch):
    slept = []
    monkeypatch.setattr("sklearn.datasets._openml.time", SimpleNamespace(sleep=slept.append))
    return slept


@pytest.fixture
def catalogue(tiny, monkeypatch):
    monkeypatch.setattr(_catalogue, "_CATALOGUE", {"tiny": tiny})


def test_rows_types_and_labels_arrive_cleaned(tiny, server):
    records = openml.load_from_openml(tiny)
    assert records.origin == "OpenML"
    assert records.labels.tolist() == ["P", "N", "P", "P", "N", "P", "N"]
    assert records.frame["whole"].tolist() == [4, 1, 3, 9, 5, 6, 7]
    assert records.frame["kind"].tolist() == ["0", "b", "b", "b", "0", "b", "b"]
    features = records.schema.features
    assert features["whole"] == Numeric(1, 9, integer=True)
    assert features["real"] == Numeric(0.25, 2.5)
    assert features["kind"] == Categorical(["0", "b"])
    assert records.schema.classes == ("N", "P")


def test_what_was_fetched_is_there_without_a_network(catalogue, server, cache):
    fetched = datasets.load("tiny")
    assert fetched.origin == "OpenML"
    assert [path.name for path in cache.iterdir()] == ["tiny.parquet"]
    server.down = True
    again = datasets.load("tiny")
    assert again.origin == "cache"
    assert again.fingerprint == fetched.fingerprint
    assert again.schema == fetched.schema


def damage(cache):
    path = cache / "tiny.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    return path


def test_a_damaged_cache_is_fetched_again_and_replaced(catalogue, server, cache):
    fetched = datasets.load("tiny")
    damaged = damage(cache).read_bytes()
    again = datasets.load("tiny")
    assert again.origin == "OpenML"
    assert again.fingerprint == fetched.fingerprint
    assert (cache / "tiny.parquet").read_bytes() != damaged
    server.down = True
    assert datasets.load("tiny").origin == "cache"


def test_a_damaged_cache_without_a_network_is_named(catalogue, server, cache):
    datasets.load("tiny")
    path = damage(cache)
    server.down = True
    with pytest.raises(DatasetMissingError) as error:
        datasets.load("tiny")
    message = str(error.value)
    assert "\n" not in message
    for part in (
        "tiny.parquet",
        "--data-dir",
        "no connection",
        str(path),
        "was not used",
        "damaged",
    ):
        assert part in message
    path.unlink()
    with pytest.raises(DatasetMissingError) as error:
        datasets.load("tiny")
    assert "damaged" not in str(error.value)


def test_categories_occur_in_the_file_and_are_sorted_with_their_quotes(tiny, server):
    server.arff = ARFF.replace(b"'0'", b"'z y'").replace(b"never}", b"never, c}")
    kind = openml.load_from_openml(tiny).schema.features["kind"]
    assert kind == Categorical(["z y", "b"])  # scikit-learn removes quotes after it sorted


# --- the network fails --------------------------------------------------------------------------


def missing(dataset):
    with pytest.raises(DatasetMissingError) as error:
        openml.load_from_openml(dataset)
    message = str(error.value)
    assert "\n" not in message
    assert all(part in message for part in ("'tiny'", "tiny.parquet", "--data-dir", "61"))
    return message.partition("which failed: ")[2]


def test_without_a_network_nothing_is_tried_twice_and_nothing_is_left(tiny, server, naps, cache):
    server.down = True
    assert missing(tiny) == "no connection."
    assert len(server.timeouts) == 1
    assert naps == []
    assert not cache.exists()


def test_a_download_that_fails_sometimes_is_tried_again(tiny, server, naps, cache):
    server.failures = [URLError("reset"), URLError("reset")]
    assert len(openml.load_from_openml(tiny).frame) == 7
    assert len(naps) == 2
    assert 0 < sum(naps) < 10
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (URLError("reset"), "no connection."),
        (URLError(TimeoutError("timed out")), "no answer in time."),
        (TimeoutError("timed out"), "no answer in time."),
        (ConnectionResetError(104, "reset by peer"), "no connection."),
        (HTTPError("https://x", 503, "busy", {}, io.BytesIO()), "OpenML answered with status 503."),
    ],
)
def test_a_download_that_always_fails_says_why(tiny, server, naps, cache, failure, cause):
    server.failures = [failure] * 50
    assert missing(tiny) == cause
    assert sum(naps) <= 10  # scikit-learn starts a second round after some of these
    assert list(cache.iterdir()) == []


def test_a_download_that_was_changed_on_its_way_is_not_used(tiny, server, cache):
    honest = server.answer
    server.answer = lambda url: json.loads(
        json.dumps(honest(url)).replace(hashlib.md5(ARFF).hexdigest(), "0" * 32)
    )
    assert missing(tiny) == "the download could not be read."
    assert list(cache.iterdir()) == []


@pytest.fixture
def callers_timeout():
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(123.0)
    yield 123.0
    socket.setdefaulttimeout(before)


def test_no_request_may_hang_and_the_limit_is_ours_alone(tiny, server, callers_timeout):
    openml.load_from_openml(tiny)
    assert len(server.timeouts) >= 4
    assert all(0 < timeout <= 30 for timeout in server.timeouts)
    assert socket.getdefaulttimeout() == callers_timeout
    server.failures = [ConnectionResetError()] * 50
    missing(tiny)
    assert socket.getdefaulttimeout() == callers_timeout


def test_an_answer_with_an_error_is_left_to_scikit_learn(tiny, server, monkeypatch):
    def refuse(*_, **__):
        raise HTTPError("https://x", 503, "busy", {}, io.BytesIO())

    monkeypatch.setattr(openml, "urlopen", refuse)
    assert len(openml.load_from_openml(tiny).frame) == 7


def test_a_cache_folder_that_cannot_be_written_is_not_called_a_bad_download(tiny, server, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    with pytest.raises(ParameterError, match="PRIVATREE_CACHE"):
        openml.load_from_openml(tiny)


# --- OpenML has something else ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected", "found"),
    [
        ({"n_records": 8}, "8 records", "7 records"),
        ({"n_features": 4}, "4 features", "3 features"),
        ({"n_categorical": 2}, "(2 categorical)", "(1 categorical)"),
        ({"majority_share": 0.572}, "0.572", "0.571"),
    ],
)
def test_another_shape_is_refused_with_both(tiny, server, cache, change, expected, found):
    cause = missing(replace(tiny, **change))
    has, paper = cause.split(", but the paper's has ")
    assert found in has
    assert expected in paper
    assert list(cache.iterdir()) == []


def test_another_shape_is_not_kept(tiny, server, cache, monkeypatch):
    wrong = replace(tiny, n_records=1000)
    monkeypatch.setattr(_catalogue, "_CATALOGUE", {"tiny": wrong})
    for _ in range(2):
        with pytest.raises(DatasetMissingError, match="1000 records"):
            datasets.load("tiny")
    assert list(cache.iterdir()) == []


def test_a_dataset_without_a_label_is_refused(tiny, server, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: Bunch(data=None, target=None))
    assert missing(tiny) == "the download could not be read."
