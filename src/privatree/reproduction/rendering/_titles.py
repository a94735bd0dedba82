"""What tables and figures call suites, datasets and methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

_DAGGER = "†"
_CLAIM = f"{_DAGGER}: its authors' claim; for whole records no finite epsilon holds or is proved."

_HEADINGS = {
    "numerical": "Numerical data",
    "mixed": "Numerical & categorical data",
    "uci": "UCI datasets (numerical & categorical)",
}


class MethodTitle(Protocol):
    """What tables and figures need to know of a method."""

    @property
    def id(self) -> str:
        """As in the results."""

    @property
    def title(self) -> str:
        """The heading of its column."""

    @property
    def group(self) -> str:
        """The heading that it shares with its neighbours."""

    @property
    def claimed(self) -> bool:
        """Whether its epsilon is a claim that does not hold."""


class DatasetTitle(Protocol):
    """What tables and figures need to know of a dataset."""

    @property
    def name(self) -> str:
        """As in the results."""

    @property
    def title(self) -> str:
        """What its row is called."""

    @property
    def suite(self) -> str:
        """Which of the paper's groups it belongs to."""


def suite_heading(suite: str) -> str:
    """What the paper prints above the datasets of a suite."""
    return _HEADINGS.get(suite, suite)


def marked_title(method: MethodTitle) -> str:
    """The title of a method, with a dagger if its epsilon is a claim that does not hold."""
    return f"{method.title}{_DAGGER}" if method.claimed else method.title


def claim_notes(methods: Sequence[MethodTitle]) -> list[str]:
    """What the dagger means, if one of the methods shown has it."""
    return [_CLAIM] if any(method.claimed for method in methods) else []
