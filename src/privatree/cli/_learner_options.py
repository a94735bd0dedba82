"""Options of the commands that train, and what these commands do with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree.cli._output import show_spinner
from privatree.cli._weight_options import schema_with_unit
from privatree.errors import ParameterError, SchemaError

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files of records: CSV, TSV (also .gz, .zst), Parquet or Excel. Folders of such "
        "files and quoted patterns like 'part-*.csv' are read too. - reads CSV from the standard "
        "input.",
    ),
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")]
Epsilon = Annotated[
    float,
    typer.Option(
        metavar="E",
        help="Privacy budget, > 0. With or without any one record, each possible model is at most "
        "e^E times as likely. 0.1 is strict (at most 11% more likely), 1 means a factor of 2.7, "
        "and 10 guarantees almost nothing.",
    ),
]
_MAX_USUAL_EPSILON = 10
_MAX_USUAL_DELTA = 1e-3
SCHEMA_HELP = (
    "TOML file with what is public: the columns with their ranges or categories, and the classes "
    "or the range of a numeric target. "
    "Write it from public knowledge, not from the records."
)
DatasetSize = Annotated[
    str,
    typer.Option(
        metavar="private|N",
        help="The number of records (with a unit: of units), if it is public; then no budget is "
        "spent on estimating it. Do not count it from this data.",
    ),
]
_OPTION_NAMES = {
    "random_state": "seed",
    "max_sample_weight": "max_weight",
    "monotonic_cst": "monotone",
}
"""Parameters of learners whose options have other names."""


def warn_of_large_epsilon(epsilon: float) -> None:
    """Warn on stderr if epsilon is above 10, which protects little. Call this before training."""
    if epsilon > _MAX_USUAL_EPSILON:
        typer.echo(
            f"Warning: --epsilon {epsilon:g} gives hardly any privacy: the released model may be "
            f"e^{epsilon:g} times as likely with a record as without it. Usual values are 0.01 to "
            "1: see docs/choosing-epsilon.md.",
            err=True,
        )


def warn_of_large_delta(delta: float) -> None:
    """Warn on stderr if delta is above 0.001, which protects little. Call this before training."""
    if delta > _MAX_USUAL_DELTA:
        typer.echo(
            f"Warning: --delta {delta:g} gives hardly any privacy: with a probability of {delta:g} "
            "anything about a record may be revealed. Choose it far below 1 divided by the number "
            "of records; usual values are 1e-5 and smaller.",
            err=True,
        )


def read_schema_option(path: Path, alternative: str = "", *, unit: str | None = None) -> Any:
    """Read a schema from a TOML file; raise SchemaError if an entry is marked as unconfirmed.

    `alternative` ends the error message: what to do instead of confirming the entries. `unit` is
    what the option --unit says.
    """
    from privatree.schema import Schema

    schema = schema_with_unit(Schema.from_toml(path), unit)
    if schema.unconfirmed:
        raise SchemaError(
            f"{path}: these entries were read from the data and must be confirmed: "
            f"{schema.shown_unconfirmed()}. Check each against public knowledge and delete its "
            f'line "unconfirmed"{alternative}.'
        )
    return schema


def read_training_records(files: Sequence[Path], target: str, schema: Any, *, quiet: bool) -> Any:
    """Read the records and the ids of their units, and print names of ignored columns on stderr."""
    from privatree.sources import read_files

    with show_spinner("Reading the records", shown=not quiet):
        records = read_files(files, schema, target, allow_ragged=True, with_units=True)
    if not quiet:
        print_ignored_columns(records.ignored)
    return records


def print_ignored_columns(names: Collection[str]) -> None:
    """Print on stderr the names of columns in the data that the schema does not have."""
    if names:
        typer.echo(f"Not in the schema, so ignored: {', '.join(map(repr, names))}.", err=True)


def check_files_have_records(files: Sequence[Path], labels: Any) -> None:
    """Raise ParameterError if no file has a record. Call this only if their number is public."""
    if len(labels) == 0:
        names = ", ".join(map(str, files[:3])) + (", ..." if len(files) > 3 else "")
        raise ParameterError(f"{names}: must have at least one record, got none.")


@contextmanager
def name_learner_options(parameters: Collection[str]) -> Iterator[None]:
    """Name the option, such as --max-depth, in every ParameterError about a parameter."""
    try:
        yield
    except ParameterError as error:
        if error.parameter is None or error.parameter not in parameters:
            raise
        name = _OPTION_NAMES.get(error.parameter, error.parameter)
        _, _, requirement = str(error).partition(" must ")
        message = f"--{name.replace('_', '-')} must {requirement}"
        raise type(error)(message, error.parameter) from None


def parse_number_option(
    option: str, given: str, *, whole: bool = True, **words: str | None
) -> float | str | None:
    """Return the value of an option that takes a number or one word, such as auto."""
    if given in words:
        return words[given]
    try:
        return int(given) if whole else float(given)
    except ValueError:
        (word,) = words
        kind = "a whole number" if whole else "a number"
        raise ParameterError(f"{option} must be {kind} or {word}, got {given!r}.") from None
