"""``privatree fit``: from files of records to a model file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli.output import check_output
from privatree.errors import ParameterError


def fit(
    data: Annotated[
        list[str],
        typer.Argument(
            help="CSV or Parquet files, folders of them, or patterns in quotes: 'part-*.csv'."
        ),
    ],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    epsilon: Annotated[
        float,
        typer.Option(
            help="Privacy budget: with or without any one record, each possible tree is at most "
            "e^EPSILON times as likely. 0.1 is strict, 1 a factor of 2.7, 10 next to nothing."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write: JSON.")],
    schema: Annotated[
        Path | None,
        typer.Option(
            help="TOML file of what is public: columns with their ranges or categories, and the "
            "classes. Write it from public knowledge, not from the records."
        ),
    ] = None,
    infer_schema: Annotated[
        bool,
        typer.Option(
            "--infer-schema",
            help="Read the schema from the records instead. This leaks: no finite epsilon holds.",
        ),
    ] = False,
    max_depth: Annotated[
        str,
        typer.Option(
            metavar="N|none",
            help="Largest depth of the tree. With none it follows from the size and epsilon.",
        ),
    ] = "4",
    lookahead: Annotated[
        str, typer.Option(metavar="auto|1|2|3", help="How many levels are chosen together.")
    ] = "auto",
    n_bins: Annotated[
        str, typer.Option(metavar="auto|N", help="How finely the range of a number is cut.")
    ] = "auto",
    dataset_size: Annotated[
        str,
        typer.Option(
            metavar="private|N",
            help="A number of records that is public anyway saves the budget to estimate it. It "
            "must not be counted from this data.",
        ),
    ] = "private",
    schedule: Annotated[
        Literal["accuracy", "robust"],
        typer.Option(
            help="How the budget goes to the levels: for the best tree, or in equal shares for "
            "the strongest certificates against poisoned records."
        ),
    ] = "accuracy",
    robust_levels: Annotated[
        int, typer.Option(metavar="N", help="How many levels --schedule robust has.")
    ] = 3,
    neighbours: Annotated[
        Literal["add-remove", "replace"],
        typer.Option(
            help="Whether epsilon is for one record more or less, or for one replaced by another; "
            "then the number of records is public."
        ),
    ] = "add-remove",
    probability_share: Annotated[
        float,
        typer.Option(
            metavar="S", help="Share of epsilon, below 1, for class probabilities in the leaves."
        ),
    ] = 0.0,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Makes the noise repeatable, for tests. Whoever knows the seed can remove it: "
            "never publish such a model."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the model.")] = False,
) -> None:
    """Train a tree on private records and save it with a statement of what is guaranteed.

    What is printed and saved is what epsilon pays for; neither tells more of the records, such as
    how many there are or how well the tree does on them. Public, and so outside the guarantee, are
    the names of the columns, what the schema says, and these options.

    The schema decides what a column is. What does not fit it is never an error, which would tell
    of a record: a number is clipped to its range, what is not a number counts as missing, a
    category that is not in the schema too, and a record with an unknown label or a CSV row with
    too few or too many values is left out. So look at your data before.

    Example: privatree fit data.csv --target outcome --schema schema.toml --epsilon 1 -o model.json
    """
    if schema is None and not infer_schema:
        raise ParameterError(
            "fit needs --schema: a TOML file of the public ranges, categories and classes. The "
            "README has one to copy; --infer-schema reads it from the records, which leaks."
        )
    if schema is not None and infer_schema:
        raise ParameterError("--schema and --infer-schema exclude each other. Leave out one.")
    parameters = {
        "epsilon": epsilon,
        "max_depth": _whole_number("--max-depth", max_depth, none=None),
        "lookahead": _whole_number("--lookahead", lookahead, auto="auto"),
        "n_bins": _whole_number("--n-bins", n_bins, auto="auto"),
        "dataset_size": _whole_number("--dataset-size", dataset_size, private="private"),
        "schedule": schedule,
        "robust_levels": robust_levels,
        "neighbours": neighbours,
        "probability_share": probability_share,
        "random_state": seed,
    }

    from privatree import export_text
    from privatree.sources.paths import find_files

    files = find_files(data)
    check_output(output, [*files, *([] if schema is None else [schema])])
    if schema is None:
        model = _trained_without_schema(files, target, parameters)
    else:
        model = _trained(files, target, schema, parameters, quiet)
    model.save(output)
    if not quiet:
        typer.echo(f"Saved {output}. Use it with: privatree predict {output} DATA\n")
        typer.echo(export_text(model))
        typer.echo(f"\n{model.privacy_}")


def _trained(
    files: list[Path], target: str, schema: Path, parameters: dict[str, Any], quiet: bool
) -> Any:
    from privatree import PrivaTreeClassifier
    from privatree.schema import Schema
    from privatree.sources.files import read_files

    declared = Schema.from_toml(schema)
    records = read_files(files, declared, target, allow_ragged=True)
    if records.ignored and not quiet:
        names = ", ".join(map(repr, records.ignored))
        typer.echo(f"Not in the schema, so ignored: {names}.", err=True)
    return PrivaTreeClassifier(**parameters, schema=declared).fit(records.features, records.labels)


def _trained_without_schema(files: list[Path], target: str, parameters: dict[str, Any]) -> Any:
    from privatree import PrivaTreeClassifier
    from privatree.errors import PrivacyLeakWarning
    from privatree.sources.files import read_files_without_schema

    records = read_files_without_schema(files, target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyLeakWarning)
        try:
            model = PrivaTreeClassifier(**parameters).fit(records.features, records.labels)
        except (TypeError, ValueError) as error:  # about the records, as in scikit-learn
            raise ParameterError(str(error)) from None
    for warning in caught:
        typer.echo(f"Warning: {warning.message}", err=True)
    return model


def _whole_number(option: str, given: str, **words: str | None) -> int | str | None:
    """The number that was given, or what one of these words stands for."""
    if given in words:
        return words[given]
    try:
        return int(given)
    except ValueError:
        (word,) = words
        raise ParameterError(f"{option} must be a whole number or {word}, got {given!r}.") from None
