"""Curves: what is drawn where, in which look, and that a figure is the same bytes every time."""

import math
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex

from privatree.baselines import methods
from privatree.errors import ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.rendering import _figures as figures
from privatree.reproduction.rendering._figures import (
    Curve,
    Panel,
    Reference,
    Style,
    accuracy_figure,
    line_figure,
    write_figure,
)

METHODS = [
    replace(methods.get(i), title=title, claimed=False)
    for i, title in [
        ("decision-tree", "decision tree"),
        ("bdpt", "BDPT"),
        ("privatree", "ours"),
        ("dpgdf", "DPGDF"),
    ]
]
DATASETS = [datasets.describe(name) for name in ("adult", "compas-two-years")]


def summary():
    rows = [
        ("adult", "decision-tree", math.nan, 0.84, 0.001, 50),
        ("adult", "bdpt", 1.0, 0.8, 0.01, 50),
        ("adult", "bdpt", 0.01, 0.7, 0.02, 50),
        ("adult", "bdpt", 0.1, 0.75, 0.015, 50),
        ("adult", "privatree", 0.01, 0.8, math.nan, 1),
        ("adult", "privatree", 0.1, 0.82, 0.01, 50),
        ("adult", "dpgdf", 0.1, math.nan, math.nan, 0),  # marked: there is nothing to draw
        ("compas-two-years", "privatree", 0.1, 0.6, 0.01, 50),
        ("vote", "privatree", 0.1, 0.9, 0.01, 50),
    ]
    columns = ["dataset", "method", "epsilon", "mean", "standard_error", "n"]
    return pd.DataFrame(rows, columns=columns)


def curves_figure():
    return accuracy_figure(summary(), methods=METHODS, datasets=DATASETS)


def legend_texts(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_a_claim_is_marked_in_the_legend_and_explained_below():
    chosen = [replace(method, claimed=method.id == "bdpt") for method in METHODS]
    figure = accuracy_figure(summary(), methods=chosen, datasets=DATASETS)
    assert legend_texts(figure) == ["decision tree", "BDPT†", "ours"]
    for axes in figure.axes:
        assert axes.get_xlabel() == "privacy budget ε († as claimed; it does not hold)"


def test_a_claim_that_is_not_drawn_is_not_explained():
    chosen = [replace(method, claimed=method.id == "dpgdf") for method in METHODS]
    figure = accuracy_figure(summary(), methods=chosen, datasets=DATASETS)
    assert legend_texts(figure) == ["decision tree", "BDPT", "ours"]
    assert figure.axes[0].get_xlabel() == "privacy budget ε"


def test_a_full_legend_with_marks_fits_into_the_figure():
    ids = ["bdpt", "privatree-star", "dpgdf", "diffprivlib-tree", "privatree-paper", "dp-ebm"]
    chosen = [replace(methods.get(i), claimed=True) for i in ids]
    rows = [("adult", i, epsilon, 0.8, 0.01, 5) for i in ids for epsilon in (0.01, 0.1)]
    figure = accuracy_figure(
        pd.DataFrame(rows, columns=summary().columns), methods=chosen, datasets=DATASETS[:1]
    )
    figure.draw_without_rendering()
    (axes,), (legend,) = figure.axes, figure.legends
    for part in (axes.xaxis.label, legend):
        box = part.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
    assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0


def test_our_line_is_emphasised():
    _, bdpt, ours = curves_figure().axes[0].get_lines()
    assert ours.get_linewidth() > bdpt.get_linewidth()
    assert ours.get_zorder() > bdpt.get_zorder()


def test_a_method_looks_the_same_whatever_is_shown_beside_it():
    alone = accuracy_figure(summary(), methods=METHODS[1:2], datasets=DATASETS[:1])
    (bdpt,) = alone.axes[0].get_lines()
    beside = curves_figure().axes[0].get_lines()[1]
    assert (bdpt.get_color(), bdpt.get_marker()) == (beside.get_color(), beside.get_marker())


def test_methods_differ_in_colour_in_marker_and_in_dashes():
    by_method = dict(figures._STYLES)
    assert by_method.pop("random-tree") == by_method["diffprivlib-tree"]  # for which it stands in
    styles = by_method.values()
    assert len({style.colour for style in styles}) == len(styles)
    assert len({style.marker for style in styles}) == len(styles)
    assert len({style.dashes for style in styles}) == len(styles)


def test_a_curve_may_have_a_style_of_its_own():
    curve = Curve("privatree", "a", [0, 1], [0, 1], style=Style("#123456", "x"))
    figure = line_figure([Panel("t", (curve,))], x_label="x", y_label="y", x_scale="linear")
    (line,) = figure.axes[0].get_lines()
    assert (to_hex(line.get_color()), line.get_marker()) == ("#123456", "x")


def test_other_axes():
    panel = Panel("adult", (Curve("dpa", "DPA", [0, 1], [0.8, 0.4]),), (Reference("clean", 0.9),))
    figure = line_figure([panel], x_label="poisoned (%)", y_label="guarantee", x_scale="linear")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_xlabel()) == ("linear", "poisoned (%)")
    assert len(axes.collections) == 0  # no errors, no bands
    assert legend_texts(figure) == ["clean", "DPA"]


