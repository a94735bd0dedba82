"""The terms of a small ensemble once more, in plain Python and with exact fractions.

The score is tabulated on a grid with one value for each cell of each feature, and the terms follow
from its conditional means by inclusion and exclusion. Nothing is shared with the library but the
ensemble itself, and a walk through its functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any, TypeAlias

from random_ensembles import walked_sign

from privatree.model.ensemble import Branch, Ensemble, RoundFunction, Step, nodes_of
from privatree.schema import Categorical, Numeric

Names: TypeAlias = tuple[str, ...]
Cell: TypeAlias = tuple[int, ...]
Scores: TypeAlias = tuple[Fraction, ...]

MISSING, INTERVAL = Fraction(1, 20), Fraction(4, 5)


def grid_of(ensemble: Ensemble) -> dict[str, list[tuple[Any, Fraction]]]:
    """Return values of each used feature, one for each cell, with the measure of its cell."""
    grid = {}
    for place in used_places(ensemble):
        name, feature = list(ensemble.schema.features.items())[place]
        if isinstance(feature, Categorical):
            cells = [(one, Fraction(1, len(feature.categories))) for one in feature.categories]
        else:
            cells = _number_cells(ensemble, place, feature)
        if feature.separates_missing:
            cells = [(value, share * (1 - MISSING)) for value, share in cells]
            cells.append((None, MISSING))
        grid[name] = cells
    return grid


def used_places(ensemble: Ensemble) -> list[int]:
    return sorted({node.feature for one in ensemble.rounds for node in nodes_of(one.function)})


def _number_cells(ensemble: Ensemble, place: int, feature: Numeric) -> list[tuple[Any, Fraction]]:
    cuts = set()
    for node in chain.from_iterable(nodes_of(one.function) for one in ensemble.rounds):
        if node.feature == place:
            found = node.switches if isinstance(node, Step) else (node.threshold,)
            cuts |= {Fraction(cut) for cut in found if cut is not None and cut > -math.inf}
    low, high = Fraction(feature.low), Fraction(feature.high)
    ends = [*sorted(cuts), high]
    shares = _shares(feature, low, ends, (low, high))
    if place in ensemble.intervals:
        start, end = map(Fraction, ensemble.intervals[place])
        inside = _shares(feature, low, ends, (start, end))
        shares = [INTERVAL * i + (1 - INTERVAL) * s for i, s in zip(inside, shares, strict=True)]
    return [(float(end), share) for end, share in zip(ends, shares, strict=True)]


def _shares(
    feature: Numeric, low: Fraction, ends: list[Fraction], part: tuple[Fraction, Fraction]
) -> list[Fraction]:
    """Return the share of the numbers of a part that lies in each cell (start, end]."""
    if feature.integer or part[0] == part[1]:
        numbers = range(math.ceil(part[0]), math.floor(part[1]) + 1) if feature.integer else part
        starts = [low - 1, *ends[:-1]]
        return [
            Fraction(sum(start < number <= end for number in numbers), len(numbers))
            for start, end in zip(starts, ends, strict=True)
        ]
    starts = [low, *ends[:-1]]
    length = part[1] - part[0]
    return [
        max(Fraction(0), min(end, part[1]) - max(start, part[0])) / length
        for start, end in zip(starts, ends, strict=True)
    ]


def slow_means(
    ensemble: Ensemble, functions: list[tuple[RoundFunction, tuple[int, ...]]] | None = None
) -> dict[Names, dict[Cell, Scores]]:
    """Return the mean scores over all other features, for each cell of each set of features."""
    grid = grid_of(ensemble)
    names = tuple(grid)
    rounds = functions or [(one.function, one.amounts) for one in ensemble.rounds]
    table = {}
    for cell in product(*(range(len(grid[name])) for name in names)):
        values = {name: grid[name][at][0] for name, at in zip(names, cell, strict=True)}
        table[cell] = _scores(ensemble, rounds, values)
    return {some: _conditional_means(table, grid, some) for some in subsets(names)}


def slow_terms(
    ensemble: Ensemble, functions: list[tuple[RoundFunction, tuple[int, ...]]] | None = None
) -> dict[Names, dict[Cell, Scores]]:
    """Return the scores that each set of features adds in each cell of the grid.

    The empty set has the intercept. With `functions`, the rounds are these, with their signs.
    """
    means = slow_means(ensemble, functions)
    return {
        some: {
            cell: tuple(
                sum(
                    (-1) ** (len(some) - len(part)) * means[part][restrict(cell, some, part)][k]
                    for part in subsets(some)
                )
                for k in range(len(means[()][()]))
            )
            for cell in means[some]
        }
        for some in means
    }


def subsets(names: Names) -> Iterator[Names]:
    """Return all subsets, the empty one first."""
    for n in range(len(names) + 1):
        yield from combinations(names, n)


def restrict(cell: Cell, names: Names, part: Names) -> Cell:
    """Return the places of a cell of `names` on some of these axes."""
    return tuple(cell[names.index(name)] for name in part)


def _conditional_means(
    table: dict[Cell, Scores], grid: dict[str, list[tuple[Any, Fraction]]], fixed: Names
) -> dict[Cell, Scores]:
    names = tuple(grid)
    sums: dict[Cell, list[Fraction]] = {}
    for cell, scores in table.items():
        weight = math.prod(
            (grid[n][at][1] for n, at in zip(names, cell, strict=True) if n not in fixed),
            start=Fraction(1),
        )
        found = sums.setdefault(restrict(cell, names, fixed), [Fraction(0)] * len(scores))
        for k, score in enumerate(scores):
            found[k] += weight * score
    return {cell: tuple(found) for cell, found in sums.items()}


def _scores(
    ensemble: Ensemble,
    rounds: list[tuple[RoundFunction, tuple[int, ...]]],
    values: dict[str, Any],
) -> Scores:
    """Return the log-odds of the second of two classes, a score for each class, or a number."""
    record = [values.get(name) for name in ensemble.schema.features]
    n_classes = len(ensemble.schema.classes)
    margins = [0] * (n_classes or 1)
    for function, signs in rounds:
        value = walked_sign(function, ensemble.schema, record)
        margins = [m + sign * value for m, sign in zip(margins, signs, strict=True)]
    step = Fraction(ensemble.step)
    if n_classes > 2:
        return tuple(step / 2 * margin for margin in margins)
    return (Fraction(ensemble.start) + step * margins[-1],)


# --- signs tossed anew ----------------------------------------------------------------------------


def n_steps(function: RoundFunction) -> int:
    return sum(isinstance(node, Step) for node in nodes_of(function))


def with_signs(function: RoundFunction, signs: Iterator[int]) -> RoundFunction:
    """Return a function whose step functions, from left to right, are multiplied by signs."""
    if isinstance(function, Branch):
        left = with_signs(function.left, signs)
        right = with_signs(function.right, signs)
        return Branch(function.feature, left, right, function.threshold, function.goes_left)
    if next(signs) > 0:
        return function
    if function.positive is not None:
        return Step(function.feature, positive=bytes(1 - bit for bit in function.positive))
    return Step(function.feature, -function.first, function.switches)
