"""The content of a CSV file as a stream of UTF-8, from any compression and encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from privatree.errors import ParameterError
from privatree.sources.csv._in_memory_files import InMemoryFile

_GZIP_START, _ZSTD_START = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@contextmanager
def open_utf8_stream(path: Path, encoding: str) -> Iterator[BinaryIO]:
    """Open a file, decompress it, and convert it to UTF-8.

    UTF-8 itself is not checked. In other encodings, bytes that are not text become U+FFFD. Raise a
    ParameterError if a compressed file is damaged.
    """
    with _open_decompressed(path) as stream:
        yield stream if encoding == "utf-8" else io.BufferedReader(_Utf8Stream(stream, encoding))


class _Utf8Stream(io.RawIOBase):
    """Stream that converts another encoding to UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = b" "
        while read and not self._rest:
            read = self._stream.read(len(buffer))
            self._rest = self._decoder.decode(read, final=not read).encode()
        given, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


def is_compressed(path: Path) -> bool:
    """Tell whether a file is compressed: from its name, or from the start of the standard input."""
    return _compression(path) != ""


@contextmanager
def _open_decompressed(path: Path) -> Iterator[BinaryIO]:
    with io.BytesIO(path.content) if isinstance(path, InMemoryFile) else open(path, "rb") as file:
        kind = _compression(path)
        try:
            yield _decompress(file, kind)
        except (gzip.BadGzipFile, EOFError, zlib.error, _ZstdError):
            raise ParameterError(
                f"{path}: must be a complete {kind} file, but is damaged or cut off. Compress it "
                "again."
            ) from None


def _compression(path: Path) -> str:
    if isinstance(path, InMemoryFile):
        if path.content.startswith(_GZIP_START):
            return "gzip"
        return "zstd" if path.content.startswith(_ZSTD_START) else ""
    return {".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower(), "")


def _decompress(file: BinaryIO, kind: str) -> BinaryIO:
    if kind == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return cast("BinaryIO", _ZstdStream(file)) if kind == "zstd" else file


class _ZstdError(Exception):
    """Error about damaged content. Arrow's own OSError could also mean a failing disk."""


class _ZstdStream:
    """Zstandard stream decompressed by Arrow: Python has no decompressor before 3.14."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow as pa

        self._stream: Any = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def read(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except OSError as error:
            if error.errno is not None:
                raise
        raise _ZstdError
