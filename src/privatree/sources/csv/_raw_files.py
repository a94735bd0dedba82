"""The content of a CSV file as UTF-8, whatever it is compressed with or encoded in."""

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
from privatree.sources.csv._held_files import HeldFile

_GZIP_START, _ZSTD_START = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@contextmanager
def opened_text(path: Path, encoding: str) -> Iterator[BinaryIO]:
    """Open a file, decompressed and encoded in UTF-8 on the way.

    Parameters
    ----------
    path : Path
        A file, compressed if its name ends in ``.gz`` or ``.zst``. The standard input is compressed
        if it starts as such files do.
    encoding : str
        As :class:`~privatree.schema.CsvDialect` names it. UTF-8 is passed on as it is; of
        others, bytes that stand for nothing become U+FFFD.

    Raises
    ------
    ParameterError
        If a compressed file is damaged.
    """
    with _opened(path) as stream:
        yield stream if encoding == "utf-8" else io.BufferedReader(_Utf8(stream, encoding))


class _Utf8(io.RawIOBase):
    """Text of another encoding, read as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._rest = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill some of the buffer; nothing at the end."""
        read = b" "
        while read and not self._rest:
            read = self._stream.read(len(buffer))
            self._rest = self._decoder.decode(read, final=not read).encode()
        given, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


def is_compressed(path: Path) -> bool:
    """Tell whether a file is compressed, by its name or, of the standard input, by its start."""
    return _compression(path) != ""


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The content, decompressed."""
    with io.BytesIO(path.content) if isinstance(path, HeldFile) else open(path, "rb") as file:
        kind = _compression(path)
        try:
            yield _decompressed(file, kind)
        except (gzip.BadGzipFile, EOFError, zlib.error, _ZstdError):
            raise ParameterError(f"{path}: not a whole {kind} file. Compress it again.") from None


def _compression(path: Path) -> str:
    if isinstance(path, HeldFile):
        if path.content.startswith(_GZIP_START):
            return "gzip"
        return "zstd" if path.content.startswith(_ZSTD_START) else ""
    return {".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower(), "")


def _decompressed(file: BinaryIO, kind: str) -> BinaryIO:
    if kind == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return cast("BinaryIO", _Zstd(file)) if kind == "zstd" else file


class _ZstdError(Exception):
    """Arrow's error, which is an OSError, as one that cannot be taken for that of a disk."""


class _Zstd:
    """A Zstandard stream; Arrow has the decompressor that Python lacks before 3.14."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow as pa

        self._stream: Any = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def read(self, size: int) -> bytes:
        """About `size` bytes; none at the end."""
        try:
            return bytes(self._stream.read(size))
        except OSError as error:
            if error.errno is not None:
                raise
        raise _ZstdError
