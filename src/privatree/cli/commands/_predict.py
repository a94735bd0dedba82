"""``privatree predict``: predict the labels, or numbers, of files of records with a saved model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree._support.escape import escape_to_one_line
from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._learner_options import Data
from privatree.cli._output import check_output, open_private_output, output_option, show_spinner
from privatree.cli._prediction_files import buffered_predictions, escape_predictions
from privatree.cli.commands._show import Model
from privatree.errors import ParameterError

_MIN_ROWS = 10
"""Smallest number of rows at which a numeric column without any number is reported."""


@csv_options
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None, output_option("File to write, .csv or .parquet. The default is the screen.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of each class.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Columns of DATA to copy to the output, such as an identifier.",
        ),
    ] = None,
    safe: Annotated[
        bool,
        typer.Option(
            "--safe-for-spreadsheets",
            help="In CSV, put an apostrophe before text that a spreadsheet would run as a formula, "
            "such as text that begins with =, +, - or @. This applies to labels, kept columns and "
            "column names.",
        ),
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Predict the label or number of each row of DATA with a saved MODEL, in the order of the rows.

    The output has a column named prediction and, with --proba, a column named "probability of
    LABEL" for each class. Columns that the model does not know are ignored. CSV output has commas,
    decimal points and UTF-8, whatever the format of DATA. Kept columns are copied as text.

    Predictions are about the people in DATA. They are not private: no noise is added. A value that
    does not fit the model's schema is treated as in training.

    Text is copied unchanged from MODEL and DATA. If you do not trust it and want to open the result
    in a spreadsheet, pass --safe-for-spreadsheets, which changes some of the text.

    Example: privatree predict model.json new-patients.csv --keep id -o predictions.csv
    """
    if output is not None and output.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{output}: the name must end in .csv or .parquet. Choose another.")
    if safe and output is not None and output.suffix.lower() == ".parquet":
        raise ParameterError(
            "--safe-for-spreadsheets must be used with CSV output, got .parquet. Leave the option "
            "out."
        )

    from privatree.model import read_release
    from privatree.sources import find_files, open_files

    files = find_files(data)
    csv.check_with_files(files)
    if output is not None:
        check_output(output, [model, *files])
    loaded = read_release(model)
    schema = csv.schema_with_dialect(loaded.schema_)
    kept = [] if keep is None else list(dict.fromkeys(name.strip() for name in keep.split(",")))
    predicted = ["prediction"]
    if proba and loaded.schema_.target is not None:
        raise ParameterError(
            "--proba must be used with a model of classes, but this model predicts a number. Leave "
            "the option out."
        )
    if proba:
        predicted += [
            f"probability of {_predicted_text(label)}" for label in loaded.schema_.classes
        ]
    if twice := sorted({*kept} & {*predicted}):
        raise ParameterError(
            f"--keep must not name {twice[0]!r}: the output has a column of predictions with this "
            "name. Rename the column in DATA."
        )
    numberless: list[str] = []
    batches = open_files(files, schema, keep=kept).read_batches(allow_ragged=False)
    watched = _note_numberless_columns_to_predict(batches, schema, numberless)
    tables = (_predict_batch(loaded, batch, predicted) for batch in watched)
    with buffered_predictions(output) as table:
        with show_spinner("Predicting"):
            table.collect_tables(map(escape_predictions, tables) if safe else tables)
        mark = "." if schema.csv is None else schema.csv.decimal
        for name in numberless:
            typer.echo(
                f"Column {escape_to_one_line(repr(name))} has no number with the decimal mark "
                f"{mark!r}, so all its values count as missing. If the mark is another, pass "
                "--decimal.",
                err=True,
            )
        with open_private_output(output) as file:
            if output is not None and output.suffix.lower() == ".parquet":
                table.write_parquet(file)
            else:
                table.write_csv(file)


def _note_numberless_columns_to_predict(
    batches: Iterable[Any], schema: Any, numberless: list[str]
) -> Iterator[Any]:
    """Yield the batches. At the end, add numeric columns without any number to `numberless`."""
    import numpy as np

    from privatree.schema import Numeric

    names = [name for name, kind in schema.features.items() if isinstance(kind, Numeric)]
    n_rows = 0
    for batch in batches:
        n_rows += batch.features.num_rows
        names = [n for n in names if np.isnan(batch.features.column(n).to_numpy()).all()]
        yield batch
    numberless += names if n_rows >= _MIN_ROWS else []


def _predict_batch(loaded: Any, batch: Any, names: Sequence[str]) -> Any:
    """Return the kept columns and predictions of a batch, with probabilities if named."""
    import pyarrow as pa

    found = loaded.predict(batch.features)
    if loaded.schema_.target is None:
        found = _predicted_labels_as_arrow(found, loaded.classes_)
    else:
        found = pa.array(found)
    columns = [*batch.kept.columns, found]
    if len(names) > 1:
        columns += map(pa.array, loaded.predict_proba(batch.features).T)
    return pa.table(columns, [*batch.kept.column_names, *names])


def _predicted_labels_as_arrow(labels: Any, classes: Any) -> Any:
    """Return labels as an Arrow array; as text if a class is too large a number for Arrow."""
    import pyarrow as pa

    try:
        return pa.array(labels, pa.array(classes).type)
    except (OverflowError, pa.ArrowException):
        return pa.array([_predicted_text(label) for label in labels], pa.string())


def _predicted_text(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
