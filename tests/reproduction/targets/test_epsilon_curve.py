"""The curves of accuracy against epsilon: points of the table are points of the figure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.running import Request
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._tasks import RandomSplit
from privatree.reproduction.targets import _epsilon_curve as epsilon_curve

METHODS = ("decision-tree", "dpgdf", "privatree")
FORMS = ("csv", "md", "tex", "png", "svg")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, reproduce: Callable[..., Any]) -> Any:
    """The figure is looked at on its way to the file."""
    drawn: list[Any] = []
    output = tmp_path_factory.mktemp("curve") / "out"
    with pytest.MonkeyPatch.context() as patch:
        write = epsilon_curve.write_figure
        patch.setattr(
            epsilon_curve,
            "write_figure",
            lambda folder, name, figure: (drawn.append(figure), write(folder, name, figure))[1],
        )
        request = Request(output, ("breast-w", "vote"), METHODS, (1.0, 0.1), 3, jobs=1)
        made = reproduce("epsilon-curve", request)
    (made.figure,) = drawn
    return made


def test_the_files(made: Any) -> None:
    names = [f"epsilon-curve.{form}" for form in FORMS]
    assert [path.name for path in made.written] == names
    assert set(made.content) == {*names, "cells.csv", "run.json"}


def test_the_cells_are_every_split_of_every_setting(made: Any) -> None:
    assert made.header("cells.csv") == [
        *("dataset", "method", "epsilon", "depth", "repeat", "accuracy", "fit_seconds", "note")
    ]
    found = [tuple(row[name] for name in RandomSplit.fields) for row in made.rows("cells.csv")]
    assert found == [
        (dataset, method, epsilon, "4", str(repeat))
        for dataset in ("breast-w", "vote")
        for method in METHODS
        if (dataset, method) != ("breast-w", "dpgdf")
        for epsilon in ([""] if method == "decision-tree" else ["0.1", "1"])
        for repeat in range(3)
    ]
    for row in made.rows("cells.csv")[-4:]:
        task = RandomSplit(
            row["dataset"], "privatree", float(row["epsilon"]), 4, int(row["repeat"])
        )
        assert row["accuracy"] == f"{task.run().accuracy:.6f}"


def test_the_csv_is_the_means_of_the_cells(made: Any, by_hand: Any) -> None:
    assert made.header("epsilon-curve.csv") == [
        *("dataset", "method", "epsilon", "mean", "standard_error", "n", "n_repeats", "note")
    ]
    rows = made.rows("epsilon-curve.csv")
    assert len(rows) == 8
    for row in rows:
        setting = {key: row[key] for key in ("dataset", "method", "epsilon")}
        scores = made.scores("accuracy", **setting)
        assert (row["n"], row["n_repeats"], row["note"]) == ("3", "3", "")
        assert float(row["mean"]) == pytest.approx(by_hand.mean(scores), abs=1e-6)
        assert float(row["standard_error"]) == pytest.approx(by_hand.error(scores), abs=1e-6)


def test_the_page_has_a_row_for_each_epsilon(made: Any, by_hand: Any) -> None:
    def cell(dataset: str, method: str, epsilon: str) -> str:
        of_cells = "" if method == "decision-tree" else epsilon
        scores = made.scores("accuracy", dataset=dataset, method=method, epsilon=of_cells)
        return f"{by_hand.shown(by_hand.mean(scores))} ±{by_hand.shown(by_hand.error(scores))}"

    ((_, *headings),) = made.markdown_rows("epsilon-curve.md", "epsilon")
    assert headings == ["decision tree", "DPGDF†", "privatree (record-level)"]
    for epsilon in ("0.1", "1"):
        of_breast, of_vote = made.markdown_rows("epsilon-curve.md", epsilon)
        assert of_vote == [epsilon, *(cell("vote", method, epsilon) for method in METHODS)]
        tree, ours = (cell("breast-w", method, epsilon) for method in METHODS[::2])
        assert of_breast == [epsilon, tree, "-", ours]
    page = made.text("epsilon-curve.md")
    assert page.index("| 0.1") < page.index("| 1 ")
    assert "over 3 stratified random splits" in page


def test_the_figure_draws_the_same_points(made: Any) -> None:
    means = {
        (row["dataset"], row["method"], row["epsilon"]): float(row["mean"])
        for row in made.rows("epsilon-curve.csv")
    }
    for axes, dataset in zip(made.figure.axes, ("breast-w", "vote"), strict=True):
        lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()]
        level, *curves = lines
        assert level[1] == pytest.approx([means[dataset, "decision-tree", ""]] * 2, abs=1e-6)
        shown = ("dpgdf", "privatree") if dataset == "vote" else ("privatree",)
        for method, (x, y) in zip(shown, curves, strict=True):
            assert x == [0.1, 1.0]
            expected = [means[dataset, method, epsilon] for epsilon in ("0.1", "1")]
            assert y == pytest.approx(expected, abs=1e-6)
    image = made.content["epsilon-curve.png"]
    assert image.startswith(b"\x89PNG")
    assert len(image) > 20_000
    drawing = made.text("epsilon-curve.svg")
    for word in ("vote", "breast-w", "decision tree", "DPGDF", "privatree (", "privacy budget"):
        assert f">{word}" in drawing


def test_a_second_run_does_nothing_and_changes_nothing(
    made: Any, reproduce: Callable[..., Any]
) -> None:
    before = made.content
    again = reproduce("epsilon-curve", made.request)
    assert again.listener.before == again.listener.total > 0
    assert again.listener.advanced == 0.0
    assert again.written == made.written
    assert again.content == before


def test_by_default_it_is_the_paper_s_protocol(
    asked_for: Callable[..., list[Any]], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = datasets.load("vote")
    monkeypatch.setattr(datasets, "load", lambda name, data_dir=None: records)
    tasks = asked_for("epsilon-curve", Request(output))
    assert {task.dataset for task in tasks} == {"adult", "compas-two-years"}
    assert {task.repeat for task in tasks} == set(range(50))
    assert {task.depth for task in tasks} == {4}
    epsilons = sorted({task.epsilon for task in tasks if task.method == "privatree"})
    assert (epsilons[0], epsilons[-1]) == (0.001, 1.0)
    assert {task.epsilon for task in tasks if task.method == "decision-tree"} == {None}
    here = {name for name in methods.names() if methods.get(name).missing is None}
    shown = {task.method for task in tasks}
    assert shown <= here
    paper = {"decision-tree", "bdpt", "privatree-star", "dpgdf", "privatree-paper", "privatree"}
    assert shown >= paper
    assert len(shown & {"diffprivlib-tree", "random-tree"}) == 1


def test_one_split_and_no_private_method_can_be_drawn(
    fill: Callable[..., None], reproduce: Callable[..., Any], output: Path
) -> None:
    tasks = [RandomSplit("vote", "decision-tree", None, 4, 0)]
    fill(output / "epsilon-curve", tasks, lambda task: 0.875)
    made = reproduce("epsilon-curve", Request(output, ("vote",), ("decision-tree",), (0.5,), 1))
    assert made.markdown_rows("epsilon-curve.md", "0.5") == [["0.5", ".875"]]


def test_without_matplotlib_there_is_no_figure(
    fill: Callable[..., None],
    reproduce: Callable[..., Any],
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(output / "epsilon-curve", [RandomSplit("vote", "privatree", 1.0, 4, 0)], lambda _: 0.875)
    monkeypatch.setattr(study, "find_spec", lambda name: None)
    made = reproduce("epsilon-curve", Request(output, ("vote",), ("privatree",), (1.0,), 1))
    assert [path.name for path in made.written] == [f"epsilon-curve.{form}" for form in FORMS[:3]]
    (line,) = [line for line in made.listener.lines if "matplotlib" in line]
    assert line.startswith("Left out: figures, which need matplotlib: pip install matplotlib, ")


def test_what_failed_is_said_and_not_drawn(
    fill: Callable[..., None], reproduce: Callable[..., Any], output: Path
) -> None:
    tasks = [RandomSplit("vote", "privatree", epsilon, 4, 0) for epsilon in (0.1, 1.0)]
    fill(output / "epsilon-curve", tasks, lambda task: None if task.epsilon == 0.1 else 0.875)
    made = reproduce("epsilon-curve", Request(output, ("vote",), ("privatree",), (0.1, 1.0), 1))
    assert made.markdown_rows("epsilon-curve.md", "0.1") == [["0.1", "[1]"]]
    assert made.markdown_rows("epsilon-curve.md", "1") == [["1", ".875"]]
    assert "- [1] failed: ValueError: no good" in made.text("epsilon-curve.md")
