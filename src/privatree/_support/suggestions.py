"""What somebody may have meant: columns, options, methods, by their names, which are public."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

_LONGEST = 100
"""Characters of a name that is compared: a longer one is no name."""


def did_you_mean(absent: str, found: Sequence[str]) -> str:
    """A question to end a message with, or nothing.

    Parameters
    ----------
    absent : str
        The name that nothing has.
    found : sequence of str
        The names that there are, of columns or options; never values of records.
    """
    # In the order of the file; of several that differ in case only, the first.
    by_key: dict[str, str] = {}
    for name in found:
        if len(name) <= _LONGEST and name.strip() and "\n" not in name:
            by_key.setdefault(name.strip().casefold(), name.strip())
    near = get_close_matches(absent.strip().casefold(), by_key, n=1, cutoff=0.7)
    return f" Did you mean {by_key[near[0]]!r}?" if near else ""
