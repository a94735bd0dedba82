from __future__ import annotations

import math
import pickle
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.counting import cut_points
from privatree.export import export_dot, export_text, rules, threshold_texts
from privatree.export._notebook import notebook_html
from privatree.model import Model, Tree, TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

MARITAL = ["Never-married", "Married-civ-spouse", "Married-AF-spouse", "Divorced", "Widowed"]


def one_split(feature: Numeric | Categorical, how: Any, name: str = "x") -> Tree:
    builder = TreeBuilder(Schema({name: feature}, ["no", "yes"]))
    split = builder.split_numeric if isinstance(feature, Numeric) else builder.split_categories
    left, right = split(builder.root, 0, how)
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    return builder.build()


def question(feature: Numeric | Categorical, how: Any, name: str = "x") -> str:
    return export_text(one_split(feature, how, name)).split("\n")[0]


def test_a_whole_tree() -> None:
    schema = Schema(
        features={
            "capital-gain": Numeric(0, 99999, integer=True),
            "marital-status": Categorical(MARITAL),
            "education-num": Numeric(1, 16, integer=True),
        },
        classes=["<=50K", ">50K"],
    )
    builder = TreeBuilder(schema)
    low, high = builder.split_numeric(builder.root, 0, 5119.0)
    married, single = builder.split_categories(low, 1, [1, 2])
    short, long = builder.split_numeric(married, 2, 12.5)
    for node, label in ((high, 1), (single, 0), (short, 0), (long, 1)):
        builder.leaf(node, label)
    assert export_text(builder.build()) == "\n".join(
        [
            "capital-gain <= 5119",
            "├─ yes: marital-status in {Married-civ-spouse, Married-AF-spouse}",
            "│  ├─ yes: education-num <= 12",
            "│  │  ├─ yes: predict <=50K",
            "│  │  └─ no:  predict >50K",
            "│  └─ no:  predict <=50K",
            "└─ no:  predict >50K",
        ]
    )


def test_a_lone_leaf() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    builder.leaf(builder.root, 1)
    assert export_text(builder.build()) == "predict yes"


def test_a_split_on_the_right_is_drawn_without_a_line() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, [0, 1]))
    left, right = builder.split_numeric(builder.root, 0, 0.25)
    builder.leaf(left, 0)
    left, right = builder.split_numeric(right, 0, 0.75)
    builder.leaf(left, 1)
    builder.leaf(right, 0)
    assert export_text(builder.build()).split("\n")[2:] == [
        "└─ no:  x <= 0.75",
        "   ├─ yes: predict 1",
        "   └─ no:  predict 0",
    ]


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feature", "threshold", "shown"),
    [
        (Numeric(17, 90, integer=True), 37.4, "37"),
        (Numeric(17, 90, integer=True), 37.0, "37"),
        (Numeric(-10, 10, integer=True), -0.5, "-1"),
        (Numeric(-10, 10, integer=True), -0.0, "0"),
        (Numeric(0, 10**18, integer=True), 1e17, "1e+17"),
        (Numeric(17, 90), 17 + 73 * 0.3, "38.9"),  # 38.9 in floats
        (Numeric(0, 1), 0.1 + 0.2, "0.3"),  # 0.30000000000000004
        (Numeric(0, 1), 0.3, "0.3"),
        (Numeric(0, 1), 1 / 3, "0.333333"),
        (Numeric(0, 1), 2 / 3, "0.666666"),  # down: 0.666667 would go the other way
        (Numeric(0, 100), 37 - 1e-9, "36.9999"),
        (Numeric(-1, 1), -1e-9, "-1e-9"),
        (Numeric(-1, 1), 5.5e-17, "0"),
        (Numeric(-1e6, 1e6), 0.4331171, "0.433"),  # of a range that is far too wide
        (Numeric(0, 1e6), 117187.5, "117000"),  # a cut point
        (Numeric(0, 1e6), 117000.75, "117000"),  # none
        (Numeric(0, 99999, integer=True), 4687.5, "4680"),
        (Numeric(0, 99999, integer=True), 4688.0, "4688"),
        (Numeric(-2.5, 2.5), -1.9140625, "-1.92"),
        (Numeric(0, 1e6, cuts=[18, 120312.5]), 120312.5, "120312.5"),  # declared by a person
        (Numeric(0, 9e6, integer=True, cuts=[18.5, 120312.5]), 120312.5, "120312"),
        (Numeric(0, 1, cuts=[0.5, 0.5000001]), 0.5000001, "0.5000001"),
        (Numeric(-1, 1), 0.0, "0"),
        (Numeric(0, 99999), 5119.0, "5119"),
        (Numeric(0, 1e6), 120000.0, "120000"),
        (Numeric(0, 1e-9), 2.5e-10, "2.5e-10"),
        (Numeric(0, 1e300), 2.5e299, "2.5e+299"),
    ],
)
def test_thresholds_are_short_and_faithful(feature: Numeric, threshold: float, shown: str) -> None:
    assert question(feature, threshold) == f"x <= {shown}"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    bounds=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).filter(lambda b: b[0] < b[1]),
    share=st.floats(0, 1),
    step=st.integers(-3, 3),
)
def test_values_as_short_as_the_threshold_go_where_the_text_says(
    bounds: tuple[float, float], share: float, step: int
) -> None:
    low, high = bounds
    threshold = min(max(low + share * (high - low), low), float(np.nextafter(high, -math.inf)))
    text = question(Numeric(low, high), threshold).removeprefix("x <= ")
    shown = Decimal(text)
    neighbour = shown + step * Decimal(1).scaleb(int(shown.normalize().as_tuple().exponent))
    assert (float(neighbour) <= threshold) == (neighbour <= shown)
    assert 0 <= Decimal(repr(threshold)) - shown <= Decimal((high - low) / 250)


