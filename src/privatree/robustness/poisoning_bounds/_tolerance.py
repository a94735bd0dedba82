"""The largest number of edits for which a condition holds."""

from __future__ import annotations

from collections.abc import Callable

MAX_EDITS = 2**60
"""The search stops here: no dataset has as many records."""


def max_tolerated_edits(holds: Callable[[int], bool]) -> int | None:
    """Return the largest number of edits for which `holds` is true, or None if ``holds(0)`` is not.

    `holds` must be monotone: if it is false for a number of edits, it is false for all larger ones.
    """
    if not holds(0):
        return None
    good, bad = 0, 1
    while bad <= MAX_EDITS and holds(bad):
        good, bad = bad, 2 * bad
    if bad > MAX_EDITS:
        return MAX_EDITS
    while bad - good > 1:
        middle = (good + bad) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good
