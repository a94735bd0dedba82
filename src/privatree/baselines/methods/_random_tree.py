"""Our own version of DiffPrivLib's tree [HBML19], for machines that do not have the library."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import PRIVATE, Method, Training


def _classifier(training: Training) -> Any:
    from privatree.baselines._random_tree import RandomTreeClassifier

    schema, epsilon, max_depth, seed = training
    return RandomTreeClassifier(epsilon, max_depth=max_depth, schema=schema, random_state=seed)


METHOD = Method(
    "random-tree",
    "random tree",
    PRIVATE,
    _classifier,
    stands_in_for="diffprivlib-tree",
    caveat="random tree: our version of DiffPrivLib's, in the place of the library itself.",
)
