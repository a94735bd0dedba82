"""scikit-learn's decision tree, without privacy; categories as numbers, as the paper ran it."""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import NO_PRIVACY, Method, Training, as_numbers


def _classifier(training: Training) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=training.max_depth, random_state=training.seed)


METHOD = Method("decision-tree", "decision tree", NO_PRIVACY, _classifier, encode=as_numbers)
