"""Numbers of poisoned records as users write them: whole numbers, or shares such as "1%"."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import floor
from typing import Any

from privatree._support.validation import is_integer
from privatree.errors import ParameterError

PAPER_SHARES = ("0.1%", "0.5%", "1%")
"""The shares in the tables of [Vos23]."""


def parse_poisoned(poisoned: Sequence[int | str], n_train: int) -> tuple[int, ...]:
    """Return the numbers of poisoned records in the given order, without duplicates.

    Shares of the `n_train` training records, such as ``"0.5%"``, are rounded down.
    """
    if isinstance(poisoned, (str, bytes)) or not hasattr(poisoned, "__iter__"):
        raise ParameterError(
            f"poisoned must be a list of numbers and shares such as [10, '1%'], got {poisoned!r}.",
            "poisoned",
        )
    numbers = tuple(dict.fromkeys(parse_poisoned_entry(entry, n_train) for entry in poisoned))
    if not numbers:
        raise ParameterError("poisoned must be a list of at least one number or share.", "poisoned")
    return numbers


def parse_poisoned_entry(entry: Any, n_train: int) -> int:
    """Return the number of poisoned records that one entry stands for."""
    if is_integer(entry) and entry >= 0:
        return int(entry)
    if isinstance(entry, str) and entry.strip().endswith("%"):
        try:
            share = Decimal(entry.strip()[:-1].strip())
        except InvalidOperation:
            share = Decimal("NaN")
        if share.is_finite() and 0 <= share <= 100:
            return floor(Fraction(share) * n_train / 100)
    raise ParameterError(
        f"poisoned must be numbers of records >= 0 or shares from '0%' to '100%', got {entry!r}.",
        "poisoned",
    )
