"""Pairs of datasets with a numeric target that reveal known mistakes of learners."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.schema import Categorical, Schema, Target

_CATEGORIES = ["0", "1"]


def number_pairs() -> dict[str, Neighbours]:
    """Return all pairs whose target is a number, by name."""
    wide, narrow = Target(0, 1_000_000), Target(0, 100)
    zeros = [(place % 2, 0.0) for place in range(20)]
    spread = [(place % 2, place / 40) for place in range(40)]
    sides = [(side, 100.0 * side) for side in (0, 1) for _ in range(30)]
    pairs = (
        _pair("target-range", "a range of the target taken from the records",
              wide, spread, (0, 1_000_000.0), 1),
        _pair("far-target", "a mean with noise for a range that is too narrow",
              narrow, zeros, (0, 100.0), 1),
        _pair("other-side", "a spread of the targets that is measured without noise",
              narrow, sides, (1, 0.0), 1),
        _pair("two-numbers", "any budget that is exceeded where there are hardly any records",
              narrow, [(0, 0.0), (1, 100.0)], (0, 100.0), 1),
        _pair("missing-target", "records without a target that count where others do not",
              narrow, zeros, (1, math.nan), 1),
        _pair("no-numbers", "an error if there is nothing to train on",
              narrow, [], (0, 50.0), None),
    )  # fmt: skip
    return {pair.name: pair for pair in pairs}


def _pair(
    name: str,
    after: str,
    target: Target,
    rows: Sequence[tuple[int, float]],
    record: tuple[int, float],
    max_depth: int | None,
) -> Neighbours:
    """Return datasets without and with a record. A row is the code of a feature, and a target."""
    schema = Schema({"f": Categorical(_CATEGORIES)}, target=target)
    first, second = (_records(some) for some in (rows, [*rows, record]))
    return Neighbours(name, after, schema, first, second, max_depth=max_depth)


def _records(rows: Sequence[tuple[int, float]]) -> Records:
    import pandas as pd

    codes = np.array([code for code, _ in rows], dtype=np.int64)
    frame = pd.DataFrame({"f": pd.Categorical.from_codes(codes, pd.Index(_CATEGORIES))})
    return Records(frame, np.array([target for _, target in rows], dtype=np.float64))
