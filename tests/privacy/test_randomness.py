from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.privacy import Randomness


def test_unseeded_sources_differ() -> None:
    first, second = Randomness(), Randomness()
    assert not first.seeded
    assert first.words(4).tolist() != second.words(4).tolist()
    assert first.words(4).tolist() != first.words(4).tolist()
    assert first.bits(256) != first.bits(256)


def test_a_seed_repeats_the_stream_and_another_does_not() -> None:
    first, second, third = Randomness(7), Randomness(7), Randomness(8)
    assert first.seeded
    words = first.words(5).tolist()
    assert words == second.words(5).tolist()
    assert words != third.words(5).tolist()
    assert words != first.words(5).tolist()
    second.words(5)
    assert first.bits(200) == second.bits(200)
    assert first.below(10**30) == second.below(10**30)


def test_words_have_the_asked_shape_and_type() -> None:
    for source in (Randomness(), Randomness(1)):
        for count in (0, 1, 1000):
            words = source.words(count)
            assert words.dtype == np.uint64
            assert words.shape == (count,)


def test_the_stream_does_not_depend_on_how_it_is_cut() -> None:
    at_once, in_parts = Randomness(3), Randomness(3)
    parts = np.concatenate([in_parts.words(count) for count in (1, 0, 3, 6)])
    assert at_once.words(10).tolist() == parts.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("bound", [2, 3, 5, 7, 12, 1000])
def test_below_is_uniform(bound: int, integer_law: Callable[..., float]) -> None:
    source = Randomness(bound)
    draws = [source.below(bound) for _ in range(40_000)]
    assert 0 <= min(draws) <= max(draws) < bound
    assert integer_law(draws, np.full(bound, 1 / bound)) < 1


