"""How many edits something survives, where more edits are never easier to survive."""

from __future__ import annotations

from collections.abc import Callable

MAX_EDITS = 2**60
"""Where the search stops: more records than anybody has."""


def most_edits(holds: Callable[[int], bool]) -> int | None:
    """The largest number of edits for which it holds; None if not even for 0.

    Parameters
    ----------
    holds : callable
        Whether it holds for a number of edits; once not, never again.
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
