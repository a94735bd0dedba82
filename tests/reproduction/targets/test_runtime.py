"""The table of runtimes: fits one at a time, whatever number of processes was asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privatree.reproduction.running import Request

METHODS = ("decision-tree", "privatree-paper", "privatree")
NAMES = [f"runtime-epsilon-0.1.{form}" for form in ("csv", "md", "tex")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, reproduce: Callable[..., Any]) -> Any:
    output = tmp_path_factory.mktemp("runtime") / "out"
    return reproduce("runtime", Request(output, ("breast-w", "vote"), METHODS, jobs=4))


def test_the_files(made: Any) -> None:
    assert [path.name for path in made.written] == NAMES
    assert set(made.content) == {*NAMES, "cells.csv", "run.json"}


def test_there_is_one_process(made: Any) -> None:
    assert made.n_processes == 1


def test_by_default_it_is_one_cross_validation_at_one_tenth(made: Any) -> None:
    rows = made.rows("cells.csv")
    found = [tuple(row[c] for c in ("dataset", "method", "epsilon", "repeat")) for row in rows]
    expected = [
        (dataset, method, "" if method == "decision-tree" else "0.1", "0")
        for dataset in ("breast-w", "vote")
        for method in METHODS
        for _ in range(5)
    ]
    assert found == expected


def test_the_csv_is_the_mean_seconds_of_the_cells(made: Any, by_hand: Any) -> None:
    assert made.header(NAMES[0]) == [
        *("dataset", "method", "epsilon", "mean", "standard_error", "n"),
        *("published", "published_bound", "ratio", "note"),
    ]
    rows = made.rows(NAMES[0])
    assert len(rows) == 6
    for row in rows:
        scores = made.scores("fit_seconds", dataset=row["dataset"], method=row["method"])
        mean = by_hand.mean(scores)
        assert mean > 0
        assert (row["epsilon"], row["n"], row["note"]) == ("0.1", "5", "")
        assert float(row["mean"]) == pytest.approx(mean, abs=1e-6)
        assert float(row["standard_error"]) == pytest.approx(by_hand.error(scores), abs=1e-6)
        if row["method"] == "privatree":
            assert row["published"] == row["published_bound"] == row["ratio"] == ""
        else:  # the paper has "<1" for all of these
            assert (row["published"], row["published_bound"]) == ("1", "<")
            assert float(row["ratio"]) == pytest.approx(1 / mean, abs=1e-4)


def test_the_pages_show_the_same_figures(made: Any, by_hand: Any) -> None:
    page = made.text(NAMES[1])
    assert page.startswith("# Mean seconds to train at ε = 0.1\n")
    headings = [title.rstrip("†") for title in made.markdown_rows(NAMES[1], "dataset")[0][1:]]
    assert headings == ["decision tree", "PrivaTree", "privatree (record-level)"]
    for dataset in ("breast-w", "vote"):
        measured, ratios = made.markdown_rows(NAMES[1], dataset)
        for method, cell in zip(METHODS, measured[1:], strict=True):
            mean = by_hand.mean(made.scores("fit_seconds", dataset=dataset, method=method))
            shown, _, beside = cell.partition(" ")
            assert float(shown.lstrip("<")) == pytest.approx(mean, rel=0.1, abs=0.0011)
            assert beside == ("" if method == "privatree" else "(<1)")
        assert len(ratios) == 3
        assert all(ratio.startswith("<") and ratio.endswith("×") for ratio in ratios[1:])
    assert "one fit at a time" in page
    assert r"\label{tab:runtime-epsilon-0.1}" in made.text(NAMES[2])


def test_a_second_run_does_nothing_and_changes_nothing(
    made: Any, reproduce: Callable[..., Any]
) -> None:
    before = made.content
    again = reproduce("runtime", made.request)
    assert again.listener.before == again.listener.total > 0
    assert (again.listener.advanced, again.n_processes) == (0.0, 0)
    assert again.content == before


def test_epsilons_and_repeats_as_asked(asked_for: Callable[..., list[Any]], output: Path) -> None:
    request = Request(output, ("vote",), ("privatree",), (0.5, 2.0), 3)
    tasks = asked_for("runtime", request)
    found = [(task.epsilon, task.repeat, task.fold) for task in tasks]
    assert found == [(e, r, f) for e in (0.5, 2.0) for r in range(3) for f in range(5)]
