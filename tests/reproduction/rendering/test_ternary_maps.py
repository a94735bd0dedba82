"""Maps of a budget split in three: where things are, and that the cells fill the triangle."""

import math

import pytest

pytest.importorskip("matplotlib")

from matplotlib.collections import PolyCollection

from privatree.reproduction.rendering._figures import write_figure
from privatree.reproduction.rendering._ternary_maps import (
    TernaryPanel,
    TernaryShares,
    nearest_ternary_region,
    ternary_map,
)


def grid(n, *, first=0):
    """All splits in steps of 1/n with every part at least first/n."""
    return tuple(
        TernaryShares(i / n, j / n, (n - i - j) / n)
        for i in range(first, n + 1)
        for j in range(first, n - i - first + 1)
    )


HALVES = TernaryShares(0, 0.5, 0.5)


def panel():
    shares = grid(4)
    return TernaryPanel("vote", shares, tuple(0.9 - abs(s.leaves - 0.5) for s in shares), HALVES)


def area(polygon):
    turned = zip(polygon, [*polygon[1:], *polygon[:1]], strict=True)
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in turned)) / 2


def contains(polygon, point):
    """Whether a convex polygon has a point inside or on its rim."""
    turned = zip(polygon, [*polygon[1:], *polygon[:1]], strict=True)
    sides = [
        (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) for a, b in turned
    ]
    return all(side > -1e-12 for side in sides) or all(side < 1e-12 for side in sides)


def test_places():
    assert TernaryShares(1, 0, 0).place == (0, 0)
    assert TernaryShares(0, 1, 0).place == (1, 0)
    assert TernaryShares(0, 0, 1).place == (0.5, math.sqrt(3) / 2)
    x, y = TernaryShares(1 / 3, 1 / 3, 1 / 3).place
    assert (x, y) == (pytest.approx(0.5), pytest.approx(math.sqrt(3) / 6))


@pytest.mark.parametrize(("n", "first"), [(4, 0), (20, 0), (10, 1), (3, 1)])
def test_cells_fill_the_triangle_without_overlap(n, first):
    places = [shares.place for shares in grid(n, first=first)]
    regions = [nearest_ternary_region(place, places) for place in places]
    assert sum(map(area, regions)) == pytest.approx(math.sqrt(3) / 4)
    assert all(contains(*pair) for pair in zip(regions, places, strict=True))


def test_a_cell_inside_is_a_hexagon():
    places = [shares.place for shares in grid(10)]
    region = nearest_ternary_region(TernaryShares(0.4, 0.3, 0.3).place, places)
    assert area(region) == pytest.approx(math.sqrt(3) / 2 / 100)


def test_best_is_the_first_of_the_largest():
    shares = (TernaryShares(1, 0, 0), TernaryShares(0, 1, 0), TernaryShares(0, 0, 1))
    assert TernaryPanel("t", shares, (0.1, 0.7, 0.7), HALVES).best == shares[1]


def test_parts_of_the_figure():
    figure = ternary_map([panel(), panel()], value_label="mean training accuracy")
    left, right, left_bar, right_bar = sorted(figure.axes, key=lambda a: a.get_label() != "")
    assert left.get_title() == right.get_title() == "vote"
    assert [left_bar.get_ylabel(), right_bar.get_ylabel()] == ["", "mean training accuracy"]
    (cells,) = [c for c in left.collections if isinstance(c, PolyCollection)]
    assert cells.get_array().tolist() == list(panel().values)
    assert cells.get_cmap().name == "cividis"
    texts = [text.get_text() for text in left.texts]
    assert {"nodes (%) →", "← leaves (%)", "← quantiles (%)"} <= set(texts)
    assert [texts.count(str(percent)) for percent in (20, 40, 60, 80)] == [3, 3, 3, 3]
    marks = {line.get_marker(): line.get_xydata()[0] for line in left.get_lines()[-2:]}
    assert marks["*"].tolist() == pytest.approx(panel().best.place)
    assert marks["o"].tolist() == pytest.approx(HALVES.place)


def test_a_tick_stands_where_its_share_is():
    figure = ternary_map([panel()], value_label="v")
    ticks = [line.get_xydata().tolist()[0] for line in figure.axes[0].get_lines()[:12]]
    expected = [
        shares.place
        for percent in (0.2, 0.4, 0.6, 0.8)
        for shares in (
            TernaryShares(1 - percent, percent, 0),  # nodes, along the bottom
            TernaryShares(0, 1 - percent, percent),  # leaves, up the right side
            TernaryShares(percent, 0, 1 - percent),  # quantiles, down the left side
        )
    ]
    assert ticks == [pytest.approx(place) for place in expected]


def test_the_legend_has_all_marks_of_all_panels():
    figure = ternary_map([panel(), panel()], value_label="v")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["best", "the paper's rule"]


def test_the_same_bytes_every_time(tmp_path):
    files = [
        write_figure(tmp_path / str(k), "f", ternary_map([panel()], value_label="v"))
        for k in range(2)
    ]
    assert [p.read_bytes() for p in files[0]] == [p.read_bytes() for p in files[1]]
