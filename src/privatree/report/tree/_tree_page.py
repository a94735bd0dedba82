"""All values that the page and the card show of a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privatree.export import PathSpend, budget_path_bars, rules, support_text, value_places
from privatree.model import Tree, TreeRelease
from privatree.report._budget_bar import MAX_SEGMENTS, BudgetBar, BudgetPart, budget_bar
from privatree.report._page import ReportPage, certificate_data
from privatree.report._shown_names import shorten_shown_schema
from privatree.report._summary import summarize_model
from privatree.report.tree._leaf_numbers import NumberScale, number_scale
from privatree.report.tree._script_data import tree_script_data
from privatree.report.tree._tree_drawing import TreeDrawing, draw_report_tree
from privatree.schema import Categorical

MAX_RULES = 500
MAX_NAMES_IN_RULES = 200_000


@dataclass(frozen=True)
class RuleSentence:
    """A rule in three parts: its condition, its prediction and the noisy number of records.

    Of a tree that predicts a number, `place` is that of the leaf's box, and `label` is -1.
    """

    leaf: int
    label: int
    place: str
    condition: str
    answer: str
    support: str
    has_support: bool


@dataclass(frozen=True)
class TreeParts:
    """What only the page of a tree shows. The names in `tree` are short."""

    tree: Tree
    has_unsupported: bool
    """Whether a leaf has few or no records."""
    budget: BudgetBar
    drawing: TreeDrawing
    numbers: NumberScale | None
    rules: tuple[RuleSentence, ...]


def tree_page(released: TreeRelease, certificate: Any = None) -> ReportPage:
    """Return what the page of a tree is made of."""
    schema = shorten_shown_schema(released.schema_)
    tree = released.tree_ if schema is released.schema_ else replace(released.tree_, schema=schema)
    summary = summarize_model(released, schema, tree.used_features, certificate)
    privacy = released.privacy_
    own = TreeParts(
        tree=tree,
        has_unsupported=not all(map(tree.has_support, tree.leaves.tolist())),
        budget=budget_bar(
            [
                BudgetPart(bar.purpose, _spend_text(bar), bar.epsilon, bar.releases > 0)
                for bar in budget_path_bars(tree, privacy, MAX_SEGMENTS)
            ],
            privacy,
        ),
        drawing=draw_report_tree(tree),
        numbers=number_scale(tree),
        rules=_rules_for_page(tree),
    )
    certificates = {"certificate": certificate_data(summary.certificate, privacy.words)}
    return ReportPage(summary, own, tree_script_data(tree, summary.target) | certificates)


def _rules_for_page(tree: Tree) -> tuple[RuleSentence, ...]:
    """Return the rules of the leaves, or none if they are too many or too long."""
    if tree.n_leaves > MAX_RULES:
        return ()
    n_names = np.zeros(tree.n_nodes, dtype=np.int64)  # most names in the question of each node
    features = list(tree.schema.features.values())
    for node in tree.splits.tolist():
        feature = features[tree.feature[node]]
        n_names[node] = len(feature.categories) if isinstance(feature, Categorical) else 1
    if int(tree.path_sums(n_names)[tree.leaves].sum()) > MAX_NAMES_IN_RULES:
        return ()
    sentences, places = [], value_places(tree)
    for rule in rules(tree):
        end = len(f"If {' and '.join(rule.conditions)}, ") if rule.conditions else len("Always ")
        label, support = int(tree.label[rule.leaf]), support_text(tree, rule.leaf)
        text = rule.sentence
        start = len(text) - len(f" {support}.") if support else len(text)
        sentences.append(
            RuleSentence(
                rule.leaf,
                label,
                "" if tree.value is None else f"{100 * places[rule.leaf]:.0f}",
                text[:end],
                text[end:start],
                text[start:].strip(),
                tree.has_support(rule.leaf),
            )
        )
    return tuple(sentences)


def _spend_text(spend: PathSpend) -> str:
    if not spend.mechanism:
        return ""
    where = (
        "once, for the whole dataset" if spend.depth is None
        else "at the root" if spend.depth == 0
        else f"{spend.depth} level{'' if spend.depth == 1 else 's'} below the root"
    )  # fmt: skip
    times = f", {spend.releases:,} times" if spend.releases > 1 else ""
    return f"{spend.mechanism}, {where}{times}"
