"""How an ensemble becomes a sum of terms.

A round is a sum of products of functions of single features (``_products.py``). Each function is
split into its mean under the public measure and the rest. A product of such sums is a sum of
products again, one for each subset of the features, and each belongs to one term. So a term of
two features has a mean of 0 along either of them, and what a feature does on its own is in its own
term.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
"""Largest number of cells of all terms, and of factors of all products over the codes."""
_BAND_WIDTH = 2.0
"""Standard deviations of pure chance in half a band."""
_ROUNDING = 1e-13
"""A term that is nowhere larger than this many steps is a sum of nothing but rounding errors."""


def ensemble_terms(ensemble: Ensemble, max_pairs: int | None = None) -> Terms:
    """Return the terms of an ensemble, the strongest first.

    With `max_pairs`, only so many terms of several features are kept: the strongest.
    """
    if max_pairs is not None and (type(max_pairs) is not int or max_pairs < 0):
        raise ParameterError(
            f"max_pairs must be a whole number of at least 0, or None, got {max_pairs!r}.",
            "max_pairs",
        )
    products = ensemble_products(ensemble)
    _check_size(products)
    measures = code_measures(ensemble)
    intercept, parts = _split_products(products, measures)
    found = [_term(ensemble, measures, places, some) for places, some in parts.items()]
    unit = ensemble.unit
    terms = [term for term in found if np.abs(term.values).max() > _ROUNDING * unit]
    terms.sort(key=lambda term: (-term.strength, term.order, term.names))
    pairs = [term for term in terms if term.order > 1]
    left_out = set() if max_pairs is None else {id(term) for term in pairs[max_pairs:]}
    return Terms(
        ensemble,
        ensemble.start + unit * intercept,
        tuple(term for term in terms if id(term) not in left_out),
        tuple(term for term in terms if id(term) in left_out),
    )


def _check_size(products: Iterable[Product]) -> None:
    n_values = 0
    for product in products:
        if len(product.factors) > MAX_ORDER:
            raise ParameterError(
                f"the functions of the ensemble must look at no more than {MAX_ORDER} features, "
                "so that there are terms that can be shown."
            )
        n_values += sum(map(len, product.factors.values()))
    _check_cells(n_values)


def _check_cells(n_cells: int) -> None:
    if n_cells > _MAX_CELLS:
        raise ParameterError("the ensemble is too large to be shown as a sum of terms.")


@dataclass(frozen=True)
class _Part:
    """What a path adds to the term of some features: a coefficient and centred functions."""

    coefficient: float
    signs: tuple[int, ...]
    factors: dict[int, NDArray[np.float64]]


def _split_products(
    products: Iterable[Product], measures: dict[int, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], dict[tuple[int, ...], list[_Part]]]:
    """Return the sum of all means, and the parts of each term by its features.

    A function is its mean plus a centred function. A product of such sums is a sum of products, one
    for each subset of the features.
    """
    parts: dict[tuple[int, ...], list[_Part]] = {}
    intercept = None
    for product in products:
        means, centred = {}, {}
        for place, values in product.factors.items():
            if (values == values[0]).all():  # with no rounding error
                means[place] = float(values[0])
                continue
            means[place] = float(measures[place] @ values)
            centred[place] = values - means[place]
        for order in range(len(centred) + 1):
            for places in combinations(sorted(centred), order):
                rest = [mean for place, mean in means.items() if place not in places]
                coefficient = float(np.prod(rest))
                if order == 0:
                    added = coefficient * np.array(product.signs, dtype=np.float64)
                    intercept = added if intercept is None else intercept + added
                elif coefficient:
                    factors = {place: centred[place] for place in places}
                    part = _Part(coefficient, product.signs, factors)
                    parts.setdefault(places, []).append(part)
    if intercept is None:
        raise RuntimeError("an ensemble must have at least one round.")
    return intercept, parts


def _term(
    ensemble: Ensemble,
    measures: dict[int, NDArray[np.float64]],
    places: tuple[int, ...],
    parts: list[_Part],
) -> Term:
    """Add up the parts of a term."""
    unit = ensemble.unit
    axes, factors = [], []
    for place in places:
        stacked = np.stack([part.factors[place] for part in parts])
        axis, firsts = _axis(ensemble, place, stacked, measures[place], len(places))
        axes.append(axis)
        factors.append(stacked[:, firsts])
    _check_cells(int(np.prod([axis.n_cells for axis in axes])) * len(parts[0].signs))
    coefficients = unit * np.array([part.coefficient for part in parts])
    signs = np.array([part.signs for part in parts], dtype=np.float64)
    values = _sum_of_products(factors, coefficients[:, None] * signs)
    chance = _sum_of_products([factor**2 for factor in factors], coefficients[:, None] ** 2)
    band = _BAND_WIDTH * np.sqrt(chance[..., 0])
    is_directed = any(place in ensemble.directions for place in places)
    return Term(
        tuple(axes),
        values[..., 0] if ensemble.has_one_score else values,
        None if is_directed else band,
    )


def _axis(
    ensemble: Ensemble,
    place: int,
    stacked: NDArray[np.float64],
    measure: NDArray[np.float64],
    order: int,
) -> tuple[Axis, NDArray[np.int64]]:
    """Return an axis whose cells join codes that all functions treat alike, and their first codes.

    The categories of a term of one feature are not joined: each of them is shown.
    """
    name, feature = list(ensemble.schema.features.items())[place]
    n_codes = stacked.shape[1]
    if not isinstance(feature, Categorical):
        differs = (stacked[:, 1:] != stacked[:, :-1]).any(axis=0)
        firsts = np.concatenate([[0], 1 + np.flatnonzero(differs)])
        cells = np.concatenate([[0], np.cumsum(differs)]).astype(np.int64)
        cuts = ensemble.packed.cuts[place][differs]
    elif order == 1:
        firsts = cells = np.arange(n_codes)
        cuts = None
    else:
        _, first_codes, groups = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
        by_code = np.argsort(first_codes)  # cells in the order of their first categories
        firsts, cells, cuts = first_codes[by_code], np.argsort(by_code)[groups.ravel()], None
    shares = np.zeros(len(firsts))
    np.add.at(shares, cells, measure)
    return Axis(name, feature, shares, cuts, cells), firsts


def _sum_of_products(
    factors: Sequence[NDArray[np.float64]], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum over parts of the outer product of their factors: (cells ..., scores)."""
    letters = "ijk"[: len(factors)]
    operands = [f"p{letter}" for letter in letters]
    rule = f"{','.join(operands)},ps->{letters}s"
    return np.asarray(np.einsum(rule, *factors, coefficients, optimize=True))
