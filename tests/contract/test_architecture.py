"""What the page on the architecture names is there, and nothing that it should name is missing."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "privatree"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATHS = sorted({
    path for path in re.findall(r"`([\w./-]+)`", PAGE) if path.endswith(("/", ".py", ".md", ".yml"))
})  # fmt: skip
KINDS = {"__init__.py", "_kernels.py", "utils.py", "conftest.py", "CREDITS.md"}  # of many folders


@pytest.mark.parametrize("path", [path for path in PATHS if path not in KINDS])
def test_a_path_leads_somewhere(path):
    places = (ROOT / path, SOURCE / path, ROOT / "tests" / path)
    assert any(place.exists() for place in places), path


@pytest.mark.parametrize("kind", ["src/privatree", "tests"])
def test_every_stage_is_named(kind):
    folders = {path.parent.name for path in (ROOT / kind).glob("*/*.py")}
    assert len(folders) >= 15
    missing = {name for name in folders if f"{name}/" not in PAGE}
    mirrored = {path.name for path in SOURCE.iterdir()}
    assert missing - (mirrored if kind == "tests" else set()) == set()
