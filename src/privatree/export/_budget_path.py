"""The path from the root to a leaf on which most epsilon was spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from privatree.model import Tree
from privatree.privacy import PrivacyStatement, Spend

_MAX_COUNTED_RELEASES = 10**9
"""A spend with more releases counts as this many, so that its cost is a finite float."""
_ROUNDING = 1e-9
"""Share of epsilon that counts as a rounding error."""


@dataclass(frozen=True)
class PathSpend:
    """Sum of equal spends at one node of a path.

    `depth` is the number of splits above the node, or None if the spend is for the whole tree.
    `epsilon` is the cost of all `releases` together, doubled if neighbours replace a record.
    """

    purpose: str
    mechanism: str
    depth: int | None
    epsilon: float
    releases: int


def costliest_path_spends(tree: Tree, privacy: PrivacyStatement) -> tuple[PathSpend, ...]:
    """Return the spends on the path with the largest total epsilon, from the root downwards."""
    times = 2 if privacy.neighbours == "replace" else 1

    def cost(spend: Spend) -> float:
        return times * min(spend.times, _MAX_COUNTED_RELEASES) * float(spend.epsilon)

    spent = np.zeros(tree.n_nodes)
    for spend in privacy.spends:
        spent[spend.node or 0] += cost(spend)
    (path,) = tree.paths([int(np.argmax(tree.path_sums(spent)))])
    depths: dict[int | None, int] = {node: depth for depth, node in enumerate(path)}
    depths[None] = -1  # spends for the whole tree come first
    on_path = [spend for spend in privacy.spends if spend.node in depths]

    def group_key(spend: Spend) -> tuple[str, str, int, float]:
        return spend.purpose, spend.mechanism, depths[spend.node], float(spend.epsilon)

    found = []
    on_path.sort(key=lambda spend: depths[spend.node])
    for (purpose, mechanism, depth, _), group in groupby(on_path, group_key):
        equal = list(group)
        epsilon, releases = sum(map(cost, equal)), sum(spend.times for spend in equal)
        level = None if depth < 0 else depth
        found.append(PathSpend(purpose, mechanism, level, epsilon, releases))
    return tuple(found)


def budget_path_bars(tree: Tree, privacy: PrivacyStatement, max_spends: int) -> list[PathSpend]:
    """Return the spends on the costliest path as bars. They add up to epsilon if it is finite.

    Spends after the first `max_spends` become one bar. Unspent epsilon is a bar without releases.
    """
    spends = costliest_path_spends(tree, privacy)
    bars, more = list(spends[:max_spends]), spends[max_spends:]
    if more:
        rest = sum(spend.epsilon for spend in more)
        bars.append(PathSpend(f"{len(more)} more spends", "", None, rest, len(more)))
    left = privacy.model_epsilon - sum(bar.epsilon for bar in bars)
    if math.isfinite(left) and left > _ROUNDING * privacy.model_epsilon:
        bars.append(PathSpend("not spent", "", None, left, 0))
    return bars
