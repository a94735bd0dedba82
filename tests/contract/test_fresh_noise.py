"""Two unseeded fits share no draw, whatever happens between them; seeded ones say so.

What is compared are the bytes that the source hands out, not the models. Eight bytes in a row that
come twice are a repetition; mutants of the source show that each situation is worth its test.
"""

from __future__ import annotations

import copy
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

import privatree
from privatree import (
    Categorical,
    Numeric,
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
)
from privatree import baselines as published
from privatree.errors import ParameterError
from privatree.privacy import Ledger, Randomness
from privatree.privacy.mechanisms import Laplace

pytestmark = pytest.mark.filterwarnings("ignore::privatree.PrivacyLeakWarning")

SCHEMA = Schema({"age": Numeric(0, 100), "ward": Categorical(["a", "b", "c"])}, ["no", "yes"])
NUMBERS = Schema(SCHEMA.features, target=Target(0, 1000))
ESTIMATORS = {
    "privatree": PrivaTreeClassifier(schema=SCHEMA, max_depth=2),
    "robust": PrivaTreeClassifier(schema=SCHEMA, schedule="robust", probability_share=0.2),
    "ensemble": PrivaBoostClassifier(schema=SCHEMA),
    "paper": PaperPrivaTreeClassifier(schema=SCHEMA),
    "bdpt": published.BDPTClassifier(schema=SCHEMA, max_depth=2),
    "dpgdf": published.DPGDFClassifier(schema=SCHEMA),
    "random-tree": published.RandomTreeClassifier(schema=SCHEMA),
    "published": published.PublishedClassifier(published.RanaForest(2), schema=SCHEMA),
    "tree of numbers": PrivaTreeRegressor(schema=NUMBERS, max_depth=2),
    "ensemble of numbers": PrivaBoostRegressor(schema=NUMBERS),
}
RECORDS = [[float(7 * i % 100), "abc"[i % 3]] for i in range(90)]
LABELS = ["no" if age < 40 else "yes" for age, _ in RECORDS]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def test_every_estimator_that_draws_is_here() -> None:
    public = [*privatree.__all__, *published.__all__]
    learners = {name for name in public if name.endswith(("Classifier", "Regressor"))}
    assert {type(estimator).__name__ for estimator in ESTIMATORS.values()} == learners


# --- what is drawn ------------------------------------------------------------------------------


@contextmanager
def recorded() -> Iterator[list[bytes]]:
    """All that unseeded sources hand out, in order."""
    drawn: list[bytes] = []
    fresh = Randomness._bytes

    def record(source: Randomness, count: int) -> bytes:
        handed_out = fresh(source, count)
        drawn.append(handed_out)
        return handed_out

    Randomness._bytes = record  # type: ignore[method-assign]
    try:
        yield drawn
    finally:
        Randomness._bytes = fresh  # type: ignore[method-assign]


def fit(estimator: Any) -> Any:
    """Fit to the labels or, what predicts a number, to the ages."""
    ages = [10 * age for age, _ in RECORDS]
    return estimator.fit(RECORDS, ages if is_regressor(estimator) else LABELS)


def fitted(estimator: Any) -> bytes:
    """The draws of one fit."""
    with recorded() as drawn:
        fit(estimator)
    assert len(b"".join(drawn)) >= 16, "too few to compare"
    return b"".join(drawn)


def words(streams: list[bytes]) -> NDArray[np.uint64]:
    """Eight bytes in a row, from any byte on."""
    return np.concatenate([
        np.lib.stride_tricks.sliding_window_view(np.frombuffer(stream, np.uint8), 8)
        .copy()
        .view("<u8")
        .ravel()
        for stream in streams
    ])  # fmt: skip


def repetitions(streams: list[bytes]) -> int:
    """How many words of 64 bits, at any byte of these streams, were there before.

    Among n words of a good source there is one with probability at most n^2/2^65.
    """
    found = words(streams)
    assert len(found) ** 2 / 2**65 < 1e-6
    return len(found) - len(np.unique(found))


