"""``privatree schema``: draft a schema from records, and check records against a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privatree._support.validation import check_one_of
from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._learner_options import Data, Target, check_files_have_records
from privatree.cli._output import (
    check_output,
    output_option,
    print_json,
    print_text,
    show_spinner,
    write_output,
)
from privatree.cli._weight_options import UNIT_HELP, schema_with_unit
from privatree.errors import ParameterError

app = typer.Typer(
    help="Describe what is public about a table: draft a schema, and check it against the data."
)


@app.command("draft")
@csv_options
def draft_schema_file(
    data: Data,
    target: Target,
    output: Annotated[
        Path | None, output_option("TOML file to write. The default is the screen.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help=f"{UNIT_HELP} By default the draft proposes a column that looks like it.",
        ),
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            show_default=False,
            help="What a model predicts: classes, or a number. By default the draft decides: a "
            "number if the target has numbers with more than 20 different values.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Draft a schema from the records, for you to check and edit.

    A schema holds what everybody may know about the table: the range of each number, the
    categories, and the classes or the range of the number to predict. It must come from public
    knowledge, because the model reveals it. The draft only saves you typing: its values were read
    from the records, and each is marked "unconfirmed". Open the draft in an editor; its comments
    say what to do. fit refuses the draft until you have checked every entry and deleted its mark.

    Is there a column that says who this is? If a person can have several rows, epsilon should hold
    for all of them together. The draft asks for that column, and proposes one that looks like it as
    the unit.

    Columns that look like identifiers or free text are left out. The comments also name columns
    that may have been computed from the label, and explain what missing values count as.

    The draft is not private: it is only for the owner of the data.

    Example: privatree schema draft patients.csv --target outcome -o schema.toml
    """
    from privatree.inspection import NextCommands, detect_csv_dialect, draft_schema, profile_table
    from privatree.sources import find_files, is_csv_path, read_files_without_schema

    if predict is not None:
        check_one_of("--predict", predict, ("classes", "number"))
    files = find_files(data)
    csv.check_with_files(files)
    if output is not None:
        check_output(output, files)
        if output.exists() and not force:
            raise ParameterError(
                f"{output}: exists, and may have been edited. Name another file, delete this one "
                "first, or pass --force."
            )
    from_csv = is_csv_path(files[0])
    with show_spinner("Reading the records"):
        dialect = detect_csv_dialect(files, csv.given) if from_csv else None
        records = read_files_without_schema(files, target, dialect)
        check_files_have_records(files, records.labels)
        try:
            facts = profile_table(
                records.features,
                records.labels,
                trim=from_csv,
                decimal="." if dialect is None else dialect.decimal,
                predict=predict,
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(f"--target {target}: {error}") from None
        commands = NextCommands(data, target, "schema.toml" if output is None else str(output))
        drafted = draft_schema(facts, commands, is_csv=from_csv, csv=dialect, unit=unit)
    write_output(output, drafted.text, private=True, form="toml")
    if output is not None:
        left_out = f", {len(drafted.left_out)} left out" if drafted.left_out else ""
        by_unit = f", unit {drafted.schema.unit!r}" if drafted.schema.unit is not None else ""
        n_classes = len(drafted.schema.classes)
        predicted = f"{n_classes} classes" if n_classes else "a number to predict"
        typer.echo(
            f"Wrote {output}: {len(drafted.schema.features)} columns{left_out}, "
            f"{predicted}{by_unit}. All values in this file were read "
            "from the records. Open the file in an editor: its comments say what to check and what "
            "to run next.",
            err=True,
        )


@app.command("check")
@csv_options
def check_schema_file(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="TOML file with a schema.")],
    data: Data,
    target: Target,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help=f"{UNIT_HELP} The default is unit of the schema.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Show which records do not fit a schema, and which of its entries are unconfirmed.

    Training accepts such records silently, because an error would reveal something about them: a
    number is clipped to its range, an unknown category counts as the first category, and a record
    with an unknown label, or a target that is no number, is left out. This command shows their
    number and examples before you train.

    The output is about single records and is not private: keep it to yourself. Do not narrow the
    schema to the values that you see here.

    Example: privatree schema check schema.toml patients.csv --target outcome
    """
    from privatree.inspection import check_files_against_schema
    from privatree.schema import Schema
    from privatree.sources import find_files

    files = find_files(data)
    csv.check_with_files(files)
    declared = csv.schema_with_dialect(schema_with_unit(Schema.from_toml(schema), unit))
    with show_spinner("Reading the records"):
        checked = check_files_against_schema(files, declared, target)
    if as_json:
        print_json(checked.to_dict(), ensure_ascii=False)
    else:
        print_text(checked.to_text(str(schema)))
