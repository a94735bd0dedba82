"""Whether records would fit comfortably in memory, from the sizes of their files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from privatree.sources._parquet_file import parquet_footer
from privatree.sources._paths import is_parquet
from privatree.sources.csv._held_files import HeldFile
from privatree.sources.csv._raw_files import is_compressed

_COPIES = 3  # of the codes: as they are read, joined, and sent to their nodes
_COMFORTABLE = 0.4  # of the memory that is free
_CSV_VALUE = 2  # bytes that a value takes at least, with the comma after it
_PACKED = 10  # how much more text is in a compressed file


def fits_in_memory(files: Sequence[Path], n_features: int) -> bool:
    """Tell whether all records can be held as codes, with room to spare.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~privatree.sources.find_files` lists them.
    n_features : int
        How many columns are read, each of which takes a byte for a value.

    Notes
    -----
    It looks at the size of the files, which anybody who has them can see, and at the free memory.
    Whatever the answer, the tree is the same.
    """
    values = 0
    for file in files:
        if is_parquet(file):
            with parquet_footer(file) as opened:
                values += opened.metadata.num_rows * n_features
        else:
            packed = _PACKED if is_compressed(file) else 1
            size = len(file.content) if isinstance(file, HeldFile) else file.stat().st_size
            values += packed * size // _CSV_VALUE
    return _COPIES * values < _COMFORTABLE * free_memory()


def free_memory() -> float:
    """Bytes that this process may still take; infinite if the system does not say."""
    limits = [_system_memory()]
    for path, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        limit, taken = _number(path), _number(used)
        if limit is not None and taken is not None:
            limits.append(max(0.0, limit - taken))
    return min(limits)


def _system_memory() -> float:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _number(path: str) -> float | None:
    try:
        return float(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # there is none, or it is the word "max"
        return None
