"""DPGDF [Xin19]: permute-and-flip on Gini, for categorical features only."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import CLAIMED, Method, Training
from privatree.schema import Categorical, Schema


def _classifier(training: Training) -> Any:
    from privatree.baselines._dpgdf import DPGDFClassifier

    schema, epsilon, max_depth, seed = training
    return DPGDFClassifier(epsilon, max_depth=max_depth, schema=schema, random_state=seed)


def _has_categories(schema: Schema) -> bool:
    return any(isinstance(feature, Categorical) for feature in schema.features.values())


METHOD = Method("dpgdf", "DPGDF", CLAIMED, _classifier, applies_to=_has_categories, claimed=True)
