"""A tree as JSON: a list of nodes, with the names and labels of its schema.

The JSON is readable for people. :func:`tree_from_dict` checks everything in it.
"""

from __future__ import annotations

import math
from typing import Any

from privatree.errors import ModelFormatError
from privatree.model._json_labels import (
    code_of_label,
    codes_of_labels,
    labels_by_code,
    read_finite,
)
from privatree.model.tree._tree import Tree
from privatree.model.tree._tree_building import NodeDraft, assemble_tree
from privatree.model.tree._tree_checks import MAX_EDGES, MAX_MASK, MAX_NODES, n_counts
from privatree.schema import Categorical, Feature, Schema

_LEAF_KEYS = frozenset({"label", "probability", "noisy_counts", "support_error"})
_VALUE_LEAF_KEYS = frozenset({"value", "shares", "noisy_counts", "support_error"})
_SPLIT_KEYS = frozenset({"feature", "left", "right"})
_QUESTIONS = ("threshold", "missing", "categories")


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """Return a tree as plain dictionaries and lists, with the names and labels of the schema."""
    features = list(tree.schema.features.items())
    edges = {} if tree.edges is None else {"edges": tree.edges.tolist()}
    nodes = [_node_to_dict(tree, node, features) for node in range(tree.n_nodes)]
    return {**edges, "nodes": nodes}


def _node_to_dict(tree: Tree, node: int, features: list[tuple[str, Feature]]) -> dict[str, Any]:
    position = int(tree.feature[node])
    if position < 0:
        leaf: dict[str, Any]
        if tree.value is None:
            leaf = {"label": tree.schema.classes[tree.label[node]]}
        else:
            leaf = {"value": float(tree.value[node])}
        if tree.probability is not None:
            leaf["probability"] = tree.probability[node].tolist()
        if tree.noisy_counts is not None and tree.support_error is not None:
            leaf["noisy_counts"] = tree.noisy_counts[node].tolist()
            leaf["support_error"] = int(tree.support_error[node])
        if tree.shares is not None:
            leaf["shares"] = tree.shares[node].tolist()
        return leaf
    name, feature = features[position]
    split: dict[str, Any] = {"feature": name}
    if isinstance(feature, Categorical):
        labels = labels_by_code(feature)
        split["categories"] = [labels[code] for code in tree.left_codes(node)]
    elif tree.asks_missing(node):
        split["missing"] = True
    else:
        split["threshold"] = float(tree.threshold[node])
    return split | {"left": int(tree.left[node]), "right": int(tree.right[node])}


def tree_from_dict(written: Any, schema: Schema) -> Tree:
    """Return the tree that :func:`tree_to_dict` wrote; raise a ModelFormatError for mistakes."""
    allowed = {"nodes"} if schema.target is None else {"nodes", "edges"}
    if not isinstance(written, dict) or not {"nodes"} <= written.keys() <= allowed:
        raise ModelFormatError(
            "a tree must be an object with the key 'nodes' and no others but 'edges', which a tree "
            "that predicts a number may have."
        )
    nodes, edges = written["nodes"], _read_edges(written.get("edges"))
    if not isinstance(nodes, list) or not 1 <= len(nodes) <= MAX_NODES:
        raise ModelFormatError(f"'nodes' must be a list of 1 to {MAX_NODES} nodes.")
    reader = _NodeReader(schema, len(nodes), max(len(edges or ()) - 1, 0))
    drafts = []
    for node, entry in enumerate(nodes):
        try:
            drafts.append(reader.read_node(entry))
        except ModelFormatError as error:
            raise ModelFormatError(f"node {node}: {error}") from None
    return assemble_tree(schema, drafts, edges)


def _read_edges(edges: Any) -> list[float] | None:
    if edges is None:
        return None
    if not isinstance(edges, list) or not 2 <= len(edges) <= MAX_EDGES:
        raise ModelFormatError(f"'edges' must be a list of 2 to {MAX_EDGES} numbers.")
    return [read_finite(edge, "'edges'") for edge in edges]


