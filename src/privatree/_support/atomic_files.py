"""Files that are written completely or not at all, even if the program is killed."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
"""File descriptors of streams, which are open already and may be shared with other programs."""
_OPENED = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


def replace_file(
    path: str | os.PathLike[str], content: str | bytes, *, private: bool = False
) -> Path:
    """Write a temporary file in the same folder, move it to `path`, and return the path.

    Text is encoded as UTF-8. With `private`, only the owner may read a new file; a file that is
    replaced keeps its mode. If writing fails, the old file is unchanged; the OSError names `path`.
    """
    encoded = content.encode() if isinstance(content, str) else content
    with replace_file_in_pieces(path, private=private) as file:
        file.write(encoded)
    return Path(path)


@contextmanager
def replace_file_in_pieces(
    path: str | os.PathLike[str], *, private: bool = False
) -> Iterator[BinaryIO]:
    """Yield a file to write in pieces. It replaces the old file when the context ends.

    An OSError inside the context is reported as an error about `path`.
    """
    try:
        if (stream := _file_descriptor(path)) is not None:  # what was written there before stays
            with os.fdopen(os.dup(stream), "wb") as file:
                yield file
        elif Path(path).exists() and not Path(path).is_file():
            with open(path, "wb") as file:  # a device or a pipe: there is nothing to keep
                yield file
        else:  # a symbolic link stays: the file that it points to is replaced
            with _temporary_file(Path(os.path.realpath(path)), private) as file:
                yield file
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


@contextmanager
def _temporary_file(place: Path, private: bool) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of `place`, and move it to `place` if no error occurs."""
    kept = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    mode = 0o600 if private or kept is not None else 0o666
    unfinished = place.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(unfinished, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:  # nobody may read the new file who could not read the old one
            os.chmod(unfinished, kept)
        os.replace(unfinished, place)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _file_descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the file descriptor that a path such as /dev/stdout stands for, or None."""
    name = os.fspath(path)
    found = _OPENED.fullmatch(name)
    return int(found[1]) if found else _STREAMS.get(name)
