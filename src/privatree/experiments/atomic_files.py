"""Files that are there in full or not at all, also if the program is killed while it writes."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> Path:
    """Write a file beside its place, then move it there; text as UTF-8, lines as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        written.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(written, path)
    finally:
        written.unlink(missing_ok=True)
    return path