@pytest.mark.parametrize(
    "feature",
    [
        Numeric(0, 1),
        Numeric(17, 90),
        Numeric(17, 90, integer=True),
        Numeric(0, 99999, integer=True),
        Numeric(-273.15, 1e4),
        Numeric(-1e6, 1e6),
        Numeric(1e6, 1e6 + 1),
        Numeric(-7e-9, -2e-9),
        Numeric(-40, 10**12, integer=True),
        Numeric(0, 100, cuts=[1, 2.5, 2.50001, 60]),
    ],
)
@pytest.mark.parametrize("n_bins", [256, 64, 16])
def test_a_shown_cut_point_is_in_the_bin_of_the_threshold(feature: Numeric, n_bins: int) -> None:
    """So whoever compares codes, as a learner does, sends every value the same way."""
    cuts, _ = cut_points(feature, n_bins)
    builder = TreeBuilder(Schema({"x": feature}, ["no", "yes"]))
    node = builder.root
    for cut in cuts:
        leaf, node = builder.split_numeric(node, 0, cut)
        builder.leaf(leaf, 0)
    builder.leaf(node, 1)
    tree = builder.build()
    for node, text in threshold_texts(tree).items():
        shown, threshold = float(Decimal(text)), float(tree.threshold[node])
        assert np.searchsorted(cuts, shown) == np.searchsorted(cuts, threshold)
        assert shown <= threshold
    for cut in cuts.tolist():  # also if the tree has no other threshold
        text = question(feature, cut).removeprefix("x <= ")
        assert np.searchsorted(cuts, float(Decimal(text))) == np.searchsorted(cuts, cut)


def test_thresholds_of_a_grid_are_short() -> None:
    cuts, _ = cut_points(Numeric(17, 90), 256)
    texts = [question(Numeric(17, 90), cut).removeprefix("x <= ") for cut in cuts.tolist()]
    n_digits = [len(text.replace(".", "")) for text in texts]
    assert max(n_digits) <= 7  # towards the ends, where cut points are close
    assert np.median(n_digits) <= 3


def test_different_thresholds_look_different() -> None:
    thresholds = [0.5, 0.5 + 1e-9, 0.5 + 2e-9, 0.25]
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    node = builder.root
    for threshold in thresholds:
        leaf, node = builder.split_numeric(node, 0, threshold)
        builder.leaf(leaf, 0)
    builder.leaf(node, 1)
    shown = [
        line.split("<= ")[1] for line in export_text(builder.build()).split("\n") if "<" in line
    ]
    assert shown == ["0.5", "0.500000001", "0.500000002", "0.25"]


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("categories", "left", "shown"),
    [
        (MARITAL, [3], "in {Divorced}"),
        (MARITAL, [0, 2, 4], "in {Never-married, Married-AF-spouse, Widowed}"),
        (MARITAL, [0, 2, 3, 4], "not in {Married-civ-spouse}"),
        (["a", "b", "c", "d", "e", "f", "g", "h"], [0, 1, 2, 3], "in {a, b, c, d}"),
        (["a", "b", "c"], [0, 1], "in {a, b}"),
        (["a", "b"], [], "in {}"),
        ([1, 2.5], [1], "in {2.5}"),
        ([True, False], [0], "in {True}"),
        (["a, b", "", " c", "{d}"], [0, 1, 2], 'in {"a, b", "", " c"}'),
    ],
)
def test_categories(categories: list[Any], left: list[int], shown: str) -> None:
    assert question(Categorical(categories), left) == f"x {shown}"


@pytest.mark.parametrize(
    ("categories", "left", "shown"),
    [
        (["a", "b", "c", "d", "e"], [5], "is missing"),
        (["a", "b", "c", "d", "e"], [0, 5], "is missing or in {a}"),
        (["a", "b", "c", "d", "e"], [0, 1], "in {a, b}"),
        (["a", "b", "c", "d", "e"], [0, 1, 2, 3], "is not missing and not in {e}"),
        (["a", "b", "c", "d", "e"], [0, 1, 2, 3, 4], "is not missing"),
        (["a", "b", "c", "d", "e"], [0, 1, 2, 3, 5], "not in {e}"),
        (["a", "b"], [], "in {}"),
        (["a", "missing"], [1], 'in {"missing"}'),
    ],
)
def test_missing_categories(categories: list[Any], left: list[int], shown: str) -> None:
    assert question(Categorical(categories, missing="separate"), left) == f"x {shown}"


