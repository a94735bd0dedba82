"""The command line: one command a file; each parses, calls and prints.

What it needs more than the library comes with the extra ``cli``.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRA = ("filelock", "jinja2", "rich", "typer")


def main() -> None:
    """Run the program; where the extra is not installed, name it and exit with code 2."""
    try:
        from privatree.cli.app import main as run

        run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        from privatree.extras import missing_extra

        need = missing_extra(f"the command line needs {missing}", "cli")
        print(f"privatree: {need}", file=sys.stderr)
        sys.exit(2)
