"""The accountant against adversaries: none may do better than it says, and the best comes near."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from privatree.errors import ParameterError
from privatree.privacy import RangeGroup, certified_delta
from privatree.privacy.composition import _bounded_range
from privatree.privacy.composition._range_kernel import delta_before_draw

E6 = Fraction(1, 10**6)


def delta_of(epsilon: float, *ranges: float | Fraction) -> float:
    """The certified delta of single draws."""
    return certified_delta(Fraction(epsilon), [RangeGroup(Fraction(e), 1) for e in ranges])


# --- adversaries that choose each draw by what came before ----------------------------------------


@dataclass(frozen=True)
class Strategy:
    """A draw with the losses ``top`` and ``top - range``, and what follows after either."""

    top: float
    after_top: Strategy | None
    after_bottom: Strategy | None


def best_strategy(epsilon: float, ranges: list[float], n: int) -> tuple[float, Strategy | None]:
    """The best of all strategies with n tops a draw, and its delta at epsilon, in floats."""
    if not ranges:
        return max(0.0, -math.expm1(epsilon)), None
    if len(ranges) == 1:  # all tops at once
        tops = np.linspace(0, ranges[0], n)
        values = -np.expm1(-(ranges[0] - tops)) * np.maximum(0, -np.expm1(epsilon - tops))
        if epsilon < 0:
            below = np.maximum(0, -np.expm1(epsilon - tops + ranges[0]))
            values += -np.expm1(-tops) * np.exp(tops - ranges[0]) * below
        best = int(np.argmax(values))
        return values[best] / -math.expm1(-ranges[0]), Strategy(float(tops[best]), None, None)
    found: list[tuple[float, Strategy | None]] = []
    for top in np.linspace(0, ranges[0], n):
        chance = math.expm1(top - ranges[0]) / math.expm1(-ranges[0])
        above, after_top = best_strategy(epsilon - top, ranges[1:], n)
        below, after_bottom = best_strategy(epsilon - top + ranges[0], ranges[1:], n)
        value = chance * above + (1 - chance) * below
        found.append((value, Strategy(float(top), after_top, after_bottom)))
    return max(found, key=lambda one: one[0])


def exact_delta(epsilon: float, ranges: list[float], strategy: Strategy | None) -> Decimal:
    """Sum of max(0, P - e^epsilon Q) over all outcomes of a strategy, in 50 digits."""
    with localcontext(prec=50):
        delta = Decimal(0)
        for outcome in product((True, False), repeat=len(ranges)):
            one, here, other = strategy, Decimal(1), Decimal(1)
            for width, is_top in zip(ranges, outcome, strict=True):
                assert one is not None
                assert 0 <= one.top <= width
                up, down = Decimal(one.top), Decimal(one.top) - Decimal(width)
                chance = (1 - down.exp()) / (up.exp() - down.exp())  # of the top under Q
                assert 0 <= chance <= 1
                mine = chance if is_top else 1 - chance
                other *= mine
                here *= mine * (up if is_top else down).exp()
                one = one.after_top if is_top else one.after_bottom
            delta += max(Decimal(0), here - Decimal(epsilon).exp() * other)
        return delta


SMALL = [
    (1.0, [1.2], 400),
    (0.02, [0.05], 400),
    (3.0, [8.0], 400),
    (0.5, [0.4, 0.4], 150),
    (0.25, [0.4, 0.4], 150),
    (0.9, [0.5, 0.5], 400),
    (0.06, [0.02, 0.05], 150),
    (0.06, [0.05, 0.02], 150),
    (4.0, [3.0, 4.0], 150),
    (0.3, [0.2, 0.2, 0.2], 41),
    (0.01, [0.006, 0.002, 0.007], 41),
    (2.0, [1.0, 1.5, 0.5], 41),
    (9.0, [4.0, 4.0, 4.0], 41),
]


@pytest.mark.parametrize(("epsilon", "ranges", "n"), SMALL)
def test_no_strategy_is_better_and_the_best_is_near(
    epsilon: float, ranges: list[float], n: int
) -> None:
    value, strategy = best_strategy(epsilon, ranges, n)
    exact = exact_delta(epsilon, ranges, strategy)
    assert float(exact) == pytest.approx(value, rel=1e-9)
    certified = delta_of(epsilon, *ranges)
    assert exact <= Decimal(certified) <= exact * Decimal("1.1")


def test_losses_outside_the_range_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        exact_delta(1.0, [1.0], Strategy(1.5, None, None))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.floats(1e-3, 6), min_size=1, max_size=4),
    st.floats(0.05, 0.99),
    st.integers(0, 10**6),
)
def test_no_strategy_at_random_is_better(ranges: list[float], share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)

    def strategy(depth: int) -> Strategy | None:
        if depth == len(ranges):
            return None
        top = float(rng.beta(2, 2) * ranges[depth])
        return Strategy(top, strategy(depth + 1), strategy(depth + 1))

    epsilon = share * sum(ranges)
    assert exact_delta(epsilon, ranges, strategy(0)) <= Decimal(delta_of(epsilon, *ranges))


def grid_adversary(epsilon: float, width: float, n_draws: int, n_cells: int) -> float:
    """The best strategy with tops on a grid, for draws of one range: too small, if anything."""
    step, reach = width / n_cells, n_draws * n_cells
    later = np.maximum(0.0, -np.expm1(epsilon + step * np.arange(-reach, reach + 1)))
    below = np.arange(n_cells + 1)
    lower = np.expm1(-(n_cells - below) * step) / np.expm1(-width)
    for _ in range(n_draws):
        size = len(later) - 2 * n_cells
        later = np.max(
            [
                weight * later[n_cells - m : n_cells - m + size]
                + (1 - weight) * later[2 * n_cells - m : 2 * n_cells - m + size]
                for m, weight in zip(below, lower, strict=True)
            ],
            axis=0,
        )
    return float(later[len(later) // 2])


@pytest.mark.parametrize(
    ("epsilon", "width", "n_draws"),
    [(1.0, 0.2, 10), (0.1, 0.02, 10), (1.0, 0.11, 20), (4.0, 0.38, 20), (20.0, 3.0, 8)],
)
def test_adversaries_with_many_draws_come_within_two_percent(
    epsilon: float, width: float, n_draws: int
) -> None:
    adversary = grid_adversary(epsilon, width, n_draws, 60)
    certified = certified_delta(Fraction(epsilon), [RangeGroup(Fraction(width), n_draws)])
    assert adversary <= certified <= 1.02 * adversary


# --- adversaries that always choose the same draw -------------------------------------------------


def fixed_top_delta(epsilon: float, width: float, n_draws: int) -> float:
    """The closed form, for the worst of 41 tops: the number of tops is binomial."""
    n_tops = np.arange(n_draws + 1)
    found = 0.0
    for top in np.linspace(0, width, 41):
        losses = n_tops * top + (n_draws - n_tops) * (top - width)
        chance = math.expm1(top - width) / math.expm1(-width)
        means = binom.pmf(n_tops, n_draws, chance) * -np.expm1(np.minimum(0, epsilon - losses))
        found = max(found, float(means.sum()))
    return found


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n_draws", [1, 2, 5, 20, 60, 100, 200])
def test_the_worst_fixed_draw_is_covered_and_near(epsilon: float, n_draws: int) -> None:
    width = max(epsilon / n_draws * 1.05, 2 * 0.22 * epsilon / math.sqrt(n_draws))
    certified = certified_delta(Fraction(epsilon), [RangeGroup(Fraction(width), n_draws)])
    assert fixed_top_delta(epsilon, width, n_draws) <= certified
    assert certified <= fixed_top_delta(epsilon, 1.15 * width, n_draws)


# --- what must hold for all numbers ---------------------------------------------------------------

ranges_of_draws = st.fractions(Fraction(1, 100), Fraction(3), max_denominator=1000)
group_lists = st.lists(
    st.builds(RangeGroup, ranges_of_draws, st.integers(1, 12)), min_size=1, max_size=3
)
NEARLY = 1.01  # the grid is chosen anew for each question


def whole(groups: list[RangeGroup]) -> Fraction:
    return sum((group.epsilon * group.times for group in groups), Fraction(0))


@settings(max_examples=20, deadline=None)
@given(group_lists, st.floats(0.05, 0.95), st.floats(1.01, 2))
def test_delta_falls_with_epsilon(groups: list[RangeGroup], share: float, factor: float) -> None:
    epsilon = whole(groups) * Fraction(share)
    larger = epsilon * Fraction(factor)
    assert 0 <= certified_delta(larger, groups) <= NEARLY * certified_delta(epsilon, groups) <= 1.01


@settings(max_examples=20, deadline=None)
@given(group_lists, st.floats(0.05, 0.9), st.floats(1.001, 2), st.data())
def test_delta_grows_with_ranges_and_draws(
    groups: list[RangeGroup], share: float, factor: float, data: st.DataObject
) -> None:
    epsilon = whole(groups) * Fraction(share)
    before = certified_delta(epsilon, groups)
    place = data.draw(st.integers(0, len(groups) - 1))
    one = groups[place]
    for more in (
        RangeGroup(one.epsilon * Fraction(factor), one.times),
        RangeGroup(one.epsilon, one.times + 1),
    ):
        changed = [*groups[:place], more, *groups[place + 1 :]]
        assert before <= NEARLY * certified_delta(epsilon, changed)


@settings(max_examples=15, deadline=None)
@given(group_lists, st.floats(0.1, 0.9))
def test_more_than_the_ranges_and_epsilon_times_two_is_no_less(
    groups: list[RangeGroup], share: float
) -> None:
    """The lemma for replaced records."""
    epsilon = whole(groups) * Fraction(share)
    doubled = [RangeGroup(2 * group.epsilon, group.times) for group in groups]
    assert certified_delta(epsilon, groups) <= NEARLY * certified_delta(2 * epsilon, doubled)


@settings(max_examples=15, deadline=None)
@given(group_lists)
def test_basic_composition_needs_no_delta(groups: list[RangeGroup]) -> None:
    assert certified_delta(whole(groups), groups) == 0.0
    assert certified_delta(2 * whole(groups), groups) == 0.0


# --- groups ---------------------------------------------------------------------------------------


def test_a_group_is_its_draws_one_by_one() -> None:
    together = certified_delta(Fraction(1), [RangeGroup(Fraction(1, 5), 6)])
    assert delta_of(1, *[Fraction(1, 5)] * 6) == together
    empty = RangeGroup(Fraction(7), 0)
    assert certified_delta(Fraction(1), [empty, RangeGroup(Fraction(1, 5), 6), empty]) == together


@pytest.mark.parametrize("ratio", [Fraction(1, 4), Fraction(7, 60), Fraction(10, 97)])
def test_small_draws_first_cost_what_their_squares_are(ratio: Fraction) -> None:
    """Also if they are not on the grid: Gaussian noise of the same mu is near."""
    wide, times = Fraction(61, 1000), round(3 / ratio**2)
    groups = [RangeGroup(ratio * wide, times), RangeGroup(wide, 60)]
    alike = [RangeGroup(wide, 63)]
    both = certified_delta(Fraction(1), groups), certified_delta(Fraction(1), alike)
    assert both[0] == pytest.approx(both[1], rel=0.05)


def test_ranges_are_rounded_up_to_the_grid() -> None:
    groups = [RangeGroup(Fraction(1), 3), RangeGroup(Fraction(10, 413), 9), RangeGroup(E6, 2)]
    step, cells = _bounded_range._grid_of_ranges(Fraction(1), groups)
    ranges = [group.epsilon for group in groups for _ in range(group.times)]
    assert len(cells) == 14
    for exact, n_cells in zip(ranges, cells, strict=True):
        assert (n_cells - 1) * Fraction(step) < exact <= n_cells * Fraction(step)


# --- the grid and its ends ------------------------------------------------------------------------


def whole_grid(epsilon: float, step: float, draws: list[int]) -> list[tuple[int, int]]:
    reach = np.cumsum(draws).tolist()
    return [(0, 0), *((-far - max(draws), far + max(draws)) for far in reach)]


@pytest.mark.parametrize(
    ("epsilon", "groups"),
    [
        (1.0, [(0.061, 60)]),
        (0.1, [(0.0123, 20)]),
        (4.0, [(0.378, 20)]),
        (1.0, [(0.03, 24), (0.1, 20)]),
        (20.0, [(3.0, 8)]),
        (0.01, [(0.1, 12)]),
        (1.0, [(0.045, 30)]),
        (6.7, [(0.1, 100)]),
        (2.0, [(0.033, 150)]),
    ],
)
def test_little_is_lost_at_the_ends_of_the_grid(
    epsilon: float, groups: list[tuple[float, int]]
) -> None:
    given = [RangeGroup(Fraction(width), times) for width, times in groups]
    step, draws = _bounded_range._grid_of_ranges(Fraction(epsilon), given)
    found = [
        _bounded_range._grid_delta(Fraction(epsilon), step, draws, windows)
        for windows in (
            _bounded_range._grid_windows(epsilon, step, draws),
            whole_grid(epsilon, step, draws),
        )
    ]
    assert found[1] * (1 - 1e-9) <= found[0] <= found[1] * (1 + 1e-4)


def test_narrow_windows_make_the_bound_larger_and_never_smaller() -> None:
    draws = [20] * 10
    step, epsilon = 0.005, Fraction(1, 2)
    full = _bounded_range._grid_delta(epsilon, step, draws, whole_grid(0.5, step, draws))
    for width in (0, 10, 40, 80):
        narrow = [(0, 0), *[(-width, width)] * 10]
        assert _bounded_range._grid_delta(epsilon, step, draws, narrow) >= full * (1 - 1e-9)


def chord_maximum(function: Any, point: float, width: float, n: int = 2000) -> float:
    """The largest height at a point of chords from a to e^width a, in plain floats."""
    starts = point * np.exp(-np.linspace(0, width, n))
    ends = starts * math.exp(width)
    heights = (ends - point) * function(starts) + (point - starts) * function(ends)
    return float(np.max(heights / (ends - starts)))


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 12),
    st.floats(1e-3, 0.3),
    st.lists(st.floats(0.01, 1), min_size=41, max_size=41),
)
def test_one_step_covers_all_chords_between_grid_points(
    n_cells: int, step: float, values: list[float]
) -> None:
    """For any numbers at the grid points, not only those of convex functions."""
    later: NDArray[np.float64] = np.sort(values)[::-1]
    points = np.exp(step * np.arange(len(later)))
    found = delta_before_draw(later, n_cells, step)
    assert len(found) == 41 - 2 * n_cells
    for place in (0, len(found) // 2, len(found) - 1):
        point = points[place + n_cells]
        exact = chord_maximum(lambda z: np.interp(z, points, later), point, n_cells * step)
        assert found[place] >= exact * (1 - 1e-9)


# --- tiny, huge, wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [8, 12, 20, 40, 100, 200])
def test_tiny_deltas(exponent: int) -> None:
    n_draws, width = 400, 0.1
    low, high = 1.0, n_draws * width
    while high - low > 1e-6:
        middle = (low + high) / 2
        if fixed_top_delta(middle, width, n_draws) > 10.0**-exponent:
            low = middle
        else:
            high = middle
    certified = certified_delta(Fraction(high), [RangeGroup(Fraction(width), n_draws)])
    assert fixed_top_delta(high, width, n_draws) <= certified
    assert certified <= 100 * 10.0**-exponent


@pytest.mark.parametrize(
    ("epsilon", "width", "n_draws"),
    [(100, 30, 10), (5_000, 1_000, 10), (1e9, 1e8, 20), (1e-9, 1e-9, 30), (1e-25, 1e-25, 30)],
)
def test_huge_and_tiny_epsilons_give_numbers(epsilon: float, width: float, n_draws: int) -> None:
    certified = certified_delta(Fraction(epsilon), [RangeGroup(Fraction(width), n_draws)])
    assert fixed_top_delta(epsilon, width, n_draws) <= certified <= 1


def test_a_draw_of_endless_range_can_give_everything_away() -> None:
    assert certified_delta(Fraction(1), [RangeGroup(Fraction(10**6), 1)]) == 1.0


@pytest.mark.parametrize(
    ("epsilon", "groups", "parameter"),
    [
        (Fraction(0), [RangeGroup(Fraction(1), 1)], "epsilon"),
        (Fraction(-1), [RangeGroup(Fraction(1), 1)], "epsilon"),
        (Fraction(1), [], "groups"),
        (Fraction(1), [RangeGroup(Fraction(1), 0)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(1), -1)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(1), 10_001)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(0), 1)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(1, 10**31), 1)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(10**13), 1)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(1), 1.5)], "groups"),
        (Fraction(1), [RangeGroup(Fraction(1), True)], "groups"),
    ],
)
def test_wrong_numbers_are_refused(epsilon: Fraction, groups: Any, parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        certified_delta(epsilon, groups)
    assert caught.value.parameter == parameter
