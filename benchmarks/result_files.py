"""Results of a benchmark as JSON: the figures, and with what and where they were measured.

``scripts/benchmark_tables.py`` makes the tables of the documentation from these files. A file has

- ``figures``: a list of objects, unrounded where a program wrote them;
- ``command``, ``date``, ``seeds``: how to have them again;
- ``machine``, ``versions``: where they come from.

An unknown entry is ``"not recorded"``. No figure is written or changed by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("privatree", "numpy", "numba", "scipy", "pandas", "pyarrow", "scikit-learn", "lightgbm",
            "diffprivlib", "pyspark")  # fmt: skip
_OWN_PATHS = {"--data-dir", "--folder"}  # say nothing to others


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")


def write_result(path: Path | None, figures: list[dict[str, Any]], seeds: str) -> None:
    """Write the measured figures with a description of this machine; with None, write nothing.

    `seeds` says which seeds were used for what.
    """
    if path is None:
        return
    result = {
        "command": command(sys.argv),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version(), **_versions()},
        "seeds": seeds,
        "figures": figures,
    }
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def command(arguments: list[str]) -> str:
    """Return the command line without the paths of this machine."""
    script, *others = arguments
    shown, before = ["python", f"benchmarks/{Path(script).name}"], ""
    for argument in others:
        if before != "--json" and argument != "--json":
            shown.append("DIR" if before in _OWN_PATHS else argument)
        before = argument
    return shlex.join(shown)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
