"""The bundled datasets: Parquet files and their schemas."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from privatree.errors import ParameterError
from privatree.schema import Categorical, Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd

_NAMES = ("adult", "breast-w", "mushroom", "nursery", "vote")


class Dataset(NamedTuple):
    """A table of records, their labels and what is public about them.

    Attributes
    ----------
    frame : pandas.DataFrame
        The features, one column each, in the order of the schema.
    labels : pandas.Series
        The class of each row as a string; the series is named ``target``.
    schema : Schema
        Ranges, categories and classes, taken from the documentation of the data, not the rows.
    """

    frame: pd.DataFrame
    labels: pd.Series[str]
    schema: Schema


def names() -> tuple[str, ...]:
    """Return the names of the bundled datasets.

    Returns
    -------
    tuple of str
        What :func:`load` accepts, in alphabetical order.
    """
    return _NAMES


def load(name: str) -> Dataset:
    """Load a bundled dataset.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset
        The named tuple ``(frame, labels, schema)``. Categorical columns have the categories of
        the schema in its order, also those that no row has. Numbers are 64 bits wide.

    Raises
    ------
    ParameterError
        If there is no such dataset.

    Examples
    --------
    >>> frame, labels, schema = load("vote")
    >>> frame.shape
    (232, 16)
    >>> schema.classes
    ('democrat', 'republican')
    """
    if name == "diabetes":
        raise ParameterError(
            "diabetes must be had elsewhere: it is not bundled, as its source has withdrawn it and "
            "no licence is known. OpenML has it as data 37: "
            "sklearn.datasets.fetch_openml(data_id=37)."
        )
    if name not in _NAMES:
        raise ParameterError(f"name must be one of {', '.join(_NAMES)}, got {name!r}.", "name")
    import pandas as pd

    folder = resources.files("privatree.datasets") / "data"
    with resources.as_file(folder / f"{name}.toml") as path:
        schema = Schema.from_toml(path)
    with resources.as_file(folder / f"{name}.parquet") as path:
        table = pd.read_parquet(path)
    labels = table["target"].astype(str)
    frame = table[list(schema.features)].astype(
        {column: _dtype(feature) for column, feature in schema.features.items()}
    )
    return Dataset(frame, labels, schema)


def _dtype(feature: Numeric | Categorical) -> str | pd.CategoricalDtype:
    """Return the pandas type of a column: wide numbers, or the categories of the schema."""
    import pandas as pd

    if isinstance(feature, Categorical):
        return pd.CategoricalDtype(list(feature.categories))
    return "int64" if feature.integer else "float64"
