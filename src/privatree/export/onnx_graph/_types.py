"""The ONNX types of categories and labels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.schema import Categorical, Feature, Label

_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1


def onnx_type(feature: Feature) -> np.dtype[Any]:
    """Return object for text, int64 for integers that doubles cannot represent, or float64."""
    if not isinstance(feature, Categorical):
        return np.dtype(np.float64)
    if isinstance(feature.categories[0], str):
        return np.dtype(object)
    return _number_type("categories", feature.categories)


def onnx_label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Return labels as an array of objects for text, or else of booleans, int64 or float64."""
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    if isinstance(labels[0], bool):
        return np.array(labels, dtype=np.bool_)
    all_integers = all(isinstance(label, int) for label in labels)
    return np.array(labels, dtype=_number_type("labels", labels, prefer_integers=all_integers))


def _number_type(
    what: str, numbers: Sequence[Label], *, prefer_integers: bool = False
) -> np.dtype[Any]:
    if not prefer_integers and all(_is_double(number) for number in numbers):
        return np.dtype(np.float64)
    if all(isinstance(number, int) and _MIN_INT <= number <= _MAX_INT for number in numbers):
        return np.dtype(np.int64)
    raise ParameterError(
        f"ONNX needs {what} that are all doubles or all 64-bit integers, got larger numbers "
        "or a mixture of both. Use text instead."
    )


def _is_double(number: Label) -> bool:
    is_in_range = not isinstance(number, str) and abs(number) <= sys.float_info.max
    return is_in_range and float(number) == number
