"""The statistics that the privacy tests share, as fixtures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import chi2

MIN_EXPECTED = 20.0
FALSE_ALARM = 1e-7


def _chi_square_ratio(observed: ArrayLike, probabilities: ArrayLike, draws: int) -> float:
    counts = np.append(observed, draws - np.sum(observed)).astype(float)
    expected = draws * np.append(probabilities, max(0.0, 1.0 - float(np.sum(probabilities))))
    cells: list[list[float]] = [[0.0, 0.0]]
    for count, mean in zip(counts, expected, strict=True):
        if cells[-1][1] >= MIN_EXPECTED:
            cells.append([0.0, 0.0])
        cells[-1][0] += count
        cells[-1][1] += mean
    if len(cells) > 1 and cells[-1][1] < MIN_EXPECTED:
        count, mean = cells.pop()
        cells[-1][0] += count
        cells[-1][1] += mean
    assert len(cells) > 1, "one cell cannot fail: draw more"
    merged = np.array(cells)
    statistic = np.sum((merged[:, 0] - merged[:, 1]) ** 2 / merged[:, 1])
    return float(statistic / chi2.isf(FALSE_ALARM, len(merged) - 1))


@pytest.fixture
def chi_square() -> Callable[[ArrayLike, ArrayLike, int], float]:
    """Counts, probabilities and the number of draws to the chi-square statistic over its limit.

    Whatever fell outside the given cells is one more cell; cells are merged with the next until
    20 draws are expected in each. A correct sampler gives more than 1 with probability 10^-7.
    """
    return _chi_square_ratio


@pytest.fixture
def integer_law(chi_square: Callable[[ArrayLike, ArrayLike, int], float]) -> Callable[..., float]:
    """Draws of integers and the first few integers' probabilities from ``first`` on, likewise."""

    def ratio(draws: ArrayLike, probabilities: ArrayLike, first: int = 0) -> float:
        places = np.ravel(draws) - first
        size = len(np.asarray(probabilities))
        inside = places[(places >= 0) & (places < size)]
        counts = np.bincount(inside.astype(np.int64), minlength=size)
        return chi_square(counts, probabilities, len(places))

    return ratio
