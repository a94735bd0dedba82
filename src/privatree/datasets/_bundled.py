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
    """The records of a dataset, their labels and their schema.

    Attributes
    ----------
    frame : pandas.DataFrame
        Features, one column each, in the order of the schema.
    labels : pandas.Series
        Class of each row, as a string. The name of the series is ``target``.
    schema : Schema
        Ranges, categories and classes, from the documentation of the data, not from the rows.

    Examples
    --------
    >>> from privatree import datasets
    >>> dataset = datasets.load("nursery")
    >>> dataset.labels.name, len(dataset.frame.columns) == len(dataset.schema.features)
    ('target', True)
    """

    frame: pd.DataFrame
    labels: pd.Series[str]
    schema: Schema


def names() -> tuple[str, ...]:
    """Return the names of the bundled datasets, in alphabetical order.

    Examples
    --------
    >>> from privatree import datasets
    >>> datasets.names()
    ('adult', 'breast-w', 'mushroom', 'nursery', 'vote')
    """
    return _NAMES


def load(name: str) -> Dataset:
    """Load a bundled dataset.

    Parameters
    ----------
    name : str
        Name of the dataset, one of :func:`names`.

    Returns
    -------
    Dataset
        Named tuple ``(frame, labels, schema)``. A categorical column has all categories of the
        schema, in the same order, even if no row has them. Numbers are int64 or float64.

    Raises
    ------
    ParameterError
        If no bundled dataset has this name.

    Examples
    --------
    >>> from privatree import datasets
    >>> frame, labels, schema = datasets.load("vote")
    >>> frame.shape
    (232, 16)
    >>> schema.classes
    ('democrat', 'republican')
    """
    if name == "diabetes":
        raise ParameterError(
            "diabetes is not bundled, because its source has withdrawn it and no licence is known. "
            "Download it from OpenML: sklearn.datasets.fetch_openml(data_id=37)."
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
        {column: _bundled_dtype(feature) for column, feature in schema.features.items()}
    )
    return Dataset(frame, labels, schema)


def _bundled_dtype(feature: Numeric | Categorical) -> str | pd.CategoricalDtype:
    import pandas as pd

    if isinstance(feature, Categorical):
        return pd.CategoricalDtype(list(feature.categories))
    return "int64" if feature.integer else "float64"
