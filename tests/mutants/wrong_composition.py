"""The code of the mutants of compositions: draws that lose more than what was charged for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from privatree.privacy import ComposedLedger, Composition, RangeGroup, certified_delta
from privatree.privacy.composition import _bounded_range, _largest_range

Patch = pytest.MonkeyPatch


def _forget(patch: Patch) -> None:
    """Nothing that was computed by other code is remembered."""
    for module, name in (
        (_bounded_range, "merged_groups_delta"),
        (_largest_range, "_search_largest_range"),
    ):
        patch.setattr(module, name, getattr(module, name).__wrapped__)


def range_halved(patch: Patch) -> None:
    """As if a range of e meant losses from -e/4 to e/4."""
    real = _bounded_range._merge_range_groups

    def mutant(groups: Sequence[RangeGroup]) -> tuple[RangeGroup, ...]:
        return tuple(RangeGroup(group.epsilon / 2, group.times) for group in real(groups))

    _forget(patch)
    patch.setattr(_bounded_range, "_merge_range_groups", mutant)


def other_end_of_the_search(patch: Patch) -> None:
    """The smallest range that was found to be too large."""
    _forget(patch)
    real = _largest_range._search_largest_range

    def mutant(epsilon: Fraction, delta: Fraction, pattern: tuple[RangeGroup, ...]) -> Fraction:
        size = real(epsilon, delta, pattern)
        while certified_delta(epsilon, [RangeGroup(r * size, n) for r, n in pattern]) <= delta:
            size *= 1 + Fraction(1, 10**4)
        return size

    patch.setattr(_largest_range, "_search_largest_range", mutant)


def grid_rounded_down(patch: Patch) -> None:
    def mutant(groups: Sequence[RangeGroup], step: Fraction) -> list[int]:
        return [max(1, math.floor(g.epsilon / step)) for g in groups for _ in range(g.times)]

    _forget(patch)
    patch.setattr(_bounded_range, "_cells_of_draws", mutant)


def rounds_not_counted(patch: Patch) -> None:
    real = ComposedLedger._use_next_draw

    def mutant(ledger: ComposedLedger, *given: Any) -> None:
        before = ledger._ranges.copy()
        real(ledger, *given)
        ledger._ranges = before

    patch.setattr(ComposedLedger, "_use_next_draw", mutant)


def any_order(patch: Patch) -> None:
    """A draw may have the largest range that was declared for any draw."""
    real = ComposedLedger._use_next_draw

    def mutant(ledger: ComposedLedger, *given: Any) -> None:
        if ledger._ranges:
            ledger._ranges[0] = max(ledger.composition.ranges())
        real(ledger, *given)

    patch.setattr(ComposedLedger, "_use_next_draw", mutant)


def replaced_priced_once(patch: Patch) -> None:
    real = Composition.certify
    patch.setattr(Composition, "certify", lambda composition, factor=1, **kept: real(composition))
