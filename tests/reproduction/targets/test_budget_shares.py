"""The maps of the budget: every division is tried once, and the best is the best."""

from collections.abc import Callable
from itertools import product
from math import e as euler
from pathlib import Path
from typing import Any

import pytest

from privatree.errors import ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.running import Request
from privatree.reproduction.running._budget_share import BudgetShare
from privatree.reproduction.targets import _budget_shares as budget_shares

GRID = {(q, n, leaves) for q, n, leaves in product(range(21), repeat=3) if q + n + leaves == 20}
NAME = "budget-shares-epsilon-0.1"
FORMS = ("csv", "md", "tex", "png", "svg")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, reproduce: Callable[..., Any]) -> Any:
    output = tmp_path_factory.mktemp("shares") / "out"
    return reproduce("budget-shares", Request(output, ("vote",), repeats=1, jobs=1))


def all_tasks(dataset: str, repeats: int = 1, epsilon: float = 0.1) -> list[BudgetShare]:
    return [BudgetShare(dataset, epsilon, 3, *s, r) for s in sorted(GRID) for r in range(repeats)]


def in_percent(shares: tuple[int, int, int]) -> list[str]:
    return [f"{5 * share}%" for share in shares]


def test_the_files(made: Any) -> None:
    names = [f"{NAME}.{form}" for form in FORMS]
    assert [path.name for path in made.written] == names
    assert set(made.content) == {*names, "cells.csv", "run.json"}
    assert made.content[f"{NAME}.png"].startswith(b"\x89PNG")
    assert len(made.content[f"{NAME}.png"]) > 20_000
    for word in ("vote (232 records)", "nodes (%)", "mean training accuracy", "best"):
        assert f">{word}" in made.text(f"{NAME}.svg")


def test_every_division_is_tried(made: Any) -> None:
    assert len(GRID) == 231
    assert made.header("cells.csv") == [
        *("dataset", "epsilon", "depth", "quantiles", "nodes", "leaves", "repeat"),
        *("accuracy", "fit_seconds", "note"),
    ]
    rows = made.rows("cells.csv")
    assert {(row["dataset"], row["epsilon"], row["depth"], row["repeat"]) for row in rows} == {
        ("vote", "0.1", "3", "0")
    }
    shares = [tuple(int(row[k]) for k in ("quantiles", "nodes", "leaves")) for row in rows]
    assert set(shares) == GRID
    assert len(shares) == 231
    for row, tried in list(zip(rows, shares, strict=True))[::29]:
        assert row["accuracy"] == f"{BudgetShare('vote', 0.1, 3, *tried, 0).run().accuracy:.6f}"


def test_the_csv_is_the_cells_with_shares(made: Any) -> None:
    assert made.header(f"{NAME}.csv") == [
        *("dataset", "epsilon", "quantiles", "nodes", "leaves", "mean", "standard_error", "n")
    ]
    cells = {(row["quantiles"], row["nodes"], row["leaves"]): row for row in made.rows("cells.csv")}
    rows = made.rows(f"{NAME}.csv")
    assert len(rows) == 231
    for row in rows:
        place = tuple(str(round(20 * float(row[k]))) for k in ("quantiles", "nodes", "leaves"))
        assert float(row["mean"]) == pytest.approx(float(cells[place]["accuracy"]), abs=1e-6)
        assert sum(float(row[k]) for k in ("quantiles", "nodes", "leaves")) == pytest.approx(1)
        assert (row["dataset"], row["epsilon"], row["standard_error"], row["n"]) == (
            *("vote", "0.1", "", "1"),
        )


def test_the_page_names_the_best_and_the_rule_of_algorithm_1(made: Any, by_hand: Any) -> None:
    scores = {
        tuple(int(row[k]) for k in ("quantiles", "nodes", "leaves")): float(row["accuracy"])
        for row in made.rows("cells.csv")
    }
    best, nearest = made.markdown_rows(f"{NAME}.md", "vote (232 records)")
    assert best[1] == "best"
    assert best[-1] == by_hand.shown(max(scores.values()))
    assert best[2:5] in [in_percent(s) for s in scores if scores[s] == max(scores.values())]
    # Categories only and few records: half of the budget for nodes, half for leaves.
    assert nearest[1:] == [
        "Algorithm 1, nearest tried",
        *in_percent((0, 10, 10)),
        by_hand.shown(scores[0, 10, 10]),
    ]
    assert "means over 1 fits" in made.text(f"{NAME}.md")


