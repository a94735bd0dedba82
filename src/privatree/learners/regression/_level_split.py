"""The score of one split near the root of a regression tree.

The score of a set S of codes is a sum over the records in S. A record of level k adds k - c, where
c is about the mean level of the node. So the sets with the best scores have the records of high
levels, or those of low levels. One more record changes each score either by 0 or by the same
amount, at most max(c, L - 1 - c) with L levels: this is the range of the score.
"""

from __future__ import annotations

from privatree.learners.tree import SPLIT_UNITS, SplitScore

_MIN_SHARE, _MAX_SHARE = 0.1, 0.9


def level_split_score(noisy_sums: tuple[int, int], n_levels: int) -> SplitScore:
    """Return the score of a split, in `SPLIT_UNITS` of a level.

    `noisy_sums` are the noisy sums of the levels of the records, counted from the lowest and from
    the highest level, at least 0. Class 0 is empty; the levels are the classes from 1 on.

    Examples
    --------
    >>> level_split_score((150, 50), 3).steps
    (0, -191, -63, 65)
    """
    low, high = noisy_sums
    share = min(max((low + 1) / (low + high + 2), _MIN_SHARE), _MAX_SHARE)
    centre = round(share * (n_levels - 1) * SPLIT_UNITS)
    return SplitScore((0, *(level * SPLIT_UNITS - centre for level in range(n_levels))))
