"""A tree as rules: one sentence for each leaf, with its conditions and its prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.export._text import (
    MAX_LISTED_CATEGORIES,
    name_text,
    number_text,
    threshold_texts,
)
from privatree.model import Tree, released_tree
from privatree.schema import Categorical, Feature, Label


@dataclass(frozen=True)
class Rule:
    """The conditions and the prediction of one leaf of a tree.

    Attributes
    ----------
    leaf : int
        Node number of the leaf.
    conditions : tuple of str
        One text for each feature that the path to the leaf asks about, in the order of the first
        question: ``age is at most 37``. Empty if the tree has no splits. Missing values count as
        the schema says.
    label : str, bool, int or float
        Predicted class.
    probability : tuple of float, or None
        Probability of each class in the order of the schema, if the learner released them.
    sentence : str
        The whole rule as one sentence.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> rule = rules(model.fit(X, y))[0]
    >>> rule.conditions, rule.label
    (('Cell_Shape_Uniformity is at most 3',), 'benign')
    """

    leaf: int
    conditions: tuple[str, ...]
    label: Label
    probability: tuple[float, ...] | None
    sentence: str


def rules(model: Any) -> tuple[Rule, ...]:
    """Write each leaf of a tree as a sentence: for which records it predicts what.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Model whose tree is written.

    Returns
    -------
    tuple of Rule
        One rule for each leaf, in the order of :func:`privatree.export.export_text`. Every record
        fits exactly one rule.

    Notes
    -----
    Several questions about a feature become one condition. Numbers are rounded as in
    :func:`privatree.export.export_text`.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> for rule in rules(model.fit(X, y)):
    ...     print(rule.sentence)
    If Cell_Shape_Uniformity is at most 3, predict benign.
    If Cell_Shape_Uniformity is at least 4, predict malignant.
    """
    tree = released_tree(model)
    features, thresholds = list(tree.schema.features.items()), threshold_texts(tree)
    found = []
    waiting: list[tuple[int, dict[int, _RuleRange | _RuleCategories]]] = [(0, {})]
    while waiting:
        node, conditions = waiting.pop()
        position = int(tree.feature[node])
        if position < 0:
            found.append(_leaf_rule(tree, node, tuple(conditions.values())))
            continue
        known = conditions.get(position)
        yes, no = _narrow_rule_condition(tree, node, *features[position], known, thresholds)
        left, right = tree.children(node)
        waiting.append((right, conditions | {position: no}))
        waiting.append((left, conditions | {position: yes}))
    return tuple(found)


def _leaf_rule(tree: Tree, leaf: int, known: tuple[_RuleRange | _RuleCategories, ...]) -> Rule:
    label = tree.schema.classes[tree.label[leaf]]
    conditions = tuple(condition.text() for condition in known if not condition.is_always_true)
    probability = None if tree.probability is None else tuple(tree.probability[leaf].tolist())
    shown = f"predict {name_text(label)}"
    if probability is not None:
        shown += f" (probability {probability[tree.label[leaf]]:.1%})"
    if any(condition.is_impossible for condition in known):
        shown += ", but no record is like that"
    sentence = f"If {' and '.join(conditions)}, {shown}." if conditions else f"Always {shown}."
    return Rule(leaf, conditions, label, probability, sentence)


# --- the condition on one feature ---------------------------------------------------------------


class _RuleBound(NamedTuple):
    """A threshold and its text."""

    value: float
    text: str


@dataclass(frozen=True)
class _RuleRange:
    """The condition that a number is above one threshold and at most another; None is no bound."""

    name: str
    integer: bool
    above: _RuleBound | None = None
    up_to: _RuleBound | None = None

    is_always_true = False

    @property
    def is_impossible(self) -> bool:
        if self.above is None or self.up_to is None:
            return False
        low, high = self.above.value, self.up_to.value
        return math.floor(low) >= math.floor(high) if self.integer else low >= high

    def text(self) -> str:
        bounds = []
        if self.above is not None:
            bounds.append(f"{'at least' if self.integer else 'above'} {self.above.text}")
        if self.up_to is not None:
            bounds.append(f"at most {self.up_to.text}")
        if self.integer and self.above and self.up_to and self.above.text == self.up_to.text:
            bounds = [self.above.text]
        return f"{self.name} is {' and '.join(bounds)}"


@dataclass(frozen=True)
class _RuleCategories:
    """The condition that a value is one of some categories."""

    name: str
    feature: Categorical
    possible: NDArray[np.bool_]

    @property
    def is_always_true(self) -> bool:
        return bool(self.possible.all())

    @property
    def is_impossible(self) -> bool:
        return not self.possible.any()

    def text(self) -> str:
        inside, outside = (
            [name_text(self.feature.categories[code]) for code in np.flatnonzero(mask).tolist()]
            for mask in (self.possible, ~self.possible)
        )
        if not inside:
            return f"{self.name} is none of its categories"
        if len(inside) <= max(MAX_LISTED_CATEGORIES, len(outside)):
            return f"{self.name} is {'one of ' * (len(inside) > 1)}{', '.join(inside)}"
        return f"{self.name} is {'none of' if outside[1:] else 'not'} {', '.join(outside)}"


def _narrow_rule_condition(
    tree: Tree,
    node: int,
    name: str,
    feature: Feature,
    known: _RuleRange | _RuleCategories | None,
    thresholds: dict[int, str],
) -> tuple[_RuleRange | _RuleCategories, _RuleRange | _RuleCategories]:
    """Return the condition on a split's feature after the answer yes, and after no."""
    if isinstance(feature, Categorical):
        is_left = tree.left_mask(node)
        possible = known.possible if isinstance(known, _RuleCategories) else np.ones_like(is_left)
        before = _RuleCategories(name_text(name), feature, possible)
        return (
            replace(before, possible=possible & is_left),
            replace(before, possible=possible & ~is_left),
        )
    if not isinstance(known, _RuleRange):
        known = _RuleRange(name_text(name), feature.integer)
    value = float(tree.threshold[node])
    up_to = above = _RuleBound(value, thresholds[node])
    if feature.integer:
        above = _RuleBound(value, number_text(math.floor(value) + 1))
    return (
        replace(known, up_to=min(up_to, known.up_to or up_to)),
        replace(known, above=max(above, known.above or above)),
    )
