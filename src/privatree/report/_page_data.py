"""Data for the script of the page: the tree in plain lists, with exact thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree.export import name_text, nodes_with_missing, support_text, threshold_texts
from privatree.model import Tree
from privatree.privacy import UnitWords
from privatree.report._certificate_section import EXAMPLE, CertificateSection
from privatree.report._certificate_table import ACCURACY_STEPS
from privatree.schema import Categorical


def page_script_data(tree: Tree, section: CertificateSection, words: UnitWords) -> dict[str, Any]:
    """Return the tree and the certificates for the script of the page, without unused features.

    `words` say what an edit of the training data adds or removes.
    """
    place = {position: i for i, position in enumerate(tree.used_features)}
    features = list(tree.schema.features.items())
    thresholds = threshold_texts(tree)
    categories = np.flatnonzero(tree.mask_start >= 0).tolist()
    return {
        "classes": [name_text(label) for label in tree.schema.classes],
        "features": [_page_feature_data(*features[position]) for position in tree.used_features],
        "feature": [place.get(position, -1) for position in tree.feature.tolist()],
        "threshold": [t if np.isfinite(t) else None for t in tree.threshold.tolist()],
        "shown": thresholds,
        "with_missing": sorted(nodes_with_missing(tree)),
        "codes": {node: list(tree.left_codes(node)) for node in categories},
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
        "label": tree.label.tolist(),
        "probability": None
        if tree.probability is None
        else {leaf: tree.probability[leaf].tolist() for leaf in tree.leaves.tolist()},
        "support": None
        if tree.support is None
        else {leaf: support_text(tree, leaf) for leaf in tree.leaves.tolist()},
        "certificate": None
        if section.table is None
        else {
            "steps": ACCURACY_STEPS,
            "edited": [words.noun, words.counted],
            "example": EXAMPLE,
            "starts": section.table.starts,
            "edits": section.table.edits,
            "rows": section.table.rows,
            "paper": section.table.paper_factors,
            "measured": None if section.measured is None else section.measured.start,
        },
    }


def _page_feature_data(name: str, feature: Any) -> dict[str, Any]:
    if isinstance(feature, Categorical):
        return {
            "name": name_text(name),
            "names": [name_text(category) for category in feature.categories],
            "missing": feature.missing_place,
            "separate": feature.separates_missing,
        }
    return {
        "name": name_text(name),
        "low": float(feature.low),
        "high": float(feature.high),
        "integer": feature.integer,
        "missing": None if feature.separates_missing else float(feature.missing_place),
        "separate": feature.separates_missing,
    }
