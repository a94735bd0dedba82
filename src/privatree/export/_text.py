"""A tree as text: questions in the units of the data, answers by name."""

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
from privatree.schema import Categorical, Feature, Label

_TOLERANCE = 1e-6  # of a feature's range: how far a threshold may be rounded down
LONG = 3
"""A set with more categories than this is shown by its complement if that is shorter."""
_SHOWN_CLASSES = 4
_UNSAFE = re.compile(r'[,{}"\\]|^\s|\s$|^$')


def export_text(model: Any) -> str:
    """Draw a tree as text.

    Parameters
    ----------
    model : Tree, Model or trained classifier
        Whose tree to draw.

    Returns
    -------
    str
        One line for each node, without a line break at the end. A split is a question, its
        answers are drawn below it; a leaf says what it predicts.

    Notes
    -----
    Thresholds are rounded down to few decimals. Every value written with no more decimals than
    the threshold shown goes the way the text says, and different thresholds of a feature look
    different (on whole numbers: unless they mean the same). Names that could break the drawing are
    quoted and escaped.

    Examples
    --------
    >>> from privatree.schema import Numeric, Schema
    >>> from privatree.model import TreeBuilder
    >>> builder = TreeBuilder(Schema({"age": Numeric(17, 90, integer=True)}, ["no", "yes"]))
    >>> young, old = builder.split_numeric(builder.root, 0, 37.4)
    >>> builder.leaf(young, 0)
    >>> builder.leaf(old, 1)
    >>> print(export_text(builder.build()))
    age <= 37
    ├─ yes: predict no
    └─ no:  predict yes
    """
    tree = released_tree(model)
    texts = node_texts(tree)
    lines = []
    waiting = [(0, "", "")]  # node, what stands before its line, and before the lines below it
    while waiting:
        node, before, below = waiting.pop()
        lines.append(before + texts[node])
        if tree.feature[node] >= 0:
            left, right = tree.children(node)
            waiting.append((right, f"{below}└─ no:  ", f"{below}   "))
            waiting.append((left, f"{below}├─ yes: ", f"{below}│  "))
    return "\n".join(lines)


def node_texts(tree: Tree) -> tuple[str, ...]:
    """For each node its question, or what it predicts."""
    features = list(tree.schema.features.items())
    thresholds = threshold_texts(tree)
    return tuple(
        _question(tree, node, features[position], thresholds)
        if position >= 0
        else f"predict {name_text(tree.schema.classes[tree.label[node]])}{_shares(tree, node)}"
        for node, position in enumerate(tree.feature.tolist())
    )


def _question(tree: Tree, node: int, asked: tuple[str, Feature], thresholds: dict[int, str]) -> str:
    name, feature = asked
    if isinstance(feature, Categorical):
        return f"{name_text(name)} {_membership(feature, tree.left_mask(node))}"
    return f"{name_text(name)} <= {thresholds[node]}"


# --- names --------------------------------------------------------------------------------------


def name_text(label: Label) -> str:
    """A name as it stands; quoted and escaped where it would be read wrongly or break a line."""
    text = str(label)
    if text.isprintable() and not _UNSAFE.search(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escape_text(quoted)}"'


def _membership(feature: Categorical, is_left: NDArray[np.bool_]) -> str:
    yes = [feature.categories[code] for code in np.flatnonzero(is_left).tolist()]
    no = [feature.categories[code] for code in np.flatnonzero(~is_left).tolist()]
    relation, names = ("not in", no) if len(yes) > max(LONG, len(no)) else ("in", yes)
    return f"{relation} {{{', '.join(map(name_text, names))}}}"


def _shares(tree: Tree, node: int) -> str:
    """The probabilities of a leaf: of all classes, or of the likeliest where they are many."""
    if tree.probability is None:
        return ""
    row, classes = tree.probability[node], tree.schema.classes
    shown = range(len(classes))
    if len(classes) <= _SHOWN_CLASSES:
        more = ""
    else:
        shown, more = np.sort(np.argsort(-row, kind="stable")[:_SHOWN_CLASSES]).tolist(), ", …"
    return f" ({', '.join(f'{name_text(classes[i])} {row[i]:.1%}' for i in shown)}{more})"


# --- numbers ------------------------------------------------------------------------------------


def threshold_texts(tree: Tree) -> dict[int, str]:
    """The threshold of each numeric split, short and faithful."""
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
                texts[node] = whole_text(math.floor(threshold))
            else:
                texts[node] = _plain(_shortest(threshold, tolerance))
    return texts


def whole_text(number: int) -> str:
    """A whole number in digits, unless they would be very many."""
    return _plain(Decimal(number))


def _shortest(threshold: float, tolerance: float) -> Decimal:
    """Round down to as few decimals as stay within the tolerance."""
    exact = Decimal(repr(threshold))
    finest = exact.as_tuple().exponent
    if not isinstance(finest, int):  # pragma: no cover
        raise ValueError("threshold must be a finite number.")
    for exponent in range(0, finest, -1):
        rounded = exact.quantize(Decimal((0, (1,), exponent)), rounding=ROUND_FLOOR)
        if exact - rounded <= Decimal(tolerance):
            return rounded
    return exact


def _plain(number: Decimal) -> str:
    """Digits without an exponent, unless they would be very many."""
    if number == 0:
        return "0"
    short = number.normalize()
    if -6 <= short.adjusted() < 16:
        return format(short, "f")
    return str(short).lower()
