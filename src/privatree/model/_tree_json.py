"""The written form of a tree: a list of nodes, in the names and labels of its schema.

A person can read it, and :func:`tree_from_dict` checks everything in it: whatever comes back is
a tree of the schema.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from privatree.errors import ModelFormatError
from privatree.model._tree import MAX_MASK, MAX_NODES, Tree
from privatree.model._tree_building import Draft, assemble
from privatree.schema import Categorical, Feature, Label, Schema

_KINDS: dict[type, str] = {str: "text", bool: "truth", int: "whole", float: "real"}
_SPLIT_KEYS = frozenset({"feature", "left", "right"})


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """Plain dictionaries and lists, with the names and labels of the schema."""
    features = list(tree.schema.features.items())
    return {"nodes": [_node_to_dict(tree, node, features) for node in range(tree.n_nodes)]}


def _node_to_dict(tree: Tree, node: int, features: list[tuple[str, Feature]]) -> dict[str, Any]:
    position = int(tree.feature[node])
    if position < 0:
        leaf: dict[str, Any] = {"label": tree.schema.classes[tree.label[node]]}
        if tree.probability is not None:
            leaf["probability"] = tree.probability[node].tolist()
        return leaf
    name, feature = features[position]
    split: dict[str, Any] = {"feature": name}
    if isinstance(feature, Categorical):
        mask = tree.goes_left[tree.mask_start[node] :][: len(feature.categories)]
        split["categories"] = [feature.categories[code] for code in np.flatnonzero(mask).tolist()]
    else:
        split["threshold"] = float(tree.threshold[node])
    return split | {"left": int(tree.left[node]), "right": int(tree.right[node])}


def tree_from_dict(written: Any, schema: Schema) -> Tree:
    """Read what :func:`tree_to_dict` wrote; every mistake is a :class:`ModelFormatError`."""
    if not isinstance(written, dict) or written.keys() != {"nodes"}:
        raise ModelFormatError("a tree must be an object with the one key 'nodes'.")
    nodes = written["nodes"]
    if not isinstance(nodes, list) or not 1 <= len(nodes) <= MAX_NODES:
        raise ModelFormatError(f"'nodes' must be a list of 1 to {MAX_NODES} nodes.")
    reader = _Reader(schema, len(nodes))
    drafts = []
    for node, entry in enumerate(nodes):
        try:
            drafts.append(reader.read(entry))
        except ModelFormatError as error:
            raise ModelFormatError(f"node {node}: {error}") from None
    return assemble(schema, drafts)


class _Reader:
    """Reads one written node at a time."""

    def __init__(self, schema: Schema, n_nodes: int) -> None:
        self.n_nodes, self.mask_entries = n_nodes, 0
        self.positions = {name: position for position, name in enumerate(schema.features)}
        self.classes = _codes(schema.classes)
        self.categories = [
            _codes(feature.categories) if isinstance(feature, Categorical) else None
            for feature in schema.features.values()
        ]

    def read(self, entry: Any) -> Draft:
        if not isinstance(entry, dict):
            raise ModelFormatError("must be an object.")
        keys = entry.keys()
        if keys == {"label"} or keys == {"label", "probability"}:
            label = _code(entry["label"], self.classes, "the classes")
            return Draft(label=label, probability=self._probability(entry))
        if keys == _SPLIT_KEYS | {"threshold"} or keys == _SPLIT_KEYS | {"categories"}:
            return self._split(entry)
        raise ModelFormatError(
            "must have the keys 'feature', 'left', 'right' and one of 'threshold' and "
            "'categories', or the key 'label' and perhaps 'probability', and no others."
        )

    def _split(self, entry: dict[str, Any]) -> Draft:
        name = entry["feature"]
        if not isinstance(name, str) or name not in self.positions:
            raise ModelFormatError("'feature' must be a feature of the schema.")
        position = self.positions[name]
        codes = self.categories[position]
        if (codes is None) == ("categories" in entry):
            needed = "'threshold'" if codes is None else "'categories'"
            raise ModelFormatError(f"a split on this feature must have {needed}.")
        draft = Draft(position, left=self._child(entry, "left"), right=self._child(entry, "right"))
        if codes is None:
            return draft._replace(threshold=_finite(entry["threshold"], "'threshold'"))
        if not isinstance(entry["categories"], list):
            raise ModelFormatError("'categories' must be a list.")
        self.mask_entries += len(codes)
        if self.mask_entries > MAX_MASK:
            raise ModelFormatError(f"the category splits must have at most {MAX_MASK} categories.")
        mask = bytearray(len(codes))
        for category in entry["categories"]:
            code = _code(category, codes, "the feature's categories")
            if mask[code]:
                raise ModelFormatError("'categories' must be distinct.")
            mask[code] = 1
        return draft._replace(goes_left=bytes(mask))

    def _child(self, entry: dict[str, Any], side: str) -> int:
        child = entry[side]
        if type(child) is not int or not 0 < child < self.n_nodes:
            raise ModelFormatError(f"'{side}' must be a node id in 1 to {self.n_nodes - 1}.")
        return child

    def _probability(self, entry: dict[str, Any]) -> list[float] | None:
        if "probability" not in entry:
            return None
        shares = entry["probability"]
        if not isinstance(shares, list) or len(shares) != len(self.classes):
            raise ModelFormatError(f"'probability' must be a list of {len(self.classes)} numbers.")
        return [_finite(share, "'probability'") for share in shares]


def _codes(labels: Sequence[Label]) -> dict[tuple[str, Label], int]:
    return {(_kind(label), label): code for code, label in enumerate(labels)}


def _kind(label: Any) -> str:
    """Tells 1, 1.0 and true apart, which are equal in Python."""
    return _KINDS.get(type(label), "")


def _code(label: Any, codes: dict[tuple[str, Label], int], of_what: str) -> int:
    kind = _kind(label)
    code = codes.get((kind, label)) if kind else None
    if code is None:
        raise ModelFormatError(f"a label must be one of {of_what}.")
    return code


def _finite(value: Any, name: str) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:  # an int beyond the floats
        number = math.inf
    if not math.isfinite(number):
        raise ModelFormatError(f"{name} must be a finite number.")
    return number
