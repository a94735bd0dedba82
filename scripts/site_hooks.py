"""What the documentation site adds to the pages in ``docs/``; mkdocs calls these by their names.

Pages link to each other, and to files beside ``docs/``, so that they work in a checkout. Some of
those files are pages of the site as well; their links are turned to where the site has them.
Also here: what a search finds last, and what docstrings say to another program.
"""

import re
import tomllib
from pathlib import Path

from mkdocs.structure.files import File

_ROOT = Path(__file__).parents[1]
_BESIDE_DOCS = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
_LINK = re.compile(r"(?<=\]\()[^)\s]+(?=\))")
_ROLE = re.compile(r":(?:class|data|func|meth|mod):(?=<code>|`)")


def on_config(config):
    """Set the link to the repository, if ``pyproject.toml`` has its address."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.repo_url = project.get("urls", {}).get("Repository")
    return config


def on_files(files, config):
    """Add the pages that are outside ``docs/``."""
    for name, page in _BESIDE_DOCS.items():
        files.append(File.generated(config, page, abs_src_path=str(_ROOT / name)))
    return files


def on_page_markdown(markdown, page, **_):
    """Turn links between ``docs/`` and files outside it into links to pages of the site."""
    page.meta["search"] = _in_search(page.file.src_uri)
    if page.file.src_uri in _BESIDE_DOCS.values():
        return _LINK.sub(lambda link: link[0].removeprefix("docs/"), markdown)
    return _LINK.sub(_to_page_of_the_site, markdown)


def _in_search(page):
    """Exclude tables of figures from the search, and rank the API reference lower."""
    return {"exclude": page.startswith("reproduction/"), "boost": 0.5 if "api/" in page else 1}


def _to_page_of_the_site(link):
    above, _, name = link[0].rpartition("../")
    return above + _BESIDE_DOCS[name] if name in _BESIDE_DOCS else link[0]


def on_page_content(html, **_):
    """Remove Sphinx markup from docstrings: roles, and colons before a block of code."""
    return _ROLE.sub("", html).replace("<p>::</p>", "").replace("::</p>", ":</p>")
