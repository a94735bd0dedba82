"""What a net says."""

from __future__ import annotations

from typing import Any, NamedTuple


class Report(NamedTuple):
    """One net, cast once."""

    net: str
    caught: bool
    figure: float
    """How much there was of what should not be; what it counts, and from where on it is too much,
    depends on the net."""
    case: str
    """Which of the net's cases showed the most."""
    reason: str
    """In words: what was seen, and where."""
    tables: tuple[Any, Any] | None = None
    """The two tables that showed it, if two did."""

    def __str__(self) -> str:
        verdict = "caught" if self.caught else "nothing"
        return f"{self.net}: {verdict} ({self.figure:.3g} at {self.case}: {self.reason})"


def worst(reports: list[Report]) -> Report:
    """The report with the most to say: the largest figure of those that caught, else of all."""
    caught = [report for report in reports if report.caught]
    return max(caught or reports, key=lambda report: report.figure)
