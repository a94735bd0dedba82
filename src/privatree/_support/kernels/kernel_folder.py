"""The folder of compiled functions, whose name contains a digest of their code.

numba itself keeps a compiled function until the file of the function changes. It does not notice a
change of a helper in another file that is compiled into the function. So the name of the folder has
a digest of all code that may be part of a compiled function. If this code cannot be read, as in a
zip archive or a frozen program, nothing is kept.
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
"""The environment variables of numba, as attributes."""
_PACKAGE = Path(__file__).parents[2]
_COMPILES = b"privatree._support.kernels.compiling"
_IMPORTED = re.compile(
    rb"^[ \t]*from[ \t]+(privatree[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE
)
_NAME = "privatree-kernels-"
_MAX_FOLDERS = 8
_SECONDS_IN_USE = 24 * 60 * 60
"""A folder that a process opened within this time is not removed: it may still be in use."""


@cache
def kernel_folder() -> Path | None:
    """Return the folder in which this process keeps compiled functions.

    It is in ``NUMBA_CACHE_DIR`` if this variable is set, and otherwise in the package or, if that
    cannot be written to, in the user's cache folder. The result is None if no folder can be written
    to, or if the source code of the package cannot be read.
    """
    try:
        digest = kernel_code_digest(_PACKAGE)
    except OSError:
        return None
    if digest is None:
        return None
    for parent in _parents_of_kernel_folder():
        folder = parent / (_NAME + digest)
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
            os.utime(folder)  # records when the folder was taken last
        except OSError:
            continue
        if is_new:
            _remove_old_kernel_folders(parent)
        return folder
    return None


def kernel_code_digest(package: Path) -> str | None:
    """Return a digest of all code that can be part of the compiled functions in a package folder.

    The digest covers each file that compiles functions, all files that it imports, directly or not,
    and the versions of the compiler. Return None if no file compiles functions; raise an OSError if
    a file cannot be read.
    """
    paths = (path for path in package.rglob("*.py*") if path.suffix in (".py", ".pyi"))
    texts = {path.relative_to(package.parent): path.read_bytes() for path in paths}
    waiting = [path for path, text in texts.items() if _COMPILES in text]
    found = set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            for module, names in _IMPORTED.findall(texts[path]):
                waiting += _files_of_kernel_code(module, re.findall(rb"\w+", names), texts)
    if not found:
        return None
    digest = sha256(repr((numba.__version__, llvmlite.__version__, np.__version__)).encode())
    for path in sorted(found):
        digest.update(repr((path.as_posix(), texts[path])).encode())
    return digest.hexdigest()[:16]


def _files_of_kernel_code(
    module: bytes, names: list[bytes], texts: Mapping[Path, bytes]
) -> Iterator[Path]:
    """Yield the files that may define names that are imported from a module or a package."""
    imported = Path(*module.decode().split("."))
    if (file := imported.with_suffix(".py")) in texts:
        yield file
        return
    yield from (
        file for name in ("__init__.py", "__init__.pyi") if (file := imported / name) in texts
    )
    homes = _IMPORTED.findall(texts.get(imported / "__init__.pyi", b""))
    for name in names:
        for suffix in (".py", "/__init__.py"):  # a module or a package in this package
            if (file := imported / (name.decode() + suffix)) in texts:
                yield file
        for home, listed in homes:  # a name that the stub imports from its home
            if name in re.findall(rb"\w+", listed) and home != module:
                yield from _files_of_kernel_code(home, [name], texts)


def _parents_of_kernel_folder() -> Iterator[Path]:
    if numba_settings.CACHE_DIR:
        yield Path(numba_settings.CACHE_DIR)
        return
    yield _PACKAGE / "__pycache__"
    with suppress(RuntimeError):  # the user has no home folder
        yield cache_folder()


def _remove_old_kernel_folders(parent: Path) -> None:
    """Remove folders of compiled functions, except the newest and those that may be in use."""
    taken = list[tuple[float, Path]]()
    for folder in parent.glob(_NAME + "*"):
        with suppress(OSError):  # another process has just removed it
            taken.append((folder.stat().st_mtime, folder))
    for when, folder in sorted(taken, reverse=True)[_MAX_FOLDERS:]:
        if time.time() - when > _SECONDS_IN_USE:
            shutil.rmtree(folder, ignore_errors=True)
