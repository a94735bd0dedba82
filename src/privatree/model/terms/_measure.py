"""The public measure of a feature: how likely each of its values is taken to be.

Nobody may count how many records have a value, so what is average must come from public knowledge.
All values of the declared range, or all categories, are equally likely; where the learner released
an interval that has most of the records, values in the interval are likelier. The measure of
several features is the product of theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privatree.schema import Categorical, Numeric

INTERVAL_SHARE = 0.8
"""Measure of a released interval. The learner looks for one with at least 60% of the records."""
MISSING_SHARE = 0.05
"""Measure of missing values that are separate."""


def category_measure(feature: Categorical) -> NDArray[np.float64]:
    """Return the measure of each category code."""
    n = len(feature.categories)
    measure = np.full(feature.n_codes, 1.0 / n)
    if feature.separates_missing:
        measure[:n] *= 1 - MISSING_SHARE
        measure[n:] = MISSING_SHARE
    return measure


def number_measure(
    feature: Numeric, cuts: NDArray[np.float64], interval: tuple[float, float] | None
) -> NDArray[np.float64]:
    """Return the measure of the cells between increasing cuts.

    A first cut of minus infinity has missing values below it, and nothing else.

    Examples
    --------
    >>> number_measure(Numeric(0, 10), np.array([2.5, 5.0]), None).tolist()
    [0.25, 0.25, 0.5]
    >>> number_measure(Numeric(0, 10), np.array([5.0]), (0.0, 5.0)).round(3).tolist()
    [0.9, 0.1]
    """
    has_missing = len(cuts) > 0 and cuts[0] == -np.inf
    inner = cuts[1:] if has_missing else cuts
    measure = _uniform(feature, inner, float(feature.low), float(feature.high))
    if interval is not None:
        inside = _uniform(feature, inner, *interval)
        measure = INTERVAL_SHARE * inside + (1 - INTERVAL_SHARE) * measure
    if feature.separates_missing:
        measure = (1 - MISSING_SHARE) * measure
        if has_missing:
            return np.concatenate([[MISSING_SHARE], measure])
        measure[0] += MISSING_SHARE  # missing values are with the smallest numbers
    return measure


def _uniform(
    feature: Numeric, cuts: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64]:
    """Return the share of the numbers from `low` to `high` that lies in each cell."""
    if feature.integer:
        # Whole numbers up to each end, so that the number of them in a cell is a difference.
        low, high, cuts = np.ceil(low) - 1.0, np.floor(high), np.floor(cuts)
    if not low < high:  # one value alone
        return np.bincount([np.searchsorted(cuts, high)], minlength=len(cuts) + 1).astype(float)
    ends = np.clip(np.concatenate([[low], cuts, [high]]), low, high)
    return np.asarray(np.diff(ends) / (high - low), dtype=np.float64)
