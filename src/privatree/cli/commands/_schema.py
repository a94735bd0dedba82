"""``privatree schema``: draft what is public about a table, and see which records do not fit it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._learner_options import Data, Target, check_not_empty
from privatree.cli._output import check_output, say, write_output
from privatree.cli._spinner import waiting
from privatree.errors import ParameterError

app = typer.Typer(
    help="Write down what is public about a table: draft a schema, and check it against the data."
)


@app.command("draft")
@csv_options
def draft(
    data: Data,
    target: Target,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The TOML file to write, not the screen."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there already.")
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Draft a schema from the records, for you to check and edit.

    A schema is what everybody may know about the table: the range of each number, the categories,
    the classes. It must come from public knowledge, because the model gives it away. The draft only
    saves you typing: its values are those that the records happen to have, and each is marked
    "unconfirmed". Open it in an editor; it says what to do. fit refuses it until you have checked
    every entry and deleted its mark.

    Columns that look like identifiers or free text are left out. The comments also name columns
    that may have been made from the answer, and where missing values count.

    The draft is not private: it is for the owner of the data, and nobody else.

    Example: privatree schema draft patients.csv --target outcome -o schema.toml
    """
    from privatree.inspection import NextCommands, detect_csv_dialect, draft_schema, profile_table
    from privatree.sources import find_files, is_csv, read_files_without_schema

    files = find_files(data)
    csv.check(files)
    if output is not None:
        check_output(output, files)
        if output.exists() and not force:
            raise ParameterError(
                f"{output}: is there already, and may have been edited. Name another file, delete "
                "it first, or pass --force."
            )
    from_csv = is_csv(files[0])
    with waiting("Reading the records"):
        dialect = detect_csv_dialect(files, csv.given) if from_csv else None
        records = read_files_without_schema(files, target, dialect)
        check_not_empty(files, records.labels)
        try:
            facts = profile_table(
                records.features,
                records.labels,
                trim=from_csv,
                decimal="." if dialect is None else dialect.decimal,
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(f"--target {target}: {error}") from None
        commands = NextCommands(data, target, "schema.toml" if output is None else str(output))
        drafted = draft_schema(facts, commands, is_csv=from_csv, csv=dialect)
    write_output(output, drafted.text, private=True, form="toml")
    if output is not None:
        left_out = f", {len(drafted.left_out)} left out" if drafted.left_out else ""
        typer.echo(
            f"Wrote {output}: {len(drafted.schema.features)} columns{left_out}, "
            f"{len(drafted.schema.classes)} classes. Every value in it was read from the records. "
            "Open it in an editor: it says what to check, and what to run then.",
            err=True,
        )


@app.command("check")
@csv_options
def check(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="A TOML file of a schema.")],
    data: Data,
    target: Target,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Show which records do not fit a schema, and what of it is unconfirmed.

    Training takes what does not fit without a word, because an error would tell of a record: a
    number is clipped to its range, an unknown category counts as the first one, a record with an
    unknown label is left out. Here you see how many there are, with examples, before you train.

    What is printed is about single records and is not private: look, and keep it to yourself. Do
    not narrow the schema to what you see here.

    Example: privatree schema check schema.toml patients.csv --target outcome
    """
    from privatree.inspection import check_files_against_schema
    from privatree.schema import Schema
    from privatree.sources import find_files

    files = find_files(data)
    csv.check(files)
    declared = csv.declared_in(Schema.from_toml(schema))
    with waiting("Reading the records"):
        checked = check_files_against_schema(files, declared, target)
    if as_json:
        written = json.dumps(checked.to_dict(), indent=1, ensure_ascii=False)
        write_output(None, f"{written}\n", form="json")
        return
    say(checked.to_text(str(schema)))
