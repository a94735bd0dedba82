"""The curves of guaranteed accuracy: points of the table are points of the figure."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._guarantees import spending_of
from privatree.reproduction.running import Request
from privatree.reproduction.running._certified_split import CERTIFIED_SHARES, CertifiedSplit
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import RandomSplit
from privatree.reproduction.targets import _poisoning_curve as poisoning_curve
from privatree.robustness import best

METHODS = ("decision-tree", "privatree-paper", "privatree", "dpa")
EPSILONS = (0.1, 0.01)
FORMS = ("csv", "md", "tex", "png", "svg")
NAMES = [f"poisoning-curve.{form}" for form in FORMS]
N_TRAIN = 36_177  # adult


def scored(task: Any) -> float | Score:
    """Accuracies in the middle of .8; certified ones fall by .01 for each share."""
    if isinstance(task, CertifiedSplit):
        falling = [0.8 - place / 100 for place in range(len(CERTIFIED_SHARES))]
        return Score(0.8, 1.0, tuple(falling))
    return 0.78 + 0.04 * task.repeat


@pytest.fixture
def faked(
    fill: Callable[..., None],
    reproduce: Callable[..., Any],
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Any]:
    """The target with scores that were not measured; its figure is kept, not written."""

    def make(
        chosen: tuple[str, ...],
        score: Callable[[Any], float | Score | None] = scored,
        found: tuple[str, ...] = ("adult",),
    ) -> Any:
        folder = output / "poisoning-curve"
        plain = [
            RandomSplit(dataset, method, epsilon, 4, repeat)
            for dataset in found
            for method in chosen
            if method != "dpa"
            for epsilon in (EPSILONS if methods.get(method).private else [None])
            for repeat in range(2)
        ]
        if plain:
            fill(folder, plain, score)
        if "dpa" in chosen:
            certified = [CertifiedSplit(d, "dpa", None, 4, r) for d in found for r in range(2)]
            fill(folder / "dpa", certified, score)
        drawn: list[Any] = []
        monkeypatch.setattr(
            poisoning_curve, "write_figure", lambda folder, name, figure: drawn.append(figure) or ()
        )
        made = reproduce("poisoning-curve", Request(output, found, chosen, EPSILONS, 2))
        (made.figure,) = drawn
        return made

    return make


def test_the_page_has_a_row_for_each_method(faked: Callable[..., Any]) -> None:
    made = faked(METHODS)
    ((_, *headings),) = made.markdown_rows(NAMES[1], "method")
    assert headings == [
        "accuracy",
        *("A 0.1%", "A 0.25%", "A 0.5%", "A 1%"),
        *("best 0.1%", "best 0.25%", "best 0.5%", "best 1%"),
    ]
    page = made.text(NAMES[1])
    at = [
        page.index(f"**adult, ε = {epsilon} (36 / 90 / 180 / 361 edits)**")
        for epsilon in ("0.01", "0.1")
    ]
    assert at == sorted(at)
    low, high = made.markdown_rows(NAMES[1], "PrivaTree†")
    assert low[1:6] == [".800 ±.020", ".558", ".325", ".132", ".022"]
    assert high[1:6] == [".800 ±.020", ".022", *[".000"] * 3]
    assert low[6].endswith(" B")
    for rows in (made.markdown_rows(NAMES[1], methods.get(name).title) for name in METHODS[::3]):
        assert rows[0] == rows[1]  # the same at every epsilon
    assert made.markdown_rows(NAMES[1], "decision tree")[0][1:] == [".800 ±.020", *"--------"]
    ensemble = made.markdown_rows(NAMES[1], methods.get("dpa").title)[0]
    certified = [".780", ".750", ".700", ".600"]  # places 2, 5, 10 and 20
    assert ensemble[1:] == [".800 ±.000", *"----", *certified]
    for words in ("no confidence is claimed", "- †: its authors' claim", "- DPA: the mean share"):
        assert words in page
    assert "over 2 stratified random splits" in page


def test_the_best_bound_of_ours_is_shown_with_its_letter(faked: Callable[..., Any]) -> None:
    made = faked(("privatree", "privatree-robust"), found=("breast-w",))  # 1% is five records
    schema = datasets.load("breast-w").schema
    for name in ("privatree", "privatree-robust"):
        _, high = made.markdown_rows(NAMES[1], methods.get(name).title)
        certified = best(spending_of(methods.get(name), schema, 0.1, 4), 0.8, 5)
        assert high[-1] == f"{certified.value:.3f}".lstrip("0") + f" {certified.bound}"
        assert certified.bound == "E"


def test_one_record_is_singular(faked: Callable[..., Any]) -> None:
    made = faked(("privatree",), found=("vote",))
    assert made.figure.axes[0].get_title() == "vote, ε = 0.01 (1% = 1 record)"


def test_the_figure_draws_the_points_of_the_csv(faked: Callable[..., Any]) -> None:
    made = faked(METHODS)
    rows = made.rows(NAMES[0])
    top, below = made.figure.axes
    titles = [axes.get_title() for axes in (top, below)]
    assert titles == [f"adult, ε = {e} (1% = 361 records)" for e in ("0.01", "0.1")]
    for axes, epsilon in ((top, "0.01"), (below, "0.1")):
        level, *lines = axes.get_lines()
        assert list(level.get_ydata()) == pytest.approx([0.8, 0.8])
        expected = [
            ("privatree-paper", epsilon, "best bound"),
            ("privatree-paper", epsilon, "paper's bound"),
            ("privatree", epsilon, "best bound"),
            ("dpa", "", "best bound"),
        ]
        for line, (method, at, figure) in zip(lines, expected, strict=True):
            points = [
                (100 * int(row["edits"]) / N_TRAIN, float(row["value"]))
                for row in rows
                if (row["method"], row["epsilon"], row["figure"]) == (method, at, figure)
            ]
            assert len(points) == (21 if method == "dpa" else 81)
            assert line.get_xydata().ravel().tolist() == pytest.approx(
                [number for point in points for number in point], abs=1e-6
            )
    (legend,) = made.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("decision tree, clean", "PrivaTree†", "PrivaTree†, bound A"),
        *("privatree (record-level)", methods.get("dpa").title),
    ]
    assert "† as claimed" in below.get_xlabel()


def test_the_paper_s_curve_is_its_formula(faked: Callable[..., Any]) -> None:
    made = faked(("privatree-paper",))
    _, line = made.figure.axes[0].get_lines()
    for percent, left in line.get_xydata():
        edits = round(percent * N_TRAIN / 100)
        assert left == pytest.approx(0.8 * math.exp(-0.01 * edits), abs=1e-9)


def test_the_full_legend_fits_into_the_figure(faked: Callable[..., Any]) -> None:
    chosen = (*METHODS[:2], "random-tree", "privatree", "privatree-robust", "bdpt", "dpa")
    figure = faked(chosen, found=("breast-w", "vote")).figure
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_a_point_for_each_number_of_records(faked: Callable[..., Any]) -> None:
    made = faked(("privatree",), found=("vote",))  # 1% is one record
    (line,) = made.figure.axes[0].get_lines()
    assert list(line.get_xdata()) == pytest.approx([0, 100 / 185])


def test_what_failed_is_said_and_not_drawn(faked: Callable[..., Any]) -> None:
    made = faked(
        ("privatree", "dpa"), lambda task: None if task.method == "privatree" else scored(task)
    )
    low, high = made.markdown_rows(NAMES[1], "privatree (record-level)")
    assert low == high == ["privatree (record-level)", "[1]", *"--------"]
    assert "- [1] failed: ValueError: no good" in made.text(NAMES[1])
    assert all(len(axes.get_lines()) == 1 for axes in made.figure.axes)


def test_results_are_kept_and_a_second_run_does_nothing(
    reproduce: Callable[..., Any], fill: Callable[..., None], output: Path
) -> None:
    """Of the two kinds of tasks, each with a file of its own, one is run and one was before."""
    tree = RandomSplit("vote", "decision-tree", None, 4, 0)
    fill(output / "poisoning-curve", [tree], lambda task: 0.9)
    request = Request(output, ("vote",), ("decision-tree", "dpa"), (0.1,), 1, jobs=1)
    made = reproduce("poisoning-curve", request)
    assert [path.name for path in made.written] == NAMES
    assert made.content[NAMES[3]].startswith(b"\x89PNG")
    ensemble = (made.folder / "dpa" / "cells.csv").read_text().splitlines()
    assert ensemble[0].startswith("dataset,method,epsilon,depth,repeat,accuracy,certified_0,")
    assert ensemble[1].startswith("vote,dpa,,4,0,0.")
    before = made.content
    again = reproduce("poisoning-curve", request)
    assert again.listener.before == again.listener.total > 0
    assert again.listener.advanced == 0.0
    assert (again.written, again.content) == (made.written, before)


def test_by_default_it_is_the_paper_s_protocol(
    asked_for: Callable[..., list[Any]], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
