"""A tree as rules: for each leaf, what holds of the records that come to it, as a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.export._text import LONG, name_text, threshold_texts, whole_text
from privatree.model import Tree, released_tree
from privatree.schema import Categorical, Label


@dataclass(frozen=True)
class Rule:
    """What a tree says of the records of one leaf.

    Attributes
    ----------
    leaf : int
        The node.
    conditions : tuple of str
        What holds of its records, one text for each feature that was asked about on the way, in
        the order of the first question: ``age is at most 37``. None for the leaf of a tree
        without splits. What is missing counts as the schema says.
    label : str, bool, int or float
        The predicted class.
    probability : tuple of float, or None
        Of each class in the order of the schema, where the learner released them.
    sentence : str
        The rule as one sentence.
    """

    leaf: int
    conditions: tuple[str, ...]
    label: Label
    probability: tuple[float, ...] | None
    sentence: str


def rules(model: Any) -> tuple[Rule, ...]:
    """Say in a sentence for each leaf what it predicts, and for which records.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Whose tree to put into words.

    Returns
    -------
    tuple of Rule
        One for each leaf, from left to right as :func:`privatree.export.export_text` draws them.
        A record fits exactly one.

    Notes
    -----
    Several questions about a feature become one condition. Numbers are as short, and as faithful,
    as those of :func:`privatree.export.export_text`.

    Examples
    --------
    >>> from privatree.schema import Numeric, Schema
    >>> from privatree.model import TreeBuilder
    >>> builder = TreeBuilder(Schema({"age": Numeric(17, 90, integer=True)}, ["no", "yes"]))
    >>> young, old = builder.split_numeric(builder.root, 0, 37.4)
    >>> builder.leaf(young, 0)
    >>> builder.leaf(old, 1)
    >>> for rule in rules(builder.build()):
    ...     print(rule.sentence)
    If age is at most 37, predict no.
    If age is at least 38, predict yes.
    """
    tree = released_tree(model)
    questions = _Questions(tree)
    found = []
    waiting: list[tuple[int, dict[int, _Between | _Among]]] = [(0, {})]
    while waiting:
        node, conditions = waiting.pop()
        if tree.feature[node] < 0:
            found.append(_rule(tree, node, tuple(conditions.values())))
            continue
        position = int(tree.feature[node])
        yes, no = questions.answered(node, conditions.get(position))
        left, right = tree.children(node)
        waiting.append((right, conditions | {position: no}))
        waiting.append((left, conditions | {position: yes}))
    return tuple(found)


def _rule(tree: Tree, leaf: int, known: tuple[_Between | _Among, ...]) -> Rule:
    label = tree.schema.classes[tree.label[leaf]]
    conditions = tuple(condition.text() for condition in known if not condition.says_nothing)
    probability = None if tree.probability is None else tuple(tree.probability[leaf].tolist())
    shown = f"predict {name_text(label)}"
    if probability is not None:
        shown += f" (probability {probability[tree.label[leaf]]:.1%})"
    if any(condition.is_impossible for condition in known):
        shown += ", but no record is like that"
    sentence = f"If {' and '.join(conditions)}, {shown}." if conditions else f"Always {shown}."
    return Rule(leaf, conditions, label, probability, sentence)


# --- what is known of a feature -----------------------------------------------------------------


class _Bound(NamedTuple):
    """A threshold, and what is written for it."""

    value: float
    text: str


@dataclass(frozen=True)
class _Between:
    """A number above one threshold and up to another; without one there is no such bound."""

    name: str
    integer: bool
    above: _Bound | None = None
    up_to: _Bound | None = None

    says_nothing = False

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
class _Among:
    """One of some categories."""

    name: str
    feature: Categorical
    possible: NDArray[np.bool_]

    @property
    def says_nothing(self) -> bool:
        return bool(self.possible.all())

    @property
    def is_impossible(self) -> bool:
        return not self.possible.any()

    def text(self) -> str:
        inside, outside = np.flatnonzero(self.possible), np.flatnonzero(~self.possible)
        if self.is_impossible:
            return f"{self.name} is none of its categories"
        if len(inside) <= max(LONG, len(outside)):
            return f"{self.name} is {'one of ' * (len(inside) > 1)}{self._listed(inside)}"
        return f"{self.name} is {'none of' if len(outside) > 1 else 'not'} {self._listed(outside)}"

    def _listed(self, codes: NDArray[np.intp]) -> str:
        return ", ".join(name_text(self.feature.categories[code]) for code in codes.tolist())


class _Questions:
    """The splits of a tree, and what the answers to them tell."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._features = tree, list(tree.schema.features.items())
        self._thresholds = threshold_texts(tree)

    def answered(
        self, node: int, known: _Between | _Among | None
    ) -> tuple[_Between | _Among, _Between | _Among]:
        """What is known of the feature after yes and after no, from what was known before."""
        name, feature = self._features[self._tree.feature[node]]
        if isinstance(feature, Categorical):
            is_left = self._tree.left_mask(node)
            possible = known.possible if isinstance(known, _Among) else np.ones_like(is_left)
            both = (possible & is_left, possible & ~is_left)
            yes, no = (_Among(name_text(name), feature, some) for some in both)
            return yes, no
        before = (
            known if isinstance(known, _Between) else _Between(name_text(name), feature.integer)
        )
        value, text = float(self._tree.threshold[node]), self._thresholds[node]
        up_to, above = _Bound(value, text), _Bound(value, text)
        if feature.integer:
            above = _Bound(value, whole_text(math.floor(value) + 1))
        if before.up_to is not None:
            up_to = min(up_to, before.up_to)
        if before.above is not None:
            above = max(above, before.above)
        return replace(before, up_to=up_to), replace(before, above=above)