def test_panels_below_each_other_share_labels():
    panels = [Panel(title, (Curve("dpa", "DPA", [0, 1], [0.8, 0.4]),)) for title in "abcd"]
    figure = line_figure(panels, x_label="x", y_label="y", n_columns=2)
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c", "d"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "x", "x"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["y", "", "y", ""]
    assert tuple(figure.get_size_inches()) == (pytest.approx(6.6), pytest.approx(5.5))
    figure.draw_without_rendering()
    first, second, third, _ = (axes.get_window_extent() for axes in figure.axes)
    assert first.x1 < second.x0
    assert third.y1 < first.y0


@pytest.mark.parametrize(("n_points", "every"), [(2, 1), (10, 1), (19, 1), (81, 8)])
def test_a_curve_of_many_points_has_few_markers(n_points, every):
    curve = Curve("dpa", "DPA", list(range(n_points)), [0.5] * n_points)
    figure = line_figure([Panel("t", (curve,))], x_label="x", y_label="y", x_scale="linear")
    (line,) = figure.axes[0].get_lines()
    assert len(line.get_xdata()) == n_points
    assert line.get_markevery() == every


def legend_of(figure):
    """How many columns the legend has, and whether it lies inside of the figure."""
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    inside = figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
    lefts = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    return len(lefts), inside


@pytest.mark.parametrize(
    ("n_panels", "label", "n_columns"),
    [
        (1, "a", 3),
        (1, "a middling name", 2),
        (1, "a long name " * 2, 1),
        (2, "a", 4),
        (2, "a long name " * 2, 3),
        (4, "a long name " * 2, 4),
    ],
)
def test_a_legend_has_as_many_columns_as_fit(n_panels, label, n_columns):
    curves = tuple(Curve("dpa", f"{label}{i}", [0, 1], [0.8, 0.4]) for i in range(7))
    figure = line_figure([Panel("t", curves)] * n_panels, x_label="x", y_label="y")
    assert legend_of(figure) == (n_columns, True)
    more_lines = max(0, math.ceil(7 / n_columns) - 2)  # which leave the panel its height
    assert figure.get_size_inches()[1] == pytest.approx(2.75 + 0.17 * more_lines)


def test_nothing_to_draw():
    figure = accuracy_figure(summary().head(0), methods=METHODS, datasets=DATASETS)
    assert figure.legends == []


def test_a_panel_is_as_wide_as_a_column():
    assert curves_figure().get_size_inches()[0] == pytest.approx(6.6)


def test_files(tmp_path):
    png, svg = write_figure(tmp_path / "new", "epsilon-curve", curves_figure())
    assert (png.name, svg.name) == ("epsilon-curve.png", "epsilon-curve.svg")
    header = png.read_bytes()[:24]
    assert header.startswith(b"\x89PNG")
    assert int.from_bytes(header[16:20], "big") >= 6.6 * 200
    texts = {"".join(node.itertext()).strip() for node in ElementTree.parse(svg).iter()}
    labels = {"privacy budget ε", "test accuracy ± std. error"}
    assert {"adult", "decision tree", "0.01"} | labels <= texts


def test_the_same_bytes_every_time(tmp_path):
    first = write_figure(tmp_path / "a", "f", curves_figure())
    second = write_figure(tmp_path / "b", "f", curves_figure())
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    other = accuracy_figure(summary().iloc[::-1], methods=METHODS, datasets=DATASETS)
    third = write_figure(tmp_path / "c", "f", other)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in third]


def test_no_global_state(tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    loaded = "matplotlib.pyplot" in sys.modules
    write_figure(tmp_path, "f", curves_figure())
    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == loaded


def test_the_users_own_settings_do_not_matter(tmp_path):
    import matplotlib

    usual = write_figure(tmp_path / "a", "f", curves_figure())
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.grid": True}):
        changed = write_figure(tmp_path / "b", "f", curves_figure())
    assert [p.read_bytes() for p in usual] == [p.read_bytes() for p in changed]


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        curves_figure()
