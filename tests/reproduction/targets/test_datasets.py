"""The table of datasets: what was found beside what the paper has, and why something was not."""

import numpy as np
import pytest

from privatree.errors import DatasetMissingError
from privatree.reproduction import datasets
from privatree.reproduction.running import Request


def test_bundled_datasets_have_the_paper_s_sizes(reproduce, output):
    names = ("vote", "breast-w", "nursery")
    made = reproduce("datasets", Request(output, names))
    assert [path.name for path in made.written] == ["datasets.csv", "datasets.md", "datasets.tex"]
    assert set(made.content) == {path.name for path in made.written}
    assert made.listener.lines == []
    for name in names:
        _, *cells = made.markdown_rows("datasets.md", name)[0]
        for ours, theirs in map(str.split, cells):
            assert theirs == f"({ours})"  # the same, so none is bold
    rows = {(row["dataset"], row["property"]): row["measured"] for row in made.rows("datasets.csv")}
    assert len(rows) == 12
    assert (rows["vote", "n_records"], rows["vote", "n_categorical"]) == ("232", "16")
    benign = np.mean(datasets.load("breast-w").labels == "benign")
    assert float(rows["breast-w", "majority_share"]) == pytest.approx(benign, abs=1e-6)
    before = made.content
    assert reproduce("datasets", made.request).content == before


def test_all_of_them_by_default_and_why_some_are_not_here(monkeypatch, reproduce, output):
    load = datasets.load

    def only_vote(name, data_dir=None):
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


def test_other_sizes_are_marked(reproduce, tmp_path):
    records = datasets.load("vote")
    (tmp_path / "data").mkdir()
    shortened = records.frame.assign(target=records.labels).iloc[:100]
    shortened.to_parquet(tmp_path / "data" / "vote.parquet")
    request = Request(tmp_path / "out", ("vote",), data_dir=tmp_path / "data")
    ((_, size, features, *_),) = reproduce("datasets", request).markdown_rows("datasets.md", "vote")
    assert (size, features) == ("**100** (232)", "16 (16)")
