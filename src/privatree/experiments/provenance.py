"""What the results of a folder were made with: data, code and libraries, in ``run.json``.

Results of different data or versions must not be mixed in one folder: nobody could tell them apart
afterwards. And only one run at a time may use a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from privatree.errors import ParameterError
from privatree.experiments.atomic_files import replace_file

_LIBRARIES = (
    "privatree",
    "numpy",
    "scipy",
    "numba",
    "pandas",
    "pyarrow",
    "scikit-learn",
    "diffprivlib",
    "interpret-core",
)


@contextmanager
def alone(output: Path) -> Iterator[None]:
    """Use a folder for results, which is made if need be; refuse if another run uses it.

    The lock is the system's: it ends with the process, however that ends.
    """
    output.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(output / ".lock", timeout=0):
            yield
    except Timeout:
        raise ParameterError(
            f"{output}: another run uses this folder. Wait for it, or name another output folder."
        ) from None


def refuse_others(output: Path, fingerprints: Mapping[str, str]) -> None:
    """Raise a :class:`ParameterError` if the folder holds results of other data or versions."""
    before, now = _read(_note(output)), _versions()
    datasets = before.get("datasets", {})
    other_data = [name for name, mark in fingerprints.items() if datasets.get(name, mark) != mark]
    versions = before.get("versions", {})
    other_versions = [name for name in now if versions.get(name, now[name]) != now[name]]
    for changed, what in ((other_data, "other data for"), (other_versions, "other versions of")):
        if changed:
            raise ParameterError(
                f"{output}: holds results of {what} {', '.join(changed)}. Name another output "
                "folder."
            )


def note_down(output: Path, fingerprints: Mapping[str, str]) -> None:
    """Add to what the results of the folder are made with."""
    before = _read(_note(output))
    note = {
        "datasets": before.get("datasets", {}) | dict(fingerprints),
        "machine": {"system": platform.platform(), "processors": os.cpu_count()},
        "versions": before.get("versions", {}) | _versions(),
    }
    replace_file(_note(output), json.dumps(note, indent=1, sort_keys=True) + "\n")


def _note(output: Path) -> Path:
    return output / "run.json"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        written = None
    if not isinstance(written, dict) or not all(isinstance(v, dict) for v in written.values()):
        raise ParameterError(f"{path}: is not a note of a run. Name another output folder.")
    return written


@cache
def _versions() -> dict[str, str]:
    """Of Python, of the libraries that are here, and of this package's own code."""
    found = {"python": platform.python_version(), "code": _code_mark()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _code_mark() -> str:
    """A short hash of all files of the package: its version stays the same while it is changed."""
    root = Path(__file__).parents[1]
    mark = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        mark.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return mark.hexdigest()[:16]