def test_a_missing_number_is_named_where_it_can_be_one() -> None:
    feature = Numeric(0, 50, missing="separate")
    builder = TreeBuilder(Schema({"income": feature, "other": feature}, [0, 1]))
    low, high = builder.split_numeric(builder.root, 0, 12.5)
    missing, present = builder.split_numeric(low, 0, -math.inf)
    ends = [missing, *builder.split_numeric(present, 0, 3.25)]
    ends += builder.split_numeric(high, 1, 7.0)
    for leaf in ends:
        builder.leaf(leaf, 0)
    lines = export_text(builder.build()).split("\n")
    assert [line for line in lines if "predict" not in line] == [
        "income is missing or <= 12.5",
        "├─ yes: income is missing",
        "│  └─ no:  income <= 3.25",
        "└─ no:  other is missing or <= 7",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Größe in cm", "Größe in cm"),
        ("a\nb", '"a\\nb"'),
        ("a\r\x1b[31m", '"a\\r\\x1b[31m"'),
        ("a\u2028b", '"a\\u2028b"'),
        ("\u202eabc", '"\\u202eabc"'),
        ("a\\nb", '"a\\\\nb"'),
        ('say "a"', '"say \\"a\\""'),
    ],
)
def test_names_cannot_break_the_drawing(name: str, shown: str) -> None:
    assert question(Numeric(0, 1), 0.5, name) == f"{shown} <= 0.5"
    assert question(Categorical([name, "other"]), [0]) == f"x in {{{shown}}}"
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, [name, "other"]))
    builder.leaf(builder.root, 0)
    assert export_text(builder.build()) == f"predict {shown}"


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(name=st.text())
def test_every_node_is_one_line(name: str) -> None:
    lines = export_text(one_split(Categorical([name, name + "x"]), [0], name)).splitlines()
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)


# --- probabilities ------------------------------------------------------------------------------


def leaf_text(classes: list[Any], label: int, probability: list[float]) -> str:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, classes))
    builder.leaf(builder.root, label, probability)
    return export_text(builder.build())


def test_probabilities_stand_beside_the_class() -> None:
    assert leaf_text(["no", "yes"], 1, [0.125, 0.875]) == "predict yes (no 12.5%, yes 87.5%)"


def test_nothing_that_is_possible_is_shown_as_impossible() -> None:
    shown = leaf_text(["no", "yes"], 1, [0.0001, 0.9999])
    assert shown == "predict yes (no <0.1%, yes >99.9%)"
    assert leaf_text(["no", "yes"], 1, [0.0, 1.0]) == "predict yes (no 0.0%, yes 100.0%)"


def test_of_many_classes_the_likeliest_are_shown() -> None:
    shown = leaf_text(["a", "b", "c", "d", "e", "f"], 2, [0.1, 0.0, 0.5, 0.2, 0.05, 0.15])
    assert shown == "predict c (a 10.0%, c 50.0%, d 20.0%, f 15.0%, …)"


# --- support ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "error", "said"),
    [
        ([1200, 34], 46, ", about 1,234 (± 46) records"),
        ([40, 7], 46, ", about 47 (± 46) records"),
        ([40, 6], 46, ", few or no records"),
        ([-40, 6], 46, ", few or no records"),
        (None, 0, ""),
    ],
)
def test_a_leaf_says_how_many_records_it_has(counts: Any, error: int, said: str) -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    builder.leaf(builder.root, 0, noisy_counts=counts, support_error=error)
    assert export_text(builder.build()) == f"predict no{said}"


def test_leaves_of_a_model_for_units_count_units() -> None:
    """Every export says so, also of the tree alone, and a saved model knows it again."""
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    builder.leaf(left, 1, noisy_counts=[9, 80], support_error=20)
    builder.leaf(right, 1, noisy_counts=[1, 2], support_error=20)
    tree = builder.build()
    for unit, counted in ((None, "records"), ("patient_id", "units")):
        statement = PrivacyStatement("by hand", 1.0, unit=unit)
        model = Model.from_dict(Model(tree.schema, tree, statement).to_dict())
        for exported in (model, model.tree_, pickle.loads(pickle.dumps(model.tree_))):
            lines = export_text(exported).split("\n")
            assert lines[1].endswith(f", about 89 (± 20) {counted}")
            assert lines[2].endswith(f", few or no {counted}")
            assert f"About 89 (± 20) {counted}." in rules(exported)[0].sentence
            assert f"89 (± 20) {counted}" in export_dot(exported)
        grey = rf"color:#808080.>predict yes[^<]*, few or no {counted}</span>"
        assert re.search(grey, notebook_html(model))
        assert model == Model(tree.schema, tree, statement)
        assert ("for all records of one patient_id" in repr(model)) is (unit is not None)
