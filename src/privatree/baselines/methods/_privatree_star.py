"""The paper's Algorithm 1 [Vos23], with exact quantiles: the paper's PrivaTree*."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import LEAKING, Method, Training


def _classifier(training: Training) -> Any:
    from privatree import PaperPrivaTreeClassifier

    schema, epsilon, max_depth, seed = training
    return PaperPrivaTreeClassifier(
        epsilon, max_depth=max_depth, schema=schema, quantiles="exact", random_state=seed
    )


METHOD = Method("privatree-star", "PrivaTree*", LEAKING, _classifier, claimed=True)
