"""Running the program in the process of a test."""

import io
import sys

import pytest

from privatree.cli._app import main


def run(monkeypatch, *arguments, piped=None):
    """Run ``privatree`` with arguments and perhaps a standard input; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["privatree", *map(str, arguments)])
    if piped is not None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)
