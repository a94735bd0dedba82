"""Every node has its box; a large tree is cut, and opens where the records are."""

import numpy as np
import pytest

from privatree.model import TreeBuilder
from privatree.report.tree._tree_drawing import (
    MAX_ENDS,
    MAX_LEVELS,
    MAX_OPEN_ENDS,
    draw_report_tree,
)
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    {"x": Numeric(0, 1), "kind": Categorical(["a", "b", "a very long category, with a comma"])},
    ["no", "yes", "perhaps"],
)


def a_tree(depth, seed=0, stop=0.2, counts=None):
    """Grown at random; a negative `stop` makes it full. `counts` gives the records of each leaf."""
    random = np.random.default_rng(seed)
    builder = TreeBuilder(SCHEMA)
    waiting = [(builder.root, 0)]
    while waiting:
        node, level = waiting.pop()
        if level == depth or random.random() < stop:
            noisy = None if counts is None else [int(next(counts)), 0, 0]
            builder.leaf(node, int(random.integers(3)), None, noisy, 5 * (noisy is not None))
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
    "depth 8": a_tree(8, stop=-1),
    "too wide": a_tree(9, stop=-1),
    "chain": a_chain(40),
}


def boxes_of(drawing):
    found, waiting = {}, [drawing.root]
    while waiting:
        box = waiting.pop()
        found[box.node] = box
        waiting += box.children
    return found


def seen_at_first(drawing):
    """The ends that are seen before anything is unfolded: leaves, and folded or cut-off splits."""
    seen, waiting = [], [drawing.root]
    while waiting:
        box = waiting.pop()
        if box.starts_folded or not box.children:
            seen.append(box)
        else:
            waiting += box.children
    return seen


@pytest.mark.parametrize("name", TREES)
def test_every_box_has_those_of_its_children_below(name):
    tree, drawing = TREES[name], draw_report_tree(TREES[name])
    boxes = boxes_of(drawing)
    for node, box in boxes.items():
        if box.kind == "split":
            assert tuple(child.node for child in box.children) == tree.children(node)
            assert [child.answer for child in box.children] == ["yes", "no"]
        else:
            assert box.children == ()
            assert not box.starts_folded
            assert (box.kind == "leaf") == (tree.feature[node] < 0)
        assert box.n_leaves == tree.leaf_counts()[node]
    assert drawing.root.answer == ""
    drawn = sum(box.kind == "leaf" for box in boxes.values())
    assert drawn + drawing.leaves_left_out == tree.n_leaves


def test_a_tree_of_eight_levels_is_drawn_whole():
    drawing = draw_report_tree(TREES["depth 8"])
    assert drawing.leaves_left_out == 0
    assert drawing.levels == 8


def test_a_question_is_short_and_whole():
    boxes = boxes_of(draw_report_tree(TREES["full"])).values()
    assert next(box.detail for box in boxes if box.title == "kind") == (
        'in {a, "a very long category, with a comma"}'
    )
    assert next(box.detail for box in boxes if box.title == "x").startswith("≤\u00a00.")


@pytest.mark.parametrize("name", ["too wide", "chain"])
def test_a_large_tree_is_cut(name):
    drawing = draw_report_tree(TREES[name])
    boxes = boxes_of(drawing)
    assert drawing.leaves_left_out > 0
    assert len(boxes) <= 2 * MAX_ENDS
    assert drawing.levels <= MAX_LEVELS
    assert sum(box.n_leaves for box in boxes.values() if box.kind == "more") == (
        drawing.leaves_left_out
    )


# --- what is open at first ------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREES)
def test_no_more_is_open_at_first_than_can_be_seen_at_once(name):
    drawing = draw_report_tree(TREES[name])
    assert len(seen_at_first(drawing)) <= MAX_OPEN_ENDS
    if TREES[name].n_leaves <= MAX_OPEN_ENDS:
        assert not any(box.starts_folded for box in boxes_of(drawing).values())


@pytest.mark.parametrize("seed", range(5))
def test_the_leaves_with_the_most_records_are_seen_at_first(seed):
    counts = np.random.default_rng(seed).permutation(np.r_[np.full(3, 10_000), np.full(253, 20)])
    drawing = draw_report_tree(a_tree(8, stop=-1, counts=iter(counts)))
    seen = [box.support for box in seen_at_first(drawing) if box.kind == "leaf"]
    assert sum("10,000" in text for text in seen) >= 2
    assert len(seen_at_first(drawing)) > MAX_OPEN_ENDS // 2


def test_the_branch_with_most_records_is_opened_for_an_overview():
    counts = np.r_[np.full(128, 500), np.full(128, 20)]  # the right half of the tree comes first
    drawing = draw_report_tree(a_tree(8, stop=-1, counts=iter(counts)))
    left, right = drawing.root.children
    assert left.starts_folded
    assert not right.starts_folded


# --- what a leaf says -----------------------------------------------------------------------------


def a_leaf(probability=None, counts=None, n_classes=3):
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, [f"class {i}" for i in range(n_classes)]))
    builder.leaf(builder.root, 0, probability, counts, 40)
    return draw_report_tree(builder.build()).root


def test_a_leaf_shows_probabilities_as_a_bar():
    leaf = a_leaf([0.5, 0.375, 0.125])
    assert leaf.detail == "50.0%"
    assert [(part.label, part.per_cent) for part in leaf.bar] == [
        (0, "50.00"),
        (1, "37.50"),
        (2, "12.50"),
    ]
    many = a_leaf([0.3, 0.02, 0.2, 0.18, 0.12, 0.1, 0.05, 0.03], n_classes=8)
    assert [part.label for part in many.bar] == [0, 2, 3, 4, 5, 6, -1]
    assert sum(float(part.per_cent) for part in many.bar) == pytest.approx(100)
    assert a_leaf().bar == ()


def test_a_leaf_shows_its_records():
    assert a_leaf(counts=[30, 15, 0]).support == "about 45 (± 40) records"
    few = a_leaf(counts=[30, -15, 5])
    assert few.support == "few or no records"
    assert not few.has_support
    assert a_leaf().support == ""
    assert a_leaf().has_support
