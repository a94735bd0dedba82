"""A tree as rules: one sentence for each leaf, with its conditions and its prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.export.text._distributions import spread_text
from privatree.export.text._shown_values import (
    MAX_LISTED_CATEGORIES,
    category_names,
    name_text,
    number_text,
    share_text,
)
from privatree.export.text._tree_text import outcome_text, support_text, threshold_texts
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
        the schema says; those that are separate are named: ``age is missing or at most 37``.
    label : str, bool, int, float or None
        Predicted class; None if the tree predicts a number.
    probability : tuple of float, or None
        Probability of each class in the order of the schema, if the learner released them.
    sentence : str
        The whole rule as one sentence, and the noisy number of records as another if the learner
        released it.
    value : float or None
        Predicted number; None if the tree predicts a class.

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
    label: Label | None
    probability: tuple[float, ...] | None
    sentence: str
    value: float | None = None


def rules(model: Any) -> tuple[Rule, ...]:
    """Write each leaf of a tree as a sentence with its conditions and its prediction.

    Parameters
    ----------
    model : Tree, model or fitted learner
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
    ...     print(rule.sentence.replace(". ", ".\\n  "))
    If Cell_Shape_Uniformity is at most 3, predict benign (probability 94.9%).
      About 453 (± 82) records.
    If Cell_Shape_Uniformity is at least 4, predict malignant (probability 99.5%).
      About 167 (± 82) records.
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
    conditions = tuple(condition.text() for condition in known if not condition.is_always_true)
    probability = None if tree.probability is None else tuple(tree.probability[leaf].tolist())
    shown = f"predict {outcome_text(tree, leaf)}"
    if probability is not None:
        shown += f" (probability {share_text(probability[tree.label[leaf]])})"
    elif spread := spread_text(tree, leaf):
        shown += f" ({spread})"
    if any(condition.is_impossible for condition in known):
        shown += ", but no record is like that"
    sentence = f"If {' and '.join(conditions)}, {shown}." if conditions else f"Always {shown}."
    if support := support_text(tree, leaf):
        sentence += f" {support[0].upper()}{support[1:]}."
    if tree.value is not None:
        return Rule(leaf, conditions, None, None, sentence, float(tree.value[leaf]))
    label = tree.schema.classes[tree.label[leaf]]
    return Rule(leaf, conditions, label, probability, sentence)


# --- the condition on one feature ---------------------------------------------------------------


class _RuleBound(NamedTuple):
    """A threshold, its text, and whether the text is the whole part of the threshold.

    For "is missing", the threshold is minus infinity, and the text is empty.
    """

    value: float
    text: str
    is_whole: bool


@dataclass(frozen=True)
class _RuleRange:
    """The condition that a number is above one threshold, at most another one, or both.

    Missing values that are separate are below all numbers.
    """

    name: str
    integer: bool
    separates_missing: bool
    above: _RuleBound | None = None
    up_to: _RuleBound | None = None

    is_always_true = False

    @property
    def is_impossible(self) -> bool:
        if self.above is None or self.up_to is None:
            return False
        low, high = self.above.value, self.up_to.value
        if self.integer and math.isfinite(low) and math.isfinite(high):
            return math.floor(low) >= math.floor(high)
        return low >= high

    def text(self) -> str:
        if self.up_to is not None and not self.up_to.text:
            return f"{self.name} is missing{' and not missing' * (self.above is not None)}"
        if self.above is not None and not self.above.text and self.up_to is None:
            return f"{self.name} is not missing"
        may_be_missing = self.separates_missing and self.above is None
        bounds = []
        if self.above is not None and self.above.text:
            first = number_text(math.floor(self.above.value) + 1)
            is_whole = self.above.is_whole
            bounds.append(f"at least {first}" if is_whole else f"above {self.above.text}")
            if self.up_to is not None and is_whole and first == self.up_to.text:
                return f"{self.name} is {first}"
        if self.up_to is not None:
            bounds.append(f"at most {self.up_to.text}")
        return f"{self.name} is {'missing or ' * may_be_missing}{' and '.join(bounds)}"


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
            category_names(self.feature, mask) for mask in (self.possible, ~self.possible)
        )
        one_of = f"{'one of ' * (len(inside) > 1)}{', '.join(inside)}"
        none_of = f"{'none of' if outside[1:] else 'not'} {', '.join(outside)}"
        is_long = len(inside) > max(MAX_LISTED_CATEGORIES, len(outside))
        return f"{self.name} is {self._with_missing(one_of, none_of, is_long)}"

    def _with_missing(self, one_of: str, none_of: str, is_long: bool) -> str:
        """Return the condition in words, with "missing" if separate missing values fulfil it."""
        separates = self.feature.separates_missing
        if not self.possible.any():
            return f"{'neither missing nor one' if separates else 'none'} of its categories"
        if not separates:
            return none_of if is_long else one_of
        if self.possible[self.feature.missing_place]:
            return none_of if is_long else f"missing or {one_of}" if one_of else "missing"
        if self.possible[:-1].all():
            return "not missing"
        return f"not missing and {none_of}" if is_long else one_of


def _narrow_rule_condition(
    tree: Tree,
    node: int,
    name: str,
    feature: Feature,
    known: _RuleRange | _RuleCategories | None,
    thresholds: dict[int, str],
) -> tuple[_RuleRange | _RuleCategories, _RuleRange | _RuleCategories]:
    """Return the condition on a split's feature after the answer yes and after the answer no."""
    if isinstance(feature, Categorical):
        is_left = tree.left_mask(node)
        possible = known.possible if isinstance(known, _RuleCategories) else np.ones_like(is_left)
        before = _RuleCategories(name_text(name), feature, possible)
        return (
            replace(before, possible=possible & is_left),
            replace(before, possible=possible & ~is_left),
        )
    if not isinstance(known, _RuleRange):
        known = _RuleRange(name_text(name), feature.integer, feature.separates_missing)
    value, text = float(tree.threshold[node]), thresholds.get(node, "")
    is_whole = feature.integer and bool(text) and text == number_text(math.floor(value))
    bound = _RuleBound(value, text, is_whole)
    return (
        replace(known, up_to=min(bound, known.up_to or bound)),
        replace(known, above=max(bound, known.above or bound)),
    )
