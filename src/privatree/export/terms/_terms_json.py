"""The terms of an ensemble as JSON: axes, values and bands as lists."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from privatree.export.terms._reading import predicted_number, scored_classes
from privatree.model.terms import Axis, Term, Terms
from privatree.schema import Categorical

_FORMAT, _VERSION = "privatree-terms", 1


def terms_json(terms: Terms) -> str:
    """Return a JSON object with a line for each term."""
    number = predicted_number(terms)
    head = {
        "format": _FORMAT,
        "version": _VERSION,
        "classes": list(terms.schema.classes),
        "scores": list(scored_classes(terms)) if number is None else [number],
        "intercept": terms.intercept.tolist(),
        "left_out": {
            "terms": len(terms.left_out),
            "typical_change": terms.typical_change,
            "largest_change": terms.largest_change,
        },
    }
    lines = [f' "{key}": {_line(value)},' for key, value in head.items()]
    rows = ",\n".join(f"  {_line(_term_to_dict(term))}" for term in terms)
    return "\n".join(["{", *lines, f' "terms": [\n{rows}\n ]', "}", ""])


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _term_to_dict(term: Term) -> dict[str, Any]:
    has_classes = term.values.ndim > term.order
    return {
        "features": list(term.names),
        "strength": term.strength,
        "beyond_chance": term.beyond_chance,
        "axes": [_axis_to_dict(axis) for axis in term.axes],
        "values": term.values.tolist(),
        **({"effect": term.effect.tolist()} if has_classes else {}),
        "band": None if term.band is None else term.band.tolist(),
    }


def _axis_to_dict(axis: Axis) -> dict[str, Any]:
    if isinstance(axis.feature, Categorical):
        missing = int(axis.cell_of_code[axis.feature.missing_place])
        cells: dict[str, Any] = {"categories": [list(labels) for labels in axis.categories]}
    else:
        cuts = np.empty(0) if axis.cuts is None else axis.cuts
        missing = int(np.searchsorted(cuts, float(axis.feature.missing_place)))
        cells = {
            "edges": axis.edges.tolist(),
            "has_missing_cell": axis.has_missing_cell,
        }
    return {"feature": axis.name, **cells, "missing": missing, "measure": axis.measure.tolist()}
