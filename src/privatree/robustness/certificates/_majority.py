"""The best single answer for all test records, which a certificate is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeGuard

from privatree.errors import ParameterError
from privatree.schema import Label


@dataclass(frozen=True)
class Majority:
    """The most frequent class among the test labels, and its share of all test records.

    Test records whose label is not a class count in the denominator of the share. For a numeric
    target, it is the median of the test targets, and its mean absolute error.
    """

    label: Label
    share: float

    def __post_init__(self) -> None:
        if not is_label(self.label):
            raise ParameterError("the class of a majority must be text, a number or a bool.")
        if not 0 < self.share < math.inf:
            raise ParameterError(f"the share of a majority must be > 0, got {self.share}.")


def is_label(value: Any) -> TypeGuard[Label]:
    """Return whether a schema accepts the value as a class and a JSON file can hold it."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool, int))
