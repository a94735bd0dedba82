"""The result of an audit, as text and as plain dictionaries for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from textwrap import TextWrapper
from typing import Any

from privatree.privacy import UnitWords

_MIN_EVIDENCE = 8
"""Approximate upper bound, with confidence, on the mean count of an event with count 0."""


@dataclass(frozen=True)
class Finding:
    """The largest lower bound on epsilon from one pair of datasets.

    Attributes
    ----------
    pair, after : str
        Name of the pair, and the mistake that the pair can reveal.
    lower_bound : float
        Lower bound on the epsilon of the learner.
    event : str
        Event behind the bound, in words.
    learned : bool
        Whether the event was learned from other trainings. Otherwise theory named it.
    counts : tuple of int
        How often the event happened on the first dataset, and on the second.
    runs : int
        Number of trainings on each dataset in which the event was counted.
    sizes : tuple of int
        Numbers of records of the datasets.
    changes : int
        2 if epsilon is for a record added or removed but the datasets differ by a replaced record,
        otherwise 1.
    unit : str or None
        Unit by whose records the datasets differ; None if they differ by one record.

    Examples
    --------
    >>> finding = Finding("new-class", "classes", 1.5, "two classes", True, (9, 0), 9, (10, 11))
    >>> finding.lower_bound
    1.5
    """

    pair: str
    after: str
    lower_bound: float
    event: str
    learned: bool
    counts: tuple[int, int]
    runs: int
    sizes: tuple[int, int]
    changes: int = 1
    unit: str | None = None


@dataclass(frozen=True)
class AuditReport:
    """Lower bounds on the real epsilon of a learner.

    Parameters
    ----------
    findings : tuple of Finding
        One finding for each pair.
    runs : int
        Number of trainings on each dataset.
    confidence : float
        All bounds hold together with at least this probability.
    claimed : float or None
        Claimed epsilon.
    delta : float
        Claimed delta.
    skipped : tuple of str
        Names of the pairs that were left out because the models lack the view that they need.

    Examples
    --------
    >>> finding = Finding("new-class", "classes", 1.5, "two classes", True, (9, 0), 9, (10, 11))
    >>> report = AuditReport((finding,), runs=9, confidence=0.99, claimed=1.0)
    >>> report.refuted, report["new-class"].counts
    (True, (9, 0))
    """

    findings: tuple[Finding, ...]
    runs: int
    confidence: float
    claimed: float | None = None
    delta: float = 0.0
    skipped: tuple[str, ...] = ()

    @property
    def worst(self) -> Finding:
        """Finding with the largest bound."""
        return max(self.findings, key=lambda finding: finding.lower_bound)

    @property
    def lower_bound(self) -> float:
        """Lower bound on the real epsilon."""
        return self.worst.lower_bound

    @property
    def event(self) -> str:
        """Event with the largest bound, in words."""
        return self.worst.event

    @property
    def refuted(self) -> bool:
        """Whether the claim is proved false."""
        return self.claimed is not None and self.lower_bound > self.claimed

    def __getitem__(self, pair: str) -> Finding:
        """Return the finding of a pair, by the name of the pair."""
        return {finding.pair: finding for finding in self.findings}[pair]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain dictionaries and lists."""
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
        """Return a text with the finding of each pair, and the verdict."""
        pairs = [_report_text_of_finding(finding) for finding in self.findings]
        return "\n".join([*pairs, "", *_wrap_report_text(self.verdict)])

    def __repr__(self) -> str:
        bound = _round_reported_bound(self.lower_bound)
        return f"<AuditReport: epsilon >= {bound}, {len(self.findings)} pairs>"

    @property
    def verdict(self) -> str:
        """Conclusion from the largest bound, in one or two sentences."""
        sure = f"With {100 * self.confidence:g}% confidence"
        beside = f" with delta {self.delta:g}" if self.delta else ""
        bound = _round_reported_bound(self.lower_bound)
        if self.claimed is None:
            return f"{sure}, the real epsilon{beside} is at least {bound}."
        if self.refuted:
            return (
                f"{sure}, the real epsilon{beside} is at least "
                f"{_round_reported_bound(self.lower_bound, self.claimed)}: the claim of "
                f"{self.claimed:g} is false for {_report_text_of_claim(self.worst)}."
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


def _report_text_of_finding(finding: Finding) -> str:
    head = f"{finding.pair}: epsilon >= {_round_reported_bound(finding.lower_bound)}"
    details = [f"looks for: {finding.after}", f"tables: {_report_text_of_sizes(finding)}"]
    if finding.lower_bound > 0:
        how = "learned from other trainings" if finding.learned else "named by theory"
        details += [
            f"event, {how}: {finding.event}",
            f"seen: {finding.counts[0]} times in {finding.runs} trainings on the first table, "
            f"{finding.counts[1]} times in {finding.runs} on the second",
        ]
    else:
        details.append("no event told the tables apart")
    return "\n".join([head, *(line for text in details for line in _wrap_report_text(text, "  "))])


def _report_text_of_claim(finding: Finding) -> str:
    return "whole records" if finding.unit is None else UnitWords(finding.unit).whole


def _report_text_of_sizes(finding: Finding) -> str:
    first, second = finding.sizes
    if finding.unit is not None:
        whole = UnitWords(finding.unit).whole
        return f"{first} and {second} records, which differ by {whole}"
    if first != second:
        return f"{first} and {second} records"
    counted = ", which counts as one removed and one added" if finding.changes == 2 else ""
    return f"{first} records each, one of them replaced{counted}"


def _wrap_report_text(text: str, indent: str = "") -> list[str]:
    further = f"{indent}  " if indent else ""
    return TextWrapper(100, initial_indent=indent, subsequent_indent=further).wrap(text)


def _round_reported_bound(bound: float, above: float = -math.inf) -> str:
    """Return a bound rounded down, with enough digits to be larger than `above`."""
    for digits in range(2, 16):
        rounded = math.floor(bound * 10**digits) / 10**digits
        if above < rounded <= bound and (rounded >= 0.1 or digits >= 4 or bound == 0):
            return f"{rounded:.{digits}f}"
    return repr(bound)