class _NodeReader:
    def __init__(self, schema: Schema, n_nodes: int, n_shares: int) -> None:
        self.n_nodes, self.mask_entries = n_nodes, 0
        self.n_counts, self.n_shares = n_counts(schema), n_shares
        self.has_values = schema.target is not None
        self.positions = {name: position for position, name in enumerate(schema.features)}
        self.classes = codes_of_labels(schema.classes)
        self.categories = [
            codes_of_labels(labels_by_code(feature)) if isinstance(feature, Categorical) else None
            for feature in schema.features.values()
        ]
        self.separate = [feature.separates_missing for feature in schema.features.values()]

    def read_node(self, entry: Any) -> NodeDraft:
        if not isinstance(entry, dict):
            raise ModelFormatError("a node must be an object.")
        keys = entry.keys()
        if not self.has_values and "label" in keys and keys <= _LEAF_KEYS:
            label = code_of_label(entry["label"], self.classes, "the classes")
            probability = _read_shares(entry, "probability", len(self.classes))
            return self._read_counts(entry, NodeDraft(label=label, probability=probability))
        if self.has_values and "value" in keys and keys <= _VALUE_LEAF_KEYS:
            value = read_finite(entry["value"], "'value'")
            shares = _read_shares(entry, "shares", self.n_shares)
            return self._read_counts(entry, NodeDraft(value=value, shares=shares))
        if any(keys == _SPLIT_KEYS | {question} for question in _QUESTIONS):
            return self._read_split(entry)
        raise ModelFormatError(
            "a split must have the keys 'feature', 'left', 'right' and one of 'threshold', "
            "'missing' and 'categories'; "
            + (
                "a leaf must have the key 'value' and may have 'shares', "
                if self.has_values
                else "a leaf must have the key 'label' and may have 'probability', "
            )
            + "'noisy_counts' and 'support_error'; no other keys are allowed."
        )

    def _read_split(self, entry: dict[str, Any]) -> NodeDraft:
        name = entry["feature"]
        if not isinstance(name, str) or name not in self.positions:
            raise ModelFormatError("'feature' must be the name of a feature of the schema.")
        position = self.positions[name]
        codes = self.categories[position]
        if (codes is None) == ("categories" in entry):
            needed = "'threshold' or 'missing'" if codes is None else "'categories'"
            raise ModelFormatError(f"a split on this feature must have the key {needed}.")
        draft = NodeDraft(
            position, left=self._read_child(entry, "left"), right=self._read_child(entry, "right")
        )
        if "missing" in entry:
            if entry["missing"] is not True or not self.separate[position]:
                raise ModelFormatError(
                    "'missing' must be true, on a feature whose missing values are separate."
                )
            return draft._replace(threshold=-math.inf)
        if codes is None:
            return draft._replace(threshold=read_finite(entry["threshold"], "'threshold'"))
        if not isinstance(entry["categories"], list):
            raise ModelFormatError("'categories' must be a list.")
        self.mask_entries += len(codes)
        if self.mask_entries > MAX_MASK:
            raise ModelFormatError(
                f"all category splits together must have at most {MAX_MASK} categories."
            )
        mask = bytearray(len(codes))
        for category in entry["categories"]:
            code = code_of_label(category, codes, "the feature's categories")
            if mask[code]:
                raise ModelFormatError("'categories' must be distinct.")
            mask[code] = 1
        return draft._replace(goes_left=bytes(mask))

    def _read_child(self, entry: dict[str, Any], side: str) -> int:
        child = entry[side]
        if type(child) is not int or not 0 < child < self.n_nodes:
            raise ModelFormatError(f"'{side}' must be a node id in 1 to {self.n_nodes - 1}.")
        return child

    def _read_counts(self, entry: dict[str, Any], draft: NodeDraft) -> NodeDraft:
        counts, error = entry.get("noisy_counts"), entry.get("support_error")
        if counts is None and error is None:
            return draft
        if not isinstance(counts, list) or len(counts) != self.n_counts:
            raise ModelFormatError(
                f"'noisy_counts' must be a list of {self.n_counts} whole numbers."
            )
        if any(type(number) is not int or abs(number) > 2**62 for number in (*counts, error)):
            raise ModelFormatError("'noisy_counts' and 'support_error' must be whole numbers.")
        return draft._replace(noisy_counts=counts, support_error=int(error or 0))


def _read_shares(entry: dict[str, Any], key: str, length: int) -> list[float] | None:
    if key not in entry:
        return None
    shares = entry[key]
    if not isinstance(shares, list) or len(shares) != length:
        raise ModelFormatError(f"'{key}' must be a list of {length} numbers.")
    return [read_finite(share, f"'{key}'") for share in shares]
