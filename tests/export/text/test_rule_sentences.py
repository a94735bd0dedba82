from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.export import rules
from privatree.model import Tree, TreeBuilder
from privatree.schema import Categorical, Numeric, Schema

LETTERS = ["a", "b", "c", "d", "e", "f", "g"]
SCHEMA = Schema(
    {
        "age": Numeric(0, 20, integer=True),
        "share": Numeric(0, 5),
        "kind": Categorical(LETTERS),
        "two": Categorical(["x", "y"]),
    },
    ["no", "yes"],
)


SEPARATE = Schema(
    {name: replace(feature, missing="separate") for name, feature in SCHEMA.features.items()},
    SCHEMA.classes,
)


def path_tree(*steps: tuple[int, Any, str], schema: Schema = SCHEMA) -> Tree:
    """Feature, threshold or codes, and the answer that leads on."""
    builder = TreeBuilder(schema)
    node = builder.root
    for position, how, answer in steps:
        split = builder.split_numeric if position < 2 else builder.split_categories
        yes, no = split(node, position, how)
        node, other = (yes, no) if answer == "yes" else (no, yes)
        builder.leaf(other, 0)
    builder.leaf(node, 1)
    return builder.build()


def sentence(*steps: tuple[int, Any, str], schema: Schema = SCHEMA) -> str:
    (last,) = (rule for rule in rules(path_tree(*steps, schema=schema)) if rule.label == "yes")
    return last.sentence


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([(1, -math.inf, "yes")], "share is missing"),
        ([(1, -math.inf, "no")], "share is not missing"),
        ([(1, 2.5, "yes")], "share is missing or at most 2.5"),
        ([(1, 2.5, "no")], "share is above 2.5"),
        ([(1, -math.inf, "no"), (1, 2.5, "yes")], "share is at most 2.5"),
        ([(1, 2.5, "yes"), (1, -math.inf, "no")], "share is at most 2.5"),
        ([(1, 1.0, "no"), (1, 2.5, "yes")], "share is above 1 and at most 2.5"),
        ([(0, -math.inf, "no"), (0, 3.5, "yes")], "age is at most 3"),
        ([(0, 3.5, "yes")], "age is missing or at most 3"),
        ([(2, [7], "yes")], "kind is missing"),
        ([(2, [7], "no")], "kind is not missing"),
        ([(2, [0, 7], "yes")], "kind is missing or a"),
        ([(2, [0, 1, 7], "yes")], "kind is missing or one of a, b"),
        ([(2, [0, 7], "no")], "kind is not missing and not a"),
        ([(2, [0, 1], "yes")], "kind is one of a, b"),
        ([(2, [0, 1], "no")], "kind is none of a, b"),
    ],
)
def test_missing_values_with_a_place_of_their_own(steps: list[Any], says: str) -> None:
    assert sentence(*steps, schema=SEPARATE) == f"If {says}, predict yes."


def test_a_missing_value_that_is_not_missing() -> None:
    steps: list[Any] = [(1, -math.inf, "no"), (1, -math.inf, "yes")]
    assert sentence(*steps, schema=SEPARATE).endswith("but no record is like that.")


def test_sentences() -> None:
    assert sentence() == "Always predict yes."
    assert sentence((0, 7.5, "yes")) == "If age is at most 7, predict yes."
    assert sentence((0, 7.0, "no")) == "If age is at least 8, predict yes."
    assert sentence((0, 3.0, "no"), (0, 9.0, "yes")) == (
        "If age is at least 4 and at most 9, predict yes."
    )
    assert sentence((0, 3.0, "no"), (0, 4.5, "yes")) == "If age is 4, predict yes."
    assert sentence((1, 0.25, "no")) == "If share is above 0.25, predict yes."
    assert sentence((1, 0.25, "no"), (1, 0.5, "yes")) == (
        "If share is above 0.25 and at most 0.5, predict yes."
    )
    assert sentence((2, [1], "yes")) == "If kind is b, predict yes."
    assert sentence((2, [1], "no")) == "If kind is not b, predict yes."
    assert sentence((2, [1, 3], "no")) == "If kind is none of b, d, predict yes."
    assert sentence((2, [1, 3, 5], "yes")) == "If kind is one of b, d, f, predict yes."
    assert sentence((3, [0], "no")) == "If two is y, predict yes."
    assert sentence((2, [], "no")) == "Always predict yes."


def test_questions_about_a_feature_become_one_condition() -> None:
    steps = [(1, 4.0, "yes"), (0, 9.0, "yes"), (1, 1.0, "no"), (1, 3.0, "yes"), (1, 3.5, "yes")]
    (last,) = (rule for rule in rules(path_tree(*steps)) if rule.label == "yes")
    assert last.conditions == ("share is above 1 and at most 3", "age is at most 9")
    assert sentence((2, [0, 1, 2], "yes"), (2, [0, 3], "no")) == (
        "If kind is one of b, c, predict yes."
    )


def test_a_leaf_that_no_record_comes_to() -> None:
    assert sentence((0, 3.0, "yes"), (0, 9.0, "no")) == (
        "If age is at least 10 and at most 3, predict yes, but no record is like that."
    )
    assert "no record" in sentence((0, 3.5, "yes"), (0, 3.2, "no"))
    assert "no record" in sentence((1, 3.0, "yes"), (1, 3.0, "no"))
    assert "no record" not in sentence((1, 3.0, "yes"), (1, 2.5, "no"))
    assert sentence((2, [1], "yes"), (2, [1], "no")) == (
        "If kind is none of its categories, predict yes, but no record is like that."
    )


