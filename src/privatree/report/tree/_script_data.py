"""Data for the script of the page: the tree in plain lists, with exact thresholds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from privatree.export import name_text, nodes_with_missing, support_text, threshold_texts
from privatree.model import Tree
from privatree.report._schema_table import TargetSummary, form_feature_data
from privatree.report.tree._leaf_numbers import numbers_for_script


def tree_script_data(tree: Tree, target: TargetSummary | None) -> dict[str, Any]:
    """Return the tree for the script of the page, without unused features."""
    place = {position: i for i, position in enumerate(tree.used_features)}
    features = list(tree.schema.features.items())
    categories = np.flatnonzero(tree.mask_start >= 0).tolist()
    return {
        "target": None if target is None else asdict(target),
        "classes": [name_text(label) for label in tree.schema.classes],
        "features": [form_feature_data(*features[position]) for position in tree.used_features],
        "feature": [place.get(position, -1) for position in tree.feature.tolist()],
        "threshold": [t if np.isfinite(t) else None for t in tree.threshold.tolist()],
        "shown": threshold_texts(tree),
        "with_missing": sorted(nodes_with_missing(tree)),
        "codes": {node: list(tree.left_codes(node)) for node in categories},
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
        "label": tree.label.tolist(),
        "numbers": numbers_for_script(tree),
        "probability": None
        if tree.probability is None
        else {leaf: tree.probability[leaf].tolist() for leaf in tree.leaves.tolist()},
        "support": None
        if tree.support is None
        else {leaf: support_text(tree, leaf) for leaf in tree.leaves.tolist()},
    }
