from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.export import export_text, plot_tree
from privatree.model import Tree, TreeBuilder
from privatree.schema import Categorical, Numeric, Schema

matplotlib = pytest.importorskip("matplotlib")

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

SCHEMA = Schema(
    {
        "capital-gain": Numeric(0, 99999, integer=True),
        "a rather long name of a column": Numeric(-1, 1),
        "marital-status": Categorical([f"status-{place}" for place in range(9)]),
    },
    ["<=50K", ">50K"],
)


@pytest.fixture(autouse=True)
def agg() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def random_tree(
    depth: int, seed: int, schema: Schema = SCHEMA, *, full: bool = False, shares: bool = False
) -> Tree:
    rng = np.random.default_rng(seed)
    builder, features = TreeBuilder(schema), list(schema.features.values())
    waiting = [(builder.root, 0)]
    while waiting:
        node, level = waiting.pop()
        if level == depth or (not full and level and rng.random() < 0.3):
            probability = rng.dirichlet(np.ones(len(schema.classes)))
            label = int(np.argmax(probability))
            builder.leaf(node, label, probability if shares else None)
            continue
        place = int(rng.integers(len(features)))
        feature = features[place]
        if isinstance(feature, Categorical):
            n_left = rng.integers(1, len(feature.categories))
            codes = sorted(rng.permutation(len(feature.categories))[:n_left].tolist())
            children = builder.split_categories(node, place, codes)
        else:
            low, high = float(feature.low), float(feature.high)
            children = builder.split_numeric(node, place, float(rng.uniform(low, high)))
        waiting += [(child, level + 1) for child in children]
    return builder.build()


def boxes(ax: Axes) -> list[Bbox]:
    return [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def written(ax: Axes) -> list[str]:
    """What stands in the boxes, in the order of the nodes."""
    return [text.get_text() for text in in_boxes(ax)]


def in_boxes(ax: Axes) -> list[Text]:
    """The answers beside the lines are written before them."""
    return list(ax.texts)[-len(ax.patches) :]


def overlap(one: Bbox, other: Bbox) -> bool:
    return (
        min(one.x1, other.x1) > max(one.x0, other.x0) + 1e-6
        and min(one.y1, other.y1) > max(one.y0, other.y0) + 1e-6
    )


def drawn(ax: Axes) -> None:
    """Lay out every letter: a warning is an error."""
    ax.get_figure(root=True).draw_without_rendering()


def check(ax: Axes, tree: Tree) -> None:
    """Boxes apart from each other, each text in its own box, everything in the figure."""
    drawn(ax)
    found = boxes(ax)
    assert len(found) == tree.n_nodes
    assert not any(overlap(one, other) for one, other in combinations(found, 2))
    for box, text in zip(found, in_boxes(ax), strict=True):
        extent = text.get_window_extent()
        assert box.x0 <= extent.x0 <= extent.x1 <= box.x1
        assert box.y0 <= extent.y0 <= extent.y1 <= box.y1
    answers = list(ax.texts)[: -len(found)]
    assert [text.get_text() for text in answers] == ["yes", "no"] * (tree.n_nodes - tree.n_leaves)
    for extent in [answer.get_window_extent() for answer in answers]:
        assert not any(overlap(extent, box) for box in found)
    whole = ax.get_window_extent()
    assert whole.x0 <= min(box.x0 for box in found)
    assert max(box.x1 for box in found) <= whole.x1
    assert whole.y0 <= min(box.y0 for box in found)
    assert max(box.y1 for box in found) <= whole.y1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("depth", "full"), [(1, True), (2, False), (3, True), (4, False), (5, False), (6, False)]
)
def test_boxes_do_not_overlap_and_hold_their_text(depth: int, full: bool) -> None:
    tree = random_tree(depth, seed=depth, full=full, shares=depth % 2 == 0)
    check(plot_tree(tree), tree)


