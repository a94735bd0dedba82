"""What epsilon was spent on in a training without a tree.

Draws of bounded range cost less together than the sum of their ranges. So they are one part of the
budget, and their ranges are listed apart from it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from privatree.privacy import PrivacyStatement, Spend
from privatree.report._budget_bar import MAX_SEGMENTS, BudgetPart
from privatree.report._shown_names import escape_shown_text

_MAX_RANGES = 12
_MAX_COUNTED_RELEASES = 10**9
"""A spend with more releases counts as this many, so that its cost is a finite float."""
_ROUNDING = 1e-9
"""Share of epsilon that counts as a rounding error."""


@dataclass(frozen=True)
class DrawnRange:
    """Draws of equal range for the same purpose. The texts have no control characters."""

    purpose: str
    how: str
    size: str


def ensemble_budget_parts(privacy: PrivacyStatement) -> list[BudgetPart]:
    """Return what was spent, in the order of time, and the rest if epsilon is finite."""
    factor = 2 if privacy.neighbours == "replace" else 1
    costs: dict[tuple[str, str], float] = {}
    releases: Counter[tuple[str, str]] = Counter()
    for spend in privacy.spends:
        if not spend.is_range:
            kind = spend.purpose, spend.mechanism
            times = min(spend.times, _MAX_COUNTED_RELEASES)
            costs[kind] = costs.get(kind, 0.0) + factor * times * float(spend.epsilon)
            releases[kind] += spend.times
    parts = [
        BudgetPart(purpose, mechanism + _times_text(releases[purpose, mechanism]), cost)
        for (purpose, mechanism), cost in costs.items()
    ]
    if privacy.composition is not None:
        composition = privacy.composition
        parts.append(
            BudgetPart(
                f"{composition.n_draws:,} draws of bounded range together",
                f"with delta {float(composition.delta):.4g}; listed below",
                factor * float(composition.epsilon),
            )
        )
    if more := parts[MAX_SEGMENTS:]:
        rest = math.fsum(part.epsilon for part in more)
        parts = [*parts[:MAX_SEGMENTS], BudgetPart(f"{len(more)} more spends", "", rest)]
    left = privacy.model_epsilon - math.fsum(part.epsilon for part in parts)
    if math.isfinite(left) and left > _ROUNDING * privacy.model_epsilon:
        parts.append(BudgetPart("not spent", "", left, is_spent=False))
    return parts


def drawn_ranges(privacy: PrivacyStatement) -> tuple[DrawnRange, ...]:
    """Return the ranges of the draws that are charged for together."""
    releases: Counter[tuple[str, str, str]] = Counter()
    for spend in privacy.spends:
        if spend.is_range:
            releases[spend.purpose, spend.mechanism, _range_text(spend)] += spend.times
    listed = [
        DrawnRange(
            escape_shown_text(purpose), escape_shown_text(mechanism) + _times_text(times), size
        )
        for (purpose, mechanism, size), times in releases.items()
    ]
    if (n_more := len(listed) - _MAX_RANGES) > 0:
        rest = DrawnRange(f"{n_more:,} more kinds of draws", "in the statement in full", "")
        listed = [*listed[:_MAX_RANGES], rest]
    return tuple(listed)


def _range_text(spend: Spend) -> str:
    return f"{float(spend.epsilon):.4g}"


def _times_text(times: int) -> str:
    return f", {times:,} times" if times > 1 else ""
