"""The documentation tells the truth: pages print what they say, links lead somewhere, it builds."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from privatree import PrivaTreeClassifier, datasets
from privatree.audit import audit, known_pairs
from privatree.forecast import Forecast, Setting, TableScores
from privatree.privacy import BudgetStore
from privatree.robustness import accuracy_certificate

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def _script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HELP, TRANSCRIPTS = _script("help_as_markdown"), _script("refresh_transcripts")
SESSIONS = [
    name
    for name, page in TRANSCRIPTS.PAGES.items()
    if re.search(r"^```(python|console)$|^<!-- help: ", page.read_text(), flags=re.MULTILINE)
]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # as where a reader types it
@pytest.mark.parametrize("name", SESSIONS)
def test_a_page_prints_what_it_says(name, tmp_path):
    """If it does not: python scripts/refresh_transcripts.py NAME."""
    page = TRANSCRIPTS.PAGES[name]
    assert TRANSCRIPTS.refreshed(page, tmp_path) == page.read_text()


def test_pages_of_every_kind_are_run():
    assert {"quickstart", "index", "robustness", "audits", "command-line"} <= set(SESSIONS)


@pytest.mark.slow
def test_the_demo_says_what_the_quickstart_says(tmp_path, monkeypatch):
    """But for the private scores of its tree, which are others each time."""
    monkeypatch.chdir(tmp_path)
    printed = TRANSCRIPTS.run_privatree("privatree demo").splitlines()
    page = (DOCS / "quickstart.md").read_text()
    said = re.search(r"^```text\n(Private.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)[1]
    private, plain = said.split("For comparison")
    assert [line for line in plain.splitlines()[1:] if line not in printed] == []
    shapes = {re.sub(r"[\d,.]+", "#", line) for line in printed}
    for line in private.splitlines():
        assert re.sub(r"[\d,.]+", "#", line) in shapes
    assert (tmp_path / "report.html").exists()


def test_a_page_that_says_something_else_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo one\ntwo\n$ privatree shwo\n```\n\n"
        '```toml title="a.toml"\nx = 1\n```\n\n```console\n$ cat a.toml\n```\n\n'
        "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    )
    (tmp_path / "folder").mkdir()
    refreshed = TRANSCRIPTS.refreshed(page, tmp_path / "folder")
    assert "$ echo one\none\n" in refreshed
    assert "No such command 'shwo'" in refreshed
    assert "$ cat a.toml\nx = 1\n" in refreshed
    assert "```text\n2\n```" in refreshed


def test_code_for_other_libraries_is_at_least_python():
    page = (DOCS / "coming-from-diffprivlib.md").read_text()
    blocks = re.findall(r"^```py\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    for block in blocks:
        compile(block, "coming-from-diffprivlib.md", "exec")


def test_links_lead_somewhere():
    for page in [*sorted(DOCS.glob("**/*.md")), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_formulas_are_not_taken_for_quotations():
    """A line that begins with > is one, for Markdown; so may a formula, where a line is wrapped."""
    for page in DOCS.glob("**/*.md"):
        outside_code = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        assert not re.search(r"^>", outside_code, flags=re.MULTILINE), page.name


# --- what a page says of the program ------------------------------------------------------------


def test_every_command_and_option_is_on_the_page():
    """If one is not: add its place to the page, then refresh it."""
    page = (DOCS / "command-line.md").read_text()
    assert len(HELP.commands()) >= 14
    for path, command in HELP.commands().items():
        said = page.partition(f"<!-- help: {path} -->")[2].partition("<!-- end of help -->")[0]
        for option in HELP.option_names(command):
            assert f"{option} " in said or f"{option}`" in said, f"{path} {option}"


@pytest.mark.slow
def test_options_are_those_that_the_program_takes():
    for path, command in HELP.commands().items():
        printed = TRANSCRIPTS.run_privatree(f"{path} --help")
        for option in HELP.option_names(command):
            assert option in printed, f"{path} {option}"


def _keys(written):
    """Every key of ours; what stands below schema's features and in bounds has names of others."""
    if isinstance(written, list):
        for entry in written:
            yield from _keys(entry)
    elif isinstance(written, dict):
        for key, below in written.items():
            yield key
            if key == "features" and isinstance(below, dict):
                for feature in below.values():
                    yield from _keys(feature)
            elif key != "bounds":
                yield from _keys(below)


def _printed_json(command):
    return json.loads(TRANSCRIPTS.run_privatree(f"privatree {command} --json"))


