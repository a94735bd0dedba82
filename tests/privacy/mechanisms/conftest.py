"""The exact privacy check of the quantile mechanism."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import log
from typing import Any

import pytest


@pytest.fixture
def largest_quantile_loss() -> Callable[..., float]:
    """A mechanism on a small grid and its law to the largest |log ratio| of probabilities.

    Over all datasets of up to ``largest`` rows, all their neighbours and all outcomes.
    """

    def loss(mechanism: Any, law: Callable[..., dict[Any, float]], largest: int = 4) -> float:
        laws = {
            data: law(mechanism, data)
            for rows in range(largest + 1)
            for data in combinations_with_replacement(range(mechanism.cells), rows)
        }
        worst = 0.0
        for data, chances in laws.items():
            for i in range(len(data)):
                rest = data[:i] + data[i + 1 :]
                others = [rest]
                if mechanism.neighbours == "replace":
                    others = [tuple(sorted((*rest, cell))) for cell in range(mechanism.cells)]
                for other in others:
                    for outcome, chance in chances.items():
                        worst = max(worst, abs(log(chance / laws[other][outcome])))
        return worst

    return loss
