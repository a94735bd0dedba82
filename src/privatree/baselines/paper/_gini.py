"""The search for the split with the least Gini impurity in noisy histograms (Algorithm 1).

All inputs are released values, so the search is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class BestSplit:
    feature: int
    left_codes: NDArray[np.int64]


def best_gini_split(
    noisy_histograms: Sequence[NDArray[np.int64]], categorical: Sequence[bool]
) -> BestSplit | None:
    """Return the split with the least impurity; None if no split is admissible.

    Each feature has a histogram (bin or category, class) of non-negative counts. A split lies
    between two neighbouring bins or categories, and each side must have a noisy total of at least
    one. With two classes, categories are first sorted by their share of the second class [Cop99];
    with more classes they stay in the order of the schema. In a tie, the first split is returned.
    """
    n_features, n_classes = len(noisy_histograms), noisy_histograms[0].shape[1]
    width = max(len(histogram) for histogram in noisy_histograms)
    counts = np.zeros((n_features, width, n_classes))
    for feature, histogram in enumerate(noisy_histograms):
        counts[feature, : len(histogram)] = histogram
    sizes = np.array([len(histogram) for histogram in noisy_histograms])
    order = np.broadcast_to(np.arange(width), (n_features, width))
    if n_classes == 2:
        order = _sort_codes_for_gini(counts, sizes, np.asarray(categorical))
        counts = np.take_along_axis(counts, order[:, :, None], axis=1)
    left = np.cumsum(counts, axis=1)
    right = left[:, -1:, :] - left
    impurity = _gini_impurity(left) + _gini_impurity(right)
    admissible = (left.sum(axis=2) >= 1) & (right.sum(axis=2) >= 1)
    admissible &= np.arange(width) < sizes[:, None] - 1
    if not admissible.any():
        return None
    # Each feature has its own noise, hence its own noisy total: compare impurity per record.
    weighted = np.where(admissible, impurity / left[:, -1:, :].sum(axis=2).clip(min=1), np.inf)
    best, place = divmod(int(np.argmin(weighted)), width)
    return BestSplit(best, np.sort(order[best, : place + 1]))


def _sort_codes_for_gini(
    counts: NDArray[np.float64], sizes: NDArray[np.int64], categorical: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return each feature's categories, sorted by share of the second class (0/0 is 1/2)."""
    totals = counts.sum(axis=2)
    share = np.where(totals > 0, counts[:, :, 1] / np.where(totals > 0, totals, 1), 0.5)
    codes = np.arange(counts.shape[1])
    share = np.where(categorical[:, None], share, 0.0)
    share = np.where(codes < sizes[:, None], share, np.inf)  # padding stays at the end
    return np.argsort(share, axis=1, kind="stable")


def _gini_impurity(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return total times Gini impurity: total - sum of squares / total."""
    totals = counts.sum(axis=2)
    squares = (counts**2).sum(axis=2)
    return np.asarray(totals - squares / np.where(totals > 0, totals, 1))
