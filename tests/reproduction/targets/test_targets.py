"""What holds for every target: its files, its cells, and that nothing is done twice."""

from pathlib import Path

import pytest

from privatree.reproduction.running import Request
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._task import Score
from privatree.reproduction.targets import TARGETS

TABLE, FIGURE = ("csv", "md", "tex"), ("csv", "md", "tex", "png", "svg")
RUNS = {
    "accuracy": (("breast-w", "vote"), ("decision-tree", "dpgdf", "privatree"), (0.1, 1.0), 1),
    "runtime": (("vote",), ("decision-tree", "privatree"), (0.1,), 1),
    "epsilon-curve": (("breast-w", "vote"), ("decision-tree", "dpgdf"), (1.0, 0.1), 2),
    "budget-shares": (("vote",), None, (0.1,), 1),
    "poisoning": (("vote",), ("privatree-paper", "privatree-robust"), (0.1,), 1),
    "poisoning-curve": (("vote",), ("decision-tree", "dpa"), (0.1,), 1),
    "backdoor": (None, ("decision-tree", "privatree"), (0.1,), 2),
}
JOBS = {"accuracy": 2, "runtime": 4}
WRITTEN = {
    "accuracy": [f"accuracy-epsilon-{e}.{form}" for e in ("0.1", "1") for form in TABLE],
    "runtime": [f"runtime-epsilon-0.1.{form}" for form in TABLE],
    "epsilon-curve": [f"epsilon-curve.{form}" for form in FIGURE],
    "budget-shares": [f"budget-shares-epsilon-0.1.{form}" for form in FIGURE],
    "poisoning": [f"poisoning-categorical.{form}" for form in TABLE],
    "poisoning-curve": [f"poisoning-curve.{form}" for form in FIGURE],
    "backdoor": [f"backdoor.{form}" for form in FIGURE],
}


@pytest.fixture(scope="module", params=RUNS)
def made(request, tmp_path_factory, reproduce, tiny_mnist):
    target = request.param
    folder = tiny_mnist if target == "backdoor" else None
    output = tmp_path_factory.mktemp(target) / "out"
    return reproduce(target, Request(output, *RUNS[target], folder, JOBS.get(target, 1)))


def test_the_files(made):
    names = WRITTEN[made.target]
    assert [path.name for path in made.written] == names
    assert all(path.parent == made.folder for path in made.written)
    assert set(made.content) == {*names, "cells.csv", "run.json"}
    for name in names:
        begin = {"png": b"\x89PNG", "svg": b"<?xml", "md": b"# ", "tex": b"% Needs"}
        assert made.content[name].startswith(begin.get(name[-3:].strip("."), b"dataset,"))
        assert len(made.content[name]) > (20_000 if name.endswith("png") else 100)


def test_the_cells_are_the_scores_of_the_tasks(made):
    certified = {"poisoning-curve": "dpa/cells.csv"}.get(made.target)
    rows = [*made.rows("cells.csv"), *(made.rows(certified) if certified else [])]
    assert len({task.key for task in made.tasks}) == len(made.tasks) == len(rows)
    for row, task in zip(rows, made.tasks, strict=True):
        assert tuple(row[name] for name in task.fields) == task.key
        assert row["note"] == ""
        assert float(row["fit_seconds"]) >= 0
    for row, task in (rows[0], made.tasks[0]), (rows[-1], made.tasks[-1]):
        score = task.run()
        found = [row[name] for name in ("accuracy", *task.measures)]
        assert found == [f"{number:.6f}" for number in (score.accuracy, *score.more)]


def test_the_number_of_processes(made):
    """Fits are timed one at a time, whatever number was asked for."""
    assert made.n_processes == {"accuracy": 2, "runtime": 1}.get(made.target, 0)


def test_a_second_run_does_nothing_and_changes_nothing(made, reproduce):
    before = made.content
    again = reproduce(made.target, made.request)
    assert again.listener.before == again.listener.total > 0
    assert (again.listener.advanced, again.n_processes) == (0.0, 0)
    assert (again.written, again.content) == (made.written, before)


@pytest.mark.parametrize("target", [name for name in RUNS if "svg" in str(WRITTEN[name])])
def test_without_matplotlib_there_is_no_figure(target, faked, tiny_mnist, monkeypatch):
    monkeypatch.setattr(study, "find_spec", lambda name: None)
    made = faked(
        target, lambda task: Score(0.5, 0.1, (0.5,) * len(task.measures)), *RUNS[target], tiny_mnist
    )
    assert {path.suffix for path in made.written} == {".csv", ".md", ".tex"}
    (line,) = [line for line in made.listener.lines if "matplotlib" in line]
    assert line.startswith(
        "Left out: figures, because matplotlib is not installed. Run pip install matplotlib, "
    )


def test_the_targets_in_the_order_of_all():
    own_tests = {"survey"}  # in test_survey.py
    assert [name for name in TARGETS if name not in own_tests] == ["datasets", *RUNS]


def test_a_method_is_not_run_where_it_does_not_apply(asked_for, tmp_path: Path):
    request = Request(tmp_path, ("breast-w", "vote"), ("dpgdf",), (1.0,), 2)
    assert {task.dataset for task in asked_for("accuracy", request)} == {"vote"}
    assert len(asked_for("accuracy", request)) == 10
