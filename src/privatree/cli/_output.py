"""Writing to files and to the terminal: checks before a command starts, output, a spinner."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import Any, BinaryIO, Literal

import typer

from privatree._support.atomic_files import replace_file, replace_file_in_pieces
from privatree._support.escape import escape_json, escape_text, escape_toml
from privatree.errors import ParameterError

MAX_BYTES_IN_MEMORY = 2**26
"""Output that has more bytes is kept in a temporary file until it is written."""
_COPIED_BYTES = 2**20
_MAX_SHOWN_LINES = 15
"""Number of lines of an ensemble that a command shows if it does not show all."""
_ESCAPES_NOTE = (
    "Some characters would control the terminal or be invisible, so they are shown as escapes such "
    "as \\x1b. To get the exact text, write to a file: -o FILE."
)


def output_option(text: str, metavar: str = "FILE") -> Any:
    """Declare the option --output, or -o, with a help text."""
    return typer.Option("--output", "-o", metavar=metavar, help=text)


def check_output(output: Path, inputs: Iterable[Path]) -> None:
    """Raise a ParameterError if a file cannot be written, or is one of the input files."""
    try:
        output.resolve()
    except (OSError, RuntimeError):  # which of the two depends on the version of Python
        raise ParameterError(
            f"{output}: is a symbolic link to itself. Name another file."
        ) from None
    if str(output) == "-":
        raise ParameterError(
            "-: the output must be a file, got -. Name a file, or leave the option out if it is "
            "optional."
        )
    if output.is_dir():
        raise ParameterError(f"{output}: is a folder. Name a file in it.")
    if not output.parent.is_dir():
        raise ParameterError(f"{output}: there is no folder {output.parent}. Create it first.")
    inputs = list(inputs)
    if output.resolve() in {path.resolve() for path in inputs} or _is_file_of_stdin(output, inputs):
        raise ParameterError(f"{output}: is also an input file. Choose another output.")
    if output.exists() and not output.is_file():  # a device or a pipe
        return
    try:
        with TemporaryFile(dir=output.resolve().parent):  # replace_file starts with one, too
            pass
    except OSError as error:
        raise ParameterError(
            f"{output}: cannot be written ({error.strerror}). Name a file in another folder."
        ) from None


def _is_file_of_stdin(output: Path, inputs: Iterable[Path]) -> bool:
    """Return whether the standard input is read from the output file."""
    from privatree.sources.csv import StandardInput

    if not any(isinstance(path, StandardInput) for path in inputs):
        return False
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), output.stat())
    except (OSError, ValueError):  # the output does not exist yet, or stdin is not a file
        return False


def write_output(
    output: Path | None,
    content: str | bytes,
    *,
    private: bool = False,
    form: Literal["text", "json", "toml"] = "text",
) -> None:
    """Write a file completely or not at all; print if no file is given.

    Files and pipes get the exact content. Names and labels in it may come from untrusted files, so
    a terminal gets escapes for characters that would control it or be invisible. In JSON and TOML
    the escapes mean the same; for other text, a line on stderr mentions them. Content is private if
    it depends on records: then only the user may read a new file.
    """
    if output is not None:
        replace_file(output, content, private=private)
        return
    if sys.stdout.isatty():
        text = content if isinstance(content, str) else content.decode(errors="backslashreplace")
        content = _ESCAPED_FORMS[form](text)
        if form == "text" and content != text:
            typer.echo(_ESCAPES_NOTE, err=True)
    # As bytes: typer removes colour codes from text that does not go to a terminal.
    typer.echo(content.encode() if isinstance(content, str) else content, nl=False)


def print_json(document: Any, **options: Any) -> None:
    """Print a document as indented JSON. The options are those of :func:`json.dumps`."""
    write_output(None, f"{json.dumps(document, indent=1, **options)}\n", form="json")


def model_text(model: Any, path: Path) -> str:
    """Return what a model is about, if it says so, itself, its statement and its scores.

    An ensemble is shown by its strongest terms, and `path` is the file with all of it.
    """
    about = model.schema_.about
    parts = [] if about is None else [str(about)]
    if hasattr(model, "tree_"):
        from privatree.export import export_text

        parts.append(export_text(model))
    else:
        parts.append(ensemble_overview(model, path))
    scores = [] if model.scores_ is None else [str(model.scores_)]
    return "\n\n".join([*parts, str(model.privacy_), *scores])


def ensemble_overview(model: Any, path: Path | None = None) -> str:
    """Return the strongest terms of an ensemble or, if it is too large for terms, a few rounds.

    With the path of the model file, the text says where the others are.
    """
    from privatree.export import export_text, term_bars

    all_rounds = [] if path is None else [f"All rounds: privatree export {path}"]
    all_terms = [f"All terms: privatree export {path} --format terms"] if all_rounds else []
    try:
        return "\n".join([term_bars(model), *[""] * len(all_terms), *all_terms, *all_rounds])
    except ParameterError as error:
        lines = export_text(model).split("\n")
        shown = lines[:_MAX_SHOWN_LINES]
        more = [f"… and {len(lines) - len(shown):,} more lines"] if len(lines) > len(shown) else []
        reason = ["", f"There are no terms to show: {error}"]
        return "\n".join([*shown, *more, *all_rounds, *reason])


def print_text(text: str) -> None:
    """Print text, with escapes as in :func:`write_output` if stdout is a terminal."""
    typer.echo(_escape_output_lines(text) if sys.stdout.isatty() else text)


@contextmanager
def open_private_output(output: Path | None) -> Iterator[BinaryIO]:
    """Open a binary file for content that depends on records.

    As in :func:`write_output`, the file is written completely or not at all. Without an output, the
    content is printed when the returned file is closed.
    """
    if output is not None:
        with replace_file_in_pieces(output, private=True) as file:
            yield file
        return
    with SpooledTemporaryFile(MAX_BYTES_IN_MEMORY) as held:
        yield held  # type: ignore[misc]  # a binary file but for its declared type
        held.seek(0)
        if sys.stdout.isatty():
            write_output(None, held.read())
        while copied := held.read(_COPIED_BYTES):
            typer.echo(copied, nl=False)


@contextmanager
def show_spinner(task: str, *, shown: bool = True) -> Iterator[None]:
    """Show a task such as "Training" and its duration on stderr, if stderr is a terminal."""
    from privatree._support.progress import rich_progress

    columns = ("spinner", "{task.description}", "elapsed")
    spinner = rich_progress(*columns, shown=None if shown else False, transient=True)
    with spinner:
        spinner.add_task(task, total=None)
        yield


def _escape_output_lines(text: str) -> str:
    return escape_text(text, keep="\n")


_ESCAPED_FORMS = {"text": _escape_output_lines, "json": escape_json, "toml": escape_toml}
