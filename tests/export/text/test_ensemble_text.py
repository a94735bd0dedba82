from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.export import export_text
from privatree.model.ensemble import Branch, Ensemble, Round, Step, nodes_of
from privatree.schema import Categorical, Numeric, Schema

AGE, WORK = Numeric(17, 90, integer=True), Categorical(["private", "state", "none"])


def text(*functions: Any, classes: Any = ("low", "high"), signs: Any = (-1, 1),
         **features: Any) -> list[str]:  # fmt: skip
    schema = Schema(features or {"age": AGE, "work": WORK}, classes)
    rounds = tuple(Round(function, signs) for function in functions)
    return export_text(Ensemble(schema, 0.25, rounds)).split("\n")


def test_a_whole_ensemble() -> None:
    found = text(
        Step(0, -1, (27.5, 61.5)),
        Step(1, positive=b"\1\1\0"),
        Branch(0, Step(0, 1), Branch(1, Step(0, -1, (50.5,)), Step(0, -1), goes_left=b"\0\0\1"),
               threshold=40.5),
    )  # fmt: skip
    assert found == [
        "3 rounds, each with a function of at most 3 features; 2 of 2 features are used.",
        "The sum of all rounds times 0.25 is the log-odds of high.",
        "Predict high if the sum is above 0, and low otherwise.",
        "round 1: +1 if 27 < age <= 61, else -1",
        "round 2: +1 if work in {private, state}, else -1",
        "round 3: age <= 40",
        "├─ yes: +1 for all records",
        "└─ no:  work in {none}",
        "   ├─ yes: +1 if age > 50, else -1",
        "   └─ no:  -1 for all records",
    ]


def test_more_classes() -> None:
    classes = ["a, b", "c", "d", "e", "f", "g"]
    found = text(Step(0, -1, (27.5,)), classes=classes, signs=(1, 1, 1, 1, -1, 1))
    assert "softmax of the sums times 0.125" in found[3]
    assert found[4] == 'round 1 (raises "a, b", c, d, e and 1 more): +1 if age > 27, else -1'
    found = text(Step(0, -1, (27.5,)), classes=classes, signs=(-1,) * 6)
    assert found[4].startswith("round 1 (raises no class): ")


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (Step(0, 1, (20.5,)), "+1 if x <= 20, else -1"),
        (Step(0, 1, (20.5, 30.5)), "-1 if 20 < x <= 30, else +1"),
        (Step(0, -1, (20.5, 30.5, 40.5)), "+1 if 20 < x <= 30 or x > 40, else -1"),
        (Step(0, -1), "-1 for all records"),
    ],
)
def test_steps_of_a_number(step: Step, shown: str) -> None:
    assert text(step, x=AGE)[3] == f"round 1: {shown}"


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (Step(0, 1, (-math.inf,)), "+1 if x is missing, else -1"),
        (Step(0, -1, (-math.inf,)), "+1 if x is not missing, else -1"),
        (Step(0, 1, (20.5,)), "+1 if x is missing or <= 20, else -1"),
        (Step(0, 1, (-math.inf, 20.5)), "-1 if x <= 20, else +1"),
        (Step(0, -1, (-math.inf, 20.5, 30.5)), "+1 if x <= 20 or x > 30, else -1"),
        (Branch(0, Step(0), Step(0), threshold=-math.inf), "x is missing"),
        (Branch(0, Step(0), Step(0), threshold=20.5), "x is missing or <= 20"),
    ],
)
def test_missing_numbers(function: Any, shown: str) -> None:
    feature = Numeric(17, 90, integer=True, missing="separate")
    assert text(function, x=feature)[3] == f"round 1: {shown}"


@pytest.mark.slow
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_every_node_is_one_line(strange_ensemble, seed) -> None:
    ensemble = strange_ensemble(seed).model.ensemble_
    lines = export_text(ensemble).split("\n")
    n_header = 3 if len(ensemble.schema.classes) == 2 else 4
    nodes = [node for one in ensemble.rounds for node in nodes_of(one.function)]
    assert len(lines) == n_header + len(nodes)
    assert all(line.isprintable() for line in lines)
    starts = [line for line in lines[n_header:] if re.match(r"round \d+( \(raises .*\))?: ", line)]
    assert len(starts) == ensemble.n_rounds
    for line, node in zip(lines[n_header:], nodes, strict=True):
        assert bool(re.search(r"[+-]1 (if|for all)", line)) == isinstance(node, Step)
