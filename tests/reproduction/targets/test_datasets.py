"""The table of datasets: what was found beside what the paper has, and why something was not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privatree.errors import DatasetMissingError
from privatree.reproduction import datasets
from privatree.reproduction.running import Request
from privatree.reproduction.targets import TARGETS

NAMES = ["datasets.csv", "datasets.md", "datasets.tex"]
SIZES = {
    "vote": ["232", "16", "16", ".534"],
    "breast-w": ["683", "9", "0", ".650"],
    "nursery": ["12,960", "8", "8", ".667"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, reproduce: Callable[..., Any]) -> Any:
    return reproduce("datasets", Request(tmp_path_factory.mktemp("datasets") / "out", (*SIZES,)))


def test_the_files(made: Any) -> None:
    assert [path.name for path in made.written] == NAMES
    assert set(made.content) == set(NAMES)
    assert made.listener.lines == []


def test_the_page_has_both_sizes(made: Any) -> None:
    for name, sizes in SIZES.items():
        _, *cells = made.markdown_rows("datasets.md", name)[0]
        assert cells == [f"{size} ({size})" for size in sizes]  # the same, so none is bold
    assert made.markdown_rows("datasets.md", "dataset") == [
        ["dataset", "samples", "features", "categorical features", "majority class share"]
    ]


def test_the_csv_has_a_property_a_row(made: Any) -> None:
    assert made.header("datasets.csv") == [
        *("dataset", "property", "measured", "published", "difference", "note")
    ]
    rows = {(row["dataset"], row["property"]): row for row in made.rows("datasets.csv")}
    assert len(rows) == 12
    assert rows["vote", "n_records"]["measured"] == rows["vote", "n_records"]["published"] == "232"
    assert rows["vote", "n_categorical"]["measured"] == "16"
    labels = datasets.load("breast-w").labels
    share = float(rows["breast-w", "majority_share"]["measured"])
    assert share == pytest.approx(np.mean(labels == "benign"), abs=1e-6)


def test_a_second_run_changes_nothing(made: Any, reproduce: Callable[..., Any]) -> None:
    before = made.content
    assert reproduce("datasets", made.request).content == before


def test_all_of_them_by_default_and_why_some_are_not_here(
    monkeypatch: pytest.MonkeyPatch, reproduce: Callable[..., Any], output: Path
) -> None:
    load = datasets.load

    def only_vote(name: str, data_dir: Path | None = None) -> Any:
        if name != "vote":
            raise DatasetMissingError(f"{name}: nowhere.")
        return load(name, data_dir)

    monkeypatch.setattr(datasets, "load", only_vote)
    made = reproduce("datasets", Request(output))
    others = [name for name in datasets.names() if name != "vote"]
    assert made.listener.lines == [f"Left out: {name}: nowhere." for name in others]
    page = made.text("datasets.md")
    assert all(f"{name}: nowhere." in page for name in others)
    rows = made.rows("datasets.csv")
    assert len(rows) == 29 * 4
    assert {row["dataset"] for row in rows if row["measured"]} == {"vote"}
    adult = next(row for row in rows if (row["dataset"], row["property"]) == ("adult", "n_records"))
    assert (adult["measured"], adult["published"]) == ("", "45222")
    assert adult["note"] == "adult: nowhere."


def test_other_sizes_are_marked(reproduce: Callable[..., Any], tmp_path: Path) -> None:
    records = datasets.load("vote")
    table = records.frame.assign(target=records.labels).iloc[:100]
    folder = tmp_path / "data"
    folder.mkdir()
    table.to_parquet(folder / "vote.parquet")
    made = reproduce("datasets", Request(tmp_path / "out", ("vote",), data_dir=folder))
    ((_, size, features, *_),) = made.markdown_rows("datasets.md", "vote")
    assert size == "**100** (232)"
    assert features == "16 (16)"


def test_the_targets_in_the_order_of_all() -> None:
    assert list(TARGETS) == [
        *("datasets", "accuracy", "runtime", "epsilon-curve", "budget-shares"),
        *("poisoning", "poisoning-curve", "backdoor"),
    ]
