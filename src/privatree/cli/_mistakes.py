"""A user's mistake in one line: what was wrong, and where to read on."""

from __future__ import annotations

from typing import Any

import typer

from privatree._support.escape import escape_to_one_line
from privatree._support.suggestions import did_you_mean

_MUST = {
    "float_parsing": "must be a number.",
    "finite_number": "must be a finite number.",
    "int_parsing": "must be a whole number.",
}
"""What a value must be, by the type of pydantic's error, which typer checks values with."""


def one_line(error: Exception) -> str:
    """The message of a mistake, without line breaks.

    Parameters
    ----------
    error : PrivatreeError, OSError or TyperException
        What was raised.
    """
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        command = "privatree" if context is None else context.command_path
        message = escape_to_one_line(_usage(error))
        return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {command} --help."
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return escape_to_one_line(f"{named}{error.strerror}.")
    return escape_to_one_line(str(error))


def _usage(error: typer.TyperException) -> str:
    parameter: Any = getattr(error, "param", None)
    if not isinstance(error, typer.BadParameter) or parameter is None:
        return error.format_message()
    is_argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if is_argument else parameter.opts[0]
    if is_argument and not error.message:  # nothing was passed
        return f"Missing argument {name}"
    cause: Any = error.__cause__
    if not hasattr(cause, "errors"):
        return error.format_message()
    found = cause.errors()[0]
    if choices := parameter.type_descriptor.choices:
        got, known = str(found["input"]), [str(choice) for choice in choices]
        return f"{name} must be one of {', '.join(known)}, got {got!r}.{did_you_mean(got, known)}"
    return f"{name} {_MUST[found['type']]}" if found["type"] in _MUST else error.format_message()
