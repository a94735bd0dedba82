"""The library works without what only the command line needs, and that is named where it lacks."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from privatree import cli

ROOT = Path(__file__).parents[2]
WITHOUT = f"import sys\nfor name in {cli._EXTRA!r}:\n    sys.modules[name] = None\n"
INSTALL = "Install it: pip install 'privatree[cli]'"

LIBRARY = """
import privatree
from privatree import ParameterError, PrivaTreeClassifier, datasets, export_text, report
from privatree._support.progress import progress_bar
from privatree.sources import CsvSource

frame, labels, schema = datasets.load("vote")
frame.assign(party=labels).to_csv("votes.csv", index=False)
learner = PrivaTreeClassifier(epsilon=1, schema=schema, random_state=0)
text = export_text(learner.fit(frame, labels))
assert text == export_text(learner.fit(CsvSource("votes.csv", target="party"))), "no bar, no matter"
learner.save("model.json")
model = privatree.load("model.json")
assert (model.predict(frame) == learner.predict(frame)).all()
assert "epsilon" in report.model_card(model)
with progress_bar(1, None, "refits") as advance:
    advance(1)
for refused in (
    lambda: report.html_report(model),
    lambda: learner.fit(CsvSource("votes.csv", target="party", progress=True)),
):
    try:
        refused()
    except ParameterError as error:
        print(error)
"""


def run(code, folder):
    command = [sys.executable, "-c", WITHOUT + code, "demo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_the_library_needs_no_extra(tmp_path):
    done = run(LIBRARY, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"reports need jinja2, which is not installed. {INSTALL}",
        f"progress bars need rich, which is not installed. {INSTALL}",
    ]


def test_the_command_line_names_what_it_needs(tmp_path):
    installed = "from privatree.cli import main; main()"
    module = "from runpy import run_module; run_module('privatree', run_name='__main__')"
    for code in (installed, module):
        done = run(code, tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == (
            f"privatree: the command line needs typer, which is not installed. {INSTALL}\n"
        )
    assert not list(tmp_path.iterdir())


def test_another_module_that_is_missing_is_no_mistake_of_the_user(monkeypatch):
    monkeypatch.setitem(sys.modules, "privatree.cli._app", None)
    with pytest.raises(ModuleNotFoundError):
        cli.main()


def test_the_extra_brings_all_that_is_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    brought = {entry.partition(">")[0] for entry in project["optional-dependencies"]["cli"]}
    assert brought == set(cli._EXTRA)
    assert not brought & {entry.partition(">")[0] for entry in project["dependencies"]}
