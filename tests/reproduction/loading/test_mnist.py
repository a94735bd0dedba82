"""The zeros and ones of MNIST: from a folder, the cache or OpenML, whose answers are faked."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.loading import _mnist as mnist
from privatree.reproduction.loading import _openml as openml
from privatree.schema import Numeric


def digits(n: int = 24) -> tuple[Any, Any]:
    """Zeros and ones in turn, every image another one."""
    pixels = np.arange(n * 784).reshape(n, 784) * 31 % 256
    return pixels.astype(np.uint8), np.arange(n) % 2


def write(path: Path, **arrays: Any) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    np.savez(path / "mnist01.npz", **arrays)
    return path


def test_images_of_a_folder(tmp_path: Path) -> None:
    pixels, labels = digits()
    records = mnist.load_mnist(write(tmp_path, X=pixels, y=labels, is_test=labels))
    assert records.origin == "data folder"
    assert records.frame.shape == (24, 784)
    assert set(records.frame.dtypes) == {np.dtype(np.uint8)}
    assert (records.frame.to_numpy() == pixels).all()
    assert records.frame["pixel_1_2"].tolist() == pixels[:, 28 + 2].tolist()
    assert records.labels.tolist() == [str(label) for label in labels]
    assert records.schema.classes == ("0", "1")
    assert list(records.schema.names) == list(records.frame.columns)


def test_two_schemas_of_the_same_records(tmp_path: Path) -> None:
    pixels, labels = digits()
    pixels[:, 5], pixels[:, 6] = 0, 9
    folder = write(tmp_path, X=pixels, y=labels)
    seen, full = (mnist.LOADERS[name](folder) for name in ("mnist01", "mnist01-full-range"))
    ranges = list(seen.schema.features.values())
    assert ranges[5:7] == [Numeric(0, 0, integer=True), Numeric(9, 9, integer=True)]
    assert [(r.low, r.high) for r in ranges if isinstance(r, Numeric) and r.integer] == [
        (min(column), max(column)) for column in pixels.T.tolist()
    ]
    assert set(full.schema.features.values()) == {Numeric(0, 255, integer=True)}
    assert list(full.schema.names) == list(seen.schema.names)
    assert full.schema.classes == seen.schema.classes
    assert full.fingerprint == seen.fingerprint
    assert full.frame.equals(seen.frame)
    assert full.labels.equals(seen.labels)


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    pixels, labels = digits()
    one = mnist.load_mnist(write(tmp_path / "1", X=pixels, y=labels))
    same = mnist.load_mnist(write(tmp_path / "2", X=pixels, y=labels.astype(np.uint8)))
    pixels[3, 4] += 1
    other = mnist.load_mnist(write(tmp_path / "3", X=pixels, y=labels))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_it_is_none_of_the_paper_s_tabular_datasets() -> None:
    assert not set(mnist.LOADERS) & set(datasets.names())
    assert len(datasets.names()) == 29


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((24, 784))}, "X must be n x 784 of uint8.*24 x 784 of float64"),
        ({"X": np.zeros((24, 28, 28), np.uint8)}, "X must be n x 784.*24 x 28 x 28 of uint8"),
        ({"X": np.zeros((24, 783), np.uint8)}, "X must be n x 784"),
        ({"y": np.zeros(23, int)}, "y must be 24 whole numbers.* 23 of int64"),
        ({"y": np.zeros((24, 1), int)}, "y must be 24 whole numbers.* 24 x 1 of"),
        ({"y": np.int64(1)}, "y must be 24 whole numbers.* a number of"),
        ({"y": np.zeros(24)}, "y must be 24 whole numbers.*float64"),
        ({"y": np.arange(24) % 3}, "y must hold only the digits 0 and 1"),
        ({"y": np.arange(24) < -1}, "y must be 24 whole numbers.*bool"),
        (
            {"y": (np.arange(24) < 9).astype(int)},
            "at least 10 images of each digit, got 9 of digit 1",
        ),
    ],
)
def test_wrong_arrays_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    pixels, labels = digits()
    folder = write(tmp_path, **({"X": pixels, "y": labels} | change))
    with pytest.raises(ParameterError, match=message):
        mnist.load_mnist(folder)


def damaged() -> dict[str, bytes]:
    pixels, labels = digits()
    whole, lone, pickled, empty = (io.BytesIO() for _ in range(4))
    np.savez_compressed(whole, X=pixels, y=labels)
    np.save(lone, pixels)
    np.savez(pickled, X=pixels.astype(object), y=labels)
    np.savez(empty, Z=pixels)
    flipped = bytearray(whole.getvalue())
    flipped[len(flipped) // 3] ^= 255
    return {
        "empty": b"",
        "text": b"no zip",
        "cut": whole.getvalue()[:-100],
        "flipped": bytes(flipped),
        "one array": lone.getvalue(),
        "pickles": pickled.getvalue(),
        "other names": empty.getvalue(),
    }


@pytest.mark.parametrize("kind", damaged())
def test_damaged_files_are_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "mnist01.npz").write_bytes(damaged()[kind])
    with pytest.raises(ParameterError, match=r"mnist01\.npz: must be a readable NumPy file"):
        mnist.load_mnist(tmp_path)


def test_a_folder_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the data folder must exist"):
        mnist.load_mnist(tmp_path / "none")


def test_without_a_network_it_is_said_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(DatasetMissingError) as told:
        mnist.load_mnist(tmp_path)
    for words in ("MNIST were not found", "Put mnist01.npz", "OpenML (id 554)", "no connection."):
        assert words in str(told.value)


class FakeOpenML:
    """Answers with images of four digits, as OpenML does: text labels, whole numbers."""

    def __init__(self) -> None:
        pixels, labels = digits(40)
        self.asked = 0
        self.frame = pd.DataFrame(pixels.astype(np.int64))
        self.labels = labels + 2 * (np.arange(40) % 4 > 1)

    def __call__(self, *, data_id: int, **_: Any) -> Bunch:
        assert data_id == 554
        self.asked += 1
        target = pd.Series(self.labels.astype(str), name="class").astype("category")
        return Bunch(data=self.frame, target=target)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeOpenML:
    fake = FakeOpenML()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fake)
    monkeypatch.setattr(openml, "urlopen", lambda *_, **__: io.BytesIO())
    monkeypatch.setattr(mnist, "SIZES", {"0": 10, "1": 10})
    return fake


def test_zeros_and_ones_of_openml_are_kept(server: FakeOpenML, cache: Path) -> None:
    fetched = mnist.load_mnist()
    chosen = np.isin(server.labels, (0, 1))
    assert fetched.origin == "OpenML"
    assert (fetched.frame.to_numpy() == server.frame[chosen].to_numpy()).all()
    assert fetched.labels.tolist() == [str(label) for label in server.labels[chosen]]
    again = mnist.load_mnist()
    assert (again.origin, again.fingerprint) == ("cache", fetched.fingerprint)
    assert server.asked == 1
    assert [path.name for path in cache.iterdir()] == ["mnist01.npz"]


def test_the_folder_comes_before_the_cache(server: FakeOpenML, tmp_path: Path) -> None:
    mnist.load_mnist()
    pixels, labels = digits()
    assert mnist.load_mnist(write(tmp_path / "own", X=pixels, y=labels)).origin == "data folder"
    assert mnist.load_mnist(tmp_path).origin == "cache"


@pytest.mark.parametrize("content", [b"", b"damaged"])
def test_a_damaged_cache_is_fetched_again(server: FakeOpenML, cache: Path, content: bytes) -> None:
    first = mnist.load_mnist()
    (cache / "mnist01.npz").write_bytes(content)
    again = mnist.load_mnist()
    assert (again.origin, again.fingerprint) == ("OpenML", first.fingerprint)
    assert mnist.load_mnist().origin == "cache"


def test_a_cache_of_another_size_is_fetched_again(server: FakeOpenML, cache: Path) -> None:
    pixels, labels = digits(22)
    write(cache, X=pixels, y=labels)
    assert mnist.load_mnist().origin == "OpenML"


@pytest.mark.parametrize("value", [0.5, -1.0, 256.0, np.nan, "dark"])
def test_other_pixels_of_openml_are_refused(server: FakeOpenML, cache: Path, value: Any) -> None:
    server.frame = server.frame.astype(object if isinstance(value, str) else float)
    server.frame.iloc[1, 700] = value
    with pytest.raises(DatasetMissingError, match="must have 784 columns of 0 to 255"):
        mnist.load_mnist()
    assert not (cache / "mnist01.npz").exists()


def test_another_shape_of_openml_is_refused(
    server: FakeOpenML, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = server.frame
    server.frame = whole.iloc[:, :-1]
    with pytest.raises(DatasetMissingError, match="must have 784 columns"):
        mnist.load_mnist()
    server.frame = whole
    monkeypatch.setattr(mnist, "SIZES", {"0": 10, "1": 11})
    with pytest.raises(DatasetMissingError, match="another number of zeros or ones"):
        mnist.load_mnist()
