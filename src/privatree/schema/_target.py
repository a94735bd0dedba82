"""A target that is a number, with a public range: what a regression model predicts.

Training sees a target as its *code*: the place of its value among 65,536 equal steps of the public
range. A code depends on the schema and the value alone, never on other records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privatree.errors import SchemaError
from privatree.schema._value_checks import (
    check_schema_bool,
    check_schema_keys,
    check_schema_number,
    check_schema_text,
    check_unconfirmed_names,
    shorten_value,
)

TARGET_CODES = 2**16
"""Number of codes of a numeric target."""
_LARGEST = 1e100
"""Largest end of a range. Squares and sums of targets are then finite, and steps are above 0."""
_KEYS = ("low", "high", "integer", "name", "log")
_MARKED_KEYS = ("low", "high", "integer", "log")
"""Keys that can be unconfirmed."""
INFERRED_TARGET_KEYS = ("low", "high", "integer")
"""Keys whose values can be inferred from records."""


@dataclass(frozen=True)
class Target:
    """A numeric target with a public range, for a regression model.

    A record whose target is missing or not a number is left out of training.

    Parameters
    ----------
    low, high : float
        Public range, both ends included. A target outside the range counts as the nearer end, and
        predictions lie in the range. A range that is ten times too wide costs little accuracy.
    integer : bool, default=False
        Whether the target has whole numbers only.
    name : str, optional
        Name of the column. It becomes the target of :class:`About`.
    log : bool, default=False
        Whether to learn ``log(1 + target)`` instead of the target. Choose it for targets above 0
        that range over several powers of ten. `low` must then be at least 0. The value of a leaf is
        then a mean of logarithms, turned back, which is below the mean of the targets.
    unconfirmed : sequence of str, optional
        Names of the parameters that were read from the records and are not confirmed to be public.

    Examples
    --------
    >>> from privatree import Numeric, Schema, Target
    >>> schema = Schema({"age": Numeric(0, 120)}, target=Target(0, 60, name="days in hospital"))
    >>> schema.target.high
    60
    >>> schema.classes
    ()
    """

    low: float
    high: float
    integer: bool = False
    name: str | None = None
    log: bool = False
    unconfirmed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise a SchemaError if the range is empty or not finite, or another value is invalid."""
        for name in ("low", "high"):
            number = check_schema_number(f"{name} of the target", getattr(self, name))
            object.__setattr__(self, name, number)
        for name in ("integer", "log"):
            check_schema_bool(f"{name} of the target", getattr(self, name))
        if not float(self.low) < float(self.high):
            raise SchemaError(
                f"low must be < high for a target, got low={self.low} and high={self.high}."
            )
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise SchemaError(
                "low and high of an integer target must be whole numbers, "
                f"got {self.low} and {self.high}."
            )
        if self.log and self.low < 0:
            raise SchemaError(
                f"low of a target with log=True must be at least 0, got {self.low}. "
                "Choose log=False for a target that can be negative."
            )
        farthest = max(abs(float(self.low)), abs(float(self.high)))
        if not (farthest <= _LARGEST and self.coded_range[1] >= 1 / _LARGEST):
            raise SchemaError(
                "the range of the target must be neither too wide nor too narrow for floats: from "
                f"{-_LARGEST:g} to {_LARGEST:g} at most, and at least {1 / _LARGEST:g} wide, got "
                f"low={self.low} and high={self.high}. Choose another range or another unit."
            )
        if self.name is not None:
            if not isinstance(self.name, str) or not self.name.strip():
                raise SchemaError(
                    "name of the target must be the name of a column, or None, "
                    f"got {shorten_value(self.name)}."
                )
            object.__setattr__(self, "name", check_schema_text("name of the target", self.name))
        marks = check_unconfirmed_names(self.unconfirmed, _MARKED_KEYS)
        object.__setattr__(self, "unconfirmed", marks)
        if self.log:
            _ = self._log_cuts

    # --- codes ----------------------------------------------------------------------------------

    @cached_property
    def coded_range(self) -> tuple[float, float]:
        """Start and width of the range that is divided into codes.

        Whole numbers get half a step more on both sides, so that each is in the middle of its
        codes. With `log`, the range is that of the logarithms.
        """
        half = 0.5 if self.integer else 0.0
        low, high = float(self.low) - half, float(self.high) + half
        if self.log:
            low, high = math.log1p(low), math.log1p(high)
        return low, high - low

    @cached_property
    def _log_cuts(self) -> NDArray[np.float64]:
        """Smallest target of each code but the first, if codes are steps of logarithms.

        Targets are compared with these: then no code depends on how a processor rounds logarithms
        in a row of numbers. They are computed with the target itself, so that all processes of a
        training have the same cuts.
        """
        start, width = self.coded_range
        cuts = np.expm1(start + width * (np.arange(1, TARGET_CODES) / TARGET_CODES))
        return np.maximum.accumulate(cuts)

    def code_of(self, values: ArrayLike) -> NDArray[np.int32]:
        """Return the code of each number, from 0 to 65,535; -1 for NaN.

        A number outside the range, infinities included, has the code of the nearer end. No number
        causes a warning or an error, whatever numpy is set to: it would tell that there is one.
        """
        with np.errstate(all="ignore"):
            numbers = np.asarray(values, dtype=np.float64)
            clipped = np.clip(numbers, float(self.low), float(self.high))  # NaN stays NaN
            if self.log:
                places = np.searchsorted(self._log_cuts, clipped, side="right")
            else:
                start, width = self.coded_range
                shares = np.nan_to_num((clipped - start) / width)
                places = (shares * TARGET_CODES).astype(np.int64)
            codes = np.where(np.isnan(numbers), -1, np.minimum(places, TARGET_CODES - 1))
        return codes.astype(np.int32)

    def value_of(self, share: ArrayLike) -> NDArray[np.float64]:
        """Return the target at a share of the coded range, from 0 to 1, clipped to the range.

        The middle of a code has the share ``(code + 0.5) / 65536``.

        Examples
        --------
        >>> from privatree import Target
        >>> Target(0, 100).value_of([0, 0.5, 1])
        array([  0.,  50., 100.])
        """
        start, width = self.coded_range
        return self.of_score(start + width * np.asarray(share, dtype=np.float64))

    def of_score(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the target of a score, clipped to the range.

        The score is the target itself or, with `log`, the logarithm of 1 plus the target.
        """
        values = np.asarray(scores, dtype=np.float64)
        if self.log:
            with np.errstate(over="ignore"):  # infinity is clipped, too
                values = np.expm1(values)
        clipped: NDArray[np.float64] = np.clip(values, float(self.low), float(self.high))
        return clipped

    # --- dictionary -----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the values that are not the default, as a schema file stores them."""
        entry: dict[str, Any] = {"low": self.low, "high": self.high}
        for name in ("integer", "log"):
            if getattr(self, name) or name in self.unconfirmed:
                entry[name] = getattr(self, name)
        if self.name is not None:
            entry["name"] = self.name
        return entry | ({"unconfirmed": list(self.unconfirmed)} if self.unconfirmed else {})

    @classmethod
    def from_dict(cls, written: Any) -> Target:
        """Read a target from the dictionary that :meth:`to_dict` wrote.

        A :class:`SchemaError` is raised if a key is missing or unknown, or a value is invalid.
        """
        if not isinstance(written, Mapping):
            raise SchemaError(
                f"'target' must be a table with low and high, got {shorten_value(written)}."
            )
        check_schema_keys("'target'", dict(written), {*_KEYS, "unconfirmed"}, {"low", "high"})
        try:
            return cls(**written)
        except SchemaError as error:
            raise SchemaError(f"target: {error}") from None
