"""The ``privatree`` program. Its dependencies are in the extra ``cli``.

::

    commands/             one command per file: parse, call, print
    _app.py               the list of commands; error messages of one line
    _output.py            writing to files and to the terminal; the spinner
    _prediction_files.py  writing tables of predictions as CSV or Parquet
    _about_options.py     options that say what a model is about
    _csv_options.py       options that describe CSV files
    _learner_options.py   options of the commands that train
    _model_options.py     the option --model, and options of trees or ensembles alone
    _number_options.py    options of models of a number alone
    _weight_options.py    options about units and weights
    _holdout_options.py   options of fit that hold records out, for private scores
    _held_out.py          records that certify holds out for the test
    _engines.py           the option --engine
"""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRA = ("filelock", "jinja2", "rich", "typer")


def main() -> None:
    """Run the program. Where the extra ``cli`` is missing, say so and exit with code 2."""
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
