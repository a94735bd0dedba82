"""A tree in the language of Graphviz, which draws it."""

from __future__ import annotations

import textwrap
from typing import Any

from privatree._support.plot_style import CLASS_COLOURS, tint
from privatree.export._text import node_texts
from privatree.model import released_tree

_LINE = 40  # letters


def export_dot(model: Any) -> str:
    """Write a tree in the language of Graphviz.

    Parameters
    ----------
    model : Tree, Model or fitted classifier
        Whose tree to write.

    Returns
    -------
    str
        A graph with the questions and answers of :func:`privatree.export.export_text`. A leaf has
        the colour of the class that it predicts. ``dot -Tsvg tree.dot -o tree.svg`` draws it.

    Examples
    --------
    >>> from privatree.schema import Numeric, Schema
    >>> from privatree.model import TreeBuilder
    >>> builder = TreeBuilder(Schema({"age": Numeric(17, 90, integer=True)}, ["no", "yes"]))
    >>> young, old = builder.split_numeric(builder.root, 0, 37.4)
    >>> builder.leaf(young, 0)
    >>> builder.leaf(old, 1)
    >>> print(export_dot(builder.build()))
    digraph privatree {
      node [shape=box, style="rounded,filled", fillcolor="#F2F2F2", fontname="sans-serif"]
      edge [fontname="sans-serif"]
      0 [label="age <= 37"]
      1 [label="predict no", fillcolor="#B8D8E9"]
      2 [label="predict yes", fillcolor="#F8E4B8"]
      0 -> 1 [label="yes"]
      0 -> 2 [label="no"]
    }
    """
    tree = released_tree(model)
    nodes, edges = list[str](), list[str]()
    for node, text in enumerate(node_texts(tree)):
        if tree.feature[node] < 0:
            colour = tint(CLASS_COLOURS[tree.label[node] % len(CLASS_COLOURS)], 0.28)
            nodes.append(f'{node} [label={_quoted(text)}, fillcolor="{colour}"]')
        else:
            nodes.append(f"{node} [label={_quoted(text)}]")
            edges.append(f'{node} -> {tree.left[node]} [label="yes"]')
            edges.append(f'{node} -> {tree.right[node]} [label="no"]')
    style = [
        'node [shape=box, style="rounded,filled", fillcolor="#F2F2F2", fontname="sans-serif"]',
        'edge [fontname="sans-serif"]',
    ]
    lines = [f"  {line}" for line in (*style, *nodes, *edges)]
    return "\n".join(["digraph privatree {", *lines, "}"])


def _quoted(text: str) -> str:
    """A label that Graphviz shows as it is: it reads backslashes and HTML's entities."""
    lines = textwrap.wrap(text, _LINE, break_long_words=False, drop_whitespace=False,
                          break_on_hyphens=False)  # fmt: skip
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'
