"""The backdoor: cells, table and figure agree, and without its data the rest goes on."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction.loading import _mnist as mnist
from privatree.reproduction.running import NothingToRunError, Request
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._backdoor import Backdoor
from privatree.reproduction.running._task import Score
from privatree.reproduction.targets import _backdoor as backdoor

FORMS = ("csv", "md", "tex", "png", "svg")
METHODS = ("decision-tree", "privatree-paper", "privatree")


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, reproduce: Callable[..., Any], tiny_mnist: Path
) -> Any:
    output = tmp_path_factory.mktemp("backdoor") / "out"
    request = Request(output, None, ("decision-tree", "privatree"), (0.1,), 2, tiny_mnist, jobs=1)
    return reproduce("backdoor", request)


def test_the_files(made: Any) -> None:
    names = [f"backdoor.{form}" for form in FORMS]
    assert [path.name for path in made.written] == names
    assert set(made.content) == {*names, "cells.csv", "run.json"}
    assert made.content["backdoor.png"].startswith(b"\x89PNG")
    for word in (
        *("a zero with the trigger", "poisoned training records", "best bound"),
        *("ranges of the records, ε = 0.1", "every pixel 0 to 255, ε = 0.1"),
    ):
        assert word in made.text("backdoor.svg")
    for name in (b'"mnist01"', b'"mnist01-full-range"'):
        assert made.content["run.json"].count(name) == 1


def test_the_cells_are_every_split_of_every_setting(made: Any, tiny_mnist: Path) -> None:
    rows = made.rows("cells.csv")
    assert made.header("cells.csv") == [*Backdoor.fields, "accuracy", "asr", "fit_seconds", "note"]
    assert [tuple(row[name] for name in Backdoor.fields) for row in rows] == [
        (*setting, "4", poisoned, repeat)
        for setting in (
            ("mnist01", "decision-tree", ""),
            ("mnist01", "privatree", "0.1"),
            ("mnist01-full-range", "privatree", "0.1"),
        )
        for poisoned in "01"
        for repeat in "01"
    ]
    assert {row["note"] for row in rows} == {""}
    again = Backdoor("mnist01", "decision-tree", None, 4, 1, 1, tiny_mnist).run()
    assert (rows[3]["accuracy"], rows[3]["asr"]) == (
        f"{again.accuracy:.6f}",
        f"{again.more[0]:.6f}",
    )


def test_a_second_run_does_nothing_and_changes_nothing(
    made: Any, reproduce: Callable[..., Any]
) -> None:
    before = made.content
    again = reproduce("backdoor", made.request)
    assert again.listener.before == again.listener.total > 0
    assert again.listener.advanced == 0.0
    assert (again.written, again.content) == (made.written, before)


def test_only_what_is_missing_is_run(
    made: Any, reproduce: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copytree(made.request.output, tmp_path / "out")
    cells = tmp_path / "out" / "backdoor" / "cells.csv"
    lines = cells.read_text().splitlines(keepends=True)
    cells.write_text("".join(lines[:2] + lines[3:])[:-4])  # one is gone, the last one is cut
    request = Request(
        tmp_path / "out", None, ("decision-tree",), (0.1,), 2, made.request.data_dir, jobs=1
    )
    again = reproduce("backdoor", request)
    assert again.listener.advanced == pytest.approx(again.listener.total / 4)
    columns = slice(0, 8)  # all but the seconds
    assert [line.split(",")[columns] for line in cells.read_text().splitlines()] == [
        line.strip().split(",")[columns] for line in lines[:-1]
    ]


def test_by_default_it_is_the_paper_s_protocol(
    asked_for: Callable[..., list[Any]],
    output: Path,
    tiny_mnist: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(study, "len", lambda labels: 14_780, raising=False)
    tasks = asked_for("backdoor", Request(output, data_dir=tiny_mnist))
    assert {task.repeat for task in tasks} == set(range(50))
    assert {task.depth for task in tasks} == {4}
    assert sorted({task.poisoned for task in tasks}) == [
        *(0, 12, 24, 35, 47, 59, 71, 83, 95, 106, 118)
    ]
    assert {(task.dataset, task.method, task.epsilon) for task in tasks} == {
        ("mnist01", "decision-tree", None),
        *(
            (dataset, method, epsilon)
            for dataset in ("mnist01", "mnist01-full-range")
            for method in (*METHODS[1:], "privatree-robust")
            for epsilon in (0.1, 0.01)
        ),
    }
    assert len(tasks) == 50 * 11 * 13
    assert len({task.key for task in tasks}) == len(tasks)


def test_methods_that_cannot_take_pixels_are_left_out(
    asked_for: Callable[..., list[Any]], output: Path, tiny_mnist: Path
) -> None:
    chosen = ("dpgdf", "privatree")
    tasks = asked_for("backdoor", Request(output, methods=chosen, data_dir=tiny_mnist))
    assert {task.method for task in tasks} == {"privatree"}


# --- the table ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(
    tmp_path_factory: pytest.TempPathFactory,
    fill: Callable[..., None],
    reproduce: Callable[..., Any],
    tiny_mnist: Path,
) -> Any:
    """A run of three methods whose scores are made up: a poisoned tree fails, ours does not."""
    tasks = [
        Backdoor(dataset, method, None if method == "decision-tree" else 0.1, 4, poisoned, repeat)
        for dataset in ("mnist01", "mnist01-full-range")
        for method in METHODS
        if method != "decision-tree" or dataset == "mnist01"
        for poisoned in (0, 1)
        for repeat in range(2)
    ]

    def score(task: Backdoor) -> Score | None:
        if task.method == "privatree-paper" and task.poisoned and task.repeat:
            return None
        if task.dataset == "mnist01-full-range":
            return Score(0.9, 0.5, (0.25,))
        rate = 1.0 if task.poisoned and task.epsilon is None else 0.02 + 0.02 * task.repeat
        return Score(0.975, 0.5, (rate,))

    output = tmp_path_factory.mktemp("filled") / "out"
    fill(output / "backdoor", tasks, score)
    return reproduce("backdoor", Request(output, None, METHODS, (0.1,), 2, tiny_mnist, jobs=1))


def test_the_page(filled: Any, by_hand: Any) -> None:
    titles, *of_clean = filled.markdown_rows("backdoor.md", "poisoned") + filled.markdown_rows(
        "backdoor.md", "0"
    )
    letters = ["A", "B", r"AB\*", "C", r"C\*", "D", "E"]
    assert titles == ["poisoned", "share", "accuracy", "ASR", *letters]
    tree, paper, ours, full_paper, full_ours = of_clean
    dash = ["-"] * len(letters)
    assert tree == ["0", "0.0%", ".975 ±.000 (.995)", ".030 ±.010", *dash]
    assert paper[:5] == ["0", "0.0%", ".975 ±.000 (.987)", ".030 ±.010", "**.030**"]
    assert ours[:4] == ["0", "0.0%", ".975 ±.000", ".030 ±.010"]
    assert full_paper[:4] == full_ours[:4] == ["0", "0.0%", ".900 ±.000", ".250 ±.000"]
    tree, paper, ours, full_paper, _ = filled.markdown_rows("backdoor.md", "1")
    assert tree == ["1", "0.8%", ".975 ±.000", "1.000 ±.000", *dash]
    claimed = 1 - 0.97 * math.exp(-0.1)
    bold = f"**{by_hand.shown(claimed)}**"
    assert paper == ["1", "0.8%", ".975 [1]", ".020", bold, *dash[1:]]
    assert full_paper[4] == f"**{by_hand.shown(1 - 0.75 * math.exp(-0.1))}**"
    shown = [float(cell.strip("*")) for cell in ours[4:]]
    assert shown[0] == pytest.approx(claimed, abs=5e-4)
    assert min(shown) < 0.04
    assert [cell.startswith("**") for cell in ours[4:]].count(True) == 1
    page = filled.text("backdoor.md")
    headings = [line.strip("*| ") for line in page.splitlines() if line.startswith(("**", "| **"))]
    assert headings == [
        "Whatever the ranges: decision tree",
        "Ranges of the records: PrivaTree†, ε = 0.1",
        "Ranges of the records: privatree (record-level), ε = 0.1",
        "Every pixel 0 to 255: PrivaTree†, ε = 0.1",
        "Every pixel 0 to 255: privatree (record-level), ε = 0.1",
    ]
    narrow, wide = (line for line in page.splitlines() if "(mnist01" in line)
    assert "clipped to 0" in narrow
    assert "cannot be learned" in narrow
    assert "is seen and can be learned" in wide
    for words in (
        "over 2 stratified random splits, 120 records (80%) for training",
        "without a confidence claim",
        "A bound at such an epsilon does not hold either.",
        "- [1] 1 of 2 scores: failed: ValueError: no good",
        "†: its authors' claim",
    ):
        assert words in page


def test_the_csv_has_every_figure(filled: Any) -> None:
    rows = filled.rows("backdoor.csv")
    assert len(rows) == 2 * (2 + 2 * (3 + 9))
    rows = [row for row in rows if row["dataset"] == "mnist01"]
    found = {(row["method"], row["poisoned"], row["figure"]): row for row in rows}
    assert len(found) == len(rows) == 2 * (2 + 3 + 9)
    assert found["decision-tree", "1", "asr"]["value"] == "1"
    assert found["privatree-paper", "1", "A"]["standard_error"] == ""
    assert found["privatree", "0", "asr"]["standard_error"] == "0.01"


def test_without_matplotlib_there_is_no_figure(
    made: Any, reproduce: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "find_spec", lambda name: None)
    again = reproduce("backdoor", made.request)
    assert [path.name for path in again.written] == [f"backdoor.{form}" for form in FORMS[:3]]


# --- without its data ---------------------------------------------------------------------------


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(data_dir: Path | None = None) -> None:
        raise DatasetMissingError("the zeros and ones of MNIST are not here.")

    monkeypatch.setattr(mnist, "LOADERS", dict.fromkeys(mnist.LOADERS, missing))


@pytest.mark.usefixtures("nowhere")
def test_without_images_it_is_said_and_nothing_is_written(output: Path, listener: Any) -> None:
    with pytest.raises(NothingToRunError, match=r"backdoor: nothing to run.*named above"):
        backdoor.reproduce(Request(output), listener)
    assert "Left out: the zeros and ones of MNIST are not here." in listener.lines
    assert not output.exists()


def test_other_datasets_are_not_meant(output: Path, listener: Any, tiny_mnist: Path) -> None:
    request = Request(output, datasets=("vote",), data_dir=tiny_mnist, as_published=True)
    with pytest.raises(NothingToRunError):
        backdoor.reproduce(request, listener)
    for name in mnist.LOADERS:
        assert f"Left out: {name}, which is not among the datasets asked for." in listener.lines


@pytest.mark.parametrize("name", mnist.LOADERS)
def test_one_of_both_can_be_asked_for_by_name(
    asked_for: Callable[..., list[Any]], output: Path, tiny_mnist: Path, name: str
) -> None:
    tasks = asked_for("backdoor", Request(output, datasets=(name,), data_dir=tiny_mnist))
    assert {task.dataset for task in tasks} == {name}
    assert {task.method for task in tasks} == {*METHODS, "privatree-robust"}


def test_a_run_of_one_of_both(
    reproduce: Callable[..., Any], output: Path, tiny_mnist: Path, fill: Callable[..., None]
) -> None:
    name = "mnist01-full-range"
    tasks = [
        Backdoor(name, *setting, 4, poisoned, 0)
        for setting in (("decision-tree", None), ("privatree", 0.1))
        for poisoned in (0, 1)
    ]
    fill(output / "backdoor", tasks, lambda task: Score(0.9, 0.5, (0.25,)))
    chosen = ("decision-tree", "privatree")
    made = reproduce("backdoor", Request(output, (name,), chosen, (0.1,), 1, tiny_mnist, jobs=1))
    assert {row["dataset"] for row in made.rows("backdoor.csv")} == {name}
    tree, ours = made.markdown_rows("backdoor.md", "0")
    assert (tree[2], ours[2]) == (".900 (.995)", ".900")
    for form in ("md", "svg"):
        assert "very pixel 0 to 255" in made.text(f"backdoor.{form}")
        assert "anges of the records" not in made.text(f"backdoor.{form}")


def test_a_wrong_file_stops_it(output: Path, listener: Any, tmp_path: Path) -> None:
    (tmp_path / "mnist01.npz").write_bytes(b"none")
    with pytest.raises(ParameterError, match="must be a NumPy file"):
        backdoor.reproduce(Request(output, data_dir=tmp_path), listener)
