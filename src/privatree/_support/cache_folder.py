"""Where this user keeps what can be had again: fetched datasets, compiled functions."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the user's cache folder for this package, whether it is there or not.

    Returns
    -------
    Path
        What ``PRIVATREE_CACHE`` names, else ``privatree`` in the user's cache folder:
        ``XDG_CACHE_HOME``, on Windows ``LOCALAPPDATA``, else ``~/.cache``.

    Raises
    ------
    RuntimeError
        If the user has no home and none of these is set.
    """
    if chosen := os.environ.get("PRIVATREE_CACHE"):
        return Path(chosen).expanduser()
    usual = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(usual).expanduser() / "privatree"
