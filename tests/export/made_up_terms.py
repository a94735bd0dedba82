"""Ensembles that are written by hand, so that every cell and every value is known."""

from __future__ import annotations

import numpy as np

from privatree.model.ensemble import Branch, Ensemble, Round, RoundFunction, Step
from privatree.schema import Categorical, Numeric, Schema, Target

FEATURES = {
    "age": Numeric(0, 80, missing="separate"),
    "gain": Numeric(0, 100_000),
    "town": Categorical(["east", "north", "south", "west"], missing="separate"),
    "visits": Numeric(0, 9, integer=True, missing=3),
}
INTERVALS = {1: (0.0, 400.0)}
FUNCTIONS: tuple[RoundFunction, ...] = (
    Step(0, 1, (-np.inf, 40.0)),
    Step(1, -1, (120.0, 5_000.0)),
    Step(2, positive=b"\1\1\0\0\1"),
    Branch(1, Step(2, positive=b"\1\0\0\0\1"), Step(0, -1, (-np.inf, 20.0)), threshold=250.0),
    Branch(2, Step(3, 1, (3.0,)), Step(3, -1, (6.0,)), goes_left=b"\0\0\0\1\1"),
    Branch(2, Step(0, 1, (-np.inf, 30.0)), Step(0, -1, (50.0,)), goes_left=b"\1\0\0\1\0"),
    Step(3, -1, (2.0, 5.0)),
)
DEEP = Branch(
    0, Branch(1, Step(2, positive=b"\1\0\0\0\1"), Step(2, positive=b"\0\0\0\1\1"), threshold=9.0),
    Step(3, 1, (4.0,)), threshold=30.0,
)  # fmt: skip


def ensemble_of(
    *functions: RoundFunction, classes: tuple[object, ...] = ("well", "ill")
) -> Ensemble:
    """Rounds that raise the second of two classes, or one class after the other."""
    functions = functions or FUNCTIONS
    n = len(classes)
    rounds = [
        Round(one, (-1, 1) if n == 2 else tuple(1 if k == turn % n else -1 for k in range(n)))
        for turn, one in enumerate(functions)
    ]
    return Ensemble(Schema(FEATURES, classes), 0.5, tuple(rounds), INTERVALS)


def number_ensemble_of(
    *functions: RoundFunction, target: Target | None = None, step: float = 0.25
) -> Ensemble:
    """Rounds with the amounts 1, 3, 5, ... that begin with 12.5."""
    rounds = tuple(Round(one, (2 * turn + 1,)) for turn, one in enumerate(functions or FUNCTIONS))
    return Ensemble(
        Schema(FEATURES, target=target or Target(0, 60)), step, rounds, INTERVALS, start=12.5
    )
