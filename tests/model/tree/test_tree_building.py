from __future__ import annotations

from typing import Any

import pytest

from privatree.errors import ModelFormatError, ParameterError
from privatree.model import TreeBuilder
from privatree.schema import Schema


def test_ids_are_handed_out_in_order_of_the_calls(small_schema: Schema) -> None:
    builder = TreeBuilder(small_schema)
    assert builder.split_numeric(builder.root, 0, 37.0) == (1, 2)
    assert builder.split_categories(2, 1, [0]) == (3, 4)
    assert builder.split_numeric(1, 2, 0.5) == (5, 6)


def test_an_unfinished_tree_is_refused(small_schema: Schema) -> None:
    builder = TreeBuilder(small_schema)
    left, _ = builder.split_numeric(builder.root, 0, 37.0)
    builder.leaf(left, 0)
    with pytest.raises(ParameterError, match="neither at node 2"):
        builder.build()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.leaf(1, 0), "nor a leaf yet, got 1"),
        (lambda b: b.leaf(-1, 0), "nor a leaf yet, got -1"),
        (lambda b: (b.leaf(0, 0), b.leaf(0, 0)), "nor a leaf yet, got 0"),
        (lambda b: b.split_numeric(0, 4, 0.5), "feature must be in 0 to 3"),
        (lambda b: b.split_numeric(0, -1, 0.5), "feature must be in 0 to 3"),
        (lambda b: b.split_categories(0, 0, [0]), "feature 0 is numeric"),
        (lambda b: b.split_categories(0, 1, [3]), "in 0 to 2"),
        (lambda b: b.split_categories(0, 1, [-1]), "in 0 to 2"),
    ],
)
def test_a_wrong_call_is_refused(small_schema: Schema, call: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call(TreeBuilder(small_schema))


def test_all_leaves_have_probabilities_or_none(small_schema: Schema) -> None:
    builder = TreeBuilder(small_schema)
    left, right = builder.split_numeric(builder.root, 0, 37.0)
    builder.leaf(left, 0, [1.0, 0.0])
    builder.leaf(right, 1)
    with pytest.raises(ModelFormatError, match="every leaf must have 2 probabilities"):
        builder.build()
