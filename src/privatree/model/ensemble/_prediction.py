"""Fast prediction: every value becomes a code once, and each round is a lookup by codes.

The code of a number is how many thresholds and switches of the whole ensemble lie below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.counting import CutSearch
from privatree.counting.sums import (
    CodeBranch,
    CodeFunction,
    CodeSplit,
    CodeStep,
    RoundTables,
    evaluate_rounds,
)
from privatree.model.ensemble._round_functions import (
    Branch,
    Round,
    RoundFunction,
    Step,
    depth_of,
    nodes_of,
)
from privatree.schema import Categorical, Numeric, Schema

_TILE_ROWS = 8192


class PackedEnsemble:
    """The functions of an ensemble as tables over codes.

    Attributes
    ----------
    cuts : dict of int to ndarray
        For each number that the functions use, all thresholds and switches, in increasing order.
    """

    def __init__(
        self,
        numbers: dict[int, NDArray[np.float64]],
        features: list[Numeric | Categorical],
        rounds: RoundTables,
    ) -> None:
        self.cuts = numbers
        self._features, self._rounds = features, rounds
        self._numbers = list(numbers)
        missing = [
            int(np.searchsorted(cuts, float(features[place].missing_place)))
            for place, cuts in numbers.items()
        ]
        self._search = CutSearch(list(numbers.values()), missing)

    def margins(self, matrix: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.int32]:
        """Return the margins of records: an array (record, score)."""
        tiles = range(0, len(matrix), _TILE_ROWS)
        n_scores = self._rounds.amounts.shape[1]
        found = np.empty((len(matrix), n_scores), dtype=np.int32)
        for start in tiles:
            rows = slice(start, start + _TILE_ROWS)
            found[rows] = evaluate_rounds(self.codes(matrix[rows], columns), self._rounds)
        return found

    def codes(self, matrix: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the codes of some records: an array (feature, record). Unused features have 0."""
        codes = np.zeros((len(matrix), len(self._features)), dtype=np.uint32)
        if self._numbers:
            with np.errstate(over="ignore"):
                numbers = np.ascontiguousarray(
                    matrix[:, columns[self._numbers]].T, dtype=np.float64
                )
            self._search.fill_bins(numbers, codes, np.array(self._numbers))
        for place, feature in enumerate(self._features):
            if isinstance(feature, Categorical) and columns[place] >= 0:
                values = matrix[:, columns[place]]
                known = (values >= 0) & (values < feature.n_codes)
                codes[:, place] = np.where(known, values, feature.missing_place)
        return np.ascontiguousarray(codes.T)


def pack_rounds(schema: Schema, rounds: Sequence[Round]) -> PackedEnsemble:
    """Return the tables of rounds whose functions fit the schema."""
    features = list(schema.features.values())
    found: dict[int, set[float]] = {}
    for one in rounds:
        for node in nodes_of(one.function):
            if isinstance(features[node.feature], Numeric):
                found.setdefault(node.feature, set()).update(_numbers_of(node))
    cuts = {place: np.array(sorted(found[place]), dtype=np.float64) for place in sorted(found)}
    depth = max(depth_of(one.function) for one in rounds)
    first = 1 if len(schema.classes) == 2 else 0  # two classes have one score
    tables = [
        RoundTables.of_function(function_over_codes(one.function, cuts), depth, one.amounts[first:])
        for one in rounds
    ]
    return PackedEnsemble(cuts, features, RoundTables.stack(tables))


def _numbers_of(node: Step | Branch) -> tuple[float, ...]:
    if isinstance(node, Step):
        return node.switches
    return () if node.threshold is None else (node.threshold,)


def function_over_codes(
    function: RoundFunction, cuts: dict[int, NDArray[np.float64]]
) -> CodeFunction:
    """Return a function as tables over codes; `cuts` are those of the packed ensemble."""
    if isinstance(function, Step):
        return _code_step(function, cuts)
    left, right = (function_over_codes(side, cuts) for side in (function.left, function.right))
    return CodeBranch(_code_split(function, cuts), left, right)


def _code_split(branch: Branch, cuts: dict[int, NDArray[np.float64]]) -> CodeSplit:
    if branch.goes_left is not None:
        return CodeSplit(branch.feature, np.frombuffer(branch.goes_left, np.uint8) > 0)
    own = cuts[branch.feature]
    place = int(np.searchsorted(own, np.float64(branch.threshold or 0.0)))
    return CodeSplit(branch.feature, np.arange(len(own) + 1) <= place)


def _code_step(step: Step, cuts: dict[int, NDArray[np.float64]]) -> CodeStep:
    if step.positive is not None:
        signs = np.where(np.frombuffer(step.positive, np.uint8) > 0, 1, -1)
        return CodeStep(step.feature, signs.astype(np.int8))
    own = cuts.get(step.feature, np.empty(0))
    switched = np.zeros(len(own) + 1, dtype=np.int64)
    switched[np.searchsorted(own, np.array(step.switches)) + 1] = 1
    signs = step.first * (1 - 2 * (np.cumsum(switched) % 2))
    return CodeStep(step.feature, signs.astype(np.int8))
