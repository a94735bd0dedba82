"""The ``privatree`` program: its list of commands, and its error messages of one line."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from privatree import __version__
from privatree._support.escape import escape_to_one_line
from privatree._support.suggestions import did_you_mean
from privatree.cli.commands import _audit as audit
from privatree.cli.commands import _budget as budget
from privatree.cli.commands import _certify as certify
from privatree.cli.commands import _demo as demo
from privatree.cli.commands import _export as export
from privatree.cli.commands import _fit as fit
from privatree.cli.commands import _predict as predict
from privatree.cli.commands import _report as report
from privatree.cli.commands import _reproduce as reproduce
from privatree.cli.commands import _schema as schema
from privatree.cli.commands import _score as score
from privatree.cli.commands import _show as show
from privatree.errors import PrivatreeError

_TABLE, _MODEL, _PROOF = "From a table to a model", "With a model", "Check and compare"
_REQUIRED_VALUES = {
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_parsing": "a whole number",
}
"""What a value must be, by the type of the error that pydantic raises for typer."""

app = typer.Typer(
    name="privatree",
    help="Train decision trees and ensembles on sensitive tables and publish them. The training is "
    "differentially private for whole records, and every model comes with a statement of what is "
    "guaranteed.\n\n"
    "Start with: privatree demo\n\n"
    "Your own table: schema draft describes the table, and you decide which parts of the "
    "description are public. fit trains the model. show, report and export prepare it for "
    "publication.",
    epilog="privatree COMMAND --help explains a command and gives an example.",
    rich_markup_mode="markdown",  # otherwise the lines of a docstring are not joined
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)
app.command("demo", rich_help_panel=_TABLE)(demo.demo)
app.add_typer(schema.app, name="schema", rich_help_panel=_TABLE)
app.command("fit", rich_help_panel=_TABLE)(fit.fit)
app.add_typer(budget.app, name="budget", rich_help_panel=_TABLE)
app.command("show", rich_help_panel=_MODEL)(show.show)
app.command("report", rich_help_panel=_MODEL)(report.report)
app.command("predict", rich_help_panel=_MODEL)(predict.predict)
app.command("score", rich_help_panel=_MODEL)(score.score)
app.command("export", rich_help_panel=_MODEL)(export.export)
app.command("certify", rich_help_panel=_PROOF)(certify.certify)
app.command("audit", rich_help_panel=_PROOF)(audit.audit)
app.command("reproduce", rich_help_panel=_PROOF)(reproduce.reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"privatree {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program. For a user's mistake, print one line on stderr and exit with code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="privatree", standalone_mode=False))
    except (PrivatreeError, OSError, typer.TyperException) as error:
        typer.echo(f"privatree: {_error_in_one_line(error)}", err=True)
        sys.exit(2)
    except typer.Abort:
        typer.echo("privatree: stopped.", err=True)
        sys.exit(130)


def _error_in_one_line(error: Exception) -> str:
    """Return the message of an error without line breaks and control characters."""
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        command = "privatree" if context is None else context.command_path
        message = escape_to_one_line(_typer_error_in_one_line(error))
        return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {command} --help."
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return escape_to_one_line(f"{named}{error.strerror}.")
    return escape_to_one_line(str(error))


def _typer_error_in_one_line(error: typer.TyperException) -> str:
    """Return what typer says about wrong arguments, in the wording of our own errors."""
    parameter: Any = getattr(error, "param", None)
    if not isinstance(error, typer.BadParameter) or parameter is None:
        return error.format_message()
    is_argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if is_argument else parameter.opts[0]
    if is_argument and not error.message:  # the argument was left out
        return f"Missing argument {name}"
    cause: Any = error.__cause__
    if not hasattr(cause, "errors"):
        return error.format_message()
    found = cause.errors()[0]
    if choices := parameter.type_descriptor.choices:
        got, known = str(found["input"]), [str(choice) for choice in choices]
        return f"{name} must be one of {', '.join(known)}, got {got!r}.{did_you_mean(got, known)}"
    required = _REQUIRED_VALUES.get(found["type"])
    return error.format_message() if required is None else f"{name} must be {required}."
