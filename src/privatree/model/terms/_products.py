"""The rounds of an ensemble as products of functions of single features.

The value of a round is a sum over its paths. A path is a product: of the sign of its step function,
and for each branch above it of 1 for the records that take the path, and 0 for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privatree.model.ensemble import Branch, Ensemble, RoundFunction, Step
from privatree.model.terms._measure import category_measure, number_measure
from privatree.schema import Categorical


@dataclass(frozen=True)
class Product:
    """A path of a round: a product of one function for each of some features.

    A function has a value for each code of its feature (``PackedEnsemble.codes``).
    """

    factors: dict[int, NDArray[np.float64]]
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


def ensemble_products(ensemble: Ensemble) -> list[Product]:
    """Return the paths of all rounds. Their sum is the margin of a record."""
    first = 1 if len(ensemble.schema.classes) == 2 else 0  # two classes have one score
    return [
        Product(factors, one.amounts[first:])
        for one in ensemble.rounds
        for factors in _paths(ensemble, one.function, {})
    ]


def _paths(
    ensemble: Ensemble, function: RoundFunction, above: dict[int, NDArray[np.float64]]
) -> Iterator[dict[int, NDArray[np.float64]]]:
    if isinstance(function, Step):
        yield _times(above, function.feature, _step_values(ensemble, function))
        return
    goes_left = _left_codes(ensemble, function)
    for side, taken in ((function.left, goes_left), (function.right, 1.0 - goes_left)):
        inside = _times(above, function.feature, taken)
        if inside[function.feature].any():
            yield from _paths(ensemble, side, inside)


def _times(
    factors: dict[int, NDArray[np.float64]], feature: int, values: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    return factors | {feature: factors[feature] * values if feature in factors else values}


def _step_values(ensemble: Ensemble, step: Step) -> NDArray[np.float64]:
    if step.positive is not None:
        return 2.0 * np.frombuffer(step.positive, np.uint8).astype(np.float64) - 1.0
    cuts = ensemble.packed.cuts.get(step.feature, np.empty(0))
    switched = np.isin(cuts, step.switches)
    n_below = np.concatenate([[0], np.cumsum(switched)])
    return np.asarray(step.first * (-1.0) ** n_below, dtype=np.float64)


def _left_codes(ensemble: Ensemble, branch: Branch) -> NDArray[np.float64]:
    if branch.goes_left is not None:
        return np.frombuffer(branch.goes_left, np.uint8).astype(np.float64)
    cuts = ensemble.packed.cuts[branch.feature]
    place = np.searchsorted(cuts, np.float64(branch.threshold or 0.0))
    return (np.arange(len(cuts) + 1) <= place).astype(np.float64)
