"""Functions compiled by numba, kept on disk for the next time where there is a place for them."""

from __future__ import annotations

from typing import Any, Literal

from numba import njit

from privatree.compile_notice import listen

listen()


def compiled(function: Any) -> Any:
    """Compile a function when it is first called; while it runs, other threads run too.

    Parameters
    ----------
    function : callable
        Of arrays and numbers.

    Returns
    -------
    callable
        The same, compiled. It is compiled anew in each process where neither the folder of its
        file nor a cache of the user can be written.
    """
    return _kept(function, inline="never")


def compiled_inline(function: Any) -> Any:
    """The same for a small function, which becomes part of the compiled ones that call it."""
    return _kept(function, inline="always")


def _kept(function: Any, inline: Literal["never", "always"]) -> Any:
    try:
        return njit(cache=True, nogil=True, inline=inline)(function)
    except RuntimeError:
        return njit(nogil=True, inline=inline)(function)
