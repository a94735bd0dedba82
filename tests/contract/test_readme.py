"""The README tells the truth: its snippets run and print what it says, its commands exist."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from privatree.cli._app import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")
def test_snippets_run_and_commands_work_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    session, printed = {}, None
    checked = {"python": 0, "text": 0, "privatree": 0}
    for language, block in BLOCKS:
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, "README.md", "exec"), session)
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


@pytest.mark.slow
def test_make_targets_exist():
    targets = re.findall(r"^make (\w+)", README, flags=re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#\s]+)", README):
        assert "://" in link or (ROOT / link).exists(), link
