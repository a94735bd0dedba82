"""The rounds of an ensemble as products of functions of single features.

The value of a round is a sum over its paths. A path is a product: of the sign of its step function,
and for each branch above it of 1 for the records that take the path, and 0 for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting.sums import CodeFunction, CodeStep
from privatree.model.ensemble import Ensemble, function_over_codes
from privatree.model.terms._measure import category_measure, number_measure
from privatree.schema import Categorical


class Product(NamedTuple):
    """A path of a round: a product of one function for each of some features."""

    factors: dict[int, NDArray[np.int8]]
    """For each feature, a value for each of its codes (``PackedEnsemble.codes``): -1, 0 or 1."""
    signs: tuple[int, ...]
    """What a function value of +1 adds to the margin of each score."""


def code_measures(ensemble: Ensemble) -> dict[int, NDArray[np.float64]]:
    """Return the public measure of the codes of each feature that the ensemble uses."""
    features = list(ensemble.schema.features.values())
    measures = {}
    for place in ensemble.used_features:
        feature = features[place]
        if isinstance(feature, Categorical):
            measures[place] = category_measure(feature)
        else:
            cuts = ensemble.packed.cuts[place]
            measures[place] = number_measure(feature, cuts, ensemble.intervals.get(place))
    return measures


def ensemble_products(ensemble: Ensemble) -> Iterator[Product]:
    """Yield the paths of all rounds. Their sum is the margin of a record."""
    first = 1 if len(ensemble.schema.classes) == 2 else 0  # two classes have one score
    for one in ensemble.rounds:
        function = function_over_codes(one.function, ensemble.packed.cuts)
        for factors in _paths(function, {}):
            yield Product(factors, one.amounts[first:])


def _paths(
    function: CodeFunction, above: dict[int, NDArray[np.int8]]
) -> Iterator[dict[int, NDArray[np.int8]]]:
    """Yield the factors of each path that some record can take."""
    if isinstance(function, CodeStep):
        yield _times(above, function.feature, function.signs)
        return
    feature, goes_left = function.split
    for side, taken in ((function.left, goes_left), (function.right, ~goes_left)):
        inside = _times(above, feature, taken.astype(np.int8))
        if inside[feature].any():
            yield from _paths(side, inside)


def _times(
    factors: dict[int, NDArray[np.int8]], feature: int, values: NDArray[np.int8]
) -> dict[int, NDArray[np.int8]]:
    return factors | {feature: factors[feature] * values if feature in factors else values}
