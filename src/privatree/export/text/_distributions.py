"""How the targets of a leaf's records are distributed, from noisy shares, in words."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.export.text._shown_values import value_text
from privatree.model import Tree
from privatree.schema import Target

_MOST = 0.8
"""Share of the records of a leaf whose range is shown."""


class TargetIntervals(NamedTuple):
    """The intervals of a target that leaves have noisy shares for, as they are shown.

    `ends` are in increasing order, and `texts` says which numbers are in each interval. `starts`
    are the places of the first released share of each interval.
    """

    ends: NDArray[np.float64]
    texts: tuple[str, ...]
    starts: NDArray[np.intp]

    def shares_of(self, released: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of these intervals, from the released shares of a leaf."""
        return np.asarray(np.add.reduceat(released, self.starts))


def target_intervals(tree: Tree) -> TargetIntervals | None:
    """Return the intervals of a tree; None if the learner released no shares.

    If the target has whole numbers only, an interval without a whole number is joined to the one
    below it.
    """
    target, edges = tree.schema.target, tree.edges
    if target is None or edges is None:
        return None
    starts_here = np.ones(len(edges) - 1, dtype=np.bool_)
    if target.integer:
        starts_here = np.diff(np.floor(edges)) > 0
        starts_here[0] = True
    starts = np.flatnonzero(starts_here)
    ends = edges[[*starts, len(edges) - 1]]
    texts = (" to ".join(_range_ends(target, ends, i, i + 1)) for i in range(len(starts)))
    return TargetIntervals(ends, tuple(texts), starts)


def spread_text(tree: Tree, leaf: int) -> str:
    """Return the shortest range of the target with most of a leaf's records; "" if unknown.

    It is unknown, too, if the leaf has no more records than noise explains. A range of all targets
    would say nothing, and is "".
    """
    target, shares = tree.schema.target, tree.shares
    found = target_intervals(tree) if tree.has_support(leaf) else None
    if target is None or shares is None or found is None:
        return ""
    below, ends = np.append(0.0, np.cumsum(found.shares_of(shares[leaf]))), found.ends
    first, last = np.triu_indices(len(ends), 1)
    share = below[last] - below[first]
    enough = np.flatnonzero(share >= _MOST)
    best = enough[np.argmin((ends[last] - ends[first])[enough])]
    if (first[best], last[best]) == (0, len(ends) - 1):
        return ""
    shown = _range_ends(target, ends, int(first[best]), int(last[best]))
    return f"{share[best]:.0%} {'at' if len(shown) == 1 else 'from'} {' to '.join(shown)}"


def _range_ends(target: Target, ends: NDArray[np.float64], first: int, last: int) -> list[str]:
    """Return both ends of a range as text, or one text for a single whole number.

    The upper end of an interval belongs to it, and the lower end of the first one, too.
    """
    low, high = float(ends[first]), float(ends[last])
    if target.integer:
        lowest, highest = math.ceil(low) if first == 0 else math.floor(low) + 1, math.floor(high)
        if lowest == highest:
            return [value_text(target, lowest)]
        if lowest < highest:
            low, high = lowest, highest
    return [value_text(target, low), value_text(target, high)]
