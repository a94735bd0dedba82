"""Estimate whether all records of some files fit in memory, from the sizes of the files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from privatree.sources._parquet_file import open_parquet_footer
from privatree.sources._paths import is_parquet_path
from privatree.sources.csv._in_memory_files import InMemoryFile
from privatree.sources.csv._utf8_stream import is_compressed

_COPIES = 3  # copies of the codes in memory: as read, joined, and sorted by node
_USABLE_SHARE = 0.4  # share of the free memory that the codes may take
_CSV_VALUE_BYTES = 2  # smallest size of a value with the comma after it
_COMPRESSION = 10  # typical ratio of the text to the size of the compressed file


def fits_in_memory(files: Sequence[Path], n_features: int) -> bool:
    """Tell whether all records easily fit in memory, as codes of one byte per value.

    The answer depends on the free memory and on the sizes of the files, which are visible to
    everyone who has the files. The tree does not depend on the answer.
    """
    values = 0
    for file in files:
        if is_parquet_path(file):
            with open_parquet_footer(file) as opened:
                values += opened.metadata.num_rows * n_features
        else:
            ratio = _COMPRESSION if is_compressed(file) else 1
            size = len(file.content) if isinstance(file, InMemoryFile) else file.stat().st_size
            values += ratio * size // _CSV_VALUE_BYTES
    return _COPIES * values < _USABLE_SHARE * free_memory()


def free_memory() -> float:
    """Return the number of bytes that this process can still allocate; infinity if unknown."""
    limits = [_free_system_memory()]
    for path, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        limit, taken = _read_memory_file(path), _read_memory_file(used)
        if limit is not None and taken is not None:
            limits.append(max(0.0, limit - taken))
    return min(limits)


def _free_system_memory() -> float:
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


def _read_memory_file(path: str) -> float | None:
    try:
        return float(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # there is no such file, or it contains the word "max"
        return None
