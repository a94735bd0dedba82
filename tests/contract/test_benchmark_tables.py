"""The tables of the pages are what the results of benchmarks say."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _script(folder, name):
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES, FILES = _script("scripts", "benchmark_tables"), _script("benchmarks", "result_files")
RESULTS = sorted(TABLES.RESULTS.glob("*.json"))


@pytest.mark.parametrize("page", TABLES.PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_results(page):
    """If it does not: make tables."""
    text = page.read_text(encoding="utf-8")
    assert TABLES.refreshed(text) == text


def test_every_table_is_on_one_page():
    text = "".join(page.read_text(encoding="utf-8") for page in TABLES.PAGES)
    assert sorted(re.findall("<!-- table: (.*) -->", text)) == sorted(TABLES.TABLES)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_another_figure_is_another_page(path, tmp_path):
    """So every file is used."""
    for other in RESULTS:
        (tmp_path / other.name).write_bytes(other.read_bytes())
    result = json.loads(path.read_text(encoding="utf-8"))
    row = result["figures"][0]
    name = next(key for key in ("accuracy", "persons", "right", "r2", "fit_seconds", "seconds",
                                "ratio", "pass_seconds", "width") if key in row)  # fmt: skip
    row[name] = [7.0] if name == "pass_seconds" else row[name] + 1000
    (tmp_path / path.name).write_text(json.dumps(result), encoding="utf-8")
    pages = [page.read_text(encoding="utf-8") for page in TABLES.PAGES]
    assert [TABLES.refreshed(page, tmp_path) for page in pages] != pages


def test_wide_ranges_of_targets_are_compared_on_the_same_datasets():
    def row(dataset, method, widen, r2):
        return {"dataset": dataset, "method": method, "epsilon": 1.0, "widen": widen, "r2": r2}

    shown = TABLES.regression_wide_ranges(
        [
            row("a", "tree", 1.0, 0.5),
            row("b", "tree", 1.0, 0.3),
            row("only with a round range", "tree", 1.0, 0.9),
            row("a", "linear", 1.0, 0.1),  # a method that was not measured with wide ranges
            row("a", "not-private", 1.0, 0.7) | {"epsilon": None},
            row("a", "tree", 10.0, 0.4),
            row("b", "tree", 10.0, -20.0),  # counts as -1
        ]
    )
    assert shown.splitlines()[0] == "| mean R2 | a round range | 10 times as wide |"
    assert len(shown.splitlines()) == 3
    assert "epsilon 1 | 0.400 | -0.300 |" in shown


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_says_where_it_comes_from(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    assert set(result) == {"command", "date", "machine", "versions", "seeds", "figures"}
    script = re.match(r"python (benchmarks/\w+\.py)", result["command"])
    assert (ROOT / script[1]).exists()
    assert result["figures"]


def test_what_a_benchmark_writes(tmp_path, monkeypatch):
    typed = "/home/me/benchmarks/speed.py --data-dir /home/me/data --rows 9 --json a.json"
    monkeypatch.setattr(sys, "argv", typed.split())
    FILES.write_result(tmp_path / "a.json", [{"seconds": 0.5}], "none")
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    result = json.loads(text)
    assert result["command"] == "python benchmarks/speed.py --data-dir DIR --rows 9"
    assert result["figures"] == [{"seconds": 0.5}]
    assert result["versions"]["python"].startswith("3.")
    assert result["machine"]["cores"] >= 1
    assert "/home" not in text


def test_nothing_is_written_unless_asked():
    FILES.write_result(None, [], "none")
