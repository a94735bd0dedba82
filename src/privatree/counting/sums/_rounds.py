"""Functions of past rounds as lookup tables over codes, so that compiled code can evaluate them.

The function of a round is a complete binary tree of splits. Each of its ends has a *step function*:
a sign, -1 or +1, for each code of one feature. A place without a split sends all records left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.counting.sums._kernels import add_round_signs


class CodeSplit(NamedTuple):
    """A split of the records by the codes of one feature."""

    feature: int
    goes_left: NDArray[np.bool_]
    """For each code of the feature, whether its records go left."""


class CodeStep(NamedTuple):
    """A step function: a sign for each code of one feature."""

    feature: int
    signs: NDArray[np.int8]


class CodeBranch(NamedTuple):
    """A split, and what follows on either side."""

    split: CodeSplit
    left: CodeFunction
    right: CodeFunction


CodeFunction: TypeAlias = CodeStep | CodeBranch
"""The function of a round over codes, with the values -1 and +1."""


class RoundTables(NamedTuple):
    """The functions of some rounds. Everything in it is public or released."""

    split_feature: NDArray[np.int32]
    """(round, place): feature of the split at this place, or -1. The children of place i are the
    places 2 i + 1 and 2 i + 2."""
    split_start: NDArray[np.int64]
    """(round, place): where the split's entries begin in `goes_left`."""
    goes_left: NDArray[np.uint8]
    step_feature: NDArray[np.int32]
    """(round, end): feature of the step function at this end."""
    step_start: NDArray[np.int64]
    """(round, end): where the entries of the step function begin in `signs`."""
    signs: NDArray[np.int8]
    amounts: NDArray[np.int32]
    """(round, score): what a function value of +1 adds to each score of a record."""

    @classmethod
    def of_function(cls, function: CodeFunction, depth: int, amounts: Sequence[int]) -> RoundTables:
        """Return the tables of one round, with room for functions of this depth."""
        n_splits = 2 ** (depth - 1) - 1
        splits: list[CodeSplit | None] = [None] * n_splits
        steps: list[CodeStep | None] = [None] * (n_splits + 1)

        def fill_places(node: CodeFunction, at: int) -> None:
            if isinstance(node, CodeBranch):
                splits[at] = node.split
                fill_places(node.left, 2 * at + 1)
                fill_places(node.right, 2 * at + 2)
            elif at < n_splits:
                fill_places(node, 2 * at + 1)
            else:
                steps[at - n_splits] = node

        fill_places(function, 0)
        reached = [step for step in steps if step is not None]
        used = [step or reached[0] for step in steps]  # no record reaches an end without a step
        left = [
            np.zeros(0, np.uint8) if s is None else s.goes_left.astype(np.uint8) for s in splits
        ]
        signs = [step.signs.astype(np.int8) for step in used]
        return cls(
            np.array([[-1 if s is None else s.feature for s in splits]], np.int32).reshape(1, -1),
            _starts(left),
            np.concatenate([np.zeros(0, np.uint8), *left]),
            np.array([[step.feature for step in used]], np.int32),
            _starts(signs),
            np.concatenate(signs),
            np.array([amounts], dtype=np.int32),
        )

    @classmethod
    def of_no_round(cls, n_splits: int, n_scores: int) -> RoundTables:
        """Return the tables before the first round."""
        return cls(
            np.zeros((0, n_splits), np.int32),
            np.zeros((0, n_splits), np.int64),
            np.zeros(0, np.uint8),
            np.zeros((0, n_splits + 1), np.int32),
            np.zeros((0, n_splits + 1), np.int64),
            np.zeros(0, np.int8),
            np.zeros((0, n_scores), np.int32),
        )

    @property
    def n_rounds(self) -> int:
        return len(self.step_feature)

    @classmethod
    def stack(cls, tables: Sequence[RoundTables]) -> RoundTables:
        """Return the tables of all rounds of `tables`, in order."""
        left = np.cumsum([0, *(len(one.goes_left) for one in tables)])
        signs = np.cumsum([0, *(len(one.signs) for one in tables)])
        return cls(
            np.concatenate([one.split_feature for one in tables]),
            np.concatenate([one.split_start + at for one, at in zip(tables, left, strict=False)]),
            np.concatenate([one.goes_left for one in tables]),
            np.concatenate([one.step_feature for one in tables]),
            np.concatenate([one.step_start + at for one, at in zip(tables, signs, strict=False)]),
            np.concatenate([one.signs for one in tables]),
            np.concatenate([one.amounts for one in tables]),
        )


def evaluate_rounds(codes: NDArray[Any], rounds: RoundTables) -> NDArray[np.int32]:
    """Return the scores of records: an array (record, score).

    `codes` is an array (feature, record).
    """
    scores = np.zeros((codes.shape[1], rounds.amounts.shape[1]), dtype=np.int32)
    add_round_signs(codes, *rounds, 0, codes.shape[1], scores)
    return scores


def _starts(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    ends = np.cumsum([0, *(len(part) for part in parts)])
    return ends[:-1].astype(np.int64).reshape(1, -1)
