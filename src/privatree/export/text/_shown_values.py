"""Texts of names, categories, thresholds, probabilities and values, as all exports show them."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privatree._support.escape import escape_text
from privatree.counting import N_BINS, cut_points
from privatree.schema import Categorical, Label, Numeric, Target

_TOLERANCE, _TOLERANCE_OF_SMALL, _FLOAT_ERROR = 1e-6, 1e-3, 1e-12
"""Limits on the rounding of a threshold that is not a cut point of a default grid: the
first times the range, and the larger of the second times the threshold and the third times the
range."""
MAX_LISTED_CATEGORIES = 3
"""A set with more categories is shown as "not in" its complement if that is shorter."""
_VALUE_DIGITS, _MAX_DIGITS = 4, 700
"""Digits of a predicted number, and the most digits that a double can need."""
_NEEDS_QUOTES = re.compile(r'[,{}"\\]|^\s|\s$|^$')

# --- names --------------------------------------------------------------------------------------


def name_text(label: Label) -> str:
    """Return a name as text, quoted and escaped if it has special characters."""
    text = str(label)
    if text.isprintable() and not _NEEDS_QUOTES.search(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escape_text(quoted)}"'


def category_set_text(feature: Categorical, is_left: NDArray[np.bool_]) -> str:
    """Return a set of categories as what follows a name: "in {a, b}", "is missing or in {a}"."""
    yes, no = (category_names(feature, mask) for mask in (is_left, ~is_left))
    is_long = len(yes) > max(MAX_LISTED_CATEGORIES, len(no))
    listed = f"{{{', '.join(no if is_long else yes)}}}"
    if not feature.separates_missing:
        return f"not in {listed}" if is_long else f"in {listed}"
    if is_left[feature.missing_place]:
        return (
            f"not in {listed}" if is_long else f"is missing or in {listed}" if yes else "is missing"
        )
    if not no:
        return "is not missing"
    return f"is not missing and not in {listed}" if is_long else f"in {listed}"


def category_names(feature: Categorical, mask: NDArray[np.bool_]) -> list[str]:
    """Return the names of the categories whose codes are marked in a mask."""
    pairs = zip(feature.categories, mask.tolist(), strict=False)  # separate missing has no name
    names = [name_text(category) for category, is_marked in pairs if is_marked]
    if feature.separates_missing:  # so that such a category is not taken for a missing value
        names = ['"missing"' if name == "missing" else name for name in names]
    return names


def share_text(share: float) -> str:
    """Return a probability as a percentage. Only 0 and 1 are shown as 0% and 100%."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def value_text(target: Target, value: float) -> str:
    """Return a predicted number with four digits, or more where the range is far from 0."""
    if value == 0:
        return "0"
    width = float(target.high) - float(target.low)
    last = min(Decimal(number).adjusted() for number in (value, width)) - _VALUE_DIGITS + 1
    with localcontext(prec=_MAX_DIGITS):
        return number_text(Decimal(value).quantize(Decimal((0, (1,), last))))


# --- numbers ------------------------------------------------------------------------------------


def shown_thresholds(feature: Numeric, thresholds: Iterable[float]) -> dict[float, str]:
    """Return the rounded text of each finite threshold of a feature."""
    values = sorted({value for value in thresholds if math.isfinite(value)})
    least_gap = min((above - below for below, above in pairwise(values)), default=math.inf)
    cuts = (cut_points(feature, n_bins)[0] for n_bins in N_BINS)
    grids = [part[np.isfinite(part)].tolist() for part in cuts]
    return {
        value: number_text(_shorten_threshold(feature, value, grids, least_gap / 4))
        for value in values
    }


def _shorten_threshold(
    feature: Numeric, threshold: float, grids: list[list[float]], tolerance: float
) -> Decimal:
    """Return the threshold, rounded down to the fewest digits that stay in the bin below it.

    A threshold that is not a cut point of a default grid keeps nearly all digits. A cut point that
    the schema lists is rounded by no more than the error of floats.
    """
    width = float(feature.high) - float(feature.low)
    exact = Decimal(math.floor(threshold)) if feature.integer else Decimal(repr(threshold))
    room = min(_room_in_bin_below(threshold, grid, float(feature.low)) for grid in grids)
    first = 0
    if feature.cuts is None and room < math.inf:
        tolerance, first = min(tolerance, room), exact.adjusted()
    elif feature.integer:
        return exact
    elif feature.cuts is not None:
        tolerance = min(room, _FLOAT_ERROR * width)
    else:
        of_small = max(_TOLERANCE_OF_SMALL * abs(threshold), _FLOAT_ERROR * width)
        tolerance = min(tolerance, _TOLERANCE * width, of_small)
    for exponent in range(first, int(exact.as_tuple().exponent), -1):
        rounded = exact.quantize(Decimal((0, (1,), exponent)), rounding=ROUND_FLOOR)
        if Decimal(threshold) - rounded < Decimal(tolerance):
            return rounded
    return exact


def _room_in_bin_below(threshold: float, grid: list[float], low: float) -> float:
    """Return how far a threshold can be rounded down; infinity if it is not a cut point.

    The limit is half of a usual bin, but at most the bin that ends at the threshold.
    """
    place = bisect_left(grid, threshold)
    if place == len(grid) or grid[place] != threshold:
        return math.inf
    before, below = [low, low, *grid[:place]][-2:]
    return min(threshold - below, (threshold - before) / 4)


def number_text(number: Decimal | int) -> str:
    """Return a number in digits, or with an exponent if it would have very many digits."""
    if number == 0:
        return "0"
    short = Decimal(number).normalize()
    if -6 <= short.adjusted() < 16:
        return format(short, "f")
    return str(short).lower()
