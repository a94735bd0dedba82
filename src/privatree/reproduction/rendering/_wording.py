"""How tables and figures write numbers, suites and methods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privatree.baselines.methods import Method

_DAGGER = "†"
_CLAIM = f"{_DAGGER}: its authors' claim; for whole records no finite epsilon holds or is proved."

_HEADINGS = {
    "numerical": "Numerical data",
    "mixed": "Numerical & categorical data",
    "uci": "UCI datasets (numerical & categorical)",
}


def suite_heading(suite: str) -> str:
    """What the paper prints above the datasets of a suite."""
    return _HEADINGS[suite]


def marked_title(method: Method) -> str:
    """The title of a method, with a dagger if its epsilon is a claim that does not hold."""
    return f"{method.title}{_DAGGER}" if method.claimed else method.title


def claim_notes(methods: Iterable[Method], *more: str) -> list[str]:
    """What the dagger means, and what else it entails, if one of the methods shown has it."""
    return [_CLAIM, *more] if any(method.claimed for method in methods) else []


def share(figure: float) -> str:
    """A share as the paper prints it, ``.815`` or ``1.000``; nothing if it is not known."""
    return "" if math.isnan(figure) else f"{figure:.3f}".removeprefix("0")


def signed(difference: float) -> str:
    """A difference of shares: ``+.012``, ``-.005``, ``.000``."""
    size = share(abs(difference))
    if size == ".000":
        return size
    return f"{'-' if difference < 0 else '+'}{size}"


def seconds(duration: float) -> str:
    """Seconds with about two digits: ``0.004``, ``0.32``, ``1.4``, ``108``."""
    if duration < 0.0005:
        return "<0.001"
    decimals = 3 if duration < 0.0995 else 2 if duration < 0.995 else 1 if duration < 9.95 else 0
    return f"{duration:.{decimals}f}"


def times(ratio: float) -> str:
    """How many times: ``0.40×``, ``1.4×``, ``58×``."""
    decimals = 2 if ratio < 0.995 else 1 if ratio < 9.95 else 0
    return f"{ratio:.{decimals}f}×"
