"""The README tells the truth: its snippets run and print what it says, its commands exist."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from privatree.cli.app import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
def test_snippets_run_and_commands_work_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    printed = None
    checked = {"python": 0, "text": 0, "privatree": 0}
    for language, block in BLOCKS:
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, "README.md", "exec"), {})
            printed = out.getvalue()
        elif language == "text":
            assert printed == block
        elif language == "sh":
            for command in re.findall(r"^privatree .*?(?=\s*(?:#|$))", block, flags=re.MULTILINE):
                monkeypatch.setattr(sys, "argv", command.split())
                with pytest.raises(SystemExit) as stopped:
                    main()
                assert not stopped.value.code, command
                checked["privatree"] += 1
        if language in checked:
            checked[language] += 1
    assert all(checked.values()), checked


@pytest.mark.parametrize(
    ("name", "made"),
    [("robustness", {"certificate", "ensemble", "poisoned"}), ("audits", {"found", "pair"})],
)
def test_a_page_prints_what_it_says(name, made):
    """Its snippets are one session."""
    page = (ROOT / "docs" / f"{name}.md").read_text()
    session, printed = {}, None
    for language, block in re.findall(r"```(\w+)\n(.*?)```", page, flags=re.DOTALL):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, f"{name}.md", "exec"), session)
            printed = out.getvalue() or printed
        elif language == "text":
            assert printed == block
    assert made <= set(session)


def test_make_targets_exist():
    targets = re.findall(r"^make (\w+)", README, flags=re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
