"""``run.json`` in an output folder: the data, code and libraries that made the results there.

Results of different data or versions must not be mixed in one folder, because they could
not be told apart afterwards. Only one run at a time may use a folder.
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
    *("privatree", "numpy", "scipy", "numba", "pandas", "pyarrow"),
    *("scikit-learn", "diffprivlib", "interpret-core", "lightgbm"),
)

# Packages whose code cannot change a result. Methods have hashes of their own.
_NO_EFFECT_ON_RESULTS = (
    *("audit", "baselines/methods", "cli", "export", "repetition", "report"),
    *("reproduction/rendering", "reproduction/targets"),
    *("robustness/certificates", "robustness/poisoning_bounds"),
)
_CHANGED = {
    "datasets": "other data for",
    "methods": "other versions of the methods",
    "versions": "other versions of",
}


@contextmanager
def lock_output_folder(output: Path) -> Iterator[None]:
    """Make an output folder and lock it, or raise ParameterError if another run has locked it.

    The operating system releases the lock when the process ends, even if the process is killed.
    """
    output.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(output / ".lock", timeout=0):
            yield
    except Timeout:
        raise ParameterError(
            f"{output}: another run uses this folder. Wait for that run, or choose another output "
            "folder."
        ) from None


def record_provenance(
    output: Path, fingerprints: Mapping[str, str], methods: Iterable[Method]
) -> None:
    """Add datasets, by name and fingerprint, methods and versions to ``run.json``.

    Raise ParameterError if the folder has results of other data or versions.
    """
    now: dict[str, dict[str, Any]] = {
        "datasets": dict(fingerprints),
        "methods": {method.id: _run_hash([method.code.encode()]) for method in methods},
        "versions": _provenance_versions(),
    }
    before = _read_provenance(output / "run.json")
    for part, words in _CHANGED.items():
        known = before.get(part, {})
        changed = [name for name, mark in now[part].items() if known.get(name, mark) != mark]
        if changed:
            raise ParameterError(
                f"the folder {output} has results of {words} {', '.join(changed)}. Choose another "
                "output folder."
            )
        now[part] = known | now[part]
    now["machine"] = {"system": platform.platform(), "processors": os.cpu_count()}
    output.mkdir(parents=True, exist_ok=True)
    replace_file(output / "run.json", json.dumps(now, indent=1, sort_keys=True) + "\n")


def _read_provenance(path: Path) -> dict[str, dict[str, Any]]:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        written = None
    if not isinstance(written, dict) or not all(isinstance(v, dict) for v in written.values()):
        raise ParameterError(
            f"{path}: must be a file that privatree reproduce wrote. Choose another output folder."
        )
    return written


@cache
def _provenance_versions() -> dict[str, str]:
    """Return the versions of Python and the installed libraries, and a hash of our own code."""
    found = {"python": platform.python_version(), "code": _provenance_code_hash()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _provenance_code_hash() -> str:
    """Return a hash of all modules that can change a result."""
    package = Path(__file__).parents[2]
    left_out = {package / name for name in _NO_EFFECT_ON_RESULTS}
    modules = (p for p in sorted(package.rglob("*.py")) if left_out.isdisjoint(p.parents))
    return _run_hash(path.name.encode() + b"\0" + path.read_bytes() for path in modules)


def _run_hash(parts: Iterable[bytes]) -> str:
    """Return a hash of the parts, with 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part + b"\0")
    return digest.hexdigest()[:16]
