"""Where epsilon went, as a bar of segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privatree.privacy import PrivacyStatement, shown_amount
from privatree.report._shown_names import escape_shown_text

MAX_SEGMENTS = 9


@dataclass(frozen=True)
class BudgetSegment:
    """A part of the budget bar. `share` is a percentage of the bar."""

    purpose: str
    how: str
    epsilon: str
    share: float
    is_spent: bool


@dataclass(frozen=True)
class BudgetBar:
    """The spends that add up to what was spent. `total` is empty if it is infinite."""

    segments: tuple[BudgetSegment, ...]
    spent: str
    total: str


@dataclass(frozen=True)
class BudgetPart:
    """One part of what was spent, or the rest that was not. The texts may be untrusted."""

    purpose: str
    how: str
    epsilon: float
    is_spent: bool = True


def budget_bar(parts: Sequence[BudgetPart], privacy: PrivacyStatement) -> BudgetBar:
    """Return the bar of some parts, which add up to epsilon if it is finite."""
    whole = math.fsum(part.epsilon for part in parts) or 1.0
    return BudgetBar(
        segments=tuple(
            BudgetSegment(
                escape_shown_text(part.purpose),
                escape_shown_text(part.how),
                f"{part.epsilon:.4g}",
                100 * part.epsilon / whole,
                part.is_spent,
            )
            for part in parts
        ),
        spent=f"{math.fsum(part.epsilon for part in parts if part.is_spent):.4g}",
        total=shown_amount(privacy.model_epsilon) if math.isfinite(privacy.epsilon) else "",
    )
