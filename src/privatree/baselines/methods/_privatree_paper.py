"""The paper's Algorithm 1 [Vos23], as printed."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import CLAIMED, Method, Training


def _classifier(training: Training) -> Any:
    from privatree import PaperPrivaTreeClassifier

    schema, epsilon, max_depth, seed = training
    return PaperPrivaTreeClassifier(
        epsilon, max_depth=max_depth, schema=schema, quantiles="private", random_state=seed
    )


METHOD = Method("privatree-paper", "PrivaTree", CLAIMED, _classifier, claimed=True)
