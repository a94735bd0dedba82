"""From a table as it was found to the records that the experiments train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from privatree.errors import ParameterError
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.loading._fingerprint import fingerprint
from privatree.schema import Categorical, Feature, Numeric, Schema

TARGET = "target"
"""The column of the labels."""

_EXACT = 2**53  # up to here whole floats and integers are the same numbers


def clean(
    features: pd.DataFrame,
    labels: pd.Series[Any],
    *,
    origin: str,
    where: str,
    categorical: Collection[str] = (),
) -> Records:
    """Prepare a table as the paper did.

    Rows with missing values are dropped; labels and categories become strings; numbers become
    int64 where all are whole, else float64. A constant column stays: its range has no width, and
    no learner splits there.

    Parameters
    ----------
    features : pandas.DataFrame
        One column a feature.
    labels : pandas.Series
        The class of each row.
    origin : str
        Where it was found, for the result.
    where : str
        What errors name as the place: a path, for example.
    categorical : collection of str, default=()
        Columns to take as categories whatever their type.

    Returns
    -------
    Records

    Raises
    ------
    ParameterError
        If a label is missing, two columns or two categories of one are the same text, a column
        holds neither text nor finite numbers, nothing is left without the rows with missing
        values, or fewer than two classes are.
    """
    names = [str(name) for name in features.columns]
    if alike := _repeated(names):
        raise ParameterError(
            f"{where}: the names of columns must differ as text, got {alike[0]!r} more than once. "
            "Rename all but one."
        )
    if labels.isna().any():
        raise ParameterError(f"{where}: every row must have a label. Remove the rows without one.")
    missing = np.zeros(len(features), dtype=np.bool_)
    for _, column in features.items():
        missing |= column.isna().to_numpy()
    if missing.any():
        features, labels = features[~missing], labels[~missing]
    if features.empty:
        raise ParameterError(f"{where}: needs a feature, and a row without missing values.")
    columns = {
        name: _column(column, name, where, name in categorical)
        for name, (_, column) in zip(names, features.items(), strict=True)
    }
    frame = pd.DataFrame(columns)
    texts = _label_texts(labels)
    classes = sorted(set(texts.unique()))
    if len(classes) < 2:
        raise ParameterError(f"{where}: needs at least two classes, got {len(classes)}.")
    # As in the paper, what these public records show is taken for what everybody knows: the
    # experiments measure accuracy, and protect nobody. So nothing is marked as unconfirmed.
    schema = Schema({name: _feature(frame[name]) for name in columns}, classes)
    return Records(frame, texts, schema, fingerprint(frame, texts), origin)


# --- columns ------------------------------------------------------------------------------------


def _column(
    column: pd.Series[Any], name: str, where: str, is_listed: bool
) -> pd.Categorical | NDArray[Any]:
    column = column.infer_objects()  # booleans beside missing ones come as objects
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _categories(column.cat.codes.to_numpy(), column.cat.categories, name, where)
    if types.is_bool_dtype(column):
        return _categories(column.to_numpy(np.int64), [False, True], name, where)
    if types.is_string_dtype(column) or (is_listed and types.is_numeric_dtype(column)):
        codes, values = pd.factorize(column, sort=True)
        return _categories(codes, values, name, where)
    if types.is_integer_dtype(column) and column.max() <= np.iinfo(np.int64).max:
        return column.to_numpy(np.int64)
    if types.is_numeric_dtype(column) and not types.is_complex_dtype(column):
        return _numbers(column.to_numpy(np.float64), name, where)
    raise ParameterError(
        f"{where}: column {name!r} must hold numbers, text or categories, got {column.dtype}. "
        "Convert or remove it."
    )


def _categories(
    codes: NDArray[Any], values: Sequence[Any] | pd.Index[Any], name: str, where: str
) -> pd.Categorical:
    texts = _texts(values)
    if _repeated(texts):
        raise ParameterError(
            f"{where}: the categories of column {name!r} must differ as text, got some that are "
            'written alike, as "1" and 1.0 are. Merge them, or rename one.'
        )
    return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype="str"))


def _numbers(values: NDArray[np.float64], name: str, where: str) -> NDArray[Any]:
    if not np.isfinite(values).all():
        raise ParameterError(
            f"{where}: column {name!r} must hold finite numbers, got infinity. Remove these rows."
        )
    is_whole = bool((np.abs(values) < _EXACT).all() and (values == np.rint(values)).all())
    return values.astype(np.int64) if is_whole else values


def _label_texts(labels: pd.Series[Any]) -> pd.Series[str]:
    codes, values = pd.factorize(labels)
    texts = np.array(_texts(values), dtype=object)
    return pd.Series(texts[codes], dtype="str", name=TARGET)


def _texts(values: Sequence[Any] | pd.Index[Any]) -> list[str]:
    """Name values so that 1, 1.0 and "1" are alike: which it is depends on who wrote the file."""
    return [
        str(int(value))
        if isinstance(value, (float, np.floating)) and value.is_integer()
        else str(value)
        for value in values
    ]


def _repeated(texts: list[str]) -> list[str]:
    return [text for text, count in Counter(texts).items() if count > 1]


# --- schema -------------------------------------------------------------------------------------


def _feature(column: pd.Series[Any]) -> Feature:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Categorical(column.cat.categories.tolist())
    values = column.to_numpy()
    low, high = values.min().item(), values.max().item()
    return Numeric(low, high, integer=values.dtype.kind == "i")