def _forecast():
    scores = (0.5, 1, 0.8, 0.8, 0.9, 0.9, None, None)
    rows = [TableScores(name, False, *scores) for name in ("made up 1", "made up 2")]
    return Forecast(Setting(8000, (0.5,)), tuple(rows), {})


@pytest.mark.slow
def test_every_key_of_json_is_on_the_page(tmp_path):
    frame, labels, schema = datasets.load("vote")
    learner = PrivaTreeClassifier(0.1, schema=schema, probability_share=0.1, random_state=0)
    learner.fit(frame, labels).save(tmp_path / "model.json")
    certificate = accuracy_certificate(
        PrivaTreeClassifier(0.1, schema=schema, random_state=0),
        frame,
        labels,
        frame,
        labels,
        poisoned=[1],
        refits=10,
    )
    report = audit(PrivaTreeClassifier(1.0, random_state=0), known_pairs()["purity"], runs=8)
    BudgetStore.create(tmp_path / "a.db", 1.0).charge(0.5, purpose="a model")
    examples = ROOT / "examples"
    commands = [
        f"budget show {tmp_path}/a.db",
        f"budget charges {tmp_path}/a.db",
        f"schema check {examples}/patients.toml {examples}/patients.csv --target readmitted",
    ]
    written = [
        json.loads((tmp_path / "model.json").read_text()),
        json.loads(certificate.to_json()),
        report.to_dict(),
        _forecast().to_dict(),
        *map(_printed_json, commands),
    ]
    page = (DOCS / "formats.md").read_text()
    for key in set(_keys(written)):
        assert re.search(rf"`\"?{re.escape(key)}\"?`", page), key


def test_what_accuracy_costs_follows_from_the_table_of_accuracies():
    sizes = {}
    for name, found in re.findall(
        r"^\| ([\w-]+) +\| +([\d,]+) \(", (DOCS / "reproduction/datasets.md").read_text(), re.M
    ):
        sizes.setdefault(name.replace("-card-clients", ""), int(found.replace(",", "")))
    points = []
    for line in (DOCS / "accuracy.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in sizes and len(cells) == 9 and "%" not in line:
            for epsilon, column in ((0.01, 1), (0.1, 3), (1, 5)):
                gained = float(cells[column].split()[0]) - float(cells[8])
                points.append((sizes[cells[0]] * epsilon, 100 * gained))
    assert len(points) == 39
    page = (DOCS / "choosing-epsilon.md").read_text()
    rows = {
        row: [float(cell) for cell in re.search(rf"^\| {row} \|(.*)\|$", page, re.M)[1].split("|")]
        for row in ("points of accuracy", "worst of them", "how many")
    }
    for place, (low, high) in enumerate(pairwise((0, 10, 100, 1000, 10_000, 10**9))):
        gains = [gained for size, gained in points if low <= size < high]
        assert rows["how many"][place] == len(gains)
        assert rows["points of accuracy"][place] == pytest.approx(sum(gains) / len(gains), abs=0.06)
        assert rows["worst of them"][place] == pytest.approx(min(gains), abs=0.06)


# --- the site -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_site_builds_and_stands_alone(tmp_path):
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    _check_pages(tmp_path)
    _check_nothing_is_fetched_from_elsewhere(tmp_path)
    _check_names_of_code_are_prose(tmp_path)


def _check_pages(site):
    for page in DOCS.glob("**/*.md"):
        name = page.relative_to(DOCS).with_suffix(".html")
        assert (site / str(name).replace("README", "index")).exists(), name
    for name in ("changelog", "contributing", "examples", "security"):
        assert (site / f"{name}.html").exists(), name


def _check_nothing_is_fetched_from_elsewhere(site):
    """Links may lead there; what a page loads by itself may not."""
    loads = re.compile(
        r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//"""
        r"""|<link(?![^>]+rel=["']?canonical)[^>]+href=["']?(?:https?:)?//"""
    )
    for bad in ('<script async src="https://x.org/a.js">', "<link rel=stylesheet href=//x.org/a>"):
        assert loads.search(bad)
    pages = list(site.glob("**/*.html"))
    assert len(pages) > 50
    for page in pages:
        assert not loads.search(page.read_text()), page.name
    for style in site.glob("**/*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", style.read_text()), style


def _check_names_of_code_are_prose(site):
    """Docstrings mark names as Sphinx would have it; the site does not show the marks."""
    for page in (site / "api").glob("*.html"):
        assert not re.search(r":(?:class|func|meth|mod|data|exc|attr):", page.read_text()), (
            page.name
        )
