"""Noisy counts of records, and the decision whether there are enough records to train on."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privatree.counting import ClassCounts
from privatree.errors import TooFewRecordsError
from privatree.privacy import Ledger, shown_count
from privatree.privacy.mechanisms import Geometric

SIZE_SHARE = Fraction(3, 100)
"""Share of the budget for the noisy number of records."""
MAX_COUNT = 2**40
"""Noisy counts are clamped to the range from 0 to this number."""


def count_error(epsilon: Fraction, full_weight: int, n_counts: int = 1) -> int:
    """Return a bound on the noise in a sum of noisy counts, true with a probability of 95%.

    Counts are in records, whose weight is at most `full_weight`.
    """
    return math.ceil(Fraction(Geometric(epsilon, full_weight).error(n_counts), full_weight))


def release_counts(
    records: ClassCounts,
    exact_counts: NDArray[np.int64],
    epsilon: Fraction,
    ledger: Ledger,
    purpose: str,
    node: int | None = None,
    sensitivity: int = 1,
) -> NDArray[np.int64]:
    """Return noisy counts in records: sums of weights, divided by the weight of a record.

    A record adds at most `sensitivity` to all counts together.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Sensitivity: the full weight of a record times `sensitivity`, in all counts together.
    Guarantee: epsilon-DP.
    Cost: epsilon.
    """
    full = records.full_weight
    noisy: NDArray[np.int64] = ledger.release(
        Geometric(epsilon, full * sensitivity), exact_counts, purpose=purpose, node=node
    )
    return (noisy + full // 2) // full


def release_size(records: ClassCounts, epsilon: Fraction, ledger: Ledger, counted: str) -> int:
    """Return the noisy number of records, at a cost of epsilon.

    `counted` is what one weight stands for: "records" or "units".
    """
    exact_size = records.class_totals()[0].sum(keepdims=True)
    noisy = release_counts(records, exact_size, epsilon, ledger, f"number of {counted}")
    return int(noisy[0])


def has_enough_records(noisy_size: int, min_records: int | None) -> bool:
    """Decide from the noisy number of records whether a training goes on."""
    return min_records is None or noisy_size >= min_records


def too_few_records(
    noisy_size: int, min_records: int | None, error: int, counted: str
) -> TooFewRecordsError:
    """Return the error of a training that stops; `error` is a bound on the noise."""
    return TooFewRecordsError(
        f"there must be at least min_records = {min_records or 0:,} {counted} with a label or "
        f"target that fits the schema, but there are {shown_count(noisy_size, error)}.",
        noisy_size,
        error,
    )
