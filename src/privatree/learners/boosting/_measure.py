"""The functions that a round can draw, and their base measure: how likely each is beforehand.

A step function gives each code of one feature a sign. Features are equally likely. The signs of
numbers switch rarely from one bin to the next, twice on average. Every category has a sign of its
own. A monotone feature has at most one switch, in the allowed direction.

A round can first split the records at a *root*: at one of a few cuts of a number, or one category
against the rest. Each side then has a step function of its own.

Everything here is a function of the schema, of released intervals and of the number of the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.counting import Candidates, Groups, coarsen_base_measure
from privatree.counting.sums import CodeSplit

EXPECTED_SWITCHES = 2.0
"""Expected number of switches of the signs of a number, if no record speaks for or against it."""
ROOT_CUTS = 16
"""Largest number of cuts of a number at which a root can split."""
ABSENT, CHAIN, FREE, RISING, FALLING = range(5)
"""Kinds of features: without a choice, numbers, categories, and monotone numbers."""


class StepMeasure(NamedTuple):
    """Base measure of the step functions of all features, for compiled code.

    Arrays over codes have the codes of all features in a row. All numbers are exact as they are.
    """

    offsets: NDArray[np.int64]
    """Position of the first code of each feature, and the number of all codes."""
    kind: NDArray[np.int8]
    """Kind of each feature."""
    n_missing: NDArray[np.int64]
    """1 for a number whose missing values are separate and have the first code, else 0."""
    switch: NDArray[np.float64]
    """Measure of a switch of the sign after each code."""
    stay: NDArray[np.float64]
    """Measure of the same sign after each code as before it."""
    share: float
    """Measure of each feature that has a choice."""


def step_measure(candidates: Candidates, directions: Sequence[int]) -> StepMeasure:
    """Return the base measure of step functions.

    `directions` has, for each feature, 1 if its functions must not fall, -1 if they must not rise,
    and 0 if they may do both.
    """
    offsets, measure = candidates.offsets, candidates.base_measure
    switch, stay = np.zeros(int(offsets[-1])), np.zeros(int(offsets[-1]))
    kind = np.full(len(candidates.n_codes), ABSENT, dtype=np.int8)
    n_missing = np.zeros(len(kind), dtype=np.int64)
    for feature, direction in enumerate(directions):
        codes = slice(int(offsets[feature]), int(offsets[feature + 1]) - 1)
        cuts = candidates.cuts[feature]
        switch[codes] = stay[codes] = 0.5
        if candidates.n_codes[feature] < 2:
            continue
        if cuts is None:
            kind[feature] = FREE
            continue
        n_missing[feature] = int(cuts[0] == -np.inf)
        inner = slice(codes.start + int(n_missing[feature]), codes.stop)
        shares = measure[inner] / max(1, int(measure[inner].sum()))
        if direction:
            kind[feature] = RISING if direction > 0 else FALLING
            switch[inner], stay[inner] = shares / 2.0, 0.0
        else:
            kind[feature] = CHAIN
            switch[inner] = np.minimum(0.5, -np.expm1(-EXPECTED_SWITCHES * shares))
            stay[inner] = 1.0 - switch[inner]
    if (kind == ABSENT).all():
        kind[0] = FREE  # no feature has a choice: the first has one sign for all records
    n_active = int((kind != ABSENT).sum())
    return StepMeasure(offsets, kind, n_missing, switch, stay, 1.0 / max(1, n_active))


class RootMeasure(NamedTuple):
    """Roots that a round offers, with their base measure."""

    rows: Groups
    """Rows of the sums: the codes between two cuts of a number, or one category."""
    measure: NDArray[np.float64]
    """(feature, candidate): measure of each root, padded with 0."""
    n_candidates: NDArray[np.int64]
    """Number of candidates of each feature."""
    is_category: NDArray[np.bool_]

    def split(self, feature: int, candidate: int, offsets: NDArray[np.int64]) -> CodeSplit:
        """Return the split of a candidate."""
        row_of_code = self.rows.row_of_code[offsets[feature] : offsets[feature + 1]]
        if self.is_category[feature]:
            return CodeSplit(feature, row_of_code == candidate)
        return CodeSplit(feature, row_of_code <= candidate)


def root_measure(candidates: Candidates, features: Sequence[int]) -> RootMeasure:
    """Return the roots of some features. Each feature has the same measure, and 1 in all."""
    offsets = candidates.offsets
    row_of_code = np.zeros(int(offsets[-1]), dtype=np.int32)
    sizes = np.zeros(len(candidates.n_codes), dtype=np.int64)
    n_candidates = np.zeros(len(sizes), dtype=np.int64)
    measures: dict[int, NDArray[np.float64]] = {}
    for feature in features:
        start, end = int(offsets[feature]), int(offsets[feature + 1])
        if candidates.is_category[feature]:
            row_of_code[start:end] = np.arange(end - start)
            sizes[feature] = n_candidates[feature] = end - start
            measures[feature] = np.full(end - start, 1.0 / (end - start))
            continue
        coarse = coarsen_base_measure(candidates.base_measure[start:end], ROOT_CUTS)
        cuts = np.flatnonzero(coarse)
        row_of_code[start:end] = np.searchsorted(cuts, np.arange(end - start))
        sizes[feature], n_candidates[feature] = len(cuts) + 1, len(cuts)
        measures[feature] = coarse[cuts] / int(coarse.sum())
    padded = np.zeros((len(sizes), max([1, *map(len, measures.values())])))
    for feature, shares in measures.items():
        padded[feature, : len(shares)] = shares / len(measures)
    rows = Groups(row_of_code, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    return RootMeasure(rows, padded, n_candidates, candidates.is_category)


def public_order(n: int, purpose: str, turn: int) -> list[int]:
    """Return a fixed order of the numbers below n that looks random; the same for everybody."""
    return sorted(range(n), key=lambda i: sha256(f"{purpose} {turn} {i}".encode()).digest())


def public_share(purpose: str, turn: int, place: int) -> float:
    """Return a fixed number from 0 to 1 that looks random; the same for everybody."""
    digest = sha256(f"{purpose} {turn} {place}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def class_code(n_classes: int, turn: int) -> list[int]:
    """Return the public sign of each class in a round: half of the classes, in turn others, are +1.

    Two classes always have the signs -1 and +1.
    """
    if n_classes == 2:
        return [-1, 1]
    chosen = public_order(n_classes, "classes", turn)[: n_classes // 2 + turn % 2 * (n_classes % 2)]
    return [1 if place in chosen else -1 for place in range(n_classes)]
