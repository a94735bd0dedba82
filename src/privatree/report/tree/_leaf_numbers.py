"""How leaves with a number look: their colour, and the noisy distribution of their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree.export import (
    outcome_text,
    share_text,
    spread_text,
    target_intervals,
    value_places,
    value_text,
)
from privatree.model import Tree

MAX_INTERVALS = 40
"""The page draws no distribution over more intervals."""
_SHARE_DIGITS = 6


@dataclass(frozen=True)
class NumberScale:
    """The smallest and the largest number of all leaves, and the intervals of distributions.

    `intervals` is empty if the learner released no shares, or more than the page draws.
    """

    lowest: str
    highest: str
    intervals: tuple[str, ...]


def number_scale(tree: Tree) -> NumberScale | None:
    """Return the scale of a tree; None if it predicts a class."""
    target = tree.schema.target
    if tree.value is None or target is None:
        return None
    values = tree.value[tree.leaves]
    lowest, highest = (value_text(target, float(end)) for end in (values.min(), values.max()))
    found = target_intervals(tree)
    texts = () if found is None or len(found.texts) > MAX_INTERVALS else found.texts
    return NumberScale(lowest, highest, texts)


def leaf_shares(tree: Tree, leaf: int) -> tuple[float, ...]:
    """Return the share of a leaf's records in each interval that is drawn.

    It is empty if nothing is drawn. Of a leaf with few or no records, the shares are nothing but
    noise.
    """
    found = target_intervals(tree)
    if found is None or tree.shares is None or not tree.has_support(leaf):
        return ()
    if len(found.texts) > MAX_INTERVALS:
        return ()
    return tuple(np.round(found.shares_of(tree.shares[leaf]), _SHARE_DIGITS).tolist())


def leaf_columns(tree: Tree, leaf: int) -> tuple[str, ...]:
    """Return the height of the column of each interval, in per cent of the highest."""
    shares = leaf_shares(tree, leaf)
    return tuple(f"{100 * share / max(shares):.0f}" for share in shares)


def numbers_for_script(tree: Tree) -> dict[str, Any] | None:
    """Return what the script of the page shows of the leaves; None if they have classes."""
    scale, found = number_scale(tree), target_intervals(tree)
    if scale is None or tree.value is None:
        return None
    places = value_places(tree)
    return {
        "ends": found.ends.tolist() if found is not None and scale.intervals else [],
        "intervals": scale.intervals,
        "leaves": {
            leaf: {
                "value": float(tree.value[leaf]),
                "text": outcome_text(tree, leaf),
                "place": round(100 * places[leaf]),
                "shares": leaf_shares(tree, leaf),
                "spread": spread_text(tree, leaf),
                "noise": _noise_text(tree, leaf),
            }
            for leaf in tree.leaves.tolist()
        },
    }


def _noise_text(tree: Tree, leaf: int) -> str:
    """Return the bound on the noise in all records of a leaf, as a share of them."""
    if tree.support is None or tree.support_error is None or not tree.has_support(leaf):
        return ""
    return share_text(float(tree.support_error[leaf] / tree.support[leaf]))
