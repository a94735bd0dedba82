"""Intervals with most of the records of each numeric feature, and candidates around them.

Any learner can zoom in before it grows a tree. The learner decides the budget of an interval, and
whether the noisy number of records is large enough (:func:`zoom_evidence`). The proof is in
``docs/proofs/dense-interval.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from privatree.counting import Binner, Candidates, ClassCounts, FineCells
from privatree.privacy import ComposedLedger, Ledger
from privatree.privacy.mechanisms import DenseInterval

ENOUGH_SHARE = Fraction(6, 10)
"""An interval has enough records if it has this share of the noisy number of records."""
LEVEL_EVIDENCE = Fraction(27726, 10000)
"""Evidence that one more level needs: log(16), because its base measure is 16 times larger."""
_MAX_NAME_LENGTH = 60
"""Largest number of characters of a column name in the purpose of a spend."""
SURPLUS_EVIDENCE = 3
"""Further evidence, with which an interval with enough records is drawn almost surely."""


class Zoom(NamedTuple):
    """What :func:`zoom_in` found. Both parts are released."""

    candidates: Candidates
    intervals: dict[int, tuple[float, float]]
    """Ends of the interval of each feature, by position, if it is narrower than the range."""


def zoom_evidence(noisy_size: int, epsilon: Fraction) -> Fraction:
    """Return how much larger the log-weight of an interval is with enough records than with none.

    Parameters
    ----------
    noisy_size : int
        Noisy number of all records.
    epsilon : Fraction
        Budget of one interval.

    Examples
    --------
    >>> zoom_evidence(10_000, Fraction(1, 200))
    Fraction(30, 1)
    """
    return ENOUGH_SHARE * noisy_size * epsilon


def zoom_in(
    records: ClassCounts,
    cells: FineCells,
    noisy_size: int,
    epsilon: Fraction,
    ledger: Ledger | ComposedLedger,
) -> Zoom:
    """Draw an interval for each feature with fine cells, and return it with candidates around it.

    With an epsilon of 0, nothing is drawn, and the candidates are those of the schema. A feature of
    whole numbers also keeps the candidates of the schema if its interval is the narrowest possible:
    most records then have one value, such as 0, and cuts around it say little about the others.

    Parameters
    ----------
    records : ClassCounts
        Records with fine codes, at the root. These codes are replaced by the codes of the result.
    cells : FineCells
        The fine codes.
    noisy_size : int
        Noisy number of all records.
    epsilon : Fraction
        Budget of one interval.
    ledger : Ledger
        The ledger that is charged.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Guarantee: epsilon-DP for each interval; the result follows from the intervals.
    Cost: epsilon for each feature with fine cells.

    Examples
    --------
    >>> import numpy as np
    >>> from privatree import Numeric, Schema
    >>> from privatree.counting import BinnedRecords
    >>> from privatree.privacy import Randomness
    >>> schema = Schema({"income": Numeric(0, 1e6)}, ["no", "yes"])
    >>> cells = FineCells.from_schema(schema, 64)
    >>> codes = np.full((1000, 1), 300, dtype=np.uint16)
    >>> records = BinnedRecords(codes, cells.binner().n_codes, np.zeros(1000, np.uint8), 2)
    >>> ledger = Ledger(Fraction(1), Randomness(seed=0))
    >>> zoom = zoom_in(records, cells, 1000, Fraction(1, 10), ledger)
    >>> zoom.intervals
    {0: (136718.75, 140625.0)}
    >>> [spend.purpose for spend in ledger.spends()]
    ['interval of income']
    """
    if not cells.features:
        return Zoom(cells.plain, {})
    drawn, intervals = dict[int, tuple[float, float]](), {}
    if epsilon:
        exact_counts = records.class_counts()[0].sum(axis=0)
        mechanism = interval_mechanism(cells.levels, noisy_size, epsilon, records.full_weight)
        for feature in cells.features:
            codes = slice(records.offsets[feature], records.offsets[feature + 1])
            exact_cells = cells.count_cells(exact_counts[codes], feature, mechanism.levels)
            purpose = f"interval of {cells.schema.names[feature][:_MAX_NAME_LENGTH]}"
            interval = ledger.release(mechanism, exact_cells, purpose=purpose)
            ends = cells.ends_of_interval(feature, interval.ends)
            if interval.level > 0 and ends is not None:
                drawn[feature] = ends
            if interval.level < cells.levels or not cells.grids[feature].integer:
                intervals[feature] = interval.ends
    candidates = cells.zoom(intervals)
    binner = Binner(cells.schema, candidates.cuts, candidates.groups, candidates.n_codes)
    records.merge_codes(binner, cells.merged_codes(candidates))
    return Zoom(candidates, drawn)


def interval_mechanism(
    most: int, noisy_size: int, epsilon: Fraction, full_weight: int
) -> DenseInterval:
    """Return the mechanism that draws an interval with most records.

    It has at most `most` levels, and no more than the evidence allows.
    """
    evidence = zoom_evidence(noisy_size, epsilon)
    levels = min(max(0, math.floor((evidence - SURPLUS_EVIDENCE) / LEVEL_EVIDENCE)), most)
    enough = max(1, math.ceil(ENOUGH_SHARE * noisy_size))
    return DenseInterval(epsilon, levels, enough * full_weight, full_weight)
