"""A line on stderr when a function is compiled, because its first call then takes long.

numba's Event API reports compilations. A compiled function that is found on disk is not reported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from typing import Any

LINE = "Compiling for the first use: up to 20 seconds."

_shown: bool | None = None  # None: show the notice if stderr is a terminal
_said = False


@contextmanager
def compile_notice(shown: bool) -> Iterator[None]:
    """Show or hide the notice inside the context, whether or not stderr is a terminal."""
    global _shown
    before, _shown = _shown, shown
    try:
        yield
    finally:
        _shown = before


def announce_compilation() -> None:
    """Print the notice once per process, when the first function of privatree is compiled."""
    from numba.core.event import Listener, register

    class CompileListener(Listener):  # type: ignore[misc]
        """A listener that numba calls at the start and the end of each compilation."""

        def on_start(self, event: Any) -> None:
            """Print the notice if the function belongs to privatree."""
            function = getattr(event.data["dispatcher"], "py_func", None)
            if (getattr(function, "__module__", None) or "").startswith("privatree."):
                _print_compile_notice()

        def on_end(self, event: Any) -> None:
            """Do nothing; numba requires this method."""

    register("numba:compile", CompileListener())


def _print_compile_notice() -> None:
    global _said
    is_shown = sys.stderr.isatty() if _shown is None else _shown
    is_first = not _said and current_process().name == "MainProcess"  # workers print nothing
    if is_shown and is_first:
        _said = True
        print(LINE, file=sys.stderr, flush=True)
