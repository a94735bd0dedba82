"""What targets have in common: which tasks there are, and what a reader must know of methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import TypeVar

from privatree.baselines.methods import Method
from privatree.reproduction.running._study import Available, Request

DEPTH = 4
"""Of the trees."""

_Task = TypeVar("_Task")


def tasks(
    kind: Callable[..., _Task],
    request: Request,
    found: Sequence[Available],
    chosen: Sequence[Method],
    epsilons: Sequence[float],
    *parts: Iterable[int],
) -> list[_Task]:
    """Every method on every dataset to which it applies, at every epsilon.

    Parameters
    ----------
    kind : callable
        A class of tasks.
    request : Request
        Says where the data is.
    found, chosen, epsilons : sequence
        Datasets, methods and privacy budgets. A method without privacy has no epsilon.
    *parts : iterable of int
        What else a task is told, such as its repeat: there is one for every combination.
    """
    return [
        kind(
            dataset.name,
            method.id,
            epsilon,
            DEPTH,
            *numbers,
            data_dir=request.data_dir,
            fingerprint=dataset.fingerprint,
        )
        for dataset, method in product(found, chosen)
        if method.applies_to(dataset.schema)
        for epsilon in (epsilons if method.private else (None,))
        for numbers in product(*parts)
    ]


def caveats(chosen: Sequence[Method]) -> list[str]:
    """What a reader must know to compare these methods."""
    return [
        "Ranges, categories and classes are those of all records, and declared public for every "
        "method, as in the paper.",
        *(method.caveat for method in chosen if method.caveat),
    ]
