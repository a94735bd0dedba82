"""The curves of guaranteed accuracy: points of the table are points of the figure."""

import math

import numpy as np
import pytest

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._guarantees import guarantee_spending
from privatree.reproduction.running import Request
from privatree.reproduction.running._certified_split import CERTIFIED_SHARES, CertifiedSplit
from privatree.reproduction.running._task import Score
from privatree.robustness import best

METHODS = ("decision-tree", "privatree-paper", "privatree", "dpa")
PAGE = "poisoning-curve.md"
N_TRAIN = 36_177  # adult


def scored(task):
    """Accuracies in the middle of .8; certified ones fall by .01 for each share."""
    if isinstance(task, CertifiedSplit):
        falling = [0.8 - place / 100 for place in range(len(CERTIFIED_SHARES))]
        return Score(0.8, 1.0, tuple(falling))
    return 0.78 + 0.04 * task.repeat


@pytest.fixture
def guaranteed(faked):
    def make(chosen, score=scored, found=("adult",)):
        made = faked("poisoning-curve", score, found, chosen, (0.1, 0.01), 2)
        (made.figure,) = made.figures
        return made

    return make


def test_table_and_figure_are_those_of_the_csv(guaranteed):
    made = guaranteed(METHODS)
    low, high = made.markdown_rows(PAGE, "PrivaTree†")
    assert low[1:6] == [".800 ±.020", ".558", ".325", ".132", ".022"]
    assert high[1:6] == [".800 ±.020", ".022", *[".000"] * 3]
    for rows in (made.markdown_rows(PAGE, methods.get(name).title) for name in METHODS[::3]):
        assert rows[0] == rows[1]  # the same at every epsilon
    ensemble = made.markdown_rows(PAGE, methods.get("dpa").title)[0]
    certified = [".780", ".750", ".700", ".600"]  # places 2, 5, 10 and 20
    assert ensemble[1:] == [".800 ±.000", *"----", *certified]
    rows = made.rows("poisoning-curve.csv")
    for axes, epsilon in zip(made.figure.axes, ("0.01", "0.1"), strict=True):
        assert axes.get_title() == f"adult, ε = {epsilon} (1% = 361 records)"
        level, *lines = axes.get_lines()
        assert list(level.get_ydata()) == pytest.approx([0.8, 0.8])
        expected = [
            ("privatree-paper", epsilon, "best bound"),
            ("privatree-paper", epsilon, "paper's bound"),
            ("privatree", epsilon, "best bound"),
            ("dpa", "", "best bound"),
        ]
        for line, setting in zip(lines, expected, strict=True):
            points = [
                (100 * int(row["edits"]) / N_TRAIN, float(row["value"]))
                for row in rows
                if (row["method"], row["epsilon"], row["figure"]) == setting
            ]
            assert len(points) == (21 if setting[0] == "dpa" else 81)
            assert line.get_xydata() == pytest.approx(np.array(points), abs=1e-6)
        for percent, left in lines[1].get_xydata():  # the paper's formula
            edits = round(percent * N_TRAIN / 100)
            assert left == pytest.approx(0.8 * math.exp(-float(epsilon) * edits), abs=1e-9)


def test_the_best_bound_of_ours_is_shown_with_its_letter(guaranteed):
    made = guaranteed(("privatree", "privatree-robust"), found=("breast-w",))  # 1%: five records
    schema = datasets.load("breast-w").schema
    for name in ("privatree", "privatree-robust"):
        _, high = made.markdown_rows(PAGE, methods.get(name).title)
        certified = best(guarantee_spending(methods.get(name), schema, 0.1, 4), 0.8, 5)
        assert high[-1] == f"{certified.value:.3f}".lstrip("0") + f" {certified.bound}"
        assert certified.bound == "E"


def test_a_point_for_each_number_of_records(guaranteed):
    axes = guaranteed(("privatree",), found=("vote",)).figure.axes[0]
    assert axes.get_title() == "vote, ε = 0.01 (1% = 1 record)"
    (line,) = axes.get_lines()
    assert list(line.get_xdata()) == pytest.approx([0, 100 / 185])


def test_the_full_legend_fits_into_the_figure(guaranteed):
    chosen = (*METHODS[:2], "random-tree", "privatree", "privatree-robust", "bdpt", "dpa")
    figure = guaranteed(chosen, found=("breast-w", "vote")).figure
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_what_failed_is_said_and_not_drawn(guaranteed):
    def score(task):
        return "failed: no good" if task.method == "privatree" else scored(task)

    made = guaranteed(("privatree", "dpa"), score)
    low, high = made.markdown_rows(PAGE, "privatree (record-level)")
    assert low == high == ["privatree (record-level)", "[1]", *"--------"]
    assert "- [1] failed: no good" in made.text(PAGE)
    assert all(len(axes.get_lines()) == 1 for axes in made.figure.axes)


def test_by_default_it_is_the_paper_s_protocol(asked_for, output, monkeypatch):
    records = datasets.load("vote")
    monkeypatch.setattr(datasets, "load", lambda name, data_dir=None: records)
    tasks = asked_for("poisoning-curve", Request(output))
    assert {task.dataset for task in tasks} == {"adult", "compas-two-years"}
    assert {task.repeat for task in tasks} == set(range(50))
    assert {task.epsilon for task in tasks if task.method == "privatree"} == {0.01, 0.1}
    shown = {task.method for task in tasks}
    assert shown >= {"decision-tree", "privatree-paper", "privatree", "privatree-robust"}
    assert len(shown & {"diffprivlib-tree", "random-tree"}) == 1
    assert "dpa" not in shown  # whose tasks are of another kind, and run after these
    (ensemble,) = asked_for("poisoning-curve", Request(output, methods=("dpa",), repeats=1))[:1]
    assert isinstance(ensemble, CertifiedSplit)
