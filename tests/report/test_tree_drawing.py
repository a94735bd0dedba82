"""Boxes do not overlap, whatever the tree; a large one is cut."""

import numpy as np
import pytest

from privatree.model import TreeBuilder
from privatree.report._tree_drawing import MAX_ENDS, MAX_LEVELS, draw_report_tree
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    {"x": Numeric(0, 1), "kind": Categorical(["a", "b", "a very long category, with a comma"])},
    ["no", "yes", "perhaps"],
)


def a_tree(depth, seed=0, stop=0.2):
    """Grown at random; a negative `stop` makes it full."""
    random = np.random.default_rng(seed)
    builder = TreeBuilder(SCHEMA)
    waiting = [(builder.root, 0)]
    while waiting:
        node, level = waiting.pop()
        if level == depth or random.random() < stop:
            builder.leaf(node, int(random.integers(3)))
            continue
        if random.random() < 0.5:
            children = builder.split_numeric(node, 0, float(random.random() * 0.99))
        else:
            children = builder.split_categories(node, 1, [0, 2])
        waiting += [(child, level + 1) for child in children]
    return builder.build()


def a_chain(depth):
    builder = TreeBuilder(SCHEMA)
    node = builder.root
    for _ in range(depth):
        left, node = builder.split_numeric(node, 0, 0.5)
        builder.leaf(left, 0)
    builder.leaf(node, 1)
    return builder.build()


TREES = {
    "leaf": a_tree(0),
    "one split": a_tree(1, stop=-1),
    "lopsided": a_tree(6, seed=3),
    "full": a_tree(5, stop=-1),
    "too wide": a_tree(9, stop=-1),
    "chain": a_chain(40),
}


@pytest.mark.parametrize("name", TREES)
def test_boxes_stand_apart_and_inside(name):
    drawing = draw_report_tree(TREES[name])
    for box in drawing.boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= drawing.width
        assert box.y + box.height <= drawing.height
    for one in drawing.boxes:
        for other in drawing.boxes:
            if one.node < other.node:
                apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
                apart_y = one.y + one.height <= other.y or other.y + other.height <= one.y
                assert apart_x or apart_y


@pytest.mark.parametrize("name", TREES)
def test_every_drawn_answer_has_its_line(name):
    tree, drawing = TREES[name], draw_report_tree(TREES[name])
    kinds = {box.node: box.kind for box in drawing.boxes}
    answers = {}
    for node, kind in kinds.items():
        if kind == "split":
            answers |= {int(tree.left[node]): "yes", int(tree.right[node]): "no"}
    assert {line.child: line.answer for line in drawing.lines} == answers
    drawn = sum(kind == "leaf" for kind in kinds.values())
    assert drawn + drawing.leaves_left_out == tree.n_leaves


def test_a_small_tree_is_drawn_whole():
    drawing = draw_report_tree(TREES["full"])
    assert drawing.leaves_left_out == 0
    assert next(box.detail for box in drawing.boxes if box.title == "kind") == (
        'in {a, "a very long category, with a comma"}'
    )


@pytest.mark.parametrize("name", ["too wide", "chain"])
def test_a_large_tree_is_cut(name):
    drawing = draw_report_tree(TREES[name])
    assert drawing.leaves_left_out > 0
    assert len(drawing.boxes) <= 2 * MAX_ENDS
    assert drawing.levels <= MAX_LEVELS
    assert any(box.kind == "more" and box.detail.startswith("+") for box in drawing.boxes)
