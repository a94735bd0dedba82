"""A tree as indented text, and the texts of single nodes, names, thresholds and supports."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.escape import escape_text
from privatree.counting import N_BINS, cut_points
from privatree.model import Tree, released_tree
from privatree.privacy import shown_count
from privatree.schema import Categorical, Label, Numeric

_TOLERANCE, _TOLERANCE_OF_SMALL, _FLOAT_ERROR = 1e-6, 1e-3, 1e-12
"""Limits on the rounding of a threshold that is not a cut point of a default grid: the
first times the range, and the larger of the second times the threshold and the third times the
range."""
NO_SUPPORT = "few or no"
"""Beginning of the text for a leaf that has no more records, or units, than noise explains."""
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
        and its two answers follow below it. The line of a leaf is its prediction, with class
        probabilities and the noisy number of records if the model has them, or of units if epsilon
        is for units. The noise exceeds the number after ± with a probability of 5%.

    Notes
    -----
    A threshold is rounded down to the digits that the grid of cut points allows: the shown number
    is in the same bin as the threshold. A value with no more digits than the shown threshold goes
    the way that the text says; ``export_json`` has every digit. Different thresholds of a feature
    have different texts, unless all whole numbers of an integer feature fall on the same side of
    both. Names with special characters are quoted and escaped. "is missing" is about features whose
    missing values are separate; a category that is not in the schema is missing, too.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> print(export_text(model.fit(X, y)))
    Cell_Shape_Uniformity <= 3
    ├─ yes: predict benign (benign 94.9%, malignant 5.1%), about 453 (± 82) records
    └─ no:  predict malignant (benign 0.5%, malignant 99.5%), about 167 (± 82) records
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
    thresholds, may_be_missing = threshold_texts(tree), nodes_with_missing(tree)
    texts = []
    for node, position in enumerate(tree.feature.tolist()):
        if position < 0:
            label = name_text(tree.schema.classes[tree.label[node]])
            support = support_text(tree, node)
            after = f", {support}" if support else ""
            texts.append(f"predict {label}{_probabilities_text(tree, node)}{after}")
            continue
        name, feature = features[position]
        if isinstance(feature, Categorical):
            condition = _category_set_text(feature, tree.left_mask(node))
        elif tree.asks_missing(node):
            condition = "is missing"
        else:
            condition = f"{'is missing or ' * (node in may_be_missing)}<= {thresholds[node]}"
        texts.append(f"{name_text(name)} {condition}")
    return tuple(texts)


def nodes_with_missing(tree: Tree) -> set[int]:
    """Return the numeric splits that missing values can reach, if they are separate.

    Such values go left at every split on their feature, so none comes after the answer no.
    """
    features = list(tree.schema.features.values())
    found = set[int]()
    present: list[frozenset[int]] = [frozenset()] * tree.n_nodes  # features that are not missing
    for node, position in zip(
        tree.splits.tolist(), tree.feature[tree.splits].tolist(), strict=True
    ):
        left, right = tree.children(node)
        present[left] = present[right] = present[node]
        if isinstance(features[position], Numeric) and features[position].separates_missing:
            present[right] |= {position}
            if position not in present[node]:
                found.add(node)
    return found


# --- names --------------------------------------------------------------------------------------


def name_text(label: Label) -> str:
    """Return a name as text, quoted and escaped if it has special characters."""
    text = str(label)
    if text.isprintable() and not _NEEDS_QUOTES.search(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escape_text(quoted)}"'


def _category_set_text(feature: Categorical, is_left: NDArray[np.bool_]) -> str:
    yes, no = (category_names(feature, mask) for mask in (is_left, ~is_left))
    is_long = len(yes) > max(MAX_LISTED_CATEGORIES, len(no))
    listed = f"{{{', '.join(no if is_long else yes)}}}"
    if not feature.separates_missing:
        return f"not in {listed}" if is_long else f"in {listed}"
    if is_left[feature.missing_place]:
        return (
            f"not in {listed}" if is_long else f"is missing or in {listed}" if yes else "is missing"
        )
    if not no:
        return "is not missing"
    return f"is not missing and not in {listed}" if is_long else f"in {listed}"


def category_names(feature: Categorical, mask: NDArray[np.bool_]) -> list[str]:
    """Return the names of the categories whose codes are marked in a mask."""
    pairs = zip(feature.categories, mask.tolist(), strict=False)  # separate missing has no name
    names = [name_text(category) for category, is_marked in pairs if is_marked]
    if feature.separates_missing:  # so that such a category is not taken for a missing value
        names = ['"missing"' if name == "missing" else name for name in names]
    return names


def _probabilities_text(tree: Tree, leaf: int) -> str:
    """Return a leaf's probabilities in parentheses; only the largest if there are many classes."""
    if tree.probability is None:
        return ""
    row, classes = tree.probability[leaf], tree.schema.classes
    likeliest = sorted(np.argsort(-row, kind="stable")[:_MAX_SHOWN_CLASSES].tolist())
    more = ", …" * (len(classes) > _MAX_SHOWN_CLASSES)
    shown = ", ".join(f"{name_text(classes[i])} {share_text(row[i])}" for i in likeliest)
    return f" ({shown}{more})"


