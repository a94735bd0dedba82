"""Data for the script of the page: the terms in plain lists, with exact cut points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.export import name_text
from privatree.model.ensemble import Ensemble
from privatree.model.terms import Axis, Term, Terms
from privatree.report._schema_table import form_feature_data
from privatree.report.ensemble._term_rows import ShownCuts, shown_cuts
from privatree.schema import Categorical

_DECIMALS = 12
"""Decimals of an effect: the sum of hundreds of terms then is exact to a billionth."""


def ensemble_script_data(ensemble: Ensemble, terms: Terms | None, n_terms: int) -> dict[str, Any]:
    """Return the strongest terms for the script of the page, and the features that are used."""
    used, shown = ensemble.used_features, shown_cuts(ensemble)
    features = list(ensemble.schema.features.items())
    shares = np.zeros(len(features)) if terms is None else terms.feature_importances
    places = {features[position][0]: place for place, position in enumerate(used)}
    found: Sequence[Term] = () if terms is None else terms[:n_terms]
    return {
        "classes": [name_text(label) for label in ensemble.schema.classes],
        "start": [] if terms is None else _start_scores(terms).tolist(),
        "unit": _score_unit(ensemble),
        "features": [
            form_feature_data(*features[position])
            | _axis_data(ensemble, position, shown)
            | {"share": _digits(shares[position], 4)}
            for position in used
        ],
        "terms": [_term_data(term, places, ensemble, used) for term in found],
    }


def _start_scores(terms: Terms) -> NDArray[np.float64]:
    """Return the scores where all terms are 0, without what all classes have in common."""
    scores = terms.intercept
    return scores if len(scores) == 1 else np.asarray(scores - scores.mean())


def _score_unit(ensemble: Ensemble) -> float:
    """Return a number of which the scores of all records are multiples.

    With more than two classes, they are scores less their mean.
    """
    n_classes = len(ensemble.schema.classes)
    return ensemble.step if n_classes == 2 else ensemble.step / (2 * n_classes)


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
    term: Term, places: dict[str, int], ensemble: Ensemble, used: Sequence[int]
) -> dict[str, Any]:
    own = [places[axis.name] for axis in term.axes]
    pairs = zip(term.axes, own, strict=True)
    return {
        "features": own,
        "cells": [_cells_data(axis, ensemble, used[place]) for axis, place in pairs],
        "shape": [axis.n_cells for axis in term.axes],
        "effects": _rounded(term.effect),
        "band": None if term.band is None else [_digits(x, 4) for x in term.band.ravel().tolist()],
        "strength": _digits(term.strength, 6),
        "typical": _digits(term.typical, 6),
        "largest": _digits(float(np.abs(term.effect).max()), 6),
        "beyond": None if term.beyond_chance is None else _digits(term.beyond_chance, 6),
    }


def _cells_data(axis: Axis, ensemble: Ensemble, position: int) -> list[int] | None:
    """Return which cut points of a number divide its cells, or the cell of each category code.

    None says that each category has a cell of its own, in order.
    """
    if axis.cuts is not None:
        return list(np.searchsorted(ensemble.packed.cuts[position], axis.cuts).tolist())
    cells: list[int] = axis.cell_of_code.tolist()
    return None if cells == list(range(axis.n_cells)) else cells


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return list((np.round(values, _DECIMALS).ravel() + 0.0).tolist())  # without minus zeros


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
