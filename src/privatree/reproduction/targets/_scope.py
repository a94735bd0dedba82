"""What targets have in common: their datasets and methods, their tasks, and notes on methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from privatree.baselines.methods import Method
from privatree.reproduction.datasets import describe
from privatree.reproduction.datasets._dataset import PaperDataset
from privatree.reproduction.running._study import Available, Study

DEPTH = 4
"""Maximum depth of the trees."""

_Task = TypeVar("_Task")


@dataclass(frozen=True)
class Scope:
    """The datasets, methods, epsilons and repeats of one run of a target."""

    study: Study
    found: Sequence[Available]
    methods: Sequence[Method]
    epsilons: Sequence[float]
    repeats: int

    @property
    def described(self) -> list[PaperDataset]:
        """The rows of the paper's table of datasets."""
        return [describe(dataset.name) for dataset in self.found]

    def tasks(
        self,
        kind: Callable[..., _Task],
        *numbers: Iterable[int],
        methods: Sequence[Method] | None = None,
    ) -> list[_Task]:
        """Return tasks for each dataset, method that applies to it, epsilon and repeat.

        A method without privacy has no epsilon. `numbers` are possible values of further arguments,
        such as the repeat. There is a task for each combination of them.
        """
        return [
            kind(
                dataset.name,
                method.id,
                epsilon,
                DEPTH,
                *combination,
                data_dir=self.study.request.data_dir,
                fingerprint=dataset.fingerprint,
            )
            for dataset, method in product(self.found, self.methods if methods is None else methods)
            if method.applies_to(dataset.schema)
            for epsilon in (self.epsilons if method.private else (None,))
            for combination in product(*numbers)
        ]


def find_scope(
    study: Study,
    datasets: Sequence[str],
    methods: Sequence[str],
    epsilons: Sequence[float],
    repeats: int,
) -> Scope:
    """Return the scope of a request. The other arguments are the defaults of the target."""
    found, chosen = study.find_datasets(datasets), study.find_methods(methods)
    request = study.request
    return Scope(study, found, chosen, request.epsilons or epsilons, request.repeats or repeats)


def method_caveats(methods: Sequence[Method]) -> list[str]:
    """Return the notes that a reader needs to compare these methods."""
    return [
        "Ranges, categories and classes are those of all records, and declared public for every "
        "method, as in the paper.",
        *(method.caveat for method in methods if method.caveat),
    ]