def share_text(share: float) -> str:
    """Return a probability as a percentage. Only 0 and 1 are shown as 0% and 100%."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def support_text(tree: Tree, leaf: int) -> str:
    """Return the noisy number of records, or units, of a leaf with its error; or else ""."""
    if tree.support is None or tree.support_error is None:
        return ""
    if not tree.has_support(leaf):
        return f"{NO_SUPPORT} {tree.counted}"
    noisy, error = int(tree.support[leaf]), int(tree.support_error[leaf])
    return f"{shown_count(noisy, error)} {tree.counted}"


# --- numbers ------------------------------------------------------------------------------------


def threshold_texts(tree: Tree) -> dict[int, str]:
    """Return the rounded threshold of each numeric split that has one, by node number."""
    features = list(tree.schema.features.values())
    texts = dict[int, str]()
    for position, nodes in tree.splits_by_feature().items():
        feature = features[position]
        if isinstance(feature, Categorical):
            continue
        nodes = [node for node in nodes if not tree.asks_missing(node)]
        values = np.unique(tree.threshold[nodes]).tolist()
        least_gap = min((above - below for below, above in pairwise(values)), default=math.inf)
        cuts = (cut_points(feature, n_bins)[0] for n_bins in N_BINS)
        grids = [part[np.isfinite(part)].tolist() for part in cuts]
        shown = {
            value: number_text(_shorten_threshold(feature, value, grids, least_gap / 4))
            for value in values
        }
        texts |= {node: shown[float(tree.threshold[node])] for node in nodes}
    return texts


def _shorten_threshold(
    feature: Numeric, threshold: float, grids: list[list[float]], tolerance: float
) -> Decimal:
    """Return the threshold, rounded down to the fewest digits that stay in the bin below it.

    A threshold that is not a cut point of a default grid keeps nearly all digits. A cut point that
    the schema lists is rounded by no more than the error of floats.
    """
    width = float(feature.high) - float(feature.low)
    exact = Decimal(math.floor(threshold)) if feature.integer else Decimal(repr(threshold))
    room = min(_room_in_bin_below(threshold, grid, float(feature.low)) for grid in grids)
    first = 0
    if feature.cuts is None and room < math.inf:
        tolerance, first = min(tolerance, room), exact.adjusted()
    elif feature.integer:
        return exact
    elif feature.cuts is not None:
        tolerance = min(room, _FLOAT_ERROR * width)
    else:
        of_small = max(_TOLERANCE_OF_SMALL * abs(threshold), _FLOAT_ERROR * width)
        tolerance = min(tolerance, _TOLERANCE * width, of_small)
    for exponent in range(first, int(exact.as_tuple().exponent), -1):
        rounded = exact.quantize(Decimal((0, (1,), exponent)), rounding=ROUND_FLOOR)
        if Decimal(threshold) - rounded < Decimal(tolerance):
            return rounded
    return exact


def _room_in_bin_below(threshold: float, grid: list[float], low: float) -> float:
    """Return how far a threshold can be rounded down; infinity if it is not a cut point.

    The limit is half of a usual bin, but at most the bin that ends at the threshold.
    """
    place = bisect_left(grid, threshold)
    if place == len(grid) or grid[place] != threshold:
        return math.inf
    before, below = [low, low, *grid[:place]][-2:]
    return min(threshold - below, (threshold - before) / 4)


def number_text(number: Decimal | int) -> str:
    """Return a number in digits, or with an exponent if it would have very many digits."""
    if number == 0:
        return "0"
    short = Decimal(number).normalize()
    if -6 <= short.adjusted() < 16:
        return format(short, "f")
    return str(short).lower()
