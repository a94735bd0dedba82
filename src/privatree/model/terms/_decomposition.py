"""How an ensemble becomes a sum of terms.

A round is a sum of products of functions of single features (``_products.py``). Each function is
its mean under the public measure plus a centred function. A product of such sums is a sum of
products again, one for each subset of the features, and each belongs to one term. So a term of two
features has a mean of 0 along either of them, and what a feature does on its own is in its own
term. No other sum of such terms is the same function.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.model.ensemble import Ensemble
from privatree.model.terms._products import Product, code_measures, ensemble_products
from privatree.model.terms._terms import Axis, Term, Terms
from privatree.schema import Categorical

MAX_ORDER = 3
"""Largest number of features of a term."""
_MAX_CELLS = 2**24
"""Largest number of cells of all terms together."""
_MAX_STEPS = 2**34
"""Largest number of values that are added up: some seconds."""
_MAX_VALUES = 2**26
"""Largest number of values of the factors of all paths together."""
_PATH_COST = 512
"""What a path costs besides its factors, in values."""
_BLOCK_VALUES = 2**20
"""Values of products that are in memory at the same time, roughly."""
_BAND_WIDTH = 2.0
"""Standard deviations in half a band."""
_ROUNDING = 1e-15
"""A term of at most this share of the sum of its coefficients is nothing but rounding errors."""


def ensemble_terms(ensemble: Ensemble) -> Terms:
    """Return the terms of an ensemble, the strongest first."""
    measures = code_measures(ensemble)
    intercept, parts = _split_products(_checked_products(ensemble), measures)
    n_cells, n_steps, terms = 0, 0, list[Term]()
    for places, some in parts.items():
        factors = [np.stack(rows) for rows in some.factors]
        found = [
            _axis(ensemble, place, stacked, measures[place], len(places))
            for place, stacked in zip(places, factors, strict=True)
        ]
        n_own = len(intercept) * math.prod(axis.n_cells for axis, _ in found)
        n_cells, n_steps = n_cells + n_own, n_steps + n_own * len(some.signs)
        if n_cells > _MAX_CELLS or n_steps > _MAX_STEPS:
            raise _too_large()
        joined = [rows[:, firsts] for rows, (_, firsts) in zip(factors, found, strict=True)]
        terms += _term(ensemble, tuple(axis for axis, _ in found), joined, some)
    terms.sort(key=lambda term: (-term.strength, term.order, term.names))
    intercept = ensemble.start + ensemble.unit * intercept
    return Terms(ensemble, _read_only(intercept), tuple(terms))


def _checked_products(ensemble: Ensemble) -> Iterator[Product]:
    """Yield the products; stop before they fill the memory."""
    n_values = 0
    for product in ensemble_products(ensemble):
        if len(product.factors) > MAX_ORDER:
            raise ParameterError(
                f"every function of the ensemble must look at no more than {MAX_ORDER} features to "
                f"be shown as terms, got one that looks at {len(product.factors)}."
            )
        n_values += _PATH_COST + sum(map(len, product.factors.values()))
        if n_values > _MAX_VALUES:
            raise _too_large()
        yield product


def _too_large() -> ParameterError:
    return ParameterError(
        "the ensemble is too large to be shown as a sum of terms. Train one with fewer rounds or "
        "a smaller max_depth."
    )


@dataclass
class _Parts:
    """What paths add to a term. Their functions are not centred yet."""

    factors: tuple[list[NDArray[np.int8]], ...]
    """For each feature, the function of each path."""
    coefficients: list[float] = field(default_factory=list)
    """For each path, the product of the means of its functions of other features."""
    signs: list[tuple[int, ...]] = field(default_factory=list)


def _split_products(
    products: Iterable[Product], measures: dict[int, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], dict[tuple[int, ...], _Parts]]:
    """Return the sum of all means, and the parts of each term by its features."""
    intercept: NDArray[np.float64] | None = None
    parts: dict[tuple[int, ...], _Parts] = {}
    for product in products:
        means = {}
        varying = []
        for place, values in product.factors.items():
            if (values == values[0]).all():  # the mean has no rounding error
                means[place] = float(values[0])
            else:
                means[place] = float(measures[place] @ values)
                varying.append(place)
        added = math.prod(means.values()) * np.array(product.signs, np.float64)
        intercept = added if intercept is None else intercept + added
        for order in range(1, len(varying) + 1):
            for places in combinations(sorted(varying), order):
                rest = [mean for place, mean in means.items() if place not in places]
                coefficient = math.prod(rest)
                if not coefficient:
                    continue
                if places not in parts:
                    parts[places] = _Parts(tuple([] for _ in places))
                some = parts[places]
                for rows, place in zip(some.factors, places, strict=True):
                    rows.append(product.factors[place])
                some.coefficients.append(coefficient)
                some.signs.append(product.signs)
    if intercept is None:
        raise RuntimeError("an ensemble must have at least one round.")
    return intercept, parts


def _axis(
    ensemble: Ensemble,
    place: int,
    rows: NDArray[np.int8],
    measure: NDArray[np.float64],
    order: int,
) -> tuple[Axis, NDArray[np.int64]]:
    """Return an axis whose cells join codes that all functions treat alike, and their first codes.

    The categories of a term of one feature are not joined: each of them is shown.
    """
    name, feature = list(ensemble.schema.features.items())[place]
    cuts = None
    if not isinstance(feature, Categorical):
        differs = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
        firsts = np.concatenate([[0], 1 + np.flatnonzero(differs)])
        cells = np.concatenate([[0], np.cumsum(differs)]).astype(np.int64)
        cuts = ensemble.packed.cuts[place][differs]
    elif order == 1:
        firsts = cells = np.arange(rows.shape[1])
    else:
        _, first_codes, groups = np.unique(rows, axis=1, return_index=True, return_inverse=True)
        by_code = np.argsort(first_codes)  # cells in the order of their first categories
        firsts, cells = first_codes[by_code], np.argsort(by_code)[groups.ravel()]
    shares = np.zeros(len(firsts))
    np.add.at(shares, cells, measure)
    return Axis(name, feature, shares, cuts, cells), firsts


def _term(
    ensemble: Ensemble, axes: tuple[Axis, ...], factors: Sequence[NDArray[np.int8]], parts: _Parts
) -> Iterator[Term]:
    """Add up the parts of a term. Yield nothing if they cancel out.

    The variance of a sum whose parts have signs by chance is the sum of the squared parts.
    """
    coefficients = ensemble.unit * np.array(parts.coefficients)
    signs = np.array(parts.signs, dtype=np.float64)
    # What all classes share changes no probability, so it is not in the band.
    free_signs = signs - signs.mean(axis=1, keepdims=True) if signs.shape[1] > 1 else signs
    shape = tuple(axis.n_cells for axis in axes)
    values, variance = np.zeros((2, *shape, signs.shape[1]))
    n_at_once = max(1, _BLOCK_VALUES // (math.prod(shape[:-1]) + shape[-1] * signs.shape[1]))
    for start in range(0, len(signs), n_at_once):
        block = slice(start, start + n_at_once)
        centred = []
        for axis, rows in zip(axes, factors, strict=True):
            function = rows[block].astype(np.float64)
            centred.append(function - (function @ axis.measure)[:, None])
        values += _sum_of_products(centred, coefficients[block, None] * signs[block])
        squares = [function**2 for function in centred]
        variance += _sum_of_products(squares, (coefficients[block, None] * free_signs[block]) ** 2)
    if np.abs(values).max() <= _ROUNDING * np.abs(coefficients).sum():
        return
    is_directed = any(
        name in {axis.name for axis in axes} and place in ensemble.directions
        for place, name in enumerate(ensemble.schema.features)
    )
    band = _BAND_WIDTH * np.sqrt(variance)
    if signs.shape[1] == 1:
        values, band = values[..., 0], band[..., 0]
    yield Term(axes, _read_only(values), None if is_directed else _read_only(band))


def _read_only(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Terms are computed once, so nobody may change them."""
    values.flags.writeable = False
    return values


def _sum_of_products(
    factors: Sequence[NDArray[np.float64]], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum over parts of the outer product of their factors: (cells ..., scores)."""
    n_parts, shape = len(coefficients), [rows.shape[1] for rows in factors]
    first = np.ones((n_parts, 1))
    for rows in factors[:-1]:
        first = (first[:, :, None] * rows[:, None, :]).reshape(n_parts, -1)
    last = (factors[-1][:, :, None] * coefficients[:, None, :]).reshape(n_parts, -1)
    return (first.T @ last).reshape(*shape, -1)
