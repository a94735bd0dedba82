"""Options that say where the records are and how to train, for every command that trains."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._spinner import waiting
from privatree.errors import ParameterError

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV (also .gz, .zst), Parquet or Excel files, folders of them, or patterns in "
        "quotes: 'part-*.csv'. - reads CSV from the standard input.",
    ),
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")]
Epsilon = Annotated[
    float,
    typer.Option(
        metavar="E",
        help="Privacy budget, > 0: with or without any one record, each possible tree is at most "
        "e^E times as likely. 0.1 is strict (11% more or less), 1 a factor of 2.7, and 10 promises "
        "next to nothing.",
    ),
]
MAX_USUAL_EPSILON = 10
"""Above it there is a warning."""
SCHEMA_HELP = (
    "TOML file of what is public: columns with their ranges or categories, and the classes. "
    "Write it from public knowledge, not from the records."
)
MaxDepth = Annotated[
    str,
    typer.Option(
        metavar="N|none",
        help="Largest depth of the tree. With none it follows from the size and epsilon.",
    ),
]
DatasetSize = Annotated[
    str,
    typer.Option(
        metavar="private|N",
        help="A number of records that is public anyway saves the budget to estimate it. It "
        "must not be counted from this data.",
    ),
]
Schedule = Annotated[
    Literal["accuracy", "robust"],
    typer.Option(
        help="How the budget goes to the levels: for the best tree, or in equal shares for "
        "the strongest certificates against poisoned records."
    ),
]
RobustLevels = Annotated[
    int, typer.Option(metavar="N", help="How many levels --schedule robust has.")
]


def warn_of_large_epsilon(epsilon: float) -> None:
    """Say on stderr that an epsilon protects hardly anybody, before it is spent.

    Parameters
    ----------
    epsilon : float
        What was chosen for records. It is public.
    """
    if epsilon > MAX_USUAL_EPSILON:
        typer.echo(
            f"Warning: --epsilon {epsilon:g} gives hardly any privacy: what is released may be "
            f"e^{epsilon:g} times as likely with a record as without it. Usual values are 0.01 to "
            "1: see docs/choosing-epsilon.md.",
            err=True,
        )


def read_training_records(files: list[Path], target: str, schema: Any, *, quiet: bool) -> Any:
    """Read them by the schema; the names of columns that it does not have go to stderr."""
    from privatree.sources import read_files

    with waiting("Reading the records", shown=not quiet):
        records = read_files(files, schema, target, allow_ragged=True)
    if records.ignored and not quiet:
        names = ", ".join(map(repr, records.ignored))
        typer.echo(f"Not in the schema, so ignored: {names}.", err=True)
    return records


def check_not_empty(files: list[Path], labels: Any) -> None:
    """Refuse files without a record, where their number is no secret."""
    if len(labels) == 0:
        names = ", ".join(map(str, files[:3])) + (", ..." if len(files) > 3 else "")
        raise ParameterError(f"{names}: must have at least one record, got none.")


@contextmanager
def named_as_options(parameters: Collection[str]) -> Iterator[None]:
    """Let a refusal of a parameter name the option that set it: --max-depth for max_depth.

    Parameters
    ----------
    parameters : collection of str
        Those that an option sets.
    """
    try:
        yield
    except ParameterError as error:
        if error.parameter is None or error.parameter not in parameters:
            raise
        option = _OPTIONS.get(error.parameter, f"--{error.parameter.replace('_', '-')}")
        _, _, requirement = str(error).partition(" must ")
        raise type(error)(f"{option} must {requirement}", error.parameter) from None


_OPTIONS = {"random_state": "--seed"}
"""Those that are not called as the parameter."""


def whole_number(option: str, given: str, **words: str | None) -> int | str | None:
    """The number that was given, or what one of these words stands for."""
    if given in words:
        return words[given]
    try:
        return int(given)
    except ValueError:
        (word,) = words
        raise ParameterError(f"{option} must be a whole number or {word}, got {given!r}.") from None
