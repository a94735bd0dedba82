"""Turns a table, as it was read, into the records and the schema that methods train on."""

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
"""Name of the column with the labels."""

_MAX_EXACT = 2**53  # below this, every whole float64 is exactly one integer


def clean_records(
    features: pd.DataFrame,
    labels: pd.Series[Any],
    *,
    origin: str,
    where: str,
    categorical: Collection[str] = (),
) -> Records:
    """Drop rows with missing values and make a schema from the rest, as the paper did.

    Labels and categories become strings. Numbers become int64 if all numbers of the column are
    whole, and float64 otherwise. A constant column stays, although no learner can split on it.

    Parameters
    ----------
    origin : str
        The place where the table was found, as in ``Records.origin``.
    where : str
        Name of this place in error messages, such as a path.
    categorical : collection of str, default=()
        Columns that are categories even if they hold numbers.
    """
    names = [str(name) for name in features.columns]
    if alike := _repeated_clean_texts(names):
        raise ParameterError(
            f"{where}: column names must differ as text, got {alike[0]!r} more than once. "
            "Rename all but one."
        )
    if labels.isna().any():
        raise ParameterError(
            f"{where}: every row must have a label, got {labels.isna().sum()} rows without one. "
            "Remove these rows."
        )
    missing = np.zeros(len(features), dtype=np.bool_)
    for _, column in features.items():
        missing |= column.isna().to_numpy()
    if missing.any():
        features, labels = features[~missing], labels[~missing]
    if features.empty:
        raise ParameterError(
            f"{where}: must have at least one feature and one row without missing values, got "
            f"{features.shape[1]} features and {len(features)} such rows. Add a feature, or fill "
            "in missing values."
        )
    columns = {
        name: _clean_column(column, name, where, name in categorical)
        for name, (_, column) in zip(names, features.items(), strict=True)
    }
    frame = pd.DataFrame(columns)
    codes, values = pd.factorize(labels)
    label_texts = np.array(_clean_value_texts(values), dtype=object)[codes]
    texts = pd.Series(label_texts, dtype="str", name=TARGET)
    classes = sorted(set(texts.unique()))
    if len(classes) < 2:
        raise ParameterError(
            f"{where}: must have at least two classes, got {len(classes)}. Add rows of another "
            "class."
        )
    # As in the paper, the ranges and categories of these public records are declared public: the
    # tables measure accuracy and need no privacy. So nothing is marked as unconfirmed.
    schema = Schema({name: _feature_of_clean_column(frame[name]) for name in columns}, classes)
    return Records(frame, texts, schema, fingerprint(frame, texts), origin)


# --- columns ------------------------------------------------------------------------------------


def _clean_column(
    column: pd.Series[Any], name: str, where: str, is_listed: bool
) -> pd.Categorical | NDArray[Any]:
    column = column.infer_objects()  # a column of booleans that had missing values comes as objects
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _clean_categories(column.cat.codes.to_numpy(), column.cat.categories, name, where)
    if types.is_bool_dtype(column):
        return _clean_categories(column.to_numpy(np.int64), [False, True], name, where)
    if types.is_string_dtype(column) or (is_listed and types.is_numeric_dtype(column)):
        codes, values = pd.factorize(column, sort=True)
        return _clean_categories(codes, values, name, where)
    if types.is_integer_dtype(column) and column.max() <= np.iinfo(np.int64).max:
        return column.to_numpy(np.int64)
    if types.is_numeric_dtype(column) and not types.is_complex_dtype(column):
        return _clean_numbers(column.to_numpy(np.float64), name, where)
    raise ParameterError(
        f"{where}: column {name!r} must hold numbers, text or categories, got {column.dtype}. "
        "Convert or remove it."
    )


def _clean_categories(
    codes: NDArray[Any], values: Sequence[Any] | pd.Index[Any], name: str, where: str
) -> pd.Categorical:
    texts = _clean_value_texts(values)
    if _repeated_clean_texts(texts):
        raise ParameterError(
            f"{where}: the categories of column {name!r} must differ as text, got two with the "
            'same text, such as "1" and 1.0. Merge them, or rename one.'
        )
    return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype="str"))


def _clean_numbers(values: NDArray[np.float64], name: str, where: str) -> NDArray[Any]:
    if not np.isfinite(values).all():
        raise ParameterError(
            f"{where}: column {name!r} must hold finite numbers, got infinity. Remove the rows "
            "with infinity."
        )
    is_whole = bool((np.abs(values) < _MAX_EXACT).all() and (values == np.rint(values)).all())
    return values.astype(np.int64) if is_whole else values


def _clean_value_texts(values: Sequence[Any] | pd.Index[Any]) -> list[str]:
    """Return values as text. 1, 1.0 and "1" become the same text."""
    return [
        str(int(value))
        if isinstance(value, (float, np.floating)) and value.is_integer()
        else str(value)
        for value in values
    ]


def _repeated_clean_texts(texts: list[str]) -> list[str]:
    return [text for text, count in Counter(texts).items() if count > 1]


# --- schema -------------------------------------------------------------------------------------


def _feature_of_clean_column(column: pd.Series[Any]) -> Feature:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Categorical(column.cat.categories.tolist())
    values = column.to_numpy()
    low, high = values.min().item(), values.max().item()
    return Numeric(low, high, integer=values.dtype.kind == "i")
