"""``privatree report``: placeholder that the helper who owns this file overwrites."""

from __future__ import annotations


def report() -> None:
    """Placeholder."""
