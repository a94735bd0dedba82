"""Forecasts that were made before, in the user's cache folder.

The name of a file follows from everything that decides the forecast: the setting, and the versions
of this package and of the libraries that train and draw. A file that cannot be read or used is as
good as none.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from privatree import __version__
from privatree._support.atomic_files import replace_file
from privatree._support.cache_folder import cache_folder
from privatree._support.json_files import read_json
from privatree.errors import PrivatreeError
from privatree.forecast._result import Forecast, TableScores
from privatree.forecast._setting import Setting

_LIBRARIES = ("numpy", "scikit-learn")
_FORM = 1
"""Number of the form of the files. A change of the form or of the tables must change it."""


def load_cached_forecast(setting: Setting) -> Forecast | None:
    """Return the forecast of an earlier call with this setting, or None."""
    try:
        path = _cached_file(setting)
        return read_json(path, "a forecast", lambda read: _understand(read, setting))
    except (OSError, RuntimeError, PrivatreeError):
        return None


def store_in_cache(made: Forecast) -> None:
    """Keep a forecast for later calls. Do nothing if the cache folder cannot be written."""
    document: dict[str, Any] = {
        "key": _key(made.setting),
        "tables": [asdict(scores) for scores in made.tables],
        "left_out": made.left_out,
    }
    document["digest"] = _digest(document)
    try:
        path = _cached_file(made.setting)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(document))
    except (OSError, RuntimeError):
        return


def _cached_file(setting: Setting) -> Path:
    return cache_folder() / "forecasts" / f"{_digest(_key(setting))[:32]}.json"


def _key(setting: Setting) -> dict[str, Any]:
    versions = {"privatree": __version__, **{name: version(name) for name in _LIBRARIES}}
    fields = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(setting).items()
    }
    return {"form": _FORM, "versions": versions, **fields}


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _understand(read: Any, setting: Setting) -> Forecast:
    """Return the forecast in a file. Raise a PrivatreeError if it is damaged or of another key."""
    try:
        found = read.pop("digest")
        if found != _digest(read) or read["key"] != _key(setting):
            raise ValueError
        tables = tuple(TableScores(**scores) for scores in read["tables"])
        return Forecast(setting, tables, read["left_out"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise PrivatreeError("the file must hold a forecast of this setting.") from None