def test_a_second_run_does_nothing_and_changes_nothing(
    made: Any, reproduce: Callable[..., Any]
) -> None:
    before = made.content
    again = reproduce("budget-shares", made.request)
    assert again.listener.before == again.listener.total > 0
    assert again.listener.advanced == 0.0
    assert again.content == before


def test_by_default_it_is_the_paper_s_protocol(
    asked_for: Callable[..., list[Any]], output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = datasets.load("vote")
    monkeypatch.setattr(datasets, "load", lambda name, data_dir=None: records)
    tasks = asked_for("budget-shares", Request(output))
    assert list(dict.fromkeys(task.dataset for task in tasks)) == ["vote", "pol"]
    assert {(task.epsilon, task.depth) for task in tasks} == {(0.1, 3)}
    assert {task.repeat for task in tasks} == set(range(50))
    assert len(tasks) == len(set(tasks)) == 2 * 231 * 50


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is drawn."""
    found: list[Any] = []
    draw = budget_shares.ternary_map

    def look(drawn: Any, **settings: Any) -> Any:
        found.extend(drawn)
        return draw(drawn, **settings)

    monkeypatch.setattr(budget_shares, "ternary_map", look)
    return found


def test_means_over_repeats_and_what_algorithm_1_takes(
    fill: Callable[..., None], reproduce: Callable[..., Any], output: Path, panels: list[Any]
) -> None:
    """The score is largest on average at 35%, 45% and 20%, though once larger elsewhere."""

    def score(task: BudgetShare) -> float | None:
        if (task.quantiles, task.nodes, task.leaves) == (7, 9, 4):
            return 0.75
        if (task.quantiles, task.nodes, task.leaves) == (1, 18, 1):
            return 0.875 if task.repeat else 0.5
        if (task.quantiles, task.nodes, task.leaves) == (20, 0, 0):
            return None
        return 0.5

    asked = ("adult", "breast-w")
    tasks = [task for name in asked for task in all_tasks(name, 2, 0.5)]
    fill(output / "budget-shares", tasks, score)
    made = reproduce("budget-shares", Request(output, asked, epsilons=(0.5,), repeats=2))
    name = "budget-shares-epsilon-0.5.md"
    for title in ("breast-w (683 records)", "adult (45,222 records)"):
        best, nearest = made.markdown_rows(name, title)
        assert best[2:] == [*in_percent((7, 9, 4)), ".750"]
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
    once_larger = tidy["adult", "0.05", "0.05"]
    assert (once_larger["mean"], once_larger["standard_error"]) == ("0.6875", "0.1875")
    assert once_larger["n"] == "2"
    assert ("adult", "1", "0") not in tidy


def test_a_dataset_without_scores_is_left_out(
    fill: Callable[..., None], reproduce: Callable[..., Any], output: Path, panels: list[Any]
) -> None:
    tasks = [*all_tasks("vote"), *all_tasks("breast-w")]
    fill(output / "budget-shares", tasks, lambda t: None if t.dataset == "vote" else 0.5)
    made = reproduce("budget-shares", Request(output, ("breast-w", "vote"), repeats=1))
    assert [panel.title for panel in panels] == ["breast-w (683 records)"]
    assert made.markdown_rows(f"{NAME}.md", "vote (232 records)") == []


def test_without_any_score_it_says_where_to_look(
    fill: Callable[..., None], reproduce: Callable[..., Any], output: Path
) -> None:
    fill(output / "budget-shares", all_tasks("vote"), lambda task: None)
    with pytest.raises(ParameterError, match=r"Why is in cells\.csv; --retry"):
        reproduce("budget-shares", Request(output, ("vote",), repeats=1))
