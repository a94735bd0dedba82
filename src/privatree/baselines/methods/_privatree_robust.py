"""Our record-level learner with the schedule that makes it robust to poisoned records."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import PRIVATE, Method, Training


def _classifier(training: Training) -> Any:
    from privatree import PrivaTreeClassifier

    schema, epsilon, max_depth, seed = training
    return PrivaTreeClassifier(
        epsilon, max_depth=max_depth, schema=schema, schedule="robust", random_state=seed
    )


METHOD = Method(
    "privatree-robust",
    "privatree (robust)",
    PRIVATE,
    _classifier,
    takes_sources=True,
    caveat="privatree (robust): the record-level learner with a fixed number of levels and equal "
    "budgets, somewhat less accurate, for stronger guarantees against poisoning.",
)
