"""Decorators that compile functions with numba and keep them on disk for the next process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numba

from privatree._support.kernels.compile_notice import announce_compilation
from privatree._support.kernels.kernel_folder import kernel_folder, numba_settings

_one_at_a_time = Lock()

announce_compilation()


def compiled(function: Any) -> Any:
    """Compile a function of arrays and numbers at its first call. It then runs without the GIL.

    The compiled function is kept in `kernel_folder`; without a folder, each process compiles it.
    """
    return _compile_and_keep(function, inline="never")


def compiled_inline(function: Any) -> Any:
    """Compile a small function into each compiled function that calls it."""
    return _compile_and_keep(function, inline="always")


def _compile_and_keep(function: Any, inline: Literal["never", "always"]) -> Any:
    folder = kernel_folder()
    if folder is not None:
        # numba raises RuntimeError for a function that is in no file.
        with _one_at_a_time, _numba_cache_in(folder), suppress(RuntimeError):
            kept = numba.njit(cache=True, nogil=True, inline=inline)(function)
            if _is_compiled_in(folder, kept):
                return kept
    return numba.njit(nogil=True, inline=inline)(function)


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """Make `folder` the cache folder of numba inside the context; other packages do not see it."""
    usual = numba_settings.CACHE_DIR
    numba_settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba_settings.CACHE_DIR = usual


def _is_compiled_in(folder: Path, function: Any) -> bool:
    """Tell whether numba keeps a compiled function in `folder`, and not somewhere else."""
    if numba_settings.DISABLE_JIT:  # then the function is not compiled at all
        return True
    return folder in Path(function.stats.cache_path).parents
