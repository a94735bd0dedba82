"""Run what the pages in ``docs/`` show, and put what it prints in its place.

    python scripts/refresh_transcripts.py               # all pages
    python scripts/refresh_transcripts.py quickstart    # one

A page is one session, from top to bottom, in a folder of its own beside a copy of ``examples/``:

- ``console`` blocks: each ``$ command`` is run, with its output below it (a line that ends in a
  backslash goes on in the next);
- ``python`` blocks are run one after the other; a ``text`` block has what was printed last;
- a block with a ``title`` is a file: it is written, as a reader would in an editor;
- between ``<!-- help: privatree fit -->`` and ``<!-- end of help -->`` is the help of that command.

Other blocks are left alone. ``tests/contract/test_docs.py`` fails if a page is not what it would be
after this.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {page.stem: page for page in sorted((ROOT / "docs").glob("*.md"))}

_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$',
    flags=re.DOTALL | re.MULTILINE,
)
_COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n", flags=re.MULTILINE)
_HELP = re.compile(
    r"(?P<start><!-- help: (?P<path>[\w ]+) -->\n).*?(?P<end><!-- end of help -->)", flags=re.DOTALL
)
_SCREEN = {"COLUMNS": "92", "NO_COLOR": "1", "TERM": "dumb"}
"""What commands take it for, so that they print the same everywhere."""


def refreshed(page: Path, folder: Path) -> str:
    """The text of a page with what its commands and snippets print now.

    Parameters
    ----------
    page : Path
        The page.
    folder : Path
        An empty folder, for what they write.
    """
    shutil.copytree(ROOT / "examples", folder / "examples")
    session: dict[str, Any] = {}
    printed = ""

    def run(block: re.Match[str]) -> str:
        nonlocal printed
        body, title = block["body"], block["title"]
        if title is not None:
            Path(title).write_text(body, encoding="utf-8")
        elif block["language"] == "console":
            body = "".join(f"$ {command}\n{_run(command)}" for command in _commands(body))
            body = body.rstrip("\n") + "\n"
        elif block["language"] == "python":
            with _captured() as out:
                exec(compile(body, page.name, "exec"), session)
            printed = out.getvalue().decode() or printed
        elif block["language"] == "text" and session:
            body = printed
        opening = block[0].partition("\n")[0]
        return f"{opening}\n{body}```"

    with _in_folder(folder):
        text = _BLOCK.sub(run, page.read_text(encoding="utf-8"))
    return _HELP.sub(_help, text)


def _help(place: re.Match[str]) -> str:
    from help_as_markdown import help_as_markdown  # here, for most pages need no commands

    return f"{place['start']}\n{help_as_markdown(place['path'])}\n\n{place['end']}"


def _commands(body: str) -> list[str]:
    return [found["command"] for found in _COMMAND.finditer(body)]


def _run(command: str) -> str:
    """What a command prints, errors included, and an empty line if it prints anything.

    Blanks at the end of lines are left away.
    """
    plain = command.replace("\\\n", " ")
    program, *arguments = plain.split()
    if program == "cd":
        os.chdir(arguments[0])
        return ""
    if program == "privatree" and not {"|", "<", ">", "&&"}.intersection(arguments):
        printed = run_privatree(plain)
    else:
        own = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # has privatree
        printed = subprocess.run(
            ["sh", "-c", plain],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | own,
            text=True,
        ).stdout
    lines = printed.strip("\n").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in [*lines, ""]) if lines else ""


def run_privatree(command: str) -> str:
    """Run a command in this process, because a new process would load everything again."""

    from privatree.cli._app import main

    arguments = sys.argv
    sys.argv = shlex.split(command)
    try:
        with _captured() as out, warnings.catch_warnings(), contextlib.suppress(SystemExit):
            warnings.simplefilter("default")
            main()
    finally:
        sys.argv = arguments
    return out.getvalue().decode()


@contextlib.contextmanager
def _captured() -> Iterator[io.BytesIO]:
    """Capture everything that is printed, as text or as bytes."""
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield out
    stream.detach()


@contextlib.contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before, environment = Path.cwd(), dict(os.environ)
    os.chdir(folder)
    os.environ.update(_SCREEN)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def main() -> None:
    """Refresh the transcripts of the given pages, or of all pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="the name of a page in docs/")
    wanted = parser.parse_args().pages or list(PAGES)
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            text = refreshed(PAGES[name], Path(folder))
        changed = text != PAGES[name].read_text(encoding="utf-8")
        PAGES[name].write_text(text, encoding="utf-8")
        print(f"{name}: {'changed' if changed else 'as it was'}")


if __name__ == "__main__":
    main()
