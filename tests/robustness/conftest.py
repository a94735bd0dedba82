"""Programs of two outcomes a stage, at which bounds are sharp, and their worst events."""

import math

import pytest


@pytest.fixture(scope="session")
def two_points():
    """Laws P and Q of two outcomes, with log-ratios above, and above - length."""

    def laws(length, above):
        first = (1 - math.exp(above - length)) / (1 - math.exp(-length))
        second = 1 - first
        return [(first, first * math.exp(-above)), (second, second * math.exp(length - above))]

    return laws


@pytest.fixture(scope="session")
def worst_event():
    """The least Q of a (randomised) event of some P, from the two laws' outcomes."""

    def least(pairs, probability):
        left, found = probability, 0.0
        for p, q in sorted(pairs, key=lambda pair: pair[1] / pair[0] if pair[0] else math.inf):
            share = min(1.0, max(0.0, left) / p) if p > 0 else 0.0
            found, left = found + share * q, left - share * p
        return found

    return least
