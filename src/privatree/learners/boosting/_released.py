"""Drawn functions over codes to released functions over values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates
from privatree.counting.sums import CodeFunction, CodeStep
from privatree.model.ensemble import Branch, RoundFunction, Step
from privatree.schema import Schema

_Regions = Mapping[int, NDArray[np.bool_]]
"""Codes that a record can still have below the splits so far, for each feature they are on."""


def released_function(
    function: CodeFunction, candidates: Candidates, schema: Schema
) -> RoundFunction:
    """Return the function over values. Signs of codes that no record can have are left out."""
    return _release(function, candidates, schema, {})


def _release(
    function: CodeFunction, candidates: Candidates, schema: Schema, regions: _Regions
) -> RoundFunction:
    if isinstance(function, CodeStep):
        return _release_step(function, candidates, regions)
    feature, goes_left = function.split
    inside = regions.get(feature, np.ones(candidates.n_codes[feature], dtype=np.bool_))
    sides = (inside & goes_left, inside & ~goes_left)
    if not sides[0].any() or not sides[1].any():  # every record is on one side
        kept = function.left if sides[0].any() else function.right
        return _release(kept, candidates, schema, regions)
    left, right = (
        _release(side, candidates, schema, {**regions, feature: codes})
        for side, codes in zip((function.left, function.right), sides, strict=True)
    )
    if left == right:
        return left
    cuts, groups = candidates.cuts[feature], candidates.groups[feature]
    if cuts is not None:
        return Branch(feature, left, right, threshold=float(cuts[int(goes_left.sum()) - 1]))
    return Branch(feature, left, right, goes_left=_mask(goes_left, groups))


def _release_step(step: CodeStep, candidates: Candidates, regions: _Regions) -> Step:
    feature, signs = step
    cuts, groups = candidates.cuts[feature], candidates.groups[feature]
    inside = regions.get(feature)
    if inside is not None:
        signs = signs.copy()
        places = np.flatnonzero(inside)
        # Codes outside take the sign of the next code inside, so that no switch is there. If
        # all codes inside have one sign, the function is constant.
        nearest = np.clip(np.searchsorted(places, np.arange(len(signs))), 0, len(places) - 1)
        signs = signs[places[nearest]]
    if cuts is None:
        return Step(feature, positive=_mask(signs > 0, groups))
    switches = np.flatnonzero(np.diff(signs))
    return Step(feature, first=int(signs[0]), switches=tuple(cuts[switches].tolist()))


def _mask(chosen: NDArray[np.bool_], groups: NDArray[np.int64] | None) -> bytes:
    """Return 1 for each category whose code is chosen, and 0 for the others."""
    if groups is None:
        raise RuntimeError("a feature without cuts must have groups of categories.")
    return bytes(chosen[groups].astype(np.uint8))
