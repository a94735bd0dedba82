"""The user's folder for files that can be made again: downloaded datasets, compiled functions."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the user's cache folder for this package, which may not exist yet.

    It is ``PRIVATREE_CACHE`` if this variable is set, and otherwise the folder ``privatree`` in
    ``XDG_CACHE_HOME``, ``LOCALAPPDATA`` (Windows) or ``~/.cache``. A RuntimeError is raised if none
    of the variables is set and the user has no home folder.
    """
    if chosen := os.environ.get("PRIVATREE_CACHE"):
        return Path(chosen).expanduser()
    usual = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(usual).expanduser() / "privatree"
