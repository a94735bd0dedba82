"""Functions compiled by numba, kept on disk for the next time where there is a place for them."""

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
    """Compile a function when it is first called; while it runs, other threads run too.

    Parameters
    ----------
    function : callable
        Of arrays and numbers.

    Returns
    -------
    callable
        The same, compiled. It is compiled anew in each process where there is no `kernel_folder`.
    """
    return _kept(function, inline="never")


def compiled_inline(function: Any) -> Any:
    """The same for a small function, which becomes part of the compiled ones that call it."""
    return _kept(function, inline="always")


def _kept(function: Any, inline: Literal["never", "always"]) -> Any:
    folder = kernel_folder()
    if folder is not None:
        with _one_at_a_time, _numba_keeps_in(folder), suppress(RuntimeError):  # of no file
            kept = numba.njit(cache=True, nogil=True, inline=inline)(function)
            if _is_kept_in(folder, kept):
                return kept
    return numba.njit(nogil=True, inline=inline)(function)


@contextmanager
def _numba_keeps_in(folder: Path) -> Iterator[None]:
    """What is decorated meanwhile is kept there; afterwards, all is as it was for others."""
    usual = numba_settings.CACHE_DIR
    numba_settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba_settings.CACHE_DIR = usual


def _is_kept_in(folder: Path, function: Any) -> bool:
    """Whether numba uses the folder, and not one that NUMBA_CACHE_LOCATOR_CLASSES names."""
    if numba_settings.DISABLE_JIT:  # then it is a plain function
        return True
    return folder in Path(function.stats.cache_path).parents
