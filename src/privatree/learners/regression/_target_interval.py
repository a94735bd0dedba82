"""An interval that most targets lie in, drawn from the counts of all records."""

from __future__ import annotations

from fractions import Fraction

from privatree.counting import ClassCounts
from privatree.learners.zoom import interval_mechanism
from privatree.privacy import Ledger

MAX_INTERVAL_LEVEL = 9
"""Level of the narrowest interval of the target: 1/512 of the range."""


def draw_target_interval(
    records: ClassCounts, size: int, epsilon: Fraction, ledger: Ledger
) -> tuple[Fraction, Fraction]:
    """Return the ends of an interval of the target, as shares of the coded range.

    The classes of `records` are target codes. `size` is the noisy number of records.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Guarantee: epsilon-DP.
    Cost: epsilon.
    """
    mechanism = interval_mechanism(MAX_INTERVAL_LEVEL, size, epsilon, records.full_weight)
    exact_codes = records.class_totals()[0]
    exact_cells = exact_codes.reshape(2 ** (mechanism.levels + 1), -1).sum(axis=1)
    interval = ledger.release(mechanism, exact_cells, purpose="interval of the target")
    ends: tuple[Fraction, Fraction] = interval.ends
    return ends
