"""What the results of a folder were made with: data, code and libraries, in ``run.json``.

Results of different data or versions must not be mixed in one folder: nobody could tell them apart
afterwards. And only one run at a time may use a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from privatree._support.atomic_files import replace_file
from privatree.baselines.methods import Method
from privatree.errors import ParameterError

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


# Packages that decide on no result. Methods have marks of their own.
_NOT_DECIDING = (
    *("audit", "baselines/methods", "cli", "export", "repetition", "report"),
    *("reproduction/rendering", "reproduction/targets"),
    *("robustness/certificates", "robustness/poisoning_bounds"),
)
_OTHERS = {
    "datasets": "other data for",
    "methods": "other versions of the methods",
    "versions": "other versions of",
}


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


def claim(output: Path, datasets: Mapping[str, str], methods: Iterable[Method]) -> None:
    """Note down what new results of the folder are made with.

    Parameters
    ----------
    output : Path
        The folder.
    datasets : mapping of str to str
        The fingerprints of the datasets, by their names.
    methods : iterable of Method
        What was trained.

    Raises
    ------
    ParameterError
        If the folder holds results of other data or versions.
    """
    now: dict[str, dict[str, Any]] = {
        "datasets": dict(datasets),
        "methods": {method.id: _mark([method.code.encode()]) for method in methods},
        "versions": _versions(),
    }
    before = _read(_note(output))
    for part, words in _OTHERS.items():
        known = before.get(part, {})
        changed = [name for name, mark in now[part].items() if known.get(name, mark) != mark]
        if changed:
            raise ParameterError(
                f"{output}: holds results of {words} {', '.join(changed)}. Name another output "
                "folder."
            )
        now[part] = known | now[part]
    now["machine"] = {"system": platform.platform(), "processors": os.cpu_count()}
    output.mkdir(parents=True, exist_ok=True)
    replace_file(_note(output), json.dumps(now, indent=1, sort_keys=True) + "\n")


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
    """Of all packages that decide on a result."""
    package = Path(__file__).parents[2]
    around = {package / name for name in _NOT_DECIDING}
    deciding = (p for p in sorted(package.rglob("*.py")) if around.isdisjoint(p.parents))
    return _mark(path.name.encode() + b"\0" + path.read_bytes() for path in deciding)


def _mark(parts: Iterable[bytes]) -> str:
    """A short hash: a version number stays the same while code is changed."""
    mark = hashlib.sha256()
    for part in parts:
        mark.update(part + b"\0")
    return mark.hexdigest()[:16]
