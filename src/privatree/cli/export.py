"""``privatree export``: placeholder that the helper who owns this file overwrites."""

from __future__ import annotations


def export() -> None:
    """Placeholder."""