@pytest.mark.parametrize("bound", [2**64 - 1, 2**64 + 1, 3 * 2**64, 2**127 + 5])
def test_below_is_uniform_for_bounds_beyond_a_word(
    bound: int, integer_law: Callable[..., float]
) -> None:
    source = Randomness(4)
    draws = [source.below(bound) for _ in range(20_000)]
    assert max(draws) < bound
    edges = [-(-bound * k // 24) for k in range(25)]
    cells = np.searchsorted(np.array(edges, dtype=object), np.array(draws, dtype=object), "right")
    assert integer_law(cells - 1, np.diff(edges).astype(float) / bound) < 1
    assert integer_law([draw % 3 for draw in draws], np.full(3, 1 / 3)) < 1


def test_below_by_remainder_would_be_caught(integer_law: Callable[..., float]) -> None:
    source = Randomness(5)
    draws = [source.bits(4) % 12 for _ in range(20_000)]
    assert integer_law(draws, np.full(12, 1 / 12)) > 1


@pytest.mark.parametrize("count", [1, 3, 6, 64, 65, 130])
def test_bits_are_uniform(count: int, integer_law: Callable[..., float]) -> None:
    source = Randomness(count)
    draws = [source.bits(count) for _ in range(20_000)]
    assert max(draws) < 2**count
    kept = min(count, 5)
    assert integer_law([draw >> (count - kept) for draw in draws], np.full(2**kept, 2.0**-kept)) < 1
    assert integer_law([draw % 2**kept for draw in draws], np.full(2**kept, 2.0**-kept)) < 1


def test_unseeded_bits_and_words_are_uniform(integer_law: Callable[..., float]) -> None:
    source = Randomness()
    assert integer_law([source.bits(3) for _ in range(20_000)], np.full(8, 1 / 8)) < 1
    assert integer_law(source.words(20_000) >> np.uint64(61), np.full(8, 1 / 8)) < 1


def test_nothing_to_draw() -> None:
    for source in (Randomness(), Randomness(1)):
        assert source.below(1) == 0
        assert source.bits(0) == 0
        assert source.spawn(0) == []


@pytest.mark.parametrize("bound", [0, -1, -(10**30)])
def test_below_refuses_an_empty_range(bound: int) -> None:
    with pytest.raises(ParameterError, match=f"bound must be >= 1, got {bound}"):
        Randomness(1).below(bound)


def test_spawned_sources_are_reproducible_and_differ() -> None:
    one, other = ([source.words(4).tolist() for source in Randomness(1).spawn(5)] for _ in range(2))
    assert one == other
    streams = [*one, Randomness(1).words(4).tolist()]
    assert len({tuple(stream) for stream in streams}) == 6
    parent = Randomness(1)
    assert all(source.seeded for source in parent.spawn(2))
    again = [source.words(4).tolist() for source in parent.spawn(2)]
    assert again[0] not in one[:2]


def test_spawned_sources_of_the_operating_system_are_of_the_operating_system() -> None:
    parts = Randomness().spawn(3)
    assert not any(part.seeded for part in parts)
    assert len({tuple(part.words(2).tolist()) for part in parts}) == 3


def test_spawned_streams_are_independent(chi_square: Callable[..., float]) -> None:
    first, second = Randomness(9).spawn(2)
    pairs = 4 * (first.words(40_000) >> np.uint64(62)) + (second.words(40_000) >> np.uint64(62))
    assert chi_square(np.bincount(pairs.astype(np.int64)), np.full(16, 1 / 16), 40_000) < 1


# --- the operating system -----------------------------------------------------------------------


def test_every_draw_asks_the_operating_system_for_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is kept for later, so there is nothing that a copy could use again."""
    asked: list[int] = []
    urandom = os.urandom

    def recorded(count: int) -> bytes:
        asked.append(count)
        return urandom(count)

    monkeypatch.setattr(os, "urandom", recorded)
    source = Randomness()
    (part,) = source.spawn(1)
    source.words(3), source.bits(1), part.bits(64), part.bits(65), source.words(1), source.bits(0)
    assert asked == [24, 1, 8, 9, 8, 0]
    assert set(vars(source)) == set(vars(part)) == {"_generator"}
    asked.clear()
    seeded = Randomness(1)
    seeded.words(3), seeded.bits(70), seeded.below(10), seeded.spawn(2)[0].words(1)
    assert asked == []


@pytest.mark.parametrize("error", [NotImplementedError, OSError])
def test_without_the_operating_system_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(count: int) -> bytes:
        raise error("no entropy")

    monkeypatch.setattr(os, "urandom", fail)
    for draw in (lambda s: s.words(1), lambda s: s.bits(1), lambda s: s.below(5)):
        with pytest.raises(error, match="no entropy"):
            draw(Randomness())
    assert Randomness(1).words(1).size == 1


# --- random_state -------------------------------------------------------------------------------


def test_random_state_none_is_the_operating_system() -> None:
    assert not Randomness.from_random_state(None).seeded


@pytest.mark.parametrize("state", [0, 42, np.int64(42), np.uint8(42), 2**80])
def test_random_state_integers_are_seeds(state: int) -> None:
    source = Randomness.from_random_state(state)
    assert source.words(3).tolist() == Randomness(int(state)).words(3).tolist()


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_random_state_generators_are_used_and_advanced(make: Callable[[int], object]) -> None:
    first, second = make(5), make(5)
    words = Randomness.from_random_state(first).words(3).tolist()
    assert words == Randomness.from_random_state(second).words(3).tolist()
    assert words != Randomness.from_random_state(first).words(3).tolist()
    assert Randomness.from_random_state(first).seeded


@pytest.mark.parametrize("state", [-1, np.int64(-3)])
def test_random_state_refuses_negative_seeds(state: int) -> None:
    with pytest.raises(ParameterError, match="random_state must be >= 0"):
        Randomness.from_random_state(state)


@pytest.mark.parametrize("state", [True, False, np.bool_(True), 1.0, "1", [1], np.random, object()])
def test_random_state_refuses_anything_else(state: object) -> None:
    with pytest.raises(ParameterError, match="None, an int or a numpy generator"):
        Randomness.from_random_state(state)


# --- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("used", [0, 3])
def test_a_pickled_or_copied_unseeded_source_repeats_nothing(used: int) -> None:
    source = Randomness()
    source.words(used)
    source.bits(used)
    copies = [source, pickle.loads(pickle.dumps(source)), copy.deepcopy(source)]
    assert len({tuple(part.words(4).tolist()) for part in copies}) == 3
    assert len({part.bits(200) for part in copies}) == 3


def test_copies_of_a_seeded_source_continue_its_stream() -> None:
    """What a seed is for, and why nothing drawn with one is secret."""
    source = Randomness(6)
    source.words(5)
    copies = [source, pickle.loads(pickle.dumps(source)), copy.deepcopy(source)]
    assert len({tuple(part.words(3).tolist()) for part in copies}) == 1


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_unseeded_source_repeats_nothing() -> None:
    source = Randomness()
    source.words(3)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, source.words(4).tobytes() + source.bits(256).to_bytes(32, "little"))
        os._exit(0)
    os.close(writer)
    theirs = os.read(reader, 64)
    os.close(reader)
    os.waitpid(child, 0)
    ours = source.words(4).tobytes() + source.bits(256).to_bytes(32, "little")
    assert len(theirs) == len(ours) == 64
    assert theirs[:32] != ours[:32]
    assert theirs[32:] != ours[32:]
