"""Where a command may write, asked before it starts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

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
    if output.is_dir():
        raise ParameterError(f"{output}: is a folder. Name a file in it.")
    if not output.parent.is_dir():
        raise ParameterError(f"{output}: there is no folder {output.parent}. Create it first.")
    if output.resolve() in {path.resolve() for path in inputs}:
        raise ParameterError(f"{output}: would be overwritten, but is read. Write another file.")