def in_a_child(work: Callable[[], bytes]) -> bytes:
    """What a forked process returns."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(work())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


# --- situations ---------------------------------------------------------------------------------


def one_after_the_other(estimator: Any) -> list[bytes]:
    return [fitted(estimator) for _ in range(3)]


def copies_of_an_estimator(estimator: Any) -> list[bytes]:
    first = fitted(estimator)
    copies = [clone(estimator), copy.deepcopy(estimator), pickle.loads(pickle.dumps(estimator))]
    return [first, *map(fitted, copies)]


def forked(estimator: Any) -> list[bytes]:
    first = fitted(estimator)
    children = [in_a_child(lambda: fitted(estimator)) for _ in range(2)]
    return [first, *children, fitted(estimator)]


def copies_of_a_source(_: Any) -> list[bytes]:
    source = Randomness()
    source.words(4)
    copies = [source, copy.deepcopy(source), pickle.loads(pickle.dumps(source)), *source.spawn(2)]
    return [part.words(4).tobytes() + part.bits(256).to_bytes(32, "little") for part in copies]


def a_pool_of_threads(_: Any) -> list[bytes]:
    ledger = Ledger(Fraction(64), Randomness())
    with recorded() as drawn:
        ledger.release_all(
            [Laplace(Fraction(1))] * 64, [np.zeros(3)] * 64, purpose="test", threads=8
        )
    assert len(drawn) == 64
    return drawn


SITUATIONS = {
    situation.__name__: situation
    for situation in (
        one_after_the_other, copies_of_an_estimator, forked, copies_of_a_source, a_pool_of_threads,
    )
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("situation", ["one_after_the_other", "copies_of_an_estimator"])
def test_unseeded_fits_share_no_draw(name: str, situation: str) -> None:
    assert repetitions(SITUATIONS[situation](clone(ESTIMATORS[name]))) == 0


@needs_fork
@pytest.mark.parametrize("name", ["privatree", "paper"])
def test_fits_in_forked_processes_share_no_draw(name: str) -> None:
    assert repetitions(forked(clone(ESTIMATORS[name]))) == 0


@pytest.mark.parametrize("situation", ["copies_of_a_source", "a_pool_of_threads"])
def test_sources_made_of_one_share_no_draw(situation: str) -> None:
    assert repetitions(SITUATIONS[situation](None)) == 0


@pytest.mark.slow
def test_fits_in_processes_of_joblib_share_no_draw() -> None:
    from sklearn.utils.parallel import Parallel, delayed

    def work(estimator: Any, records: Any, labels: Any) -> bytes:  # imports nothing of this file
        drawn = []
        fresh = Randomness._bytes

        def record(source: Any, count: int) -> bytes:
            drawn.append(fresh(source, count))
            return drawn[-1]

        Randomness._bytes = record  # type: ignore[method-assign]
        try:
            estimator.fit(records, labels)
        finally:
            Randomness._bytes = fresh  # type: ignore[method-assign]
        return b"".join(drawn)

    estimator = clone(ESTIMATORS["privatree"])
    tasks = [delayed(work)(estimator, RECORDS, LABELS) for _ in range(2)]
    streams = Parallel(n_jobs=2)(tasks)
    assert min(map(len, streams)) >= 16
    assert repetitions([fitted(estimator), *streams]) == 0


# --- mutants of the source ----------------------------------------------------------------------


def from_a_shared_buffer() -> Callable[[Randomness, int], bytes]:
    kept = bytearray()

    def draw(_: Randomness, count: int) -> bytes:
        if len(kept) < count:
            kept.extend(os.urandom(count + 2**16))
        handed_out = bytes(kept[:count])
        del kept[:count]
        return handed_out

    return draw


def from_a_buffer_of_the_source() -> Callable[[Randomness, int], bytes]:
    def draw(source: Randomness, count: int) -> bytes:
        kept = vars(source).get("kept", b"")
        if len(kept) < count:
            kept += os.urandom(count + 2**12)
        vars(source)["kept"] = kept[count:]
        return kept[:count]

    return draw


def from_a_generator(seed: Callable[[], int]) -> Callable[[Randomness, int], bytes]:
    def draw(source: Randomness, count: int) -> bytes:
        if "generator" not in vars(source):
            vars(source)["generator"] = np.random.default_rng(seed())
        return bytes(vars(source)["generator"].bytes(count))

    return draw


def from_numpys_own() -> Callable[[Randomness, int], bytes]:
    return lambda _, count: np.random.bytes(count)  # noqa: NPY002


MUTANTS = {
    "a buffer for all": (from_a_shared_buffer, {"forked"}),
    "a buffer in the source": (from_a_buffer_of_the_source, {"copies_of_a_source"}),
    "seeded by the time": (
        lambda: from_a_generator(lambda: 10**9),  # all in the same second
        {"one_after_the_other", "copies_of_an_estimator", "forked", "a_pool_of_threads"},
    ),
    "seeded by the process": (
        lambda: from_a_generator(os.getpid),
        {"one_after_the_other", "copies_of_an_estimator", "a_pool_of_threads"},
    ),
    "seeded once, by the system": (
        lambda: from_a_generator(lambda: int.from_bytes(os.urandom(8), "little")),
        {"copies_of_a_source"},
    ),
    "numpy's global state": (from_numpys_own, {"forked"}),
}


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize(
    ("mutant", "situation"),
    [(name, situation) for name, (_, caught) in MUTANTS.items() for situation in sorted(caught)],
)
def test_a_source_that_repeats_itself_is_caught(
    monkeypatch: pytest.MonkeyPatch, mutant: str, situation: str
) -> None:
    monkeypatch.setattr(Randomness, "_bytes", MUTANTS[mutant][0]())
    assert repetitions(SITUATIONS[situation](clone(ESTIMATORS["privatree"]))) > 0


def test_every_situation_catches_a_mutant() -> None:
    assert set().union(*(caught for _, caught in MUTANTS.values())) == set(SITUATIONS)


# --- what models say ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_keeps_no_draw(name: str) -> None:
    """Noise that is kept beside what it hides can be taken off."""
    estimator = clone(ESTIMATORS[name])
    drawn = fitted(estimator)
    kept = pickle.dumps(estimator)
    assert b"Randomness" not in kept
    assert b"Ledger" not in kept
    both = words([drawn]), words([kept])
    assert len(both[0]) * len(both[1]) / 2**64 < 1e-6
    assert len(np.intersect1d(*both)) == 0
    assert len(np.intersect1d(both[0], words([kept + drawn[:9]]))) > 0


STATES: dict[str, Callable[[], Any]] = {
    "int": lambda: 0,
    "numpy int": lambda: np.int64(7),
    "large int": lambda: 2**100,
    "Generator": lambda: np.random.default_rng(0),
    "unseeded Generator": np.random.default_rng,
    "RandomState": lambda: np.random.RandomState(0),
    "numpy's global": lambda: np.random.mtrand._rand,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("state", STATES)
def test_a_seeded_model_says_so_and_draws_from_the_seed_only(
    monkeypatch: pytest.MonkeyPatch, name: str, state: str
) -> None:
    random_state = STATES[state]()
    estimator = clone(ESTIMATORS[name]).set_params(random_state=random_state)
    monkeypatch.setattr(Randomness, "_bytes", None)
    fit(estimator)
    assert estimator.privacy_.seeded
    assert estimator.privacy_.to_dict()["seeded"] is True
    assert "whoever knows the seed can remove it" in " ".join(str(estimator.privacy_).split())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_unseeded_model_says_nothing_of_a_seed(name: str) -> None:
    estimator = fit(clone(ESTIMATORS[name]))
    assert not estimator.privacy_.seeded
    assert "seed" not in str(estimator.privacy_)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    "state",
    [np.random, "0", -1, 0.5, True],
    ids=["module", "text", "negative", "fraction", "boolean"],
)
def test_other_seeds_are_refused(name: str, state: Any) -> None:
    with pytest.raises(ParameterError, match="random_state must be"):
        fit(clone(ESTIMATORS[name]).set_params(random_state=state))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("error", [OSError, NotImplementedError])
def test_without_entropy_there_is_no_model(
    monkeypatch: pytest.MonkeyPatch, name: str, error: type[Exception]
) -> None:
    def fail(count: int) -> bytes:
        raise error("no entropy")

    estimator = clone(ESTIMATORS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error", privatree.PaperClaimWarning)
        monkeypatch.setattr(os, "urandom", fail)
        with pytest.raises(error, match="no entropy"):
            fit(estimator)
        monkeypatch.undo()
    assert not hasattr(estimator, "model_")
