"""One place for the version and one for the address of the project; see RELEASING.md."""

import tomllib
from pathlib import Path

import yaml

import privatree

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_metadata_takes_the_version_from_the_package():
    assert PROJECT["project"]["dynamic"] == ["version"]
    path = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{privatree.__version__}"' in path.read_text(encoding="utf-8")


def test_the_citation_and_the_changelog_have_the_version():
    assert CITATION["version"] == privatree.__version__
    assert privatree.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_citation_has_the_address():
    urls = PROJECT["project"].get("urls", {})
    assert CITATION.get("repository-code") == urls.get("Repository")
