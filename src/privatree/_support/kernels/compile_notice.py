"""A line on stderr when something is compiled, which makes the first use wait.

numba tells when it compiles (its Event API): not where what is compiled is found on disk.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from typing import Any

LINE = "Compiling for the first use: up to 20 seconds."

_shown: bool | None = None  # None: if stderr is a terminal
_said = False


@contextmanager
def compile_notice(shown: bool) -> Iterator[None]:
    """Say it, or do not, whatever stderr is. Else it is said on a terminal only.

    Parameters
    ----------
    shown : bool
        Whether to say it.
    """
    global _shown
    before, _shown = _shown, shown
    try:
        yield
    finally:
        _shown = before


def announce_compilation() -> None:
    """Say it once, when the first function of privatree is compiled in this process."""
    from numba.core.event import Listener, register

    class CompileListener(Listener):
        """Hears that numba begins to compile a function, and that it has ended."""

        def on_start(self, event: Any) -> None:
            """Say it if the function is ours."""
            function = getattr(event.data["dispatcher"], "py_func", None)
            if (getattr(function, "__module__", None) or "").startswith("privatree."):
                _say()

        def on_end(self, event: Any) -> None:
            """Required by numba."""

    register("numba:compile", CompileListener())  # type: ignore[no-untyped-call]


def _say() -> None:
    global _said
    is_shown = sys.stderr.isatty() if _shown is None else _shown
    is_first = not _said and current_process().name == "MainProcess"  # no others that it started
    if is_shown and is_first:
        _said = True
        print(LINE, file=sys.stderr, flush=True)
