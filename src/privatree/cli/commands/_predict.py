"""``privatree predict``: labels for files of records, by a saved model."""

from __future__ import annotations

import csv as csv_module
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree._support.escape import visible_line
from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._learner_options import Data
from privatree.cli._output import check_output, write_output
from privatree.cli._spinner import waiting
from privatree.cli.commands._show import Model
from privatree.errors import ParameterError

_MIN_ROWS = 10
"""In fewer rows it can be that all values of a column are missing."""


@csv_options
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The .csv or .parquet file to write, not the screen.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of each class.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Columns of DATA to write beside the predictions, such as an identifier.",
        ),
    ] = None,
    safe: Annotated[
        bool,
        typer.Option(
            "--safe-for-spreadsheets",
            help="In CSV, put an apostrophe before text that a spreadsheet would run as a formula, "
            "such as text that begins with =, +, - or @: in labels, kept columns and names of "
            "columns.",
        ),
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Predict the label of each row of DATA with a saved MODEL, in the order of the rows.

    Written is a column named prediction and, with --proba, one named "probability of LABEL" for
    each class, which are 1 and 0 unless the model was trained with a share of epsilon for them.
    Columns that the model does not know are ignored. CSV is written with commas, decimal points and
    UTF-8, whatever DATA has; kept columns are copied as text.

    Predictions are about the people in DATA: they are not private, and nothing is added to hide
    them. A value that does not fit the model's schema counts as it did in training.

    Text is written as it is in MODEL and DATA. Before you open the result in a spreadsheet, pass
    --safe-for-spreadsheets if you do not trust that text; it changes some of it.

    Example: privatree predict model.json new-patients.csv --keep id -o predictions.csv
    """
    if output is not None and output.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{output}: a file of predictions must end in .csv or .parquet.")
    if safe and output is not None and output.suffix.lower() == ".parquet":
        raise ParameterError("--safe-for-spreadsheets must be used for CSV. Leave it out.")

    from privatree.model import read_release
    from privatree.sources import find_files, read_columns, read_files

    files = find_files(data)
    csv.check(files)
    if output is not None:
        check_output(output, [model, *files])
    loaded = read_release(model)
    schema = csv.declared_in(loaded.schema_)
    kept = [] if keep is None else list(dict.fromkeys(name.strip() for name in keep.split(",")))
    with waiting("Predicting"):
        columns: dict[str, Any] = {}
        if kept:
            read = read_columns(files, kept, schema.csv)
            columns |= {name: read.column(name) for name in kept}
        records = read_files(files, schema, allow_ragged=False)
        _tell_of_columns_without_numbers(records.features, schema)
        predicted = {"prediction": _arrow(loaded.predict(records.features))}
        if proba:
            shares = loaded.predict_proba(records.features)
            for code, label in enumerate(loaded.schema_.classes):
                predicted[f"probability of {_text(label)}"] = shares[:, code]
        if twice := sorted(columns.keys() & predicted.keys()):
            raise ParameterError(
                f"--keep must not name a column called as one of the predictions, got {twice[0]!r}."
            )
        columns |= predicted
    _write(columns, output, safe=safe)


def _tell_of_columns_without_numbers(features: Any, schema: Any) -> None:
    """Say which columns of numbers have none: most likely they are written in another way."""
    import numpy as np

    from privatree.schema import Numeric

    for name, feature in schema.features.items():
        numbers = features.column(name).to_numpy() if isinstance(feature, Numeric) else ()
        if len(numbers) >= _MIN_ROWS and np.isnan(numbers).all():
            mark = "." if schema.csv is None else schema.csv.decimal
            typer.echo(
                f"None of the values of {visible_line(repr(name))} is a number with the decimal "
                f"mark {mark!r}: all count as missing. Is it another mark? Then pass --decimal.",
                err=True,
            )


def _arrow(labels: Any) -> Any:
    """Labels as an Arrow array; as text where Arrow has no number so large."""
    import pyarrow as pa

    try:
        return pa.array(labels)
    except (OverflowError, pa.ArrowException):
        return pa.array([_text(label) for label in labels])


def _text(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _write(columns: dict[str, Any], output: Path | None, *, safe: bool) -> None:
    import pyarrow as pa

    # In one piece: of an empty part, as a file without rows gives, Arrow writes what memory held.
    table, written = pa.table(columns).combine_chunks(), io.BytesIO()
    if safe:
        from privatree.cli._spreadsheets import safe_table

        table = safe_table(table)
    if output is None or output.suffix.lower() == ".csv":
        _write_csv(table, written)
    else:
        import pyarrow.parquet as pq

        pq.write_table(table, written)
    write_output(output, written.getvalue(), private=True)


def _write_csv(table: Any, file: Any) -> None:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    header = io.StringIO(newline="")
    csv_module.writer(header, lineterminator="\n").writerow(table.column_names)
    file.write(header.getvalue().encode())
    options = pacsv.WriteOptions(
        include_header=False, quoting_style="needed" if _needs_quotes(table) else "none"
    )
    try:
        pacsv.write_csv(table, file, options)
    except pa.ArrowException:
        raise ParameterError(
            "--keep names a column of a type that CSV cannot hold. Write a .parquet file."
        ) from None


def _needs_quotes(table: Any) -> bool:
    """Whether any text does: Arrow quotes all text or none, and few labels need it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return any(
        pc.any(pc.match_substring_regex(column, '^$|[,"\r\n]')).as_py()
        for column in table.columns
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    )
