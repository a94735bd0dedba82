"""BDPT [Guan20]: the exponential mechanism on Gini, with groups of five values as categories."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import LEAKING, Method, Training


def _classifier(training: Training) -> Any:
    from privatree.baselines._bdpt import BDPTClassifier

    schema, epsilon, max_depth, seed = training
    return BDPTClassifier(epsilon, max_depth=max_depth, schema=schema, random_state=seed)


METHOD = Method("bdpt", "BDPT", LEAKING, _classifier, claimed=True)
