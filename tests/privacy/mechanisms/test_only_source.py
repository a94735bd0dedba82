"""A mechanism draws from the randomness it is given, and from nowhere else."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numba import njit

from privatree.privacy import Ledger, Randomness, mechanisms

_SCORES = np.array([3, 5, 4, 5])
_VALUES = np.linspace(0.0, 1.0, 20)
_THIRDS = (Fraction(1, 3), Fraction(2, 3))
_GRID = {"low": 0.0, "high": 1.0, "cells": 64}


def _weights(digits: int) -> tuple[list[Decimal], Decimal]:
    return [Decimal(score).exp() for score in (3, 5, 4, 5)], Decimal(10) ** (5 - digits)


def _in_two_choices(randomness: Randomness) -> tuple[int, int]:
    draw = mechanisms.SequentialExponential(Fraction(1)).open(randomness)
    weights = mechanisms.LogWeights(_SCORES, np.ones(4), 0.0, _weights)
    first = draw.draw(weights)
    draw.expect(1)
    return first, draw.draw_by_score(_SCORES)


def _released(mechanism: Any, exact: Any) -> Callable[[Randomness], Any]:
    return lambda randomness: mechanism.release(exact, randomness)


RELEASES: dict[str, Callable[[Randomness], Any]] = {
    "DenseInterval": _released(mechanisms.DenseInterval(Fraction(1), 1, 5), _SCORES),
    "Exponential": _released(mechanisms.Exponential(Fraction(1)), _SCORES),
    "SequentialExponential": _in_two_choices,
    "Gaussian": _released(mechanisms.Gaussian(Fraction(1), Fraction(1, 10**6)), _SCORES),
    "Geometric": _released(mechanisms.Geometric(Fraction(1)), _SCORES),
    "JointExponentialQuantiles": _released(
        mechanisms.JointExponentialQuantiles(Fraction(1), _THIRDS, **_GRID), _VALUES
    ),
    "Laplace": _released(mechanisms.Laplace(Fraction(1)), _SCORES),
    "PermuteAndFlip": _released(mechanisms.PermuteAndFlip(Fraction(1)), _SCORES),
    "TruncatedGeometric": _released(
        mechanisms.TruncatedGeometric(Fraction(1), lower=0, upper=9), _SCORES
    ),
}


def _refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("drawn from elsewhere")


def outcomes(release: Callable[[Randomness], Any], elsewhere: int) -> list[Any]:
    """Forty outcomes of given seeds, the program's other sources being in some state."""
    random.seed(elsewhere)
    np.random.seed(elsewhere)  # noqa: NPY002
    _compiled_seed(elsewhere)
    return [np.array(release(Randomness(seed))).tolist() for seed in range(40)]


@njit
def _compiled_seed(seed: int) -> None:
    np.random.seed(seed)  # noqa: NPY002


@njit
def _compiled_draw() -> float:
    return np.random.random()  # noqa: NPY002


def test_every_mechanism_is_there() -> None:
    assert {*RELEASES, "Draw", "Interval", "ValueCounts", "LogWeights"} == set(mechanisms.__all__)


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_a_mechanism_draws_from_its_randomness_only(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    _compiled_seed(0)  # numba asks the operating system when it first draws by itself,
    RELEASES[name](Randomness(0))  # and for the name of a file when it keeps what it compiled
    monkeypatch.setattr(os, "urandom", _refuse)
    monkeypatch.setattr(secrets, "randbits", _refuse)
    one, other = (outcomes(RELEASES[name], elsewhere) for elsewhere in (1, 2))
    assert one == other
    assert len({str(outcome) for outcome in one}) > 1, "nothing was drawn"


@pytest.mark.parametrize(
    "elsewhere",
    [random.random, np.random.random, _compiled_draw],
    ids=["random", "numpy", "numba"],
)
def test_a_mechanism_that_draws_elsewhere_would_be_caught(elsewhere: Callable[[], float]) -> None:
    def leaky(randomness: Randomness) -> float:
        return randomness.below(10) + elsewhere()

    assert outcomes(leaky, 1) != outcomes(leaky, 2)


def test_threads_do_not_change_what_is_drawn() -> None:
    chosen = [mechanisms.Laplace(Fraction(1)), mechanisms.Geometric(Fraction(1))] * 10
    drawn = []
    for threads in (1, 2, 7):
        ledger = Ledger(Fraction(20), Randomness(3))
        found = ledger.release_all(chosen, [_SCORES] * 20, purpose="test", threads=threads)
        drawn.append([noisy.tolist() for noisy in found])
    assert drawn[0] == drawn[1] == drawn[2]
