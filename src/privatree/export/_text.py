"""A tree as indented text, and the texts of single nodes, names and thresholds."""

from __future__ import annotations

import math
import re
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.escape import escape_text
from privatree.model import Tree, released_tree
from privatree.schema import Categorical, Label

_TOLERANCE = 1e-6  # largest rounding of a threshold, as a share of the feature's range
MAX_LISTED_CATEGORIES = 3
"""A set with more categories is shown as "not in" its complement if that is shorter."""
_MAX_SHOWN_CLASSES = 4
_NEEDS_QUOTES = re.compile(r'[,{}"\\]|^\s|\s$|^$')


def export_text(model: Any) -> str:
    """Write a tree as indented text.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Model whose tree is written.

    Returns
    -------
    str
        One line for each node, without a line break at the end. The line of a split is a question,
        and its two answers follow below it. The line of a leaf is its prediction.

    Notes
    -----
    Thresholds are rounded down to few decimals. A value with no more decimals than the shown
    threshold goes the way that the text says. Different thresholds of a feature have different
    texts, unless all whole numbers of an integer feature fall on the same side of both. Names with
    special characters are quoted and escaped.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> print(export_text(model.fit(X, y)))
    Cell_Shape_Uniformity <= 3
    ├─ yes: predict benign
    └─ no:  predict malignant
    """
    tree = released_tree(model)
    texts = node_texts(tree)
    lines = []
    waiting = [(0, "", "")]  # node, prefix of its line, prefix of the lines below it
    while waiting:
        node, before, below = waiting.pop()
        lines.append(before + texts[node])
        if tree.feature[node] >= 0:
            left, right = tree.children(node)
            waiting.append((right, f"{below}└─ no:  ", f"{below}   "))
            waiting.append((left, f"{below}├─ yes: ", f"{below}│  "))
    return "\n".join(lines)


def node_texts(tree: Tree) -> tuple[str, ...]:
    """Return the question of each split and the prediction of each leaf, by node number."""
    features = list(tree.schema.features.items())
    thresholds = threshold_texts(tree)
    texts = []
    for node, position in enumerate(tree.feature.tolist()):
        if position < 0:
            label = name_text(tree.schema.classes[tree.label[node]])
            texts.append(f"predict {label}{_probabilities_text(tree, node)}")
            continue
        name, feature = features[position]
        if isinstance(feature, Categorical):
            condition = _category_set_text(feature, tree.left_mask(node))
        else:
            condition = f"<= {thresholds[node]}"
        texts.append(f"{name_text(name)} {condition}")
    return tuple(texts)


# --- names --------------------------------------------------------------------------------------


def name_text(label: Label) -> str:
    """Return a name as text, quoted and escaped if it has special characters."""
    text = str(label)
    if text.isprintable() and not _NEEDS_QUOTES.search(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escape_text(quoted)}"'


def _category_set_text(feature: Categorical, is_left: NDArray[np.bool_]) -> str:
    yes = [feature.categories[code] for code in np.flatnonzero(is_left).tolist()]
    no = [feature.categories[code] for code in np.flatnonzero(~is_left).tolist()]
    is_long = len(yes) > max(MAX_LISTED_CATEGORIES, len(no))
    relation, names = ("not in", no) if is_long else ("in", yes)
    return f"{relation} {{{', '.join(map(name_text, names))}}}"


def _probabilities_text(tree: Tree, leaf: int) -> str:
    """Return the probabilities of a leaf, of many classes only the largest, in parentheses."""
    if tree.probability is None:
        return ""
    row, classes = tree.probability[leaf], tree.schema.classes
    likeliest = sorted(np.argsort(-row, kind="stable")[:_MAX_SHOWN_CLASSES].tolist())
    more = ", …" * (len(classes) > _MAX_SHOWN_CLASSES)
    return f" ({', '.join(f'{name_text(classes[i])} {row[i]:.1%}' for i in likeliest)}{more})"


# --- numbers ------------------------------------------------------------------------------------


def threshold_texts(tree: Tree) -> dict[int, str]:
    """Return the rounded threshold of each numeric split, by node number."""
    features = list(tree.schema.features.values())
    texts = {}
    for position, nodes in tree.splits_by_feature().items():
        feature = features[position]
        if isinstance(feature, Categorical):
            continue
        values = np.unique(tree.threshold[nodes]).tolist()
        gaps = [above - below for below, above in pairwise(values)]
        width = float(feature.high) - float(feature.low)
        tolerance = min([_TOLERANCE * width, *(gap / 4 for gap in gaps)])
        for node in nodes:
            threshold = float(tree.threshold[node])
            if feature.integer:
                texts[node] = number_text(math.floor(threshold))
            else:
                texts[node] = number_text(_round_down_for_text(threshold, tolerance))
    return texts


def _round_down_for_text(threshold: float, tolerance: float) -> Decimal:
    """Round down to the fewest decimals that stay within the tolerance."""
    exact = Decimal(repr(threshold))
    for exponent in range(0, int(exact.as_tuple().exponent), -1):
        rounded = exact.quantize(Decimal((0, (1,), exponent)), rounding=ROUND_FLOOR)
        if exact - rounded <= Decimal(tolerance):
            return rounded
    return exact


def number_text(number: Decimal | int) -> str:
    """Write a number in digits, or with an exponent if it would have very many digits."""
    if number == 0:
        return "0"
    short = Decimal(number).normalize()
    if -6 <= short.adjusted() < 16:
        return format(short, "f")
    return str(short).lower()
