"""An error is an output: what a caller's mistake prints tells nothing of the records.

Each mistake is made with records that carry canaries. Neither the message, nor the traceback as
Python prints it, nor what the error or those behind it keep, nor the estimator that failed may hold
a value of a record, a text or an exact count such as the number of rows. The frames of a traceback
do hold the records, as the caller's own frame does: tools that print local variables print them.
"""

from __future__ import annotations

import gzip
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone

from privatree import PaperPrivaTreeClassifier, PrivaTreeClassifier, SchemaError
from privatree.baselines import RandomTreeClassifier
from privatree.cli._app import main

# One for each way in which a fit reads its records.
ESTIMATORS = {
    "privatree": PrivaTreeClassifier(random_state=0),
    "paper": PaperPrivaTreeClassifier(random_state=0),
    "random-tree": RandomTreeClassifier(random_state=0),
}


class Hiding:
    """A container of some library that says more than it should when it fails."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._text = f"cannot convert {frame.iloc[0].tolist()} of {len(frame)}"


class HidingArray(Hiding):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError(self._text)


class HidingStream(Hiding):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise RuntimeError(self._text)


def arrow(frame: pd.DataFrame, **columns: Any) -> pa.Table:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def failing_batches(frame: pd.DataFrame) -> Any:
    """A stream of batches the last of which does not fit its own types."""
    schema = pa.schema({"amount": pa.float64(), "level": pa.float64(), "kind": pa.string()})
    first = pa.RecordBatch.from_pandas(frame, schema=schema, preserve_index=False)
    wrong = [{"amount": "kind-canary", "level": 1.0, "kind": "red"}]

    def batches() -> Any:
        yield first
        yield pa.RecordBatch.from_pylist(wrong, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def rows(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.to_numpy().tolist()


# What is wrong with X: it is refused by fit and by predict.
WRONG_X: dict[str, Callable[[pd.DataFrame], Any]] = {
    "nothing": lambda f: None,
    "a column too few": lambda f: f.drop(columns="kind"),
    "a column twice": lambda f: f.set_axis(["amount", "amount", "kind"], axis=1),
    "other names": lambda f: f.set_axis(["a", "b", "c"], axis=1),
    "numbers as names": lambda f: f.set_axis([48_637.09375, 2, 3], axis=1),
    "names of two levels": lambda f: pd.concat({"top": f}, axis=1),
    "an array too narrow": lambda f: f.to_numpy()[:, :2],
    "an array too wide": lambda f: f[["amount", "level", "kind", "kind"]].to_numpy(),
    "an array of text": lambda f: f.to_numpy().astype(str),
    "an array of bytes": lambda f: np.full(f.shape, b"kind-canary"),
    "an array of complex numbers": lambda f: f[["amount"] * 3].to_numpy() * 1j,
    "an array of dates": lambda f: f[["amount"] * 3].to_numpy().astype("datetime64[D]"),
    "a structured array": lambda f: f.to_records(),
    "one dimension": lambda f: f["amount"].to_numpy(),
    "three dimensions": lambda f: f[["amount"]].to_numpy()[None],
    "one number": lambda f: float(f["amount"].iloc[0]),
    "a series": lambda f: f["amount"],
    "a polars series": lambda f: pl.Series(f["amount"].to_numpy()),
    "an Arrow array": lambda f: pa.array(f["amount"]),
    "a text": lambda f: "kind-canary",
    "a dictionary": lambda f: {"amount": f["amount"]},
    "a list of dictionaries": lambda f: f.to_dict("records"),
    "a list of numbers": lambda f: f["amount"].tolist(),
    "a list too narrow": lambda f: [row[:2] for row in rows(f)],
    "a list with a short row": lambda f: [*rows(f), [48_637.09375]],
    "a generator": lambda f: iter(rows(f)),
    "a sparse matrix": lambda f: scipy.sparse.csr_matrix(f[["amount"] * 3].to_numpy()),
    "a lazy frame": lambda f: pl.LazyFrame({"amount": f["amount"].to_numpy()}),
    "text for a number": lambda f: f.assign(amount=f["kind"].astype("string")),
    "categories for a number": lambda f: f.assign(
        amount=f["kind"].astype("string").astype("category")
    ),
    "intervals for a number": lambda f: f.assign(amount=pd.cut(f["amount"], [0, 48_637.09375])),
    "dates for a number": lambda f: f.assign(amount=pd.to_datetime(f["amount"], unit="s")),
    "periods for a number": lambda f: f.assign(amount=pd.Period("2020-01")),
    "numbers for a category": lambda f: f.assign(kind=len(f)),
    "structs for a number": lambda f: arrow(f, amount=pa.array([{"kind-canary": 1.0}] * len(f))),
    "lists for a number": lambda f: arrow(f, amount=pa.array([[48_637.09375]] * len(f))),
    "binary for a category": lambda f: arrow(f, kind=pa.array([b"kind-canary"] * len(f))),
    "an enumeration for a number": lambda f: pl.DataFrame(
        {"amount": pl.Series(["kind-canary"] * len(f), dtype=pl.Enum(["kind-canary"])),
         "level": f["level"].to_numpy(), "kind": ["red"] * len(f)}
    ),
    "an array that fails": HidingArray,
    "a stream that fails": HidingStream,
    "batches that fail": failing_batches,
}  # fmt: skip

# What is wrong with y.
WRONG_Y: dict[str, Callable[[pd.Series], Any]] = {
    "nothing": lambda y: None,
    "too few": lambda y: y[:-7],
    "too few in an array": lambda y: y.to_numpy()[:-7],
    "too few in a list": lambda y: y.tolist()[:-7],
    "too many": lambda y: pd.concat([y, y[:1]]),
    "two columns": lambda y: np.column_stack([y, y]),
    "three dimensions": lambda y: y.to_numpy()[:, None, None],
    "one number": lambda y: np.array(48_637.09375),
    "a text": lambda y: "label-canary",
    "a set": set,
    "a dictionary": lambda y: y.to_dict(),
    "a generator": iter,
    "numbers for text": lambda y: pd.Series(np.full(len(y), 48_637)).astype("category"),
    "complex numbers": lambda y: np.full(len(y), 48_637.09375j),
    "dates": lambda y: pd.Series(pd.Timestamp("2020-01-01"), index=y.index),
    "a sparse matrix": lambda y: scipy.sparse.csr_matrix(np.ones((len(y), 1))),
    "an array that fails": lambda y: HidingArray(y.to_frame()),
    "a stream that fails": lambda y: HidingStream(y.to_frame()),
}


def failure(work: Callable[[], Any]) -> Exception:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of columns, in predict
        try:
            work()
        except Exception as error:
            return error
    pytest.fail("it should have been refused")


def estimator(name: str, records: Any) -> Any:
    return clone(ESTIMATORS[name]).set_params(schema=records.schema)


def check(model: Any, error: Exception, records: Any) -> None:
    assert records.secret.in_error(error) == set()
    assert records.secret.in_object(model) == set()
    kept = set(vars(model)) - set(model.get_params())
    assert kept <= {"n_features_in_", "feature_names_in_"}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_X)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fit_tells_nothing_about_wrong_records(
    private_records: Any, name: str, mistake: str
) -> None:
    records, model = private_records, estimator(name, private_records)
    X = WRONG_X[mistake](records.frame)
    check(model, failure(lambda: model.fit(X, records.labels)), records)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_Y)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fit_tells_nothing_about_wrong_labels(
    private_records: Any, name: str, mistake: str
) -> None:
    records, model = private_records, estimator(name, private_records)
    y = WRONG_Y[mistake](records.labels)
    check(model, failure(lambda: model.fit(records.frame, y)), records)


@pytest.fixture(scope="module")
def trained(private_records: Any) -> Any:
    few = private_records.frame[:50], private_records.labels[:50]
    return estimator("privatree", private_records).fit(*few)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_X)
def test_prediction_tells_nothing_about_wrong_records(
    private_records: Any, trained: Any, mistake: str
) -> None:
    X = WRONG_X[mistake](private_records.frame)
    error = failure(lambda: trained.predict(X))
    assert private_records.secret.in_error(error) == set()


# --- the command line ---------------------------------------------------------------------------


def _written(path: str, frame: pd.DataFrame) -> None:
    frame.to_csv(path, index=False) if path.endswith(".csv") else frame.to_parquet(path)


def _broken(path: str, frame: pd.DataFrame, share: float) -> None:
    _written(path, frame)
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[: int(share * len(content))])


def _compressed(path: str, frame: pd.DataFrame) -> None:
    content = gzip.compress(frame.to_csv(index=False).encode(), 1)
    Path(path).write_bytes(content[: len(content) // 2])


def _with_first_row(path: str, frame: pd.DataFrame, first: str) -> None:
    Path(path).write_text(f"{first}\n" + frame.to_csv(index=False, header=False))


def _damaged(path: str, frame: pd.DataFrame) -> None:
    """A Parquet file whose pages are not what its footer says."""
    frame.to_parquet(path, compression="none", use_dictionary=False)
    content = bytearray(Path(path).read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    Path(path).write_bytes(content)


_NAMES = "amount,level,kind,outcome"
WRONG_FILES: dict[str, tuple[str, Callable[[str, pd.DataFrame], None]]] = {
    "no first row": ("d.csv", lambda p, f: f.to_csv(p, index=False, header=False)),
    "another separator": ("d.csv", lambda p, f: f.to_csv(p, index=False, sep=";")),
    "another encoding": ("d.csv", lambda p, f: f.to_csv(p, index=False, encoding="utf-16")),
    "a column too few": ("d.csv", lambda p, f: _written(p, f.drop(columns="kind"))),
    "a column twice": ("d.csv", lambda p, f: _with_first_row(p, f, "kind,level,kind,outcome")),
    "a quote never closed": ("d.csv", lambda p, f: _with_first_row(p, f[:99], f'{_NAMES},"more')),
    "half a gzip file": ("d.csv.gz", _compressed),
    "CSV called Parquet": ("d.parquet", lambda p, f: f.to_csv(p, index=False)),
    "half a Parquet file": ("d.parquet", lambda p, f: _broken(p, f, 0.5)),
    "a damaged Parquet file": ("d.parquet", _damaged),
    "text for a number": (
        "d.parquet", lambda p, f: _written(p, f.assign(amount=f["kind"].astype("str"))),
    ),
    "structs for a number": (
        "d.parquet", lambda p, f: _written(p, f.assign(amount=[{"kind-canary": 1.0}] * len(f))),
    ),
    "no target": ("d.parquet", lambda p, f: _written(p, f.drop(columns="outcome"))),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG_FILES)
def test_the_command_line_tells_nothing_about_wrong_files(
    private_records: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    mistake: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    private_records.schema.to_toml("schema.toml")
    path, write = WRONG_FILES[mistake]
    write(path, private_records.frame.assign(outcome=private_records.labels))
    call = ["fit", path, "--target", "outcome", "--schema", "schema.toml", "--epsilon", "1"]
    monkeypatch.setattr(sys, "argv", ["privatree", *call, "-o", "model.json"])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capfd.readouterr()
    assert stopped.value.code == 2
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert private_records.secret.in_text(printed.err) == set()
    assert private_records.secret.in_error(stopped.value) == set()
    assert not Path("model.json").exists()


def test_a_ragged_row_to_predict_is_named_by_its_number_alone(
    private_records: Any, trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    trained.save("model.json")
    private_records.frame[:9].to_csv("d.csv", index=False)
    with open("d.csv", "a") as file:
        file.write("48637.09375,1,kind-canary,more\n")
    monkeypatch.setattr(sys, "argv", ["privatree", "predict", "model.json", "d.csv"])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capfd.readouterr()
    assert "row 11, blank lines not counted, must have 3 values" in printed.err
    assert private_records.secret.in_text(printed.err) == set()
    assert private_records.secret.in_error(stopped.value) == set()


# --- mutants ------------------------------------------------------------------------------------


def _says_the_value(frame: pd.DataFrame) -> None:
    raise SchemaError(f"amount must be at most 100000, got {frame['amount'].max()}.")


def _says_how_many(frame: pd.DataFrame) -> None:
    raise ValueError(f"X has {len(frame)} rows, y has {len(frame) - 1}.")


def _passes_the_cause_on(frame: pd.DataFrame) -> None:
    try:
        frame["kind"][frame["kind"] == "kind-canary"].astype(float)
    except ValueError as error:
        raise SchemaError("kind must be numeric.") from error


def _keeps_the_context(frame: pd.DataFrame) -> None:
    try:
        float(frame["kind"][frame["kind"] == "kind-canary"].iloc[0])
    except ValueError:
        raise SchemaError("kind must be numeric.") from None


def _keeps_the_rows(frame: pd.DataFrame) -> None:
    error = SchemaError("a row is wrong.")
    error.rows = frame[:1].to_numpy()  # type: ignore[attr-defined]
    raise error


def _adds_a_note(frame: pd.DataFrame) -> None:
    error = SchemaError("a row is wrong.")
    error.add_note(f"It is {frame.index[7]}.")
    raise error


MUTANTS = [
    _says_the_value, _says_how_many, _passes_the_cause_on, _keeps_the_context, _keeps_the_rows,
    _adds_a_note,
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_an_error_that_tells_is_caught(
    private_records: Any, mutant: Callable[[pd.DataFrame], None]
) -> None:
    error = failure(lambda: mutant(private_records.frame))
    assert private_records.secret.in_error(error)


@pytest.mark.slow
def test_only_local_variables_show_records(private_records: Any) -> None:
    """What a tool prints that captures them; the threat model says so."""
    model = estimator("privatree", private_records)
    error = failure(lambda: model.fit(private_records.frame, private_records.labels[:-7]))
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    assert private_records.secret.in_text("".join(shown.format()))
    assert private_records.secret.in_error(error) == set()
