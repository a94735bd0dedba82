"""How tables and figures write numbers, suites and methods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privatree.baselines.methods import Method

_DAGGER = "†"
_CLAIM = f"{_DAGGER}: its authors' claim; for whole records no finite epsilon holds or is proved."

SUITE_HEADINGS = {
    "numerical": "Numerical data",
    "mixed": "Numerical & categorical data",
    "uci": "UCI datasets (numerical & categorical)",
}
"""What the paper prints above the datasets of a suite."""


def method_wording(method: Method) -> str:
    """Return the title of a method, with a dagger if its epsilon is a claim that does not hold."""
    return f"{method.title}{_DAGGER}" if method.claimed else method.title


def dagger_wording(methods: Iterable[Method], *more: str) -> list[str]:
    """Return a note on the dagger and `more` notes, or nothing if no method has a dagger."""
    return [_CLAIM, *more] if any(method.claimed for method in methods) else []


def share_wording(share: float) -> str:
    """Write a share as the paper does, ``.815`` or ``1.000``; NaN as an empty text."""
    return "" if math.isnan(share) else f"{share:.3f}".removeprefix("0")


def difference_wording(difference: float) -> str:
    """Write a difference of shares with its sign: ``+.012``, ``-.005``, ``.000``."""
    size = share_wording(abs(difference))
    return size if size == ".000" else f"{'-' if difference < 0 else '+'}{size}"


def seconds_wording(seconds: float) -> str:
    """Write seconds with about two digits: ``0.004``, ``0.32``, ``1.4``, ``108``."""
    if seconds < 0.0005:
        return "<0.001"
    decimals = 3 if seconds < 0.0995 else 2 if seconds < 0.995 else 1 if seconds < 9.95 else 0
    return f"{seconds:.{decimals}f}"


def ratio_wording(ratio: float) -> str:
    """Write a ratio with about two digits: ``0.40×``, ``1.4×``, ``58×``."""
    decimals = 2 if ratio < 0.995 else 1 if ratio < 9.95 else 0
    return f"{ratio:.{decimals}f}×"
