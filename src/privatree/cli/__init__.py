"""The command line. What it needs more than the library comes with the extra ``cli``.

::

    commands/             one command a file: parse, call, print
    _app.py               the program
    _mistakes.py          a user's mistake, in one line
    _output.py            files and streams that are written
    _held_table.py        a table that is written once all of it is there
    _spreadsheets.py      cells that a spreadsheet would run
    _csv_options.py       options for CSV dialects
    _learner_options.py   options of learners
    _declared_schema.py   the option --schema
    _engines.py           the option --engine
    _spinner.py           a spinner for what takes long
"""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRA = ("filelock", "jinja2", "rich", "typer")


def main() -> None:
    """Run the program; where the extra is not installed, name it and exit with code 2."""
    try:
        from privatree.cli._app import main as run

        run()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        from privatree._support.extras import missing_extra

        need = missing_extra(f"the command line needs {missing}", "cli")
        print(f"privatree: {need}", file=sys.stderr)
        sys.exit(2)
