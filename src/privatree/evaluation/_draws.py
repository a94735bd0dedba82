"""The draws of a release of scores: all that is seen of the exact tables is drawn here."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.evaluation._error_knots import Knots, LimitedKnots
from privatree.evaluation._inversion import Floats
from privatree.evaluation._plan import ClassPlan, Counts, NumberPlan, ScorePlan
from privatree.privacy import Ledger
from privatree.privacy.mechanisms import Geometric

LIMIT_SHARE = Fraction(1, 10)
"""Share of epsilon for the limit of the errors, and for that of the targets."""
_MIN_EPSILON = 2.0**-33
"""Smallest epsilon for one unit of weight. Noise needs a rate of at least 2^-50. The smallest is
that of a table of errors: 40% of epsilon, halved for replaced records, divided by 2^14."""
_CLEAR = 3.5
"""Standard deviations of noise from which on there clearly are records."""


def check_score_epsilon(name: str, epsilon: float, full_weight: int) -> None:
    """Check, before anything is charged, that noise can be drawn for so small an epsilon."""
    least = _MIN_EPSILON * full_weight
    if epsilon < least:  # not without weights: there, the smallest epsilon of all is larger
        raise ParameterError(
            f"{name} must be at least about {least:.2g} for records with units or weights, "
            f"got {epsilon}.",
            name,
        )


class NoisyTable(NamedTuple):
    """A noisy table in records, and variance and fourth cumulant of the noise in each cell.

    `limit` says what the cells of a table of errors or targets stand for.
    """

    counts: Floats
    noise: tuple[float, float]
    limit: LimitedKnots | None = None


def draw_tables(
    plan: ScorePlan,
    exact_tables: Sequence[Counts],
    ledger: Ledger,
    epsilon: Fraction,
    full_weight: int,
) -> list[NoisyTable]:
    """Return the tables of a plan with noise; of errors and targets, up to a limit that is drawn.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed.
    Sensitivity: `full_weight` in each table; in a table of all classes against their rest, as many
    times as there are classes; in a table of knots, as many times as a record is divided.
    Guarantee: epsilon-DP.
    Cost: epsilon.
    """
    if isinstance(plan, NumberPlan):
        called = [(plan.knots.errors, "errors"), (plan.knots.targets, "targets")]
        return [
            _draw_knots(ledger, knots, exact, epsilon / 2, LIMIT_SHARE * epsilon, full_weight, name)
            for (knots, name), exact in zip(called, exact_tables, strict=True)
        ]
    if not isinstance(plan, ClassPlan):
        raise TypeError(f"plan must be made by score_plan, got {type(plan).__name__}.")
    return [
        _draw(
            ledger,
            exact,
            epsilon * table.share,
            table.cells_of_a_record * full_weight,
            full_weight,
            f"scores: {table.name}",
        )
        for table, exact in zip(plan.tables, exact_tables, strict=True)
    ]


def _draw(
    ledger: Ledger, exact: Counts, epsilon: Fraction, sensitivity: int, unit: int, purpose: str
) -> NoisyTable:
    """Return a noisy table. One record is `unit` in a cell, and changes `sensitivity` in all."""
    mechanism = Geometric(epsilon, sensitivity)
    noisy = ledger.release(mechanism, exact, purpose=purpose)
    return NoisyTable(noisy / unit, noise_moments(float(mechanism.rate), unit))


def noise_moments(rate: float, unit: int = 1) -> tuple[float, float]:
    """Return variance and fourth cumulant of two-sided geometric noise, divided by `unit`."""
    stop, go = -np.expm1(-rate), np.exp(-rate)
    variance = 2 * go / (stop * unit) ** 2
    fourth = 2 * go * (1 + 4 * go + go**2) / (stop * unit) ** 4
    return float(variance), float(fourth)


def _draw_knots(
    ledger: Ledger,
    knots: Knots,
    exact: Counts,
    epsilon: Fraction,
    of_limit: Fraction,
    full_weight: int,
    called: str,
) -> NoisyTable:
    """Return the counts at the knots up to a limit. `of_limit` of `epsilon` is for the limit."""
    limit = _draw_limit(ledger, knots, exact, of_limit, full_weight, called)
    unit = limit.unit * full_weight
    rest = epsilon - of_limit
    drawn = _draw(ledger, limit.merge(exact), rest, unit, unit, f"scores: {called}")
    return drawn._replace(limit=limit)


def _draw_limit(
    ledger: Ledger, knots: Knots, exact: Counts, epsilon: Fraction, full_weight: int, called: str
) -> LimitedKnots:
    """Return the knots up to twice the largest that clearly has records, if there is one."""
    unit = full_weight * knots.unit
    drawn = _draw(
        ledger, knots.octaves(exact), epsilon, unit, unit, f"scores: size of the {called}"
    )
    return knots.limited(limit_octave(drawn.counts, drawn.noise[0]))


def limit_octave(noisy: NDArray[np.float64], variance: float) -> int:
    """Return by how many factors of two a limit is below the largest knot."""
    clear = np.flatnonzero(noisy > _CLEAR * np.sqrt(variance))
    return max(int(clear[0]) - 1, 0) if len(clear) else 0
