"""Files that are there in full or not at all, also if the program is killed while it writes."""

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
"""Names of what is open already, which may be a file that others write to as well."""
_OPENED = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


def replace_file(
    path: str | os.PathLike[str], content: str | bytes, *, private: bool = False
) -> Path:
    """Write a file beside its place, then move it there.

    Parameters
    ----------
    path : path
        The file to write; one that is there is replaced. Its folder must exist.
    content : str or bytes
        Text is written as UTF-8, its lines as they are.
    private : bool, default=False
        Whether a new file may be read by its owner only. One that is replaced keeps its mode.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OSError
        If it cannot be written, with the name of the file; what was there before still is.
    """
    encoded = content.encode() if isinstance(content, str) else content
    with replace_file_in_pieces(path, private=private) as file:
        file.write(encoded)
    return Path(path)


@contextmanager
def replace_file_in_pieces(
    path: str | os.PathLike[str], *, private: bool = False
) -> Iterator[BinaryIO]:
    """The same for content that comes in pieces: the file is moved once all of it was written.

    An OSError while it is written is taken for one about the file.
    """
    try:
        if (stream := _stream(path)) is not None:  # what was written there before stays
            with os.fdopen(os.dup(stream), "wb") as file:
                yield file
        elif Path(path).exists() and not Path(path).is_file():
            with open(path, "wb") as file:  # a device or a pipe: there is nothing to keep
                yield file
        else:
            with _unfinished(Path(os.path.realpath(path)), private) as file:
                yield file  # a link goes on leading there
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


@contextmanager
def _unfinished(place: Path, private: bool) -> Iterator[BinaryIO]:
    """A file beside its place, moved there if all goes well."""
    kept = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    mode = 0o600 if private or kept is not None else 0o666
    unfinished = place.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(unfinished, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:  # nobody may read it who could not before
            os.chmod(unfinished, kept)
        os.replace(unfinished, place)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _stream(path: str | os.PathLike[str]) -> int | None:
    """The number of the stream that a path stands for, if it does."""
    name = os.fspath(path)
    found = _OPENED.fullmatch(name)
    return int(found[1]) if found else _STREAMS.get(name)