def test_probabilities() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.leaf(builder.root, 1, [0.125, 0.875])
    (rule,) = rules(builder.build())
    assert rule.probability == (0.125, 0.875)
    assert rule.sentence == "Always predict yes (probability 87.5%)."


def test_names_that_need_quotes() -> None:
    builder = TreeBuilder(Schema({"a\nb": Categorical(["x, y", "z"])}, [True, False]))
    left, right = builder.split_categories(builder.root, 0, [0])
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    first, _ = rules(builder.build())
    assert first.sentence == 'If "a\\nb" is "x, y", predict True.'
    assert (first.leaf, first.label) == (left, True)


def holds(condition: str, record: dict[str, Any]) -> bool:
    """What a reader makes of a condition."""
    name, said = re.fullmatch(r"(\w+) is (.*)", condition).groups()
    value = record[name]
    if said == "missing and not missing" or said.startswith("neither"):
        return False
    if value is None:  # said of those that have a place of their own
        return said.startswith("missing") or bool(re.match("(none of|not) (?!missing)", said))
    if said in ("missing", "not missing"):
        return said == "not missing"
    said = re.sub("^missing or |^not missing and ", "", said)
    if isinstance(value, str):
        if said == "none of its categories":
            return False
        how, listed = re.fullmatch(r"(one of |none of |not |)(.*)", said).groups()
        return (value in listed.split(", ")) == (how in ("one of ", ""))
    tests = {
        "at most": lambda number: value <= number,
        "at least": lambda number: value >= number,
        "above": lambda number: value > number,
        "": lambda number: value == number,
    }
    return all(
        tests[how](float(number))
        for how, number in re.findall(r"(at most|at least|above|) ?([\d.]+)", said)
    )


@pytest.mark.slow
@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), schema=st.sampled_from([SCHEMA, SEPARATE]))
def test_a_record_fits_the_rule_of_its_leaf_only(seed, schema) -> None:
    rng = random.Random(seed)
    builder = TreeBuilder(schema)
    sizes = [getattr(feature, "n_codes", 0) for feature in schema.features.values()]
    open_nodes = [builder.root]
    for n_splits in range(10, -1, -1):
        node = open_nodes.pop(rng.randrange(len(open_nodes)))
        if n_splits and (position := rng.randrange(4)) < 2:
            asks_missing = schema is SEPARATE and rng.random() < 0.3
            threshold = -math.inf if asks_missing else rng.randrange(20) / 4
            open_nodes += builder.split_numeric(node, position, threshold)
        elif n_splits:
            codes = [code for code in range(sizes[position]) if rng.random() < 0.5]
            open_nodes += builder.split_categories(node, position, codes)
        else:
            open_nodes.append(node)
    for node in open_nodes:
        builder.leaf(node, rng.randrange(2))
    tree = builder.build()
    codes = [[rng.randrange(7), rng.randrange(20) / 4, rng.randrange(7), rng.randrange(2)]
             for _ in range(20)]  # fmt: skip
    if schema is SEPARATE:
        codes = [[math.nan if rng.random() < 0.2 else code for code in row] for row in codes]
    found = rules(tree)
    assert [rule.leaf for rule in found] == leaves_from_left_to_right(tree)
    for row, leaf in zip(codes, tree.apply(np.array(codes), range(4)).tolist(), strict=True):
        record: dict[str, Any] = {"age": row[0], "share": row[1]}
        for name, names, code in (("kind", LETTERS, row[2]), ("two", "xy", row[3])):
            record[name] = None if math.isnan(code) else names[int(code)]
        record = {name: None if value != value else value for name, value in record.items()}
        fitting = [rule for rule in found if all(holds(text, record) for text in rule.conditions)]
        assert [rule.leaf for rule in fitting] == [leaf]
        assert fitting[0].label == tree.schema.classes[tree.label[leaf]]


def leaves_from_left_to_right(tree: Tree) -> list[int]:
    waiting, found = [0], []
    while waiting:
        node = waiting.pop()
        if tree.feature[node] < 0:
            found.append(node)
        else:
            waiting += [int(tree.right[node]), int(tree.left[node])]
    return found


def test_the_deepest_tree(chain) -> None:
    found = rules(chain(1000, True))
    assert len(found) == 1001
    assert found[500].conditions == ("x is above 499.5 and at most 500.5",)


def test_a_rule_says_how_many_records_it_has(counted_tree) -> None:
    many, few = rules(counted_tree)
    assert many.sentence == (
        "If x is at most 0.5, predict no (probability 75.0%). About 1,234 (± 46) records."
    )
    assert few.sentence == "If x is above 0.5, predict yes (probability 75.0%). Few or no records."


def test_a_rounded_threshold_of_whole_numbers_is_above_and_at_most() -> None:
    builder = TreeBuilder(Schema({"n": Numeric(0, 99999, integer=True)}, ["no", "yes"]))
    low, high = builder.split_numeric(builder.root, 0, 4687.5)
    middle, highest = builder.split_numeric(high, 0, 50000.0)
    for leaf in (low, middle, highest):
        builder.leaf(leaf, 0)
    assert [rule.conditions for rule in rules(builder.build())] == [
        ("n is at most 4680",),
        ("n is above 4680 and at most 50000",),
        ("n is at least 50001",),
    ]
