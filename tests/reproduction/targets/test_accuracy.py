"""The tables of accuracy: which tasks they need, and what a cell without all its scores shows."""

from pathlib import Path

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.running import Request


def test_by_default_it_is_the_paper_s_protocol(asked_for, output):
    tasks = asked_for("accuracy", Request(output, datasets=("vote",)))
    compared = [
        methods.get(name)
        for name in methods.names()
        if name not in ("dpa", "diffprivlib-forest", "privatree-robust")
        and not methods.get(name).surveyed
    ]
    here = [method for method in compared if method.missing is None]
    real = {method.id for method in here}
    expected = [
        ("vote", method.id, epsilon, 4, repeat, fold)
        for method in here
        if method.stands_in_for not in real
        for epsilon in ((0.01, 0.1, 1.0) if method.private else (None,))
        for repeat in range(5)
        for fold in range(5)
    ]
    assert [(t.dataset, t.method, t.epsilon, t.depth, t.repeat, t.fold) for t in tasks] == expected


def test_a_method_that_is_not_in_the_paper_s_tables_can_be_asked_for(asked_for, output):
    request = Request(output, datasets=("vote",), methods=("decision-tree", "dpa"), repeats=1)
    tasks = asked_for("accuracy", request)
    assert [task.method for task in tasks] == ["decision-tree"] * 5 + ["dpa"] * 5


def test_by_default_it_is_all_datasets(asked_for, output, monkeypatch):
    records = datasets.load("vote")
    monkeypatch.setattr(datasets, "load", lambda name, data_dir=None: records)
    request = Request(output, methods=("decision-tree",), repeats=1, data_dir=Path("folder"))
    tasks = asked_for("accuracy", request)
    assert list(dict.fromkeys(task.dataset for task in tasks)) == list(datasets.names())
    assert {task.data_dir for task in tasks} == {Path("folder")}


def test_epsilons_that_look_alike_are_kept_apart(faked):
    epsilons = (0.12345671, 0.12345672)
    means = dict(zip(epsilons, (0.5, 0.75), strict=True))
    made = faked("accuracy", lambda t: means[t.epsilon], ("vote",), ("privatree",), epsilons, 1)
    for epsilon, mean in means.items():
        (row,) = made.markdown_rows(f"accuracy-epsilon-{epsilon}.md", "vote")
        assert row[1] == f"{mean:.3f} ±.000".removeprefix("0")
        (tidy,) = made.rows(f"accuracy-epsilon-{epsilon}.csv")
        assert float(tidy["mean"]) == mean


def test_a_failed_cell_is_shown_with_its_reason(faked):
    def score(task):
        return "failed: no good" if task.method == "bdpt" or task.fold == 0 else 0.875

    made = faked("accuracy", score, ("vote",), ("privatree", "bdpt"), (1.0,), 1)
    (row,) = made.markdown_rows("accuracy-epsilon-1.md", "vote")
    assert row == ["vote", ".875 ±.000 [1]", "failed (.901) [2]"]
    assert "- [1] 1 of 5 scores: failed: no good\n" in made.text("accuracy-epsilon-1.md")
    counts = {row["method"]: (row["mean"], row["n"]) for row in made.rows("accuracy-epsilon-1.csv")}
    assert counts == {"privatree": ("0.875", "4"), "bdpt": ("", "0")}
