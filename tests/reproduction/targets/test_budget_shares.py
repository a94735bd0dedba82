"""The maps of the budget: every division is tried once, and the best is the best."""

from itertools import product
from math import e as euler

import pytest

from privatree.errors import ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.running import Request
from privatree.reproduction.targets import _budget_shares as budget_shares

GRID = {(q, n, leaves) for q, n, leaves in product(range(21), repeat=3) if q + n + leaves == 20}
NAME = "budget-shares-epsilon-0.1"


def test_by_default_it_is_the_paper_s_protocol(asked_for, output, monkeypatch):
    records = datasets.load("vote")
    monkeypatch.setattr(datasets, "load", lambda name, data_dir=None: records)
    tasks = asked_for("budget-shares", Request(output))
    assert list(dict.fromkeys(task.dataset for task in tasks)) == ["vote", "pol"]
    assert {(task.epsilon, task.depth) for task in tasks} == {(0.1, 3)}
    assert {task.repeat for task in tasks} == set(range(50))
    assert {(task.quantiles, task.nodes, task.leaves) for task in tasks} == GRID
    assert len(tasks) == len(set(tasks)) == 2 * 231 * 50


@pytest.fixture
def panels(monkeypatch):
    """What is drawn."""
    found = []
    draw = budget_shares.ternary_map

    def look(drawn, **settings):
        found.extend(drawn)
        return draw(drawn, **settings)

    monkeypatch.setattr(budget_shares, "ternary_map", look)
    return found


def test_means_over_repeats_and_what_algorithm_1_takes(faked, panels):
    """The score is largest on average at 35%, 45% and 20%, though once larger elsewhere."""

    def score(task):
        once_larger = 0.875 if task.repeat else 0.5
        scores = {(7, 9, 4): 0.75, (1, 18, 1): once_larger, (20, 0, 0): "failed: no good"}
        return scores.get((task.quantiles, task.nodes, task.leaves), 0.5)

    made = faked("budget-shares", score, ("adult", "breast-w"), None, (0.5,), 2)
    name = "budget-shares-epsilon-0.5.md"
    for title in ("breast-w (683 records)", "adult (45,222 records)"):
        best, nearest = made.markdown_rows(name, title)
        assert best[2:] == ["35%", "45%", "20%", ".750"]
        assert nearest[-1] == ".500"
    assert [len(panel.shares) for panel in panels] == [230, 230]
    # Eq. 5 to 8: half for leaves but at most what suffices, and one part in 1 + depth of the rest.
    for panel, n_records in zip(panels, (45_222, 683), strict=True):
        leaf = min(0.25, 8 / euler / n_records / 0.01) / 0.5
        expected = ((1 - leaf) / 4, (1 - leaf) * 3 / 4, leaf)
        assert tuple(panel.chosen) == pytest.approx(expected, abs=1e-6)
    tidy = {
        (row["dataset"], row["quantiles"], row["leaves"]): row
        for row in made.rows(name.replace("md", "csv"))
    }
    row = tidy["adult", "0.05", "0.05"]
    assert (row["mean"], row["standard_error"], row["n"]) == ("0.6875", "0.1875", "2")
    assert ("adult", "1", "0") not in tidy


def test_without_numbers_the_rule_of_algorithm_1_needs_no_quantiles(faked):
    """Categories only and few records: half of the budget for nodes, half for leaves."""
    made = faked("budget-shares", lambda task: task.leaves / 40, ("vote",), None, (0.1,), 1)
    _, nearest = made.markdown_rows(f"{NAME}.md", "vote (232 records)")
    assert nearest[1:] == ["Algorithm 1, nearest tried", "0%", "50%", "50%", ".250"]


def test_a_dataset_without_scores_is_left_out(faked, panels):
    def score(task):
        return "failed: no good" if task.dataset == "vote" else 0.5

    made = faked("budget-shares", score, ("breast-w", "vote"), None, (0.1,), 1)
    assert [panel.title for panel in panels] == ["breast-w (683 records)"]
    assert made.markdown_rows(f"{NAME}.md", "vote (232 records)") == []


def test_without_any_score_it_says_where_to_look(faked):
    with pytest.raises(ParameterError, match=r"notes in cells\.csv, and use --retry"):
        faked("budget-shares", lambda task: "failed: no good", ("vote",), repeats=1)
