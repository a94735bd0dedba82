"""The release of scores: noisy tables of counts, and all metrics from these alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from privatree.evaluation import _class_metrics as of_classes
from privatree.evaluation import _number_metrics as of_numbers
from privatree.evaluation._class_metrics import NoisyCounts
from privatree.evaluation._draws import NoisyTable, draw_tables
from privatree.evaluation._inversion import NORMAL, Floats, Interval
from privatree.evaluation._number_metrics import KnotCounts
from privatree.evaluation._plan import (
    ClassPlan,
    Counts,
    NumberPlan,
    ScorePlan,
    step_middles,
)
from privatree.evaluation._score import CurvePoint, Score
from privatree.evaluation._scores import PrivateScores
from privatree.privacy import Ledger, epsilon_above
from privatree.schema import Label


def release_scores(
    plan: ScorePlan,
    exact_tables: Sequence[Counts],
    ledger: Ledger,
    *,
    epsilon: Fraction,
    full_weight: int = 1,
    unit: str | None = None,
    neighbours: str = "add-remove",
    seeded: bool = False,
) -> PrivateScores:
    """Draw the noise for the tables of a plan, and compute all metrics from the noisy tables.

    Parameters
    ----------
    plan : ScorePlan
        What was counted.
    exact_tables : sequence of ndarray
        The tables, as :class:`ScoreQuery` counts them. They are secret.
    ledger : Ledger
        It is charged before each draw.
    epsilon : Fraction
        What the scores cost, for the neighbour relation.
    full_weight : int, default=1
        What a record, or all records of a unit together, weigh at most in the tables.
    unit : str, optional
        Name of the unit, for the words of the result.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Neighbour relation of epsilon. The ledger is charged for one record added or removed: with
        "replace" this is half of epsilon.
    seeded : bool, default=False
        Whether the randomness of the ledger has a seed.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed; or replaced by others.
    Sensitivity: a record adds its weight to one cell of a table, or divides it among two
    neighbouring cells; to one cell for each class in a table of all classes against their rest.
    Guarantee: epsilon-DP; all metrics and intervals follow from the noisy tables.
    Cost: epsilon (half of it in the ledger for "replace").
    """
    own = epsilon / 2 if neighbours == "replace" else epsilon
    before = len(list(ledger.spends()))
    drawn = draw_tables(plan, exact_tables, ledger, own, full_weight)
    with np.errstate(all="ignore"):  # noise can leave next to nothing to divide by
        if isinstance(plan, NumberPlan):
            parts = _number_scores(plan, drawn)
        else:
            parts = _class_scores(plan, drawn)  # type: ignore[arg-type]
    return PrivateScores(
        epsilon=epsilon_above(epsilon),
        neighbours=neighbours,
        unit=unit,
        seeded=seeded,
        spends=tuple(  # as a file has them, so that what is loaded equals what was saved
            replace(spend, epsilon=Fraction(float(spend.epsilon)))
            for spend in tuple(ledger.spends())[before:]
        ),
        **parts,
    )


# --- classes ------------------------------------------------------------------------------------


def _class_scores(plan: ClassPlan, drawn: Sequence[NoisyTable]) -> dict[str, Any]:
    main, *more = drawn
    second = more[0] if more and not plan.against_rest else None
    table = NoisyCounts(
        main.counts[None],
        main.noise,
        plan.columns.predicted,
        None if second is None else second.counts[None],
        (0.0, 0.0) if second is None else second.noise,
    )
    classes = plan.schema.classes
    scores = [
        _score("accuracy", of_classes.accuracy(table)),
        _score("balanced accuracy", of_classes.balanced_accuracy(table)),
    ]
    curves: list[tuple[Label, tuple[CurvePoint, ...]]] = []
    if plan.against_rest:
        rest = more[0]
        scores += _scores_against_rest(rest)
        curves = _curves_against_rest(rest, classes)
    elif plan.columns.probabilities is not None:
        scores += _scores_of_columns(table, plan.columns.probabilities)
        curves = _curves_of_columns(table, plan.columns.probabilities, classes)
    for name, metric in (("recall", of_classes.recall), ("precision", of_classes.precision)):
        for place, label in enumerate(classes):
            found = metric(table, place)
            if found is not None:
                scores.append(_score(name, found, label))
    everything = np.ones(table.main.shape[1:])
    size = table.counts.sum()
    factors = table.factors(everything)[0]
    confusion = table.counts[0] @ (table.predicted[:, None] == np.arange(len(classes))).astype(
        np.float64
    )
    return {
        "scores": tuple(scores),
        "noisy_size": round(float(size), 1),
        "size_error": round(float(NORMAL * np.sqrt((factors**2 * table.noise.variance).sum())), 1),
        "classes": tuple(classes),
        "confusion": tuple(tuple(round(count, 1) for count in row) for row in confusion.tolist()),
        "calibration": tuple(curves),
        "is_rounded": plan.is_rounded,
    }


def _score(name: str, found: Interval, of_class: Label | None = None) -> Score:
    value, low, high = (float(part[0]) for part in found)
    return Score(name, None if np.isnan(value) else value, low, high, of_class)


def _scores_of_columns(table: NoisyCounts, probabilities: Floats) -> list[Score]:
    return [
        _score("AUC", of_classes.macro_area(table, probabilities)),
        _score("Brier score", of_classes.brier_score(table, probabilities)),
        _score("log loss", of_classes.log_loss(table, probabilities)),
    ]


def _scores_against_rest(rest: NoisyTable) -> list[Score]:
    given = rest.counts[None], rest.noise, step_middles()
    return [
        _score("AUC", of_classes.macro_area_against_rest(*given)),
        _score("Brier score", of_classes.brier_against_rest(*given)),
        _score("log loss", of_classes.log_loss_against_rest(*given)),
    ]


def _curves_of_columns(
    table: NoisyCounts, probabilities: Floats, classes: Sequence[Label]
) -> list[tuple[Label, tuple[CurvePoint, ...]]]:
    asked = [1] if len(classes) == 2 else range(len(classes))
    return [
        (classes[one], _curve(of_classes.curve_of_class(table, probabilities[:, one], one)))
        for one in asked
    ]


def _curves_against_rest(
    rest: NoisyTable, classes: Sequence[Label]
) -> list[tuple[Label, tuple[CurvePoint, ...]]]:
    return [
        (
            label,
            _curve(
                of_classes.curve_against_rest(rest.counts[one][None], rest.noise, step_middles())
            ),
        )
        for one, label in enumerate(classes)
    ]


def _curve(points: Sequence[of_classes.CurveGroup]) -> tuple[CurvePoint, ...]:
    """Return the points of a curve where the noise does not hide how many records there are."""
    return tuple(
        CurvePoint(
            float(point.predicted[0]), _score("share", point.share), round(float(point.size[0]), 1)
        )
        for point in points
        if not np.isnan(point.share.value[0])
    )


# --- numbers ------------------------------------------------------------------------------------


def _number_scores(plan: NumberPlan, drawn: Sequence[NoisyTable]) -> dict[str, Any]:
    knots, limited = plan.knots, [table.limit for table in drawn if table.limit is not None]
    errors, targets = (
        KnotCounts(table.counts[None], limit.values, table.noise)
        for table, limit in zip(drawn, limited, strict=True)
    )
    most_error, most_target = (one.limit if one.octave else None for one in limited)
    size = float(errors.counts.sum())
    return {
        "scores": (
            _score("R²", of_numbers.explained_variance(errors, targets)),
            _score("mean absolute error", of_numbers.mean_absolute_error(errors)),
            _score("root mean squared error", of_numbers.root_mean_squared_error(errors)),
        ),
        "noisy_size": round(size, 1),
        "size_error": round(NORMAL * float(np.sqrt(errors.noise[0] * errors.counts.shape[1])), 1),
        "error_limit": most_error,
        "target_limits": None
        if most_target is None
        else (
            max(knots.low, knots.centre - most_target),
            min(knots.high, knots.centre + most_target),
        ),
    }
