from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privatree.errors import BudgetExceededError, ParameterError
from privatree.privacy import Ledger, Randomness, Spend
from privatree.privacy._ledger import Cost
from privatree.privacy.mechanisms import (
    Gaussian,
    Geometric,
    SequentialExponential,
    TruncatedGeometric,
)


class Untouchable(Randomness):
    """A source that must not be used."""

    def words(self, count: int) -> NoReturn:
        raise AssertionError("words were drawn")

    def bits(self, count: int) -> NoReturn:
        raise AssertionError("bits were drawn")

    def spawn(self, count: int) -> NoReturn:
        raise AssertionError("sources were spawned")


@dataclass(frozen=True)
class Silent:
    """A mechanism that needs no randomness."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    name: str = "silent"

    def release(self, exact: Any, randomness: Randomness) -> Any:
        return exact


@dataclass(frozen=True)
class Recording(Silent):
    """Says when it was run, and in which thread."""

    runs: list[int] = field(default_factory=list)

    def release(self, exact: Any, randomness: Randomness) -> NDArray[np.uint64]:
        self.runs.append(threading.get_ident())
        return randomness.words(2)


def spend(ledger: Ledger, epsilon: Fraction | int, delta: Fraction | int = 0, **also: Any) -> None:
    mechanism = Silent(Fraction(epsilon), Fraction(delta))
    ledger.release(mechanism, None, **{"purpose": "counts", **also})


def state(ledger: Ledger) -> tuple[Any, ...]:
    return ledger.total, ledger.remaining, list(ledger.spends())


# --- composition --------------------------------------------------------------------------------


def test_a_new_ledger_has_spent_nothing() -> None:
    ledger = Ledger(Fraction(1, 3), Randomness(1))
    assert ledger.total == Cost()
    assert ledger.remaining == Fraction(1, 3)
    assert list(ledger.spends()) == []


def test_spends_on_the_same_records_add_up_exactly() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    for _ in range(9):
        spend(ledger, Fraction(1, 10))
    assert ledger.total.epsilon == Fraction(9, 10)
    assert ledger.remaining == Fraction(1, 10)
    spend(ledger, Fraction(1, 10))  # ten times .1 would be .9999... or more in floating point
    assert ledger.remaining == 0
    with pytest.raises(BudgetExceededError):
        spend(ledger, Fraction(1, 10**30))


def test_of_disjoint_parts_the_dearest_counts() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    first, second, third = ledger.parallel(3)
    spend(first, Fraction(1, 4))
    spend(second, Fraction(1, 2))
    assert ledger.total.epsilon == Fraction(1, 2)
    assert ledger.remaining == Fraction(1, 2)
    assert [part.remaining for part in (first, second, third)] == [
        Fraction(3, 4),
        Fraction(1, 2),
        Fraction(1),
    ]
    spend(third, 1)
    assert ledger.remaining == 0
    assert first.remaining == Fraction(3, 4)


def test_what_is_spent_above_counts_for_every_part_also_later() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    spend(ledger, Fraction(1, 4))
    first, second = ledger.parallel(2)
    assert first.remaining == second.remaining == Fraction(3, 4)
    spend(first, Fraction(1, 4))
    spend(ledger, Fraction(1, 4))
    assert first.remaining == Fraction(1, 4)
    assert second.remaining == Fraction(1, 2)
    assert ledger.total.epsilon == Fraction(3, 4)
    assert first.total.epsilon == Fraction(1, 4)


def test_groups_of_parts_add_up() -> None:
    """Two partitions of the same records: a record is in one part of each."""
    ledger = Ledger(Fraction(1), Randomness(1))
    by_age, by_place = ledger.parallel(2), ledger.parallel(3)
    spend(by_age[0], Fraction(1, 2))
    spend(by_place[2], Fraction(1, 4))
    assert ledger.total.epsilon == Fraction(3, 4)
    assert by_age[1].remaining == Fraction(3, 4)
    assert by_age[0].remaining == Fraction(1, 4)
    assert by_place[0].remaining == Fraction(1, 2)
    with pytest.raises(BudgetExceededError):
        spend(by_place[0], Fraction(51, 100))


def test_nested_parts() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    spend(ledger, Fraction(1, 8))
    left, right = ledger.parallel(2)
    spend(left, Fraction(1, 8))
    deep, other = left.parallel(2)
    spend(deep, Fraction(1, 2))
    spend(right, Fraction(1, 16))
    assert deep.remaining == Fraction(1, 4)
    assert other.remaining == Fraction(3, 4)
    assert left.remaining == Fraction(1, 4)
    assert right.remaining == Fraction(13, 16)
    assert ledger.remaining == Fraction(1, 4)
    with pytest.raises(BudgetExceededError):
        spend(ledger, Fraction(1, 3))


def test_no_parts() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    assert ledger.parallel(0) == ()
    assert ledger.total == Cost()
    spend(ledger, 1)
    assert ledger.remaining == 0


def test_times_multiplies_the_charge() -> None:
    ledger = Ledger(Fraction(1), Randomness(1), delta=Fraction(1, 100))
    spend(ledger, Fraction(1, 10), Fraction(1, 1000), times=7)
    assert ledger.total == Cost(Fraction(7, 10), Fraction(7, 1000))
    with pytest.raises(BudgetExceededError):
        spend(ledger, Fraction(1, 10), times=4)
    with pytest.raises(BudgetExceededError):
        spend(ledger, Fraction(1, 1000), Fraction(1, 1000), times=4)
    spend(ledger, Fraction(1, 10), Fraction(1, 1000), times=3)


@pytest.mark.parametrize("times", [0, -1])
def test_a_draw_cannot_be_free_or_a_refund(times: int) -> None:
    ledger = Ledger(Fraction(1), Untouchable(1))
    with pytest.raises(ParameterError, match="times must be >= 1"):
        ledger.release(Geometric(Fraction(1)), np.array([1]), purpose="counts", times=times)
    assert ledger.remaining == 1


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(float("nan"), 0), (Fraction(-100), 0), (Fraction(0), 0), (Fraction(1), -1), (Fraction(1), 1)],
)
def test_a_mechanism_cannot_name_any_price(epsilon: Any, delta: int) -> None:
    ledger = Ledger(Fraction(1), Untouchable(1))
    with pytest.raises(ParameterError, match=r"epsilon|delta"):
        ledger.release(Silent(epsilon, Fraction(delta)), None, purpose="counts")
    assert ledger.remaining == 1
    assert not list(ledger.spends())


def test_delta_is_kept_apart() -> None:
    ledger = Ledger(Fraction(10), Randomness(1), delta=Fraction(1, 10**5))
    mechanism = Gaussian(Fraction(1), Fraction(1, 10**5))
    ledger.release(mechanism, np.zeros(2), purpose="sums")
    assert ledger.total == Cost(Fraction(1), Fraction(1, 10**5))
    before = state(ledger)
    with pytest.raises(BudgetExceededError, match="delta"):
        ledger.release(mechanism, np.zeros(2), purpose="sums")
    assert state(ledger) == before
    spend(ledger, 1)
    without = Ledger(Fraction(10), Untouchable(1))
    with pytest.raises(BudgetExceededError):
        without.release(mechanism, np.zeros(2), purpose="sums")


def test_delta_composes_like_epsilon() -> None:
    ledger = Ledger(Fraction(10), Randomness(1), delta=Fraction(1, 10))
    first, second = ledger.parallel(2)
    spend(first, 1, Fraction(1, 20))
    spend(second, 2, Fraction(1, 50))
    spend(ledger, 1, Fraction(1, 20))
    assert ledger.total == Cost(Fraction(3), Fraction(1, 10))
    with pytest.raises(BudgetExceededError):
        spend(first, 1, Fraction(1, 1000))
    spend(second, 1, Fraction(3, 100))


# --- charging before drawing --------------------------------------------------------------------


def test_an_overspend_is_refused_before_anything_is_drawn() -> None:
    ledger = Ledger(Fraction(1), Untouchable(1))
    for part in (ledger, ledger.parallel(2)[0], ledger.parallel(1)[0].parallel(1)[0]):
        before = state(ledger)
        with pytest.raises(BudgetExceededError, match=r"split.*epsilon=2.*Nothing was drawn"):
            part.release(Geometric(Fraction(2)), np.array([7]), purpose="split")
        with pytest.raises(BudgetExceededError, match="Nothing was drawn"):
            part.release_all([Geometric(Fraction(3, 4))] * 2, [np.array([7])] * 2, purpose="hists")
        assert state(ledger) == before


def test_a_draw_in_several_choices_is_charged_when_it_is_opened() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    draw = ledger.open_draw(SequentialExponential(Fraction(3, 4)), purpose="split", node=5)
    assert list(ledger.spends()) == [Spend("exponential", Fraction(3, 4), "split", 5)]
    draw.draw_by_score(np.array([1, 2]))
    assert ledger.remaining == Fraction(1, 4)
    with pytest.raises(BudgetExceededError, match="the draw is closed"):
        draw.draw_by_score(np.array([1, 2]))
    before = state(ledger)
    with pytest.raises(BudgetExceededError, match=r"split.*Nothing was drawn"):
        ledger.open_draw(SequentialExponential(Fraction(3, 4)), purpose="split")
    assert state(ledger) == before


def test_the_untouchable_source_notices_a_draw() -> None:
    ledger = Ledger(Fraction(1), Untouchable(1))
    with pytest.raises(AssertionError, match="were drawn"):
        ledger.release(Geometric(Fraction(1)), np.array([7]), purpose="split")
    assert ledger.remaining == 0, "charged before the draw"


def test_the_error_does_not_print_exact_values() -> None:
    ledger = Ledger(Fraction(1), Untouchable(1))
    with pytest.raises(BudgetExceededError) as caught:
        ledger.release(Geometric(Fraction(2)), np.array([987654321]), purpose="split")
    assert "987654321" not in str(caught.value)


def test_release_all_charges_for_all_of_them_and_runs_each() -> None:
    ledger = Ledger(Fraction(1), Randomness(3))
    mechanisms = [Recording(Fraction(1, 4)) for _ in range(3)]
    results = ledger.release_all(mechanisms, [1, 2, 3], purpose="hists", threads=2)
    assert [len(mechanism.runs) for mechanism in mechanisms] == [1, 1, 1]
    assert ledger.total.epsilon == Fraction(3, 4)
    assert len({tuple(result.tolist()) for result in results}) == 3, "each has its own noise"
    assert [entry.purpose for entry in ledger.spends()] == ["hists"] * 3
    before = state(ledger)
    with pytest.raises(BudgetExceededError):
        ledger.release_all(mechanisms, [1, 2, 3], purpose="hists")
    assert state(ledger) == before
    assert [len(mechanism.runs) for mechanism in mechanisms] == [1, 1, 1]


def test_release_all_does_not_depend_on_the_threads() -> None:
    mechanisms = [Geometric(Fraction(1, 10)), TruncatedGeometric(Fraction(1, 5))] * 4
    exact = [np.arange(50) + shift for shift in range(8)]
    results = []
    for threads in (1, 2, 7):
        ledger = Ledger(Fraction(10), Randomness(4))
        released = ledger.release_all(mechanisms, exact, purpose="hists", threads=threads)
        results.append([noisy.tolist() for noisy in released])
    assert results[0] == results[1] == results[2]
    assert results[0][0] != results[0][2]


def test_release_all_does_not_depend_on_who_draws_first() -> None:
    def run(threads: int) -> list[list[int]]:
        drawn = threading.Event()

        class Early(Silent):
            def release(self, exact: Any, randomness: Randomness) -> list[int]:
                words = randomness.words(2).tolist()
                drawn.set()
                return words

        class Late(Silent):
            def release(self, exact: Any, randomness: Randomness) -> list[int]:
                drawn.wait(600 if threads > 1 else 0)
                return randomness.words(2).tolist()

        ledger = Ledger(Fraction(1), Randomness(5))
        mechanisms = [Late(Fraction(1, 2)), Early(Fraction(1, 2))]
        return ledger.release_all(mechanisms, [None] * 2, purpose="hists", threads=threads)

    assert run(1) == run(2)


def test_release_all_of_nothing() -> None:
    ledger = Ledger(Fraction(1), Randomness(1))
    assert ledger.release_all([], [], purpose="hists") == []
    assert ledger.remaining == 1


def test_the_same_seed_releases_the_same() -> None:
    def run() -> list[int]:
        ledger = Ledger(Fraction(1), Randomness(9))
        parts = ledger.parallel(2)
        mechanism = Geometric(Fraction(1, 2))
        return [
            int(part.release(mechanism, np.array([5]), purpose="counts")[0])
            for part in (ledger, *parts)
        ]

    assert run() == run()


def test_parts_do_not_share_noise() -> None:
    ledger = Ledger(Fraction(1), Randomness(9))
    first, second = ledger.parallel(2)
    counts = np.zeros(100, dtype=np.int64)
    mechanism = Geometric(Fraction(1, 100))
    noisy = [part.release(mechanism, counts, purpose="counts") for part in (first, second)]
    assert not np.array_equal(*noisy)


# --- what was spent -----------------------------------------------------------------------------


def test_spends_say_what_for_and_where() -> None:
    ledger = Ledger(Fraction(4), Randomness(1), delta=Fraction(1, 10))
    ledger.release(Geometric(Fraction(1, 3)), np.array([1]), purpose="size")
    first, second = ledger.parallel(2)
    second.release(Geometric(Fraction(1, 4)), np.array([1]), purpose="split", node=2, times=3)
    first.release(TruncatedGeometric(Fraction(1, 2)), np.array([1]), purpose="split", node=1)
    ledger.release(Silent(Fraction(1, 5), Fraction(1, 100)), None, purpose="last", node=0)
    assert list(ledger.spends()) == [
        Spend("geometric", Fraction(1, 3), "size"),
        Spend("silent", Fraction(1, 5), "last", 0, 1, Fraction(1, 100)),
        Spend("truncated geometric", Fraction(1, 2), "split", 1),
        Spend("geometric", Fraction(1, 4), "split", 2, 3),
    ]
    assert list(second.spends()) == [Spend("geometric", Fraction(1, 4), "split", 2, 3)]


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_a_bad_budget_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Ledger(epsilon, Randomness(1))


# --- any sequence of charges --------------------------------------------------------------------


@dataclass
class Reference:
    """The same account, straight from the definition: the dearest way a record can take."""

    own: list[Fraction] = field(default_factory=list)
    groups: list[list[Reference]] = field(default_factory=list)

    def ways(self) -> list[Fraction]:
        """What a record pays, for every choice of one part of each group, and so on down."""
        ways = [sum(self.own, Fraction(0))]
        for group in self.groups:
            ways = [way + more for way in ways for part in group for more in part.ways()]
        return ways

    def ways_through(self, node: Reference) -> list[Fraction] | None:
        """The same, only for records that are in ``node``; None if it is not below."""
        if node is self:
            return self.ways()
        found = None
        ways = [sum(self.own, Fraction(0))]
        for group in self.groups:
            through = [part.ways_through(node) for part in group]
            inside = [choice for choice in through if choice is not None]
            if inside:
                found = True
                choices = inside[0]
            else:
                choices = [more for part in group for more in part.ways()]
            ways = [way + more for way in ways for more in choices]
        return ways if found else None


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("part"), st.integers(0, 30), st.integers(1, 2)),
        st.tuples(st.just("spend"), st.integers(0, 30), st.integers(1, 12)),
    ),
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(ACTIONS)
def test_any_sequence_of_charges(actions: list[tuple[str, int, int]]) -> None:
    budget = Fraction(1)
    root, reference = Ledger(budget, Randomness(1)), Reference()
    nodes = [(root, reference)]
    accepted = 0
    for action, place, size in actions:
        ledger, mirror = nodes[place % len(nodes)]
        if action == "part" and len(mirror.groups) < 2 and len(nodes) < 9:
            parts = ledger.parallel(size)
            mirror.groups.append([Reference() for _ in parts])
            nodes.extend(zip(parts, mirror.groups[-1], strict=True))
        elif action == "spend":
            cost = Fraction(size, 20)
            paths = reference.ways_through(mirror)
            assert paths is not None
            if max(paths) + cost > budget:
                with pytest.raises(BudgetExceededError):
                    spend(ledger, cost)
            else:
                spend(ledger, cost)
                mirror.own.append(cost)
                accepted += 1
        for each, its_mirror in nodes:
            paths = reference.ways_through(its_mirror)
            assert paths is not None
            assert each.remaining == budget - max(paths)
            assert each.total.epsilon == max(its_mirror.ways())
        assert root.total.epsilon == max(reference.ways()) <= budget
        assert len(list(root.spends())) == accepted
