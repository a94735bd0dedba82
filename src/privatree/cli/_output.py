"""Where a command may write, asked before it starts, and what it prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

import typer

from privatree._support.atomic_files import replace_file, replace_file_in_pieces
from privatree._support.escape import escape_json, escape_text, escape_toml
from privatree.errors import ParameterError

MAX_HELD_BYTES = 2**26
"""What is larger is held in a temporary file, not in memory."""
_PIECE_BYTES = 2**20
_NOT_EXACT = (
    "Some characters would be obeyed or hidden by a terminal, so they are shown as escapes such as "
    "\\x1b. For the exact text, write a file: -o FILE."
)


def check_output(output: Path, inputs: Iterable[Path]) -> None:
    """Refuse a file that cannot be written, or that the command reads.

    Parameters
    ----------
    output : Path
        The file to write.
    inputs : iterable of Path
        The files to read.

    Raises
    ------
    ParameterError
        With what to do.
    """
    try:
        output.resolve()
    except (OSError, RuntimeError):  # which of them depends on the version of Python
        raise ParameterError(f"{output}: is a link that leads to itself.") from None
    if str(output) == "-":
        raise ParameterError("-: name a file to write, or leave out -o where it is optional.")
    if output.is_dir():
        raise ParameterError(f"{output}: is a folder. Name a file in it.")
    if not output.parent.is_dir():
        raise ParameterError(f"{output}: there is no folder {output.parent}. Create it first.")
    inputs = list(inputs)
    if output.resolve() in {path.resolve() for path in inputs} or _is_piped_in(output, inputs):
        raise ParameterError(f"{output}: is also an input file. Choose another output.")
    if not output.exists() or output.is_file():  # not a device or a pipe
        _check_folder(output)


def _is_piped_in(output: Path, inputs: Iterable[Path]) -> bool:
    """Whether a file to write is what the standard input comes from."""
    from privatree.sources.csv import StandardInput

    if not any(isinstance(path, StandardInput) for path in inputs):
        return False
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), output.stat())
    except (OSError, ValueError):  # there is no such file yet, or the input has no file
        return False


def _check_folder(output: Path) -> None:
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=output.resolve().parent):  # as will be done for the file itself
            pass
    except OSError as error:
        raise ParameterError(
            f"{output}: cannot be written: {error.strerror}. Name a file in another folder."
        ) from None


def write_output(
    output: Path | None,
    content: str | bytes,
    *,
    private: bool = False,
    form: Literal["text", "json", "toml"] = "text",
) -> None:
    """Write a file, whole or not at all; without one, print.

    A file or a pipe gets the exact content. On a terminal, characters that it would obey or hide
    are written as escapes: names and labels come from files of strangers. JSON and TOML mean the
    same with them; of any other text, a line on stderr says so.

    Parameters
    ----------
    output : Path or None
        The file, which :func:`check_output` was asked about; None for the screen.
    content : str or bytes
        What to write; bytes are UTF-8 if it can be printed on a terminal.
    private : bool, default=False
        Whether it tells of records, so that a new file is for its owner only.
    form : {"text", "json", "toml"}, default="text"
        How escapes are written.
    """
    if output is not None:
        replace_file(output, content, private=private)
        return
    if sys.stdout.isatty():
        text = content if isinstance(content, str) else content.decode(errors="backslashreplace")
        content = _SHOWN[form](text)
        if form == "text" and content != text:
            typer.echo(_NOT_EXACT, err=True)
    # As bytes: of text, what looks like a colour would be taken out where it is no terminal.
    typer.echo(content.encode() if isinstance(content, str) else content, nl=False)


@contextmanager
def output_file(output: Path | None) -> Iterator[BinaryIO]:
    """The same for text or bytes that come in pieces, and that tell of records.

    Parameters
    ----------
    output : Path or None
        The file, which :func:`check_output` was asked about; None for the screen, which shows
        nothing before all is there.
    """
    from tempfile import SpooledTemporaryFile

    if output is not None:
        with replace_file_in_pieces(output, private=True) as file:
            yield file
        return
    with SpooledTemporaryFile(MAX_HELD_BYTES) as held:
        yield held  # type: ignore[misc]  # a binary file but for its declared type
        held.seek(0)
        if sys.stdout.isatty():
            write_output(None, held.read())
        while piece := held.read(_PIECE_BYTES):
            typer.echo(piece, nl=False)


def say(text: str) -> None:
    """Print lines; on a terminal, what it would obey or hide is written as escapes."""
    typer.echo(_visible_lines(text) if sys.stdout.isatty() else text)


def _visible_lines(text: str) -> str:
    return escape_text(text, keep="\n")


_SHOWN = {"text": _visible_lines, "json": escape_json, "toml": escape_toml}
