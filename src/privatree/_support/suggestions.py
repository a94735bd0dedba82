"""Did-you-mean suggestions for names of columns, options and methods. These names are public."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

_MAX_NAME_LENGTH = 100
"""Longer names are not compared."""


def did_you_mean(absent: str, found: Sequence[str]) -> str:
    """Return " Did you mean 'age'?" for a misspelt name, or "" if no known name is similar.

    `found` are the known names. They must be public: pass no values of records.
    """
    # Names are compared in their order; of names that differ in case only, the first counts.
    by_key: dict[str, str] = {}
    for name in found:
        if len(name) <= _MAX_NAME_LENGTH and name.strip() and "\n" not in name:
            by_key.setdefault(name.strip().casefold(), name.strip())
    near = get_close_matches(absent.strip().casefold(), by_key, n=1, cutoff=0.7)
    return f" Did you mean {by_key[near[0]]!r}?" if near else ""
