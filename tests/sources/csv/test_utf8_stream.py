import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.sources.csv import StandardInput, open_utf8_stream

TEXT = "größe;note\n" + "".join(f"{n},5;ü{n}\n" for n in range(3000))


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


def content_of(path, encoding="utf-8", size=7919):
    with open_utf8_stream(path, encoding) as stream:
        return b"".join(iter(lambda: stream.read(size), b""))


@pytest.mark.parametrize(("name", "pack"), [("a.csv", bytes), ("a.csv.gz", gzip.compress),
                                            ("a.CSV.ZST", zstd)])  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "utf-16-be", "cp1252"])
def test_any_compression_and_any_encoding(tmp_path, name, pack, encoding):
    path = Path(tmp_path / name)
    path.write_bytes(pack(TEXT.encode(encoding)))
    assert content_of(path, encoding) == TEXT.encode()


@given(st.binary(max_size=60), st.integers(1, 9))
def test_what_is_no_text_is_replaced_wherever_reading_stops(content, size):
    piped = StandardInput("-")
    piped.content = b"a" + content  # so that it does not look compressed
    for encoding in ("cp1252", "utf-16-le", "shift_jis"):
        replaced = piped.content.decode(encoding, "replace").encode()
        assert content_of(piped, encoding, size) == replaced
    assert content_of(piped, "utf-8", size) == piped.content  # mended later, row by row


@pytest.mark.parametrize(("end", "pack"), [("gz", gzip.compress), ("zst", zstd)])
def test_a_damaged_file_is_named_whatever_was_read(tmp_path, end, pack):
    path = tmp_path / f"a.csv.{end}"
    whole = pack(TEXT.encode())
    kind = {"gz": "gzip", "zst": "zstd"}[end]
    for broken in (b"no such file", whole[:-9], whole[:40] + b"\xff" * 30 + whole[70:], whole[:3]):
        path.write_bytes(broken)
        with pytest.raises(ParameterError) as stopped:
            content_of(path)
        assert str(stopped.value) == (
            f"{path}: must be a complete {kind} file, but is damaged or cut off. Compress it again."
        )
        assert stopped.value.__cause__ is None
    path.write_bytes(whole + pack(b"more\n"))  # as parallel programs write them
    assert content_of(path) == TEXT.encode() + b"more\n"


def test_an_error_of_the_disk_is_told_as_such(tmp_path):
    (tmp_path / "a.csv.zst").mkdir()
    with pytest.raises(IsADirectoryError):
        content_of(tmp_path / "a.csv.zst")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_standard_input_may_be_compressed_and_is_read_once(monkeypatch, pack):
    packed = io.BytesIO(pack(TEXT.encode()))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(packed))
    piped = StandardInput("-")
    assert str(piped) == "standard input"
    assert content_of(piped) == content_of(piped) == TEXT.encode()
