"""Where a command may write, asked before it starts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from privatree.atomic_files import replace_file
from privatree.errors import ParameterError


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
    if output.is_dir():
        raise ParameterError(f"{output}: is a folder. Name a file in it.")
    if not output.parent.is_dir():
        raise ParameterError(f"{output}: there is no folder {output.parent}. Create it first.")
    if output.resolve() in {path.resolve() for path in inputs}:
        raise ParameterError(f"{output}: would be overwritten, but is read. Write another file.")
    if not output.exists() or output.is_file():  # not a device or a pipe
        _check_folder(output)


def _check_folder(output: Path) -> None:
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=output.resolve().parent):  # as will be done for the file itself
            pass
    except OSError as error:
        raise ParameterError(
            f"{output}: cannot be written: {error.strerror}. Name a file in another folder."
        ) from None


def write_output(output: Path | None, content: str | bytes, *, private: bool = False) -> None:
    """Write a file, whole or not at all; without one, print.

    Parameters
    ----------
    output : Path or None
        The file, which :func:`check_output` was asked about; None for the screen.
    content : str or bytes
        What to write.
    private : bool, default=False
        Whether it tells of records, so that a new file is for its owner only.
    """
    if output is None:
        # As bytes: of text, what looks like a colour would be taken out where it is no terminal.
        typer.echo(content.encode() if isinstance(content, str) else content, nl=False)
    else:
        replace_file(output, content, private=private)
