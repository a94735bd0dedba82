"""Files that are there in full or not at all, also if the program is killed while it writes."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def replace_file(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file beside its place, then move it there.

    Parameters
    ----------
    path : path
        The file to write; one that is there is replaced. Its folder must exist.
    content : str or bytes
        Text is written as UTF-8, its lines as they are.

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
    place = Path(os.path.realpath(path))  # a link goes on leading to the file
    if place.exists() and not place.is_file():
        place.write_bytes(encoded)  # a device or a pipe: there is nothing to keep
        return Path(path)
    unfinished = place.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with open(unfinished, "xb") as file:
            file.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, place)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        raise
    return Path(path)
