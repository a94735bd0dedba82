"""What an audit found, as text and as plain dictionaries for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from textwrap import TextWrapper
from typing import Any

_MIN_EVIDENCE = 8
"""About how often an event that was never seen may happen in all trainings, with confidence."""


@dataclass(frozen=True)
class Finding:
    """What one pair of tables shows."""

    pair: str
    after: str
    """The mistake that the pair would show."""
    lower_bound: float
    """On the learner's epsilon."""
    event: str
    """The event that shows it, in words."""
    learned: bool
    """Whether it was learned from other trainings; else theory named it."""
    counts: tuple[int, int]
    """How often it came from the first table, and from the second."""
    runs: int
    """Trainings of each table in which it was counted."""
    sizes: tuple[int, int]
    """Number of records of the tables."""
    changes: int = 1
    """How many neighbours apart the tables are: 2, if epsilon is for a record added or removed and
    one was replaced."""


@dataclass(frozen=True)
class AuditReport:
    """Lower bounds on the real epsilon of a learner.

    Parameters
    ----------
    findings : tuple of Finding
        One for each pair.
    runs : int
        Trainings of each table.
    confidence : float
        Probability that all bounds hold together, at least.
    claimed : float or None
        The epsilon that is claimed for the learner.
    delta : float
        And the delta.
    skipped : tuple of str
        Pairs that models of this kind cannot show.
    """

    findings: tuple[Finding, ...]
    runs: int
    confidence: float
    claimed: float | None = None
    delta: float = 0.0
    skipped: tuple[str, ...] = ()

    @property
    def worst(self) -> Finding:
        """The finding with the largest bound."""
        return max(self.findings, key=lambda finding: finding.lower_bound)

    @property
    def lower_bound(self) -> float:
        """The real epsilon is at least this."""
        return self.worst.lower_bound

    @property
    def event(self) -> str:
        """What shows it, in words."""
        return self.worst.event

    @property
    def refuted(self) -> bool:
        """Whether the claim is false."""
        return self.claimed is not None and self.lower_bound > self.claimed

    def __getitem__(self, pair: str) -> Finding:
        """The finding of a pair, by its name."""
        found = {finding.pair: finding for finding in self.findings}
        return found[pair]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists."""
        return {
            "format": "privatree-audit",
            "version": 1,
            "claimed_epsilon": self.claimed,
            "delta": self.delta,
            "lower_bound": self.lower_bound,
            "refuted": self.refuted,
            "confidence": self.confidence,
            "runs": self.runs,
            "skipped": list(self.skipped),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        """As a table, each pair with its event, and what follows."""
        pairs = [_lines(finding) for finding in self.findings]
        return "\n".join([*pairs, "", *_wrapped(self.verdict)])

    def __repr__(self) -> str:
        """In short."""
        return f"<AuditReport: epsilon >= {_down(self.lower_bound)}, {len(self.findings)} pairs>"

    @property
    def verdict(self) -> str:
        """What follows, as a sentence."""
        sure = f"With {100 * self.confidence:g}% confidence"
        beside = f" with delta {self.delta:g}" if self.delta else ""
        bound = _down(self.lower_bound)
        if self.claimed is None:
            return f"{sure}, the real epsilon{beside} is at least {bound}."
        if self.refuted:
            return (
                f"{sure}, the real epsilon{beside} is at least "
                f"{_down(self.lower_bound, self.claimed)}: the claim of {self.claimed:g} is false "
                "for whole records."
            )
        largest = math.log(max(finding.runs for finding in self.findings) / _MIN_EVIDENCE)
        too_few = (
            f" With so many trainings no bound much above {max(0.0, largest):.1f} can come out: "
            "more are needed to test this claim."
        )
        return (
            f"{sure}, the real epsilon{beside} is at least {bound}. That does not contradict the "
            f"claim of {self.claimed:g}, and does not prove it either: an audit finds mistakes, it "
            f"cannot show that there are none.{too_few if largest <= self.claimed else ''}"
        )


def _lines(finding: Finding) -> str:
    head = f"{finding.pair}: epsilon >= {_down(finding.lower_bound)}"
    details = [f"looks for: {finding.after}", f"tables: {_tables(finding)}"]
    if finding.lower_bound > 0:
        how = "learned from other trainings" if finding.learned else "named by theory"
        details += [
            f"event, {how}: {finding.event}",
            f"seen: {finding.counts[0]} times in {finding.runs} trainings on the first table, "
            f"{finding.counts[1]} times in {finding.runs} on the second",
        ]
    else:
        details.append("no event told the tables apart")
    return "\n".join([head, *(line for text in details for line in _wrapped(text, "  "))])


def _tables(finding: Finding) -> str:
    first, second = finding.sizes
    if first != second:
        return f"{first} and {second} records"
    counted = ", which counts as one removed and one added" if finding.changes == 2 else ""
    return f"{first} records each, one of them replaced{counted}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    further = f"{indent}  " if indent else ""
    return TextWrapper(100, initial_indent=indent, subsequent_indent=further).wrap(text)


def _down(bound: float, above: float = -math.inf) -> str:
    """Rounded down: what is printed must hold; with more digits if it would not be above."""
    for digits in range(2, 16):
        rounded = math.floor(bound * 10**digits) / 10**digits
        if above < rounded <= bound and (rounded >= 0.1 or digits >= 4 or bound == 0):
            return f"{rounded:.{digits}f}"
    return repr(bound)
