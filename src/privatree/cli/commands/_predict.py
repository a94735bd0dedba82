"""``privatree predict``: labels for files of records, by a saved model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree._support.escape import escape_to_one_line
from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._held_table import held_table
from privatree.cli._learner_options import Data
from privatree.cli._output import check_output, output_file
from privatree.cli._spinner import waiting
from privatree.cli._spreadsheets import safe_table
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
    from privatree.sources import find_files, open_files

    files = find_files(data)
    csv.check(files)
    if output is not None:
        check_output(output, [model, *files])
    loaded = read_release(model)
    schema = csv.declared_in(loaded.schema_)
    kept = [] if keep is None else list(dict.fromkeys(name.strip() for name in keep.split(",")))
    probabilities = [f"probability of {_text(label)}" for label in loaded.schema_.classes]
    predicted = ["prediction", *(probabilities if proba else [])]
    if twice := sorted({*kept} & {*predicted}):
        raise ParameterError(
            f"--keep must not name a column called as one of the predictions, got {twice[0]!r}."
        )
    opened = open_files(files, schema, keep=kept)
    numbers = _NumbersSeen(schema)
    batches = numbers.watched(opened.batches(allow_ragged=False))
    tables = (_predictions(loaded, batch, predicted) for batch in batches)
    with held_table(output) as table:
        with waiting("Predicting"):
            table.hold(map(safe_table, tables) if safe else tables)
        numbers.tell_of_none()
        with output_file(output) as file:
            if output is not None and output.suffix.lower() == ".parquet":
                table.write_parquet(file)
            else:
                table.write_csv(file)


class _NumbersSeen:
    """Tells which columns of numbers have none: most likely they are written in another way.

    Parameters
    ----------
    schema : Schema
        Of the model.
    """

    def __init__(self, schema: Any) -> None:
        from privatree.schema import Numeric

        self._csv = schema.csv
        self._without = [n for n, kind in schema.features.items() if isinstance(kind, Numeric)]
        self._n_rows = 0

    def watched(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches, looked at."""
        import numpy as np

        for batch in batches:
            self._n_rows += batch.features.num_rows
            self._without = [
                name
                for name in self._without
                if np.isnan(batch.features.column(name).to_numpy()).all()
            ]
            yield batch

    def tell_of_none(self) -> None:
        """Say it on stderr."""
        mark = "." if self._csv is None else self._csv.decimal
        for name in self._without if self._n_rows >= _MIN_ROWS else ():
            typer.echo(
                f"None of the values of {escape_to_one_line(repr(name))} is a number with the "
                f"decimal mark {mark!r}: all count as missing. Is it another mark? Then pass "
                "--decimal.",
                err=True,
            )


def _predictions(loaded: Any, batch: Any, names: Sequence[str]) -> Any:
    """The columns to keep of some rows, and those that are predicted: labels, perhaps shares."""
    import pyarrow as pa

    columns = [*batch.kept.columns, _arrow(loaded.predict(batch.features), loaded.classes_)]
    if len(names) > 1:
        columns += map(pa.array, loaded.predict_proba(batch.features).T)
    return pa.table(columns, [*batch.kept.column_names, *names])


def _arrow(labels: Any, classes: Any) -> Any:
    """Labels as an Arrow array; as text where Arrow has no number as large as a class is."""
    import pyarrow as pa

    try:
        return pa.array(labels, pa.array(classes).type)
    except (OverflowError, pa.ArrowException):
        return pa.array([_text(label) for label in labels], pa.string())


def _text(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
