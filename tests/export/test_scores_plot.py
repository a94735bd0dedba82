from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from privatree.errors import ParameterError
from privatree.evaluation import CurvePoint, PrivateScores, Score
from privatree.export import plot_calibration, plot_scores

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def agg() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def scores(**changes: object) -> PrivateScores:
    point = CurvePoint(0.25, Score("share", 0.3, 0.2, 0.45), 80.0)
    hidden = CurvePoint(0.75, Score("share", None, 0.5, 1.0), 9.0)
    given = {
        "scores": (
            Score("accuracy", 0.8, 0.75, 0.86),
            Score("log loss", 0.9, 0.6, 1.4),
            Score("recall", None, 0.0, 1.0, "$a$"),
        ),
        "epsilon": 0.5,
        "neighbours": "add-remove",
        "unit": None,
        "seeded": False,
        "noisy_size": 500.0,
        "size_error": 9.0,
        "classes": ("$a$", "b"),
        "calibration": (("b", (point, hidden)),),
    }
    return PrivateScores(**(given | changes))  # type: ignore[arg-type]


def number_scores() -> PrivateScores:
    of_number = (
        Score("R²", 0.4, 0.3, 0.5),
        Score("mean absolute error", 3.0, 2.5, 3.7),
        Score("root mean squared error", 5.0, 4.0, 6.25),
    )
    return scores(scores=of_number, classes=(), calibration=())


def test_each_metric_is_a_row_with_its_interval_drawn() -> None:
    ax = plot_scores(scores())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["accuracy", "log loss", r"recall of \$a\$"]
    drawn = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert drawn == [[0.75, 0.86], [0.6, 1.4], [0.0, 1.0]]
    assert [dot.get_xdata()[0] for dot in ax.lines] == [0.8, 0.9], "none where noise hides it"
    assert ax.get_xlim() == (0, 1.4)
    texts = [text.get_text() for text in ax.texts]
    assert texts[0] == "80.0%  (75.0% to 86.0%)"
    assert "hidden by noise" in texts[2]
    ax.figure.canvas.draw()


def test_errors_of_a_number_are_in_its_unit() -> None:
    ax = plot_scores(number_scores())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["mean absolute error", "root mean squared error"]
    assert "R² 0.400 (0.300 to 0.500)" in ax.get_title(loc="left")
    assert "unit of the target" in ax.get_xlabel()


def test_calibration_has_a_dot_and_a_line_for_each_point() -> None:
    ax = plot_calibration(scores())
    ends = [list(line.get_ydata()) for line in ax.lines[1:-1]]
    assert ends == [[0.2, 0.45], [0.5, 1.0]]
    assert list(ax.lines[-1].get_ydata()) == [0.3, 0.75]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["b"]


def test_scores_without_probabilities_have_no_calibration() -> None:
    with pytest.raises(ParameterError, match="no probabilities"):
        plot_calibration(number_scores())


@pytest.mark.parametrize("plot", [plot_scores, plot_calibration])
def test_given_axes_are_used_and_the_extra_is_named(plot, monkeypatch: pytest.MonkeyPatch) -> None:
    ax = Figure().subplots()
    assert plot(scores(), ax) is ax
    assert pyplot.get_fignums() == []
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        plot(scores())
