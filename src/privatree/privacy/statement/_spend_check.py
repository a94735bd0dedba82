"""Whether a statement claims at least what was spent, for a model that is not a tree."""

from __future__ import annotations

import math
from fractions import Fraction

from privatree.errors import BudgetExceededError, ModelFormatError
from privatree.privacy._spend import Spend
from privatree.privacy.composition._composition import Composition
from privatree.privacy.statement._statement import PrivacyStatement

_ROUNDING = Fraction(1, 10**9)
"""Relative tolerance, because a model file stores every amount rounded separately."""
_DELTA_ROUNDING = Fraction(1, 10**6)
"""The same for a delta, which depends on epsilons more than in proportion."""


def check_spends_without_tree(privacy: PrivacyStatement) -> None:
    """Raise a ModelFormatError if a statement claims less epsilon or delta than was spent.

    All spends are taken to be on the same records, so they add up. Spends that are ranges must be
    draws of the composition, and the composition must cost no more than it says.

    Examples
    --------
    >>> spend = Spend("geometric", Fraction(1, 2), "number of records")
    >>> check_spends_without_tree(PrivacyStatement("a learner", 0.5, spends=(spend,)))
    """
    factor = 2 if privacy.neighbours == "replace" else 1  # spends are for one added or removed
    ordinary = [spend for spend in privacy.spends if not spend.is_range]
    epsilon = factor * sum((spend.times * spend.epsilon for spend in ordinary), Fraction(0))
    delta = factor * sum((spend.times * spend.delta for spend in ordinary), Fraction(0))
    ranges = [spend for spend in privacy.spends if spend.is_range]
    if privacy.composition is not None:
        _check_ranges_of_spends(ranges, privacy.composition)
        _check_certified(privacy.composition, factor)
        epsilon += factor * privacy.composition.epsilon
        delta += privacy.composition.delta  # for `factor` times the ranges
    elif ranges:
        raise ModelFormatError("privacy: spends that are ranges must belong to a composition.")
    check_holdout(privacy)
    if math.isinf(privacy.epsilon):
        return
    if privacy.leaks:
        raise ModelFormatError("privacy: epsilon must be infinite where there are leaks.")
    if epsilon > Fraction(privacy.model_epsilon) * (1 + _ROUNDING):
        raise ModelFormatError("privacy: epsilon must be at least the sum of the epsilons spent.")
    if delta > Fraction(privacy.delta) * (1 + _ROUNDING):
        raise ModelFormatError("privacy: delta must be at least the sum of the deltas spent.")


def check_holdout(privacy: PrivacyStatement) -> None:
    """Raise a ModelFormatError if a statement claims less than was spent on a held-out part."""
    if privacy.holdout is None:
        return
    privacy.holdout.check_covered(privacy.epsilon, 2 if privacy.neighbours == "replace" else 1)
    if math.isinf(privacy.epsilon) != math.isinf(privacy.model_epsilon):
        raise ModelFormatError(
            "privacy, the held-out part: model_epsilon must be infinite where epsilon is."
        )


def _check_ranges_of_spends(ranges: list[Spend], composition: Composition) -> None:
    if sum(spend.times for spend in ranges) > composition.n_draws:
        raise ModelFormatError("privacy: the composition must have as many draws as were made.")
    declared = composition.ranges()
    for spend in ranges:
        for _ in range(spend.times):
            if spend.epsilon > next(declared) * (1 + _ROUNDING):
                raise ModelFormatError(
                    "privacy: the range of a draw must be at most that of the composition."
                )


def _check_certified(composition: Composition, factor: int) -> None:
    try:
        composition.certify(factor, tolerance=_DELTA_ROUNDING)
    except BudgetExceededError as error:
        raise ModelFormatError(f"privacy, the composition: {error}") from None
