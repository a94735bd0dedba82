from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from privatree import Model
from privatree.errors import ParameterError
from privatree.export import PathSpend, plot_budget
from privatree.export._budget_path import costliest_path_spends
from privatree.model import Tree, TreeBuilder
from privatree.privacy import Leak, PrivacyStatement, Spend
from privatree.schema import Numeric, Schema

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def agg() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def two_levels() -> Tree:
    """Nodes 1 and 2 below the root, 3 and 4 below node 2."""
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    builder.leaf(left, 0)
    for place, child in enumerate(builder.split_numeric(right, 0, 0.75)):
        builder.leaf(child, place)
    return builder.build()


def spend(mechanism: str, percent: int, purpose: str, node: int | None, times: int = 1) -> Spend:
    return Spend(mechanism, Fraction(percent, 100), purpose, node, times)


SPENDS = (
    spend("geometric", 10, "number of records", None),
    spend("exponential", 30, "split", 0),
    spend("exponential", 50, "label", 1),
    spend("exponential", 20, "split", 2),
    spend("permute-and-flip", 35, "label", 3),
    spend("permute-and-flip", 40, "label", 4),
)


def model(spends: tuple[Spend, ...] = SPENDS, epsilon: float = 1.0, **more: object) -> Model:
    tree = two_levels()
    statement = PrivacyStatement("Learner", epsilon, spends=spends)
    return Model(tree.schema, tree, replace(statement, **more))  # type: ignore[arg-type]


def path(of: Model) -> tuple[PathSpend, ...]:
    return costliest_path_spends(of.tree_, of.privacy_)


def widths(ax: Axes) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def names(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def everything(ax: Axes) -> str:
    return " ".join(text.get_text() for text in (*ax.texts, ax.title, ax.xaxis.label))


# --- the path -----------------------------------------------------------------------------------


def test_the_path_that_paid_most_in_its_order() -> None:
    found = path(model())
    assert [(s.purpose, s.depth, round(s.epsilon, 9)) for s in found] == [
        ("number of records", None, 0.1),
        ("split", 0, 0.3),
        ("split", 1, 0.2),
        ("label", 2, 0.4),
    ]


def test_a_path_may_end_above_the_leaves() -> None:
    found = path(model((spend("exponential", 97, "all levels", 0),)))
    assert [(s.purpose, s.depth) for s in found] == [("all levels", 0)]


def test_equal_spends_are_put_together() -> None:
    spends = (
        spend("joint exponential quantiles", 5, "bins", None),
        spend("joint exponential quantiles", 5, "bins", None),
        spend("truncated geometric", 2, "histograms", 0, times=7),
    )
    bins, histograms = path(model(spends))
    assert (bins.releases, round(bins.epsilon, 9)) == (2, 0.1)
    assert (histograms.releases, round(histograms.epsilon, 9)) == (7, 0.14)


def test_a_replaced_record_pays_twice() -> None:
    (once,) = path(model((spend("exponential", 40, "all", 0),), neighbours="replace"))
    assert once.epsilon == pytest.approx(0.8)


# --- the plot -----------------------------------------------------------------------------------


def test_bars_follow_each_other_up_to_epsilon() -> None:
    ax = plot_budget(model())
    assert widths(ax) == pytest.approx([0.1, 0.3, 0.2, 0.4])
    assert [bar.get_x() for bar in ax.patches] == pytest.approx([0, 0.1, 0.4, 0.6])
    assert names(ax) == ["number of records", "level 1: split", "level 2: split", "level 3: label"]
    assert "where epsilon 1 went" in ax.get_title()
    assert "epsilon 1" in [text.get_text() for text in ax.texts]
    assert "0.4  (40.0%)" in everything(ax)


def test_a_delta_is_named_and_the_bars_stay_as_they_are() -> None:
    plain, with_delta = plot_budget(model()), plot_budget(model(delta=1e-6))
    assert plain.get_title() == "Learner: where epsilon 1 went"
    assert with_delta.get_title() == f"{plain.get_title()}\nbesides it, delta is 1e-06"
    assert widths(with_delta) == widths(plain)
    assert names(with_delta) == names(plain)
    assert [t.get_text() for t in with_delta.texts] == [t.get_text() for t in plain.texts]
    with_delta.figure.draw_without_rendering()


def test_what_was_left_is_shown() -> None:
    ax = plot_budget(model(SPENDS[:2]))
    assert names(ax)[-1] == "not spent"
    assert widths(ax)[-1] == pytest.approx(0.6)
    assert sum(widths(ax)) == pytest.approx(1.0)


def test_an_infinite_epsilon_is_no_guarantee() -> None:
    leak = Leak("a hole", "it leaks.")
    ax = plot_budget(model(epsilon=math.inf, leaks=(leak,), claimed_epsilon=0.25))
    assert "epsilon is infinite (a hole)" in ax.get_title()
    assert "no guarantee" in ax.get_title()
    assert "claimed 0.25" in everything(ax)
    assert "not spent" not in names(ax)
    assert sum(widths(ax)) == pytest.approx(1.0)  # what was spent, whatever is claimed
    lines = [line.get_xdata()[0] for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert lines == [0.25]


def test_a_claim_and_what_holds_are_both_drawn() -> None:
    texts = everything(plot_budget(model(claimed_epsilon=0.1)))
    assert "claimed 0.1" in texts
    assert "epsilon 1" in texts


def test_a_replaced_record_is_mentioned() -> None:
    ax = plot_budget(model((spend("exponential", 50, "all", 0),), neighbours="replace"))
    assert "a replaced record pays twice" in ax.get_xlabel()
    assert widths(ax) == pytest.approx([1.0])


def test_nothing_spent() -> None:
    ax = plot_budget(model((), epsilon=math.inf))
    assert widths(ax) == []
    ax.figure.draw_without_rendering()


@pytest.mark.slow
def test_many_spends_are_not_all_drawn() -> None:
    spends = tuple(spend("geometric", 1, f"count {place}", None) for place in range(50))
    ax = plot_budget(model(spends, epsilon=0.5))
    assert len(widths(ax)) == 31
    assert names(ax)[-1] == "20 more spends"
    assert sum(widths(ax)) == pytest.approx(0.5)


@pytest.mark.parametrize("purpose", ["$x_1$", "a\nb", "\\frac", "p" * 5000], ids=range(4))
def test_texts_of_strangers_do_no_harm(purpose: str) -> None:
    strange = model((spend("odd", 10, purpose, 0),), leaks=(), claimed_epsilon=0.1)
    ax = plot_budget(replace(strange, privacy_=replace(strange.privacy_, learner=purpose)))
    ax.figure.draw_without_rendering()
    assert len(names(ax)[0]) < 100


def test_endless_spends_are_refused() -> None:
    huge = Spend("geometric", Fraction(10**300), "count", None, 10**12)
    with pytest.raises(ParameterError, match="finite sum"):
        plot_budget(model((huge,), epsilon=math.inf))


def test_on_given_axes_pyplot_is_not_touched() -> None:
    ax = Figure().subplots()
    assert plot_budget(model(), ax) is ax
    assert pyplot.get_fignums() == []


def test_a_tree_alone_has_no_budget() -> None:
    with pytest.raises(TypeError, match="privacy statement"):
        plot_budget(two_levels())


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        plot_budget(model())
