"""The colour of leaves with a number, and the noisy distributions that are drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from privatree import RegressionModel
from privatree.model import TreeBuilder
from privatree.report.tree import _leaf_numbers
from privatree.report.tree._leaf_numbers import (
    leaf_columns,
    leaf_shares,
    number_scale,
    numbers_for_script,
)
from privatree.schema import Numeric, Schema, Target


def test_the_scale_has_the_smallest_and_the_largest_number(hand_made_number) -> None:
    scale = number_scale(hand_made_number().tree_)
    assert scale is not None
    assert (scale.lowest, scale.highest) == ("2.5", "30")
    assert scale.intervals == ("0 to 2.25", "2.25 to 10", "10 to 20.5", "20.5 to 60")


def test_shares_are_drawn_if_there_are_records(hand_made_number) -> None:
    tree = hand_made_number().tree_
    first, last = tree.leaves[[0, -1]].tolist()
    assert leaf_shares(tree, first) == (0.2, 0.5, 0.25, 0.05)
    assert leaf_columns(tree, first) == ("40", "100", "50", "10")
    assert leaf_shares(tree, last) == ()  # few or no records
    assert leaf_columns(tree, last) == ()


def test_too_many_intervals_are_not_drawn(hand_made_number, monkeypatch) -> None:
    monkeypatch.setattr(_leaf_numbers, "MAX_INTERVALS", 3)
    tree = hand_made_number().tree_
    scale = number_scale(tree)
    assert scale is not None
    assert scale.intervals == ()
    assert leaf_shares(tree, int(tree.leaves[0])) == ()


def test_intervals_without_a_whole_number_are_joined_with_their_shares() -> None:
    schema = Schema({"x": Numeric(0, 1)}, target=Target(0, 9, integer=True))
    builder = TreeBuilder(schema)
    builder.value_leaf(builder.root, 2.5, 300, 20, [0.25, 0.25, 0.5])
    tree = builder.build(edges=[0.0, 0.5, 0.75, 9.0])
    assert leaf_shares(tree, 0) == (0.5, 0.5)


def test_a_tree_of_classes_has_no_numbers(small_tree) -> None:
    tree = small_tree()
    assert number_scale(tree) is None
    assert numbers_for_script(tree) is None
    assert leaf_columns(tree, int(tree.leaves[0])) == ()


def test_the_script_has_the_exact_numbers(hand_made_number) -> None:
    model: RegressionModel = hand_made_number()
    written = json.loads(json.dumps(numbers_for_script(model.tree_)))
    tree = model.tree_
    assert written["ends"] == [0.0, 2.25, 10.0, 20.5, 60.0]
    for leaf in tree.leaves.tolist():
        assert tree.value is not None
        assert written["leaves"][str(leaf)]["value"] == tree.value[leaf]
    places = [entry["place"] for entry in written["leaves"].values()]
    assert places == pytest.approx(100 * (np.array([2.5, 40 / 3, 30]) - 2.5) / 27.5, abs=0.5)
    noise = [entry["noise"] for entry in written["leaves"].values()]
    assert noise == ["6.4%", "12.9%", ""]  # 20 of 312, and 20 of 155