def test_in_small_axes_everything_is_smaller() -> None:
    tree = random_tree(4, seed=1, full=True)
    figure = Figure(figsize=(8, 6), dpi=400)  # as sharp as paper: on a screen letters get wider
    ax, other = figure.subplots(1, 2)
    other.plot([0, 1])
    assert plot_tree(tree, ax) is ax
    check(ax, tree)
    assert pyplot.get_fignums() == []


def test_in_large_axes_the_letters_are_not_larger_than_usual() -> None:
    ax = plot_tree(random_tree(1, seed=1), Figure(figsize=(20, 20)).subplots())
    sizes = {text.get_fontsize() for text in ax.texts}
    assert max(sizes) == matplotlib.rcParams["font.size"]


def test_the_size_of_axes_that_lay_themselves_out() -> None:
    tree = random_tree(3, seed=5, full=True)
    figure = Figure(figsize=(9, 5), layout="constrained")
    ax = figure.subplots(1, 2)[0]
    check(plot_tree(tree, ax), tree)


def test_a_new_figure_is_pyplot_s_and_can_be_closed() -> None:
    ax = plot_tree(random_tree(2, seed=0))
    assert len(pyplot.get_fignums()) == 1
    pyplot.close(ax.figure)
    assert pyplot.get_fignums() == []


def test_questions_and_labels_are_those_of_the_text() -> None:
    tree = random_tree(4, seed=2, full=True)
    lines = [
        line.lstrip("│├└─ ").removeprefix("yes: ").removeprefix("no:  ")
        for line in export_text(tree).split("\n")
    ]
    shown = sorted(text.replace("\n", " ") for text in written(plot_tree(tree)))
    assert shown == sorted(line.removeprefix("predict ") for line in lines)
    assert sum(text in ("<=50K", ">50K") for text in shown) == tree.n_leaves == 16


def test_yes_is_left_and_no_is_right() -> None:
    builder = TreeBuilder(SCHEMA)
    left, right = builder.split_numeric(builder.root, 0, 5.0)
    builder.leaf(left, 1)
    builder.leaf(right, 0)
    ax = plot_tree(builder.build())
    x = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert x[">50K"] < x["yes"] < x["capital-gain <= 5"] < x["no"] < x["<=50K"]


def test_released_probabilities_are_shown_below_the_label() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.leaf(builder.root, 1, [0.25, 0.75])
    assert written(plot_tree(builder.build())) == [">50K\n<=50K 25.0%\n>50K 75.0%"]


def test_a_lone_leaf() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.leaf(builder.root, 0)
    tree = builder.build()
    ax = plot_tree(tree)
    check(ax, tree)
    assert written(ax) == ["<=50K"]


def test_leaves_have_the_colours_of_their_classes_whatever_their_number() -> None:
    schema = Schema({"x": Numeric(0, 1)}, [f"class {place}" for place in range(11)])
    builder = TreeBuilder(schema)
    node = builder.root
    for label in range(10):
        leaf, node = builder.split_numeric(node, 0, 0.05 + 0.08 * label)
        builder.leaf(leaf, label)
    builder.leaf(node, 0)
    ax = plot_tree(builder.build())
    colours: dict[str, set[tuple[float, ...]]] = {}
    for text, patch in zip(written(ax), ax.patches, strict=True):
        colours.setdefault(text, set()).add(patch.get_facecolor())
    assert len(colours["class 0"]) == 1
    assert len({*colours["class 0"], *colours["class 1"], *colours["class 7"]}) == 3


HOSTILE = [
    "$x_1$",
    "a_b",
    "line\nbreak",
    "😀 smile",
    "\\frac{1}{2}",
    "50% & more",
    " $",
    "$$",
    "x" * 300,
]


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_are_shown_as_they_are(name: str) -> None:
    schema = Schema({name: Numeric(0, 1), "c": Categorical([name, "other"])}, [name, "no"])
    builder = TreeBuilder(schema)
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    builder.leaf(left, 0)
    left, right = builder.split_categories(right, 1, [0])
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    tree = builder.build()
    ax = plot_tree(tree)
    check(ax, tree)
    question, label = written(ax)[:2]
    assert question.endswith("<= 0.5")
    if len(name) < 300:
        text = export_text(tree).split("\n")[0]
        assert question.replace("\n", " ") == text
        assert label.replace("\n", " ") == text.removesuffix(" <= 0.5")
    with matplotlib.rc_context({"text.usetex": True}):  # nobody's names are meant for TeX
        assert not any(text.get_usetex() for text in in_boxes(plot_tree(tree)))


