"""Weights of the classes as whole numbers, declared or inverse to noisy class counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from privatree.counting import ClassCounts
from privatree.learners.first_steps._noisy_counts import MAX_COUNT, release_counts
from privatree.privacy import Ledger

BALANCE_SHARE = Fraction(2, 100)
"""Share of the budget for the noisy class counts from which balanced class weights follow."""
MAX_CLASS_RATIO = 100
"""Largest ratio of two balanced class weights."""
FULL_FACTOR = 2**10
"""The largest class weight as a whole number."""


def balanced_factors(
    noisy_counts: Sequence[int], epsilon: Fraction, largest_count: int = MAX_COUNT
) -> tuple[int, ...]:
    """Return class weights that are inverse to noisy class counts, as whole numbers.

    Counts below their noise, which has the budget `epsilon`, are taken as the size of the noise.
    """
    least = math.ceil(1 / epsilon)
    counts = [min(max(count, least), largest_count) for count in noisy_counts]
    smallest = -(-FULL_FACTOR // MAX_CLASS_RATIO)
    return tuple(max(FULL_FACTOR * min(counts) // count, smallest) for count in counts)


def weigh_classes(
    records: ClassCounts,
    declared: Sequence[int] | None,
    balance_epsilon: Fraction,
    ledger: Ledger,
    largest_count: int = MAX_COUNT,
) -> None:
    """Multiply the weight of each record by the factor of its class.

    Factors are `declared`, or balanced for `balance_epsilon`. Without either, nothing changes.
    """
    if declared is not None:
        records.weigh_classes(declared, FULL_FACTOR)
    elif balance_epsilon:
        exact_totals = records.class_totals()[0]
        purpose = "class counts for balanced weights"
        noisy = release_counts(records, exact_totals, balance_epsilon, ledger, purpose)
        factors = balanced_factors(noisy.tolist(), balance_epsilon, largest_count)
        records.weigh_classes(factors, FULL_FACTOR)
