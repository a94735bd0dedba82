from __future__ import annotations

import html
import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.export import export_dot, node_texts

NODE = re.compile(r'  (\d+) \[label="((?:[^"\\]|\\.)*)"(?:, fillcolor="(#[0-9A-F]{6})")?\]')
EDGE = re.compile(r'  (\d+) -> (\d+) \[label="(yes|no)"\]')


def shown(label: str) -> str:
    """What Graphviz makes of a label, without line breaks."""
    once = re.sub(r"\\(.)", lambda found: "" if found[1] == "n" else found[1], label)
    return html.unescape(once)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_nodes_edges_and_names(strange, seed) -> None:
    tree = strange(seed).model.tree_
    first, _, _, *lines, last = export_dot(tree).split("\n")
    assert (first, last) == ("digraph privatree {", "}")
    nodes = [NODE.fullmatch(line) for line in lines[: tree.n_nodes]]
    edges = [EDGE.fullmatch(line).groups() for line in lines[tree.n_nodes :]]
    assert [shown(node[2]) for node in nodes] == list(node_texts(tree))
    assert [node[3] is not None for node in nodes] == (tree.feature < 0).tolist()
    inside = [node for node in range(tree.n_nodes) if tree.feature[node] >= 0]
    assert edges == [
        (str(node), str(child), answer)
        for node in inside
        for child, answer in ((tree.left[node], "yes"), (tree.right[node], "no"))
    ]


def test_classes_have_colours(small_tree) -> None:
    tree = small_tree()
    colours = dict(re.findall(r'(\d+) \[.*fillcolor="(#\w+)"', export_dot(tree)))
    assert colours["3"] == colours["5"] != colours["4"] == colours["6"]


def test_a_leaf_without_support_is_grey(counted_tree) -> None:
    lines = export_dot(counted_tree).split("\n")
    few, many = (
        next(line for line in lines if text in line)
        for text in ("few or no records", "about 1,234 (± 46) records")
    )
    assert 'fillcolor="#F2F2F2"' in few
    assert "fontcolor" in few
    assert 'fillcolor="#F2F2F2"' not in many
    assert "fontcolor" not in many


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_shows_the_names(strange) -> None:
    for seed in range(3):
        tree = strange(seed).model.tree_
        drawn = subprocess.run(
            ["dot", "-Tplain"], input=export_dot(tree), capture_output=True, text=True, check=True
        )
        assert drawn.stderr == ""
        assert len(re.findall(r"^node ", drawn.stdout, re.M)) == tree.n_nodes
