"""The curves of accuracy against epsilon: which tasks they need, and what cannot be drawn."""

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.running import Request


def test_by_default_it_is_the_paper_s_protocol(asked_for, output, monkeypatch):
    records = datasets.load("vote")
    monkeypatch.setattr(datasets, "load", lambda name, data_dir=None: records)
    tasks = asked_for("epsilon-curve", Request(output))
    assert {task.dataset for task in tasks} == {"adult", "compas-two-years"}
    assert {task.repeat for task in tasks} == set(range(50))
    assert {task.depth for task in tasks} == {4}
    epsilons = sorted({task.epsilon for task in tasks if task.method == "privatree"})
    assert (epsilons[0], epsilons[-1]) == (0.001, 1.0)
    assert {task.epsilon for task in tasks if task.method == "decision-tree"} == {None}
    shown = {task.method for task in tasks}
    assert shown <= {name for name in methods.names() if methods.get(name).missing is None}
    paper = {"decision-tree", "bdpt", "privatree-star", "dpgdf", "privatree-paper", "privatree"}
    assert shown >= paper
    assert len(shown & {"diffprivlib-tree", "random-tree"}) == 1


def test_one_split_and_no_private_method_can_be_drawn(faked):
    made = faked("epsilon-curve", lambda _: 0.875, ("vote",), ("decision-tree",), (0.5,), 1)
    assert made.markdown_rows("epsilon-curve.md", "0.5") == [["0.5", ".875"]]
    (level,) = made.figures[0].axes[0].get_lines()
    assert set(level.get_ydata()) == {0.875}


def test_what_failed_is_said_and_not_drawn(faked):
    def score(task):
        return "failed: no good" if task.epsilon == 0.1 else 0.875

    made = faked("epsilon-curve", score, ("vote",), ("privatree",), (0.1, 1.0), 1)
    assert made.markdown_rows("epsilon-curve.md", "0.1") == [["0.1", "[1]"]]
    assert made.markdown_rows("epsilon-curve.md", "1") == [["1", ".875"]]
    assert "- [1] failed: no good" in made.text("epsilon-curve.md")
    (line,) = made.figures[0].axes[0].get_lines()
    assert line.get_xydata().tolist() == [[1.0, 0.875]]
