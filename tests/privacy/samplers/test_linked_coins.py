"""Coins in a row: the law is exact, in floats and where floats decide nothing."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from privatree.privacy import Randomness
from privatree.privacy.samplers import LinkedCoins, precision
from privatree.privacy.samplers._linked_coins import (
    log_probabilities_of_linked_coins,
    toss_linked_coins,
)

# weights of heads and tails of three coins, after tails and after heads
WEIGHTS = [[(1, 2), (3, 1), (1, 9)], [(1, 2), (1, 4), (5, 2)]]


def coins(weights=WEIGHTS, error=1e-12, heads=None):
    shares = np.array([[h / (h + t) for h, t in row] for row in weights])
    asked = []

    def precise(digits):
        asked.append(digits)
        return [[(Decimal(h), Decimal(t)) for h, t in row] for row in weights], Decimal(0)

    return LinkedCoins(shares if heads is None else heads, error, precise), asked


def law(weights=WEIGHTS):
    """The probability of each row of outcomes, from its definition."""
    found = []
    for place in range(8):
        outcomes = [place >> 2 & 1, place >> 1 & 1, place & 1]
        p = 1.0
        for number, outcome in enumerate(outcomes):
            heads, tails = weights[outcomes[number - 1] if number else 0][number]
            p *= (heads if outcome else tails) / (heads + tails)
        found.append(p)
    return np.array(found)


def counted(tossed, n, seed):
    randomness = Randomness(seed)
    rows = [toss_linked_coins(tossed, randomness) for _ in range(n)]
    return np.bincount(np.array(rows) @ [4, 2, 1], minlength=8)


@pytest.mark.parametrize(("error", "n"), [(1e-12, 4000), (0.05, 3000), (1e9, 1500), (np.inf, 1500)])
def test_the_law_is_exact_however_much_is_decided_precisely(error, n):
    tossed, asked = coins(error=error)
    found = counted(tossed, n, seed=1)
    assert stats.chisquare(found, n * law()).pvalue > 1e-6
    if error > 1:
        assert len(asked) == 3 * n


def test_floats_that_are_wrong_within_their_error_do_not_matter():
    right, _ = coins()
    heads = right.exact_heads
    tilted = heads + 0.1 * heads * (1 - heads)
    wrong, _ = coins(error=0.09, heads=tilted)
    assert stats.chisquare(counted(wrong, 3000, seed=2), 3000 * law()).pvalue > 1e-6
    useless, _ = coins(error=1.0, heads=np.full((2, 3), 0.5))
    assert stats.chisquare(counted(useless, 3000, seed=3), 3000 * law()).pvalue > 1e-6


@pytest.mark.parametrize("error", [1e-12, np.inf])
def test_certain_coins(error):
    tossed, _ = coins([[(1, 0), (0, 1), (0, 1)], [(1, 0), (0, 1), (1, 0)]], error)
    randomness = Randomness(4)
    for _ in range(50):
        assert toss_linked_coins(tossed, randomness).tolist() == [True, False, False]
    assert log_probabilities_of_linked_coins(tossed)[0, 0].tolist() == [-np.inf, 0.0]


def test_a_uniform_number_at_the_border_is_refined():
    class Words(Randomness):
        def words(self, count):
            return np.full(count, 2**63, dtype=np.uint64)

    tossed, asked = coins([[(1, 1)], [(1, 1)]])
    found = {bool(toss_linked_coins(tossed, Words(seed))[0]) for seed in range(40)}
    assert asked
    assert found == {False}  # at one half or above it, whatever the further bits are


def test_log_probabilities_are_those_of_the_law_and_of_tiny_shares():
    tossed, _ = coins()
    logs = log_probabilities_of_linked_coins(tossed)
    assert np.exp(logs).sum(axis=2) == pytest.approx(np.ones((2, 3)))
    assert logs[1, 2, 1] == pytest.approx(np.log(5 / 7))
    with localcontext(precision(60)):
        tiny = Decimal(-3000).exp()
    heads = np.array([[1.0], [1.0]])
    extreme = LinkedCoins(heads, 1e-9, lambda digits: ([[(Decimal(1), tiny)]] * 2, Decimal(0)))
    assert log_probabilities_of_linked_coins(extreme)[0, 0] == pytest.approx([-3000, 0.0])
