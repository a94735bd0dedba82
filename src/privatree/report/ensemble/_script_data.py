"""Data for the script of the page: the terms in plain lists, with exact cut points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.export import name_text
from privatree.model.ensemble import Ensemble
from privatree.model.terms import Axis, Term, Terms
from privatree.report._schema_table import TargetSummary, form_feature_data
from privatree.report.ensemble._term_rows import ShownCuts, effect_digits, shown_cuts
from privatree.schema import Categorical

Groupings = dict[tuple[int, ...], int]
"""The cells of the codes of categories, with their places in the list of the page."""
_DECIMALS = 12
"""Decimals of an effect on log-odds: the sum of hundreds of terms then is exact to a billionth."""
_DIGITS = 14
"""Digits of an effect on a number, below the largest possible sum of all effects."""
_MAX_DECIMALS = 300
"""Largest power of ten that effects are rounded to."""


def ensemble_script_data(
    ensemble: Ensemble,
    target: TargetSummary | None,
    terms: Terms | None,
    shown_terms: Sequence[int],
) -> dict[str, Any]:
    """Return the terms at some places for the script of the page, and the features in use."""
    used, shown = ensemble.used_features, shown_cuts(ensemble)
    features = list(ensemble.schema.features.items())
    shares = np.zeros(len(features)) if terms is None else terms.feature_importances
    places = {features[position][0]: place for place, position in enumerate(used)}
    found = () if terms is None else terms.kept
    groupings: Groupings = {}
    return {
        "target": None if target is None else asdict(target),
        "digits": 0 if terms is None else effect_digits(terms),
        "classes": [name_text(label) for label in ensemble.schema.classes],
        "start": [] if terms is None else _start_scores(terms).tolist(),
        "origin": ensemble.start,
        "unit": _score_unit(ensemble),
        "features": [
            form_feature_data(*features[position])
            | _axis_data(ensemble, position, shown)
            | {"share": _digits(shares[position], 4)}
            for position in used
        ],
        "terms": [
            {"place": place} | _term_data(found[place], places, ensemble, used, groupings)
            for place in shown_terms
        ],
        "n_terms": len(found),
        "strength": _digits(sum(term.strength for term in found), 6),
        "groupings": list(groupings),
    }


def terms_that_fit(terms: Sequence[Term], most: int) -> tuple[int, ...]:
    """Return the places of the strongest terms whose data is at most so many numbers."""
    fitting, groupings = [], set[tuple[int, ...]]()
    for place, term in enumerate(terms):
        new = set(filter(None, map(_grouping, term.axes))) - groupings
        n_numbers = 2 * term.effect.size + sum(map(len, new))
        n_numbers += sum(axis.n_cells for axis in term.axes if axis.cuts is not None)
        if n_numbers <= most:
            most -= n_numbers
            groupings |= new
            fitting.append(place)
    return tuple(fitting)


def _start_scores(terms: Terms) -> NDArray[np.float64]:
    """Return the scores where all terms are 0, without what all classes have in common."""
    scores = terms.intercept
    return scores if len(scores) == 1 else np.asarray(scores - scores.mean())


def _score_unit(ensemble: Ensemble) -> float:
    """Return a number so that the scores of all records are its multiples plus the start.

    With more than two classes, they are scores less their mean.
    """
    n_classes = len(ensemble.schema.classes)
    return ensemble.step if ensemble.has_one_score else ensemble.step / (2 * n_classes)


def _axis_data(ensemble: Ensemble, position: int, shown: ShownCuts) -> dict[str, Any]:
    """Return the cut points of a number: exactly, as text, and the interval with most records."""
    name, feature = list(ensemble.schema.features.items())[position]
    if isinstance(feature, Categorical):
        return {}
    cuts = ensemble.packed.cuts[position].tolist()
    interval = ensemble.intervals.get(position)
    return {
        "cuts": [cut if np.isfinite(cut) else None for cut in cuts],
        "shown": [shown[name].get(cut, "") for cut in cuts],
        "interval": None if interval is None else list(interval),
        "direction": ensemble.directions.get(position, 0),
    }


def _term_data(
    term: Term,
    places: dict[str, int],
    ensemble: Ensemble,
    used: Sequence[int],
    groupings: Groupings,
) -> dict[str, Any]:
    own = [places[axis.name] for axis in term.axes]
    pairs = zip(term.axes, own, strict=True)
    return {
        "features": own,
        "cells": [_cells_data(axis, ensemble, used[place], groupings) for axis, place in pairs],
        "shape": [axis.n_cells for axis in term.axes],
        "effects": _rounded(term.effect, _decimals(ensemble)),
        "band": None if term.band is None else [_digits(x, 11) for x in term.band.ravel().tolist()],
        "strength": _digits(term.strength, 6),
        "typical": _digits(term.typical, 6),
        "largest": _digits(float(np.abs(term.effect).max()), 6),
        "beyond": None if term.beyond_chance is None else _digits(term.beyond_chance, 6),
    }


def _cells_data(
    axis: Axis, ensemble: Ensemble, position: int, groupings: Groupings
) -> list[int] | int | None:
    """Return which cut points of a number divide its cells, or the place of a grouping.

    None says that each category has a cell of its own, in order.
    """
    if axis.cuts is not None:
        return list(np.searchsorted(ensemble.packed.cuts[position], axis.cuts).tolist())
    grouping = _grouping(axis)
    return None if grouping is None else groupings.setdefault(grouping, len(groupings))


def _grouping(axis: Axis) -> tuple[int, ...] | None:
    """Return the cell of each category code, unless each has a cell of its own, in order."""
    if axis.cuts is not None or len(axis.cell_of_code) == axis.n_cells:
        return None
    return tuple(axis.cell_of_code.tolist())


def _decimals(ensemble: Ensemble) -> int:
    """Return the decimals that the effects of an ensemble are rounded to."""
    if ensemble.schema.target is None:
        return _DECIMALS
    most = ensemble.step * sum(sum(one.amounts) for one in ensemble.rounds)
    return int(np.clip(_DIGITS - Decimal(most).adjusted(), -_MAX_DECIMALS, _MAX_DECIMALS))


def _rounded(values: NDArray[np.float64], decimals: int) -> list[float]:
    return list((np.round(values, decimals).ravel() + 0.0).tolist())  # without minus zeros


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
