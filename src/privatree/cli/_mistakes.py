"""A user's mistake in one line: what was wrong, and where to read on."""

from __future__ import annotations

import re

import typer

from privatree._support.escape import visible_line
from privatree._support.suggestions import did_you_mean

_NOT_ONE_OF = re.compile(r"Value error, (?P<got>'.*') is not one of (?P<known>.*)\.")
_MISSING = re.compile(r"Missing argument '(\w+)'")
_PLAINER = {
    "Input should be a valid number, unable to parse string as a number": "must be a number.",
    "Input should be a finite number": "must be a finite number.",
    "Input should be a valid integer, unable to parse string as an integer": (
        "must be a whole number."
    ),
}
"""What typer says of a value, in our words."""


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
        message = visible_line(_usage(error))
        return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {command} --help."
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return visible_line(f"{named}{error.strerror}.")
    return visible_line(str(error))


def _usage(error: typer.TyperException) -> str:
    message = error.format_message()
    prefix, of_value, said = message.partition(": ")
    if missing := _MISSING.match(message):
        return f"Missing argument {missing[1].upper()}"
    if not prefix.startswith("Invalid value for") or not of_value:
        return message
    option = prefix.removeprefix("Invalid value for ").partition(" / ")[0].strip("'")
    if found := _NOT_ONE_OF.fullmatch(said):
        known = [word.strip("'") for word in found["known"].split(", ")]
        meant = did_you_mean(found["got"].strip("'"), known)
        return f"{option} must be one of {', '.join(known)}, got {found['got']}.{meant}"
    return f"{option} {_PLAINER[said]}" if said in _PLAINER else message
