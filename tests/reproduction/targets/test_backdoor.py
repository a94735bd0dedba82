"""The backdoor: which tasks it needs, its bounds, and that without its data the rest goes on."""

import math
import shutil

import pytest

from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction.loading import _mnist as mnist
from privatree.reproduction.running import NothingToRunError, Request
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._task import Score
from privatree.reproduction.targets import _backdoor as backdoor

METHODS = ("decision-tree", "privatree-paper", "privatree")


def test_by_default_it_is_the_paper_s_protocol(asked_for, output, tiny_mnist, monkeypatch):
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


def test_methods_that_cannot_take_pixels_are_left_out(asked_for, output, tiny_mnist):
    chosen = ("dpgdf", "privatree")
    tasks = asked_for("backdoor", Request(output, methods=chosen, data_dir=tiny_mnist))
    assert {task.method for task in tasks} == {"privatree"}


def test_only_what_is_missing_is_run(reproduce, tmp_path, tiny_mnist):
    chosen = (None, ("decision-tree",), (0.1,), 2, tiny_mnist, 1)
    made = reproduce("backdoor", Request(tmp_path / "out", *chosen))
    shutil.copytree(made.request.output, tmp_path / "again")
    cells = tmp_path / "again" / "backdoor" / "cells.csv"
    lines = cells.read_text().splitlines(keepends=True)
    cells.write_text("".join(lines[:2] + lines[3:])[:-4])  # one is gone, the last one is cut
    again = reproduce("backdoor", Request(tmp_path / "again", *chosen))
    assert again.listener.advanced == pytest.approx(again.listener.total / 2)
    columns = slice(0, 8)  # all but the seconds
    assert [line.split(",")[columns] for line in cells.read_text().splitlines()] == [
        line.strip().split(",")[columns] for line in lines
    ]


def test_a_poisoned_tree_fails_and_bounds_hold_from_the_rate_without_poison(faked, tiny_mnist):
    def score(task):
        if task.method == "privatree-paper" and task.poisoned and task.repeat:
            return "failed: no good"
        if task.dataset == "mnist01-full-range":
            return Score(0.9, 0.5, (0.25,))
        rate = 1.0 if task.poisoned and task.epsilon is None else 0.02 + 0.02 * task.repeat
        return Score(0.975, 0.5, (rate,))

    made = faked("backdoor", score, None, METHODS, (0.1,), 2, tiny_mnist)
    tree, paper, ours, full_paper, full_ours = made.markdown_rows("backdoor.md", "0")
    dash = ["-"] * 7
    assert tree == ["0", "0.0%", ".975 ±.000 (.995)", ".030 ±.010", *dash]
    assert paper[:5] == ["0", "0.0%", ".975 ±.000 (.987)", ".030 ±.010", "**.030**"]
    assert ours[:4] == ["0", "0.0%", ".975 ±.000", ".030 ±.010"]
    assert full_paper[:4] == full_ours[:4] == ["0", "0.0%", ".900 ±.000", ".250 ±.000"]
    tree, paper, ours, full_paper, _ = made.markdown_rows("backdoor.md", "1")
    assert tree == ["1", "0.8%", ".975 ±.000", "1.000 ±.000", *dash]
    claimed, full_claimed = (f"{1 - left * math.exp(-0.1):.3f}"[1:] for left in (0.97, 0.75))
    assert paper == ["1", "0.8%", ".975 [1]", ".020", f"**{claimed}**", *dash[1:]]
    assert full_paper[4] == f"**{full_claimed}**"
    assert ours[4] == claimed
    (lowest,) = [cell for cell in ours[4:] if cell.startswith("**")]
    assert float(lowest.strip("*")) == min(float(cell.strip("*")) for cell in ours[4:]) < 0.04
    assert "- [1] 1 of 2 scores: failed: no good" in made.text("backdoor.md")


def test_a_run_of_one_of_both(faked, tiny_mnist):
    name = "mnist01-full-range"
    chosen = ("decision-tree", "privatree")
    scored = Score(0.9, 0.5, (0.25,))
    made = faked("backdoor", lambda task: scored, (name,), chosen, (0.1,), 1, tiny_mnist)
    assert {row["dataset"] for row in made.rows("backdoor.csv")} == {name}
    tree, ours = made.markdown_rows("backdoor.md", "0")
    assert (tree[2], ours[2]) == (".900 (.995)", ".900")
    assert "Every pixel 0 to 255" in made.text("backdoor.md")
    assert "anges of the records" not in made.text("backdoor.md")
    (figure,) = made.figures
    assert [axes.get_title() for axes in figure.axes[1:]] == ["every pixel 0 to 255, ε = 0.1"]


# --- without its data ---------------------------------------------------------------------------


def test_without_images_it_is_said_and_nothing_is_written(output, listener, monkeypatch):
    def missing(data_dir=None):
        raise DatasetMissingError("the zeros and ones of MNIST were not found.")

    monkeypatch.setattr(mnist, "LOADERS", dict.fromkeys(mnist.LOADERS, missing))
    with pytest.raises(NothingToRunError, match=r"backdoor: nothing to run.*listed above"):
        backdoor.reproduce_backdoor(Request(output), listener)
    assert "Left out: the zeros and ones of MNIST were not found." in listener.lines
    assert not output.exists()


def test_other_datasets_are_not_meant(output, listener, tiny_mnist):
    request = Request(output, datasets=("vote",), data_dir=tiny_mnist, as_published=True)
    with pytest.raises(NothingToRunError):
        backdoor.reproduce_backdoor(request, listener)
    for name in mnist.LOADERS:
        assert f"Left out: {name}, because --datasets does not list it." in listener.lines


@pytest.mark.parametrize("name", mnist.LOADERS)
def test_one_of_both_can_be_asked_for_by_name(asked_for, output, tiny_mnist, name):
    tasks = asked_for("backdoor", Request(output, datasets=(name,), data_dir=tiny_mnist))
    assert {task.dataset for task in tasks} == {name}
    assert {task.method for task in tasks} == {*METHODS, "privatree-robust"}


def test_a_wrong_file_stops_it(output, listener, tmp_path):
    (tmp_path / "mnist01.npz").write_bytes(b"none")
    with pytest.raises(ParameterError, match="must be a readable NumPy file"):
        backdoor.reproduce_backdoor(Request(output, data_dir=tmp_path), listener)
