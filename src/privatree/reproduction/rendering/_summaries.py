"""From single scores to means with standard errors, beside what the paper published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from privatree.errors import ParameterError
from privatree.reproduction import _published as published
from privatree.reproduction._published import Published, PublishedRuntime

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.02
"""Differences of accuracy below this are never called a disagreement."""

_SETTING = ["dataset", "method", "epsilon"]
_SCORE = [*_SETTING, "depth", "repeat", "fold"]
_STATISTICS = ["mean", "standard_error", "n", "n_repeats", "note"]
_COMPARED = [*_SETTING, "mean", "standard_error", "n"]


def summarise(cells: pd.DataFrame, *, value: str = "accuracy") -> pd.DataFrame:
    """Mean and standard error for every dataset, method and epsilon.

    Parameters
    ----------
    cells : DataFrame
        One score a row: dataset, method, epsilon (NaN without privacy), depth, repeat, fold (if
        there are folds), the value, and a note where there is no score. The order is of no account.
    value : str, default="accuracy"
        The column to sum up.

    Returns
    -------
    DataFrame
        dataset, method, epsilon, mean, standard_error, n (scores), n_repeats and note, sorted.

    Raises
    ------
    ParameterError
        If a score occurs twice, or scores of several depths would be mixed.

    Notes
    -----
    The standard error is the standard deviation of all scores (with n - 1) over the square root of
    their number, as the paper has it for its five folds. The folds of a repeat share training
    records, so it is a guide and no exact error.
    """
    import pandas as pd

    score = [column for column in _SCORE if column in cells.columns]
    if cells.duplicated(score).any():
        raise ParameterError(
            f"each combination of {', '.join(score)} must occur once in the scores. "
            "Drop the rows that repeat another."
        )
    plain = cells.assign(note=cells["note"].astype(object).fillna(""), value=cells[value])
    rows = []
    for _, group in groupby(rows_of(plain.sort_values(_SETTING)), key=_setting):
        of_one_setting = list(group)
        first = of_one_setting[0]
        statistics = _statistics(of_one_setting)
        rows.append((first.dataset, first.method, first.epsilon, *statistics))
    return pd.DataFrame(rows, columns=[*_SETTING, *_STATISTICS])


def _setting(row: Any) -> tuple[str, str, str]:
    return row.dataset, row.method, str(row.epsilon)  # as text: NaN differs from itself


def _statistics(rows: list[Any]) -> tuple[float, float, int, int, str]:
    """What ``_STATISTICS`` names; sums are exact, so that they do not depend on the rows' order."""
    if len({str(getattr(row, "depth", "")) for row in rows}) > 1:
        raise ParameterError("scores must be of one depth. Summarise one depth at a time.")
    scored = [row for row in rows if not row.note and not math.isnan(row.value)]
    n, mean, error = len(scored), math.nan, math.nan
    if n > 0:
        mean = math.fsum(row.value for row in scored) / n
    if n > 1:
        error = math.sqrt(math.fsum((row.value - mean) ** 2 for row in scored) / (n - 1) / n)
    notes = [row.note for row in rows if row.note]
    return mean, error, n, len({row.repeat for row in scored}), _summed_up(notes, len(rows))


def _summed_up(notes: list[str], n: int) -> str:
    """The distinct notes of a setting, each with the number of its scores unless that is all."""
    counts = {note: notes.count(note) for note in sorted(set(notes))}
    return "; ".join(
        note if count == n else f"{count} of {n} scores: {note}" for note, count in counts.items()
    )


def at_epsilon(summary: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """What a table of one epsilon shows: its rows, and those without privacy as if at it."""
    at = summary["epsilon"].isna() | ((summary["epsilon"] - epsilon).abs() <= 1e-9 * epsilon)
    return summary[at].assign(epsilon=epsilon)


def with_published(summary: pd.DataFrame) -> pd.DataFrame:
    """Means at an epsilon beside published, published_standard_error and difference.

    The difference is measured minus published.
    """
    unknown = Published(math.nan, math.nan)
    found = [
        published.accuracy(row.dataset, row.method, row.epsilon) or unknown
        for row in rows_of(summary)
    ]
    added = summary.assign(
        published=[one.mean for one in found],
        published_standard_error=[one.standard_error for one in found],
        difference=lambda frame: frame["mean"] - frame["published"],
    )
    return added[[*_COMPARED, "published", "published_standard_error", "difference", "note"]]


def with_published_runtime(summary: pd.DataFrame) -> pd.DataFrame:
    """Means at an epsilon beside published seconds, published_bound (``<``, ``>``) and ratio.

    The ratio is published over measured. The paper has seconds at one epsilon only.
    """
    unknown = PublishedRuntime(math.nan, math.nan)
    found = [
        published.runtime(row.dataset, row.method, row.epsilon) or unknown
        for row in rows_of(summary)
    ]
    added = summary.assign(
        published=[one.seconds for one in found],
        published_bound=[one.bound for one in found],
        ratio=lambda frame: frame["published"] / frame["mean"],
    )
    return added[[*_COMPARED, "published", "published_bound", "ratio", "note"]]


def outside(compared: pd.DataFrame) -> pd.DataFrame:
    """The rows whose measured and published figures disagree.

    Parameters
    ----------
    compared : DataFrame
        What :func:`with_published` returns.

    Returns
    -------
    DataFrame
        Those rows, with what was allowed in the column ``tolerance``: ``MARGIN`` and twice the
        joint standard error of both figures. That of a single score is not known and counts as
        none.
    """
    errors = compared[["standard_error", "published_standard_error"]].fillna(0.0)
    allowed = 2 * (errors**2).sum(axis=1) ** 0.5 + MARGIN
    extended = compared.assign(tolerance=allowed)
    return extended[extended["difference"].abs() > allowed].reset_index(drop=True)


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows of a frame as named tuples."""
    return iter(frame.itertuples(index=False))
