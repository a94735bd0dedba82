"""The ``privatree`` program: gathers the commands and turns a user's mistakes into one line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from privatree import __version__
from privatree.cli import audit, budget, certify, demo, fit, predict, reproduce, show
from privatree.errors import PrivatreeError

app = typer.Typer(
    name="privatree",
    help="Decision trees on sensitive tables with differential privacy, and what it guarantees.",
    add_completion=False,
    rich_markup_mode="markdown",  # else lines of a docstring are not joined
    pretty_exceptions_enable=False,
)
app.command("audit")(audit.audit)
app.add_typer(budget.app, name="budget")
app.command("certify")(certify.certify)
app.command("demo")(demo.demo)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("reproduce")(reproduce.reproduce)
app.command("show")(show.show)


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
        sys.exit(app(sys.argv[1:] or ["--help"], standalone_mode=False))
    except (PrivatreeError, OSError, typer.TyperException) as error:
        typer.echo(f"privatree: {_one_line(error)}", err=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)


def _one_line(error: Exception) -> str:
    if isinstance(error, typer.TyperException):
        return f"{error.format_message()} See privatree --help."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return " ".join(str(error).split())
