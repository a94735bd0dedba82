"""Where epsilon went: the spends along the path whose records paid most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from privatree.model import Tree
from privatree.privacy import PrivacyStatement, Spend

_MANY = 10**9
"""Releases of one spend; from there on they are counted as so many."""


@dataclass(frozen=True)
class PathSpend:
    """What the records of a path paid for one thing.

    Parameters
    ----------
    purpose, mechanism : str
        What for, and by which mechanism.
    depth : int or None
        At how many splits below the root; None if it was for the whole tree.
    epsilon : float
        All of it, for the neighbours of the statement: a record that is replaced pays twice.
    releases : int
        How many, at the same cost each.
    """

    purpose: str
    mechanism: str
    depth: int | None
    epsilon: float
    releases: int


def dearest_path(tree: Tree, privacy: PrivacyStatement) -> tuple[PathSpend, ...]:
    """The spends along the path from the root that add up to most, in order.

    Parameters
    ----------
    tree : Tree
        Whose nodes the spends name.
    privacy : PrivacyStatement
        With the spends; equal ones at one node are put together.
    """
    times = 2 if privacy.neighbours == "replace" else 1

    def cost(spend: Spend) -> float:
        return times * min(spend.times, _MANY) * float(spend.epsilon)

    spent = np.zeros(tree.n_nodes)
    for spend in privacy.spends:
        spent[spend.node or 0] += cost(spend)
    (path,) = tree.paths([int(np.argmax(tree.path_sums(spent)))])
    depth = {node: place for place, node in enumerate(path)}

    def order(spend: Spend) -> int:
        return -1 if spend.node is None else depth[spend.node]

    on_path = [spend for spend in privacy.spends if spend.node is None or spend.node in depth]
    found = []
    for (purpose, mechanism, node, _), group in groupby(sorted(on_path, key=order), _kind):
        alike = list(group)
        epsilon, releases = sum(map(cost, alike)), sum(spend.times for spend in alike)
        level = None if node is None else depth[node]
        found.append(PathSpend(purpose, mechanism, level, epsilon, releases))
    return tuple(found)


def _kind(spend: Spend) -> tuple[str, str, int | None, float]:
    return spend.purpose, spend.mechanism, spend.node, float(spend.epsilon)
