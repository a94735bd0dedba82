"""``privatree schema``: placeholder that the helper who owns this file overwrites."""

from __future__ import annotations

import typer

app = typer.Typer(help="Placeholder.")


@app.command("draft")
def draft() -> None:
    """Placeholder."""


@app.command("check")
def check() -> None:
    """Placeholder."""
