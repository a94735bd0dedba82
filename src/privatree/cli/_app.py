"""The ``privatree`` program: gathers the commands and turns a user's mistakes into one line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from privatree import __version__
from privatree.cli._mistakes import one_line
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
from privatree.cli.commands import _show as show
from privatree.errors import PrivatreeError

_TABLE, _MODEL, _PROOF = "From a table to a model", "With a model", "Check and compare"

app = typer.Typer(
    name="privatree",
    help="Decision trees on sensitive tables that can be published: trained with differential "
    "privacy that holds for whole records, with a statement of exactly what is promised.\n\n"
    "Start with: privatree demo\n\n"
    "Your own table: schema draft writes down what the table looks like; you decide what of it is "
    "public; fit trains; show, report and export give you the model to publish.",
    epilog="privatree COMMAND --help explains a command, with an example.",
    rich_markup_mode="markdown",  # else lines of a docstring are not joined
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
app.command("export", rich_help_panel=_MODEL)(export.export)
app.command("certify", rich_help_panel=_PROOF)(certify.certify)
app.command("audit", rich_help_panel=_PROOF)(audit.audit)
app.command("reproduce", rich_help_panel=_PROOF)(reproduce.reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"privatree {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program: exit code 0, or 2 with one line on stderr for a user's mistake."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="privatree", standalone_mode=False))
    except (PrivatreeError, OSError, typer.TyperException) as error:
        typer.echo(f"privatree: {one_line(error)}", err=True)
        sys.exit(2)
    except typer.Abort:
        typer.echo("privatree: stopped.", err=True)
        sys.exit(130)
