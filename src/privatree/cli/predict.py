"""``privatree predict``: labels for files of records, by a saved model."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree.cli.output import check_output
from privatree.errors import ParameterError


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, as privatree fit writes it.")],
    data: Annotated[
        list[str],
        typer.Argument(
            help="CSV or Parquet files, folders of them, or patterns in quotes: 'part-*.csv'."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The .csv or .parquet file to write, not the screen."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of each class.")
    ] = False,
) -> None:
    """Predict the label of each row of DATA with a saved MODEL, in the order of the rows.

    Written is a column named prediction and, with --proba, one named "probability of LABEL" for
    each class, which are 1 and 0 unless the model was trained with a share of epsilon for them.
    Columns that the model does not know are ignored.

    Predictions are about the people in DATA: they are not private, and nothing is added to hide
    them. A value that does not fit the model's schema counts as it did in training.

    Example: privatree predict model.json new-patients.csv -o predictions.csv
    """
    if output is not None and output.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{output}: a file of predictions must end in .csv or .parquet.")

    from privatree.model import load
    from privatree.sources.files import read_files
    from privatree.sources.paths import find_files

    files = find_files(data)
    if output is not None:
        check_output(output, [model, *files])
    loaded = load(model)
    records = read_files(files, loaded.schema_, allow_ragged=False)
    columns: dict[str, Any] = {"prediction": _arrow(loaded.predict(records.features))}
    if proba:
        shares = loaded.predict_proba(records.features)
        for code, label in enumerate(loaded.schema_.classes):
            columns[f"probability of {_text(label)}"] = shares[:, code]
    _write(columns, output)


def _arrow(labels: Any) -> Any:
    """Labels as an Arrow array; as text where Arrow has no number so large."""
    import pyarrow as pa

    try:
        return pa.array(labels)
    except (OverflowError, pa.ArrowException):
        return pa.array([_text(label) for label in labels])


def _text(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _write(columns: dict[str, Any], output: Path | None) -> None:
    import pyarrow as pa

    table = pa.table(columns)
    if output is None:
        written = io.BytesIO()
        _write_csv(table, written)
        typer.echo(written.getvalue(), nl=False)
    elif output.suffix.lower() == ".csv":
        with open(output, "wb") as file:
            _write_csv(table, file)
    else:
        import pyarrow.parquet as pq

        with open(output, "wb") as file:
            pq.write_table(table, file)


def _write_csv(table: Any, file: Any) -> None:
    import pyarrow.csv as pacsv

    header = io.StringIO(newline="")
    csv.writer(header, lineterminator="\n").writerow(table.column_names)
    file.write(header.getvalue().encode())
    # Arrow quotes all text or none, and few labels need it.
    found = map(str, table.column("prediction").unique().to_pylist())
    needs_quotes = any(label == "" or not {*label}.isdisjoint(',"\r\n') for label in found)
    options = pacsv.WriteOptions(
        include_header=False, quoting_style="needed" if needs_quotes else "none"
    )
    pacsv.write_csv(table, file, options)
