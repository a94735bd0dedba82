"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

import textwrap
from typing import Any

from privatree._support.plot_style import PALE_GREY, TEXT_GREY
from privatree.export._leaf_colours import leaf_colours
from privatree.export.text._tree_text import node_texts, support_text
from privatree.model import released_tree

_MAX_LINE_LENGTH = 40  # characters


def export_dot(model: Any) -> str:
    """Write a tree in the DOT language of Graphviz.

    Parameters
    ----------
    model : Tree, model or fitted learner
        Model whose tree is written.

    Returns
    -------
    str
        A graph with the questions and predictions of :func:`privatree.export.export_text`. Each
        leaf has the colour of its class, or is the darker, the larger its number; a leaf with few
        or no records is grey.
        ``dot -Tsvg tree.dot -o tree.svg`` draws the graph.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> dot = export_dot(model.fit(X, y))
    >>> print(dot.replace(", fillcolor", ",\\n    fillcolor"))
    digraph privatree {
      node [shape=box, style="rounded,filled",
        fillcolor="#F2F2F2", fontname="sans-serif"]
      edge [fontname="sans-serif"]
      0 [label="Cell_Shape_Uniformity <= 3"]
      1 [label="predict benign (benign 94.9%, malignant \\n5.1%), \\nabout 453 (± 82) records",
        fillcolor="#B8D8E9"]
      2 [label="predict malignant (benign 0.5%, \\nmalignant 99.5%), \\nabout 167 (± 82) records",
        fillcolor="#F8E4B8"]
      0 -> 1 [label="yes"]
      0 -> 2 [label="no"]
    }
    """
    tree = released_tree(model)
    nodes, edges = list[str](), list[str]()
    for node, text in enumerate(node_texts(tree)):
        if tree.feature[node] < 0:
            look = f'fillcolor="{leaf_colours(tree, node).face}"'
            if not tree.has_support(node):
                look += f', color="{TEXT_GREY}", fontcolor="{TEXT_GREY}"'
            support = support_text(tree, node)
            label = _dot_label(text.removesuffix(support), support)
            nodes.append(f"{node} [label={label}, {look}]")
        else:
            nodes.append(f"{node} [label={_dot_label(text)}]")
            edges.append(f'{node} -> {tree.left[node]} [label="yes"]')
            edges.append(f'{node} -> {tree.right[node]} [label="no"]')
    style = [
        f'node [shape=box, style="rounded,filled", fillcolor="{PALE_GREY}", fontname="sans-serif"]',
        'edge [fontname="sans-serif"]',
    ]
    lines = [f"  {line}" for line in (*style, *nodes, *edges)]
    return "\n".join(["digraph privatree {", *lines, "}"])


def _dot_label(*texts: str) -> str:
    """Quote a label. Graphviz would otherwise interpret backslashes and HTML entities."""
    wrapper = textwrap.TextWrapper(_MAX_LINE_LENGTH, break_long_words=False,
                                   drop_whitespace=False, break_on_hyphens=False)  # fmt: skip
    lines = [line for text in texts for line in wrapper.wrap(text)]
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'