def test_letters_that_the_font_lacks_do_not_warn_before_they_are_drawn() -> None:
    schema = Schema({"年齢": Numeric(0, 1)}, ["いいえ", "はい"])
    builder = TreeBuilder(schema)
    builder.leaf(builder.root, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_tree(builder.build())


def test_a_long_list_of_categories_is_shortened_but_not_its_end() -> None:
    schema = Schema({"c": Categorical([f"category {i}" for i in range(100)])}, ["no", "yes"])
    builder = TreeBuilder(schema)
    left, right = builder.split_categories(builder.root, 0, range(40))
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    tree = builder.build()
    ax = plot_tree(tree)
    check(ax, tree)
    lines = written(ax)[0].split("\n")
    assert len(lines) == 6
    assert lines[0] == "c in {category 0,"
    assert lines[-1] == "… 39}"


# --- large trees --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_tree_of_hundreds_of_leaves_is_drawn_in_seconds(
    takes_at_most: Callable[..., Any],
) -> None:
    tree = random_tree(8, seed=3, full=True)
    ax = takes_at_most(10, lambda: plot_tree(tree))
    assert len(boxes(ax)) == 511
    assert max(ax.figure.get_size_inches()) <= 100


def test_a_chain_of_many_levels_fits() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    node = builder.root
    for threshold in np.linspace(0.9, 0.1, 120).tolist():
        node, leaf = builder.split_numeric(node, 0, threshold)
        builder.leaf(leaf, 1)
    builder.leaf(node, 0)
    tree = builder.build()
    found = boxes(plot_tree(tree, Figure(figsize=(6, 6)).subplots()))
    assert len(found) == 241
    assert not any(overlap(one, other) for one, other in combinations(found, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("max_depth", "n_boxes"), [(0, 1), (2, 7), (4, 31), (99, 31), (None, 31)])
def test_levels_below_max_depth_are_dots(max_depth: int | None, n_boxes: int) -> None:
    ax = plot_tree(random_tree(4, seed=4, full=True), max_depth=max_depth)
    assert len(boxes(ax)) == n_boxes
    dots = written(ax).count("…")
    assert dots == (0 if n_boxes == 31 else (n_boxes + 1) // 2)


@pytest.mark.slow
def test_a_leaf_at_max_depth_is_no_secret() -> None:
    builder = TreeBuilder(SCHEMA)
    builder.leaf(builder.root, 0)
    assert written(plot_tree(builder.build(), max_depth=0)) == ["<=50K"]


def test_the_same_tree_gives_the_same_drawing() -> None:
    tree = random_tree(3, seed=6)
    one, other = plot_tree(tree), plot_tree(tree)
    assert [box.bounds for box in boxes(one)] == [box.bounds for box in boxes(other)]
    assert written(one) == written(other)


# --- mistakes -----------------------------------------------------------------------------------


def test_max_depth_must_not_be_negative() -> None:
    with pytest.raises(ParameterError, match="max_depth must be >= 0, got -1"):
        plot_tree(random_tree(1, seed=0), max_depth=-1)


def test_something_else_is_no_tree() -> None:
    with pytest.raises(TypeError, match="got str"):
        plot_tree("tree")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        plot_tree(random_tree(1, seed=0))


def test_a_leaf_has_its_records_and_is_grey_without(counted_tree: Tree) -> None:
    ax = plot_tree(counted_tree)
    many, few = in_boxes(ax)[1:]
    assert many.get_text() == "no\nno 75.0%\nyes 25.0%\nabout 1,234 (± 46)\nrecords"
    assert few.get_text() == "yes\nno 25.0%\nyes 75.0%\nfew or no records"
    assert many.get_color() != few.get_color() == "#6B6B6B"
    check(ax, counted_tree)
