"""The folder where compiled functions are kept: another one whenever their code is another.

By itself numba keeps a compiled function until its own file changes; a change of a helper in
another file, which is compiled into it, goes unnoticed. So the name of the folder holds a digest
of all code that may be part of a compiled function. Where that code cannot be read, as in a zip
archive or a frozen program, nothing is kept.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import llvmlite
import numba
import numpy as np

from privatree._support.cache_folder import cache_folder

numba_settings: Any = numba.config
"""Each environment variable of numba, as an attribute."""
_PACKAGE = Path(__file__).parents[2]
_COMPILES = b"privatree._support.kernels.compiling"
_IMPORTED = re.compile(
    rb"^[ \t]*from[ \t]+(privatree[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE
)
_NAME = "privatree-kernels-"
_MAX_FOLDERS = 8
_SECONDS_IN_USE = 24 * 60 * 60
"""A process that took a folder less than this ago may still write to it: it is not removed."""


@cache
def kernel_folder() -> Path | None:
    """Return where this process keeps compiled functions.

    Returns
    -------
    Path or None
        A folder in what ``NUMBA_CACHE_DIR`` names; if it is not set, in the package, else in the
        user's cache folder. None if it cannot be written to, or the code cannot be read.
    """
    try:
        digest = kernel_code_digest(_PACKAGE)
    except OSError:
        return None
    if digest is None:
        return None
    for parent in _parents():
        folder = parent / (_NAME + digest)
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
            os.utime(folder)  # the time when it was taken last
        except OSError:
            continue
        if is_new:
            _remove_old(parent)
        return folder
    return None


def kernel_code_digest(package: Path) -> str | None:
    """Digest the code that compiled functions are made of.

    Parameters
    ----------
    package : Path
        The folder of a package ``privatree``.

    Returns
    -------
    str or None
        Of each file that compiles functions and of all files that it imports, directly or not,
        because functions and constants of theirs may be compiled in; and of the versions of the
        compiler. None if there is no such file.

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    texts = {path.relative_to(package.parent): path.read_bytes() for path in _sources(package)}
    waiting = [path for path, text in texts.items() if _COMPILES in text]
    found = set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            for module, names in _IMPORTED.findall(texts[path]):
                waiting += _defining(module, re.findall(rb"\w+", names), texts)
    if not found:
        return None
    digest = sha256(repr((numba.__version__, llvmlite.__version__, np.__version__)).encode())
    for path in sorted(found):
        digest.update(repr((path.as_posix(), texts[path])).encode())
    return digest.hexdigest()[:16]


def _sources(package: Path) -> Iterator[Path]:
    return (path for path in package.rglob("*.py*") if path.suffix in (".py", ".pyi"))


def _defining(module: bytes, names: list[bytes], texts: Mapping[Path, bytes]) -> Iterator[Path]:
    """The files that may define what is imported from a module or a package."""
    imported = Path(*module.decode().split("."))
    if (file := imported.with_suffix(".py")) in texts:
        yield file
        return
    yield from (
        file for name in ("__init__.py", "__init__.pyi") if (file := imported / name) in texts
    )
    homes = _IMPORTED.findall(texts.get(imported / "__init__.pyi", b""))
    for name in names:
        for suffix in (".py", "/__init__.py"):  # a module or a package in it
            if (file := imported / (name.decode() + suffix)) in texts:
                yield file
        for home, listed in homes:  # a name that the package's list says the home of
            if name in re.findall(rb"\w+", listed) and home != module:
                yield from _defining(home, [name], texts)


def _parents() -> Iterator[Path]:
    if numba_settings.CACHE_DIR:
        yield Path(numba_settings.CACHE_DIR)
        return
    yield _PACKAGE / "__pycache__"
    with suppress(RuntimeError):  # no home
        yield cache_folder()


def _remove_old(parent: Path) -> None:
    """Keep the folders that were taken last, and those that may be in use."""
    taken = list[tuple[float, Path]]()
    for folder in parent.glob(_NAME + "*"):
        with suppress(OSError):  # another process has just removed it
            taken.append((folder.stat().st_mtime, folder))
    for when, folder in sorted(taken, reverse=True)[_MAX_FOLDERS:]:
        if time.time() - when > _SECONDS_IN_USE:
            shutil.rmtree(folder, ignore_errors=True)
