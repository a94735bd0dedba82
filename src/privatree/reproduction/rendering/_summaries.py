"""Means and standard errors of scores, beside the figures that the paper published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from privatree.errors import ParameterError
from privatree.reproduction._published import (
    Published,
    PublishedRuntime,
    published_accuracy,
    published_runtime,
)
from privatree.reproduction.running._probability_scores import PROBABILITY_SCORES

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.02
"""A difference between accuracies up to this value is never a disagreement."""

_SETTING = ["dataset", "method", "epsilon"]
_SCORE = [*_SETTING, "depth", "repeat", "fold"]
_STATISTICS = ["mean", "standard_error", "n", "n_repeats", "note"]
_COMPARED = [*_SETTING, "mean", "standard_error", "n"]


def summarise_scores(cells: pd.DataFrame, *, value: str = "accuracy") -> pd.DataFrame:
    """Return mean and standard error of a column for each dataset, method and epsilon, sorted.

    `cells` has one score in each row: dataset, method, epsilon (NaN without privacy), depth,
    repeat, fold (if there are folds), the values, and a note if there is no score. The result has
    the columns dataset, method, epsilon, mean, standard_error, n (scores), n_repeats and note.

    The standard error is the standard deviation of all scores (with n - 1) over the square root of
    their number, as in the paper for its five folds. It is only approximate, because the folds of a
    repeat share training records.
    """
    import pandas as pd

    score = [column for column in _SCORE if column in cells.columns]
    if cells.duplicated(score).any():
        raise ParameterError(
            f"each combination of {', '.join(score)} must occur once in the scores, got repeated "
            "rows. Drop the repeated rows."
        )
    plain = cells.assign(note=cells["note"].astype(object).fillna(""), value=cells[value])
    rows = []
    for _, group in groupby(frame_rows(plain.sort_values(_SETTING)), key=_setting_of_summary):
        first, *others = group
        statistics = _summary_statistics([first, *others])
        rows.append((first.dataset, first.method, first.epsilon, *statistics))
    return pd.DataFrame(rows, columns=[*_SETTING, *_STATISTICS])


def with_probability_scores(summary: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the summary of `cells` with the mean and standard error of AUC and log loss."""
    added: dict[str, pd.Series[float]] = {}
    for name in PROBABILITY_SCORES:
        found = summarise_scores(cells, value=name)
        added |= {name: found["mean"], f"{name}_standard_error": found["standard_error"]}
    return summary.assign(**added)


def _setting_of_summary(row: Any) -> tuple[str, str, str]:
    return row.dataset, row.method, str(row.epsilon)  # as text: NaN differs from itself


def _summary_statistics(rows: list[Any]) -> tuple[float, float, int, int, str]:
    """Return the values of ``_STATISTICS``; sums are exact, so the order of rows is irrelevant."""
    if len({str(getattr(row, "depth", "")) for row in rows}) > 1:
        raise ParameterError(
            "the scores of a summary must have the same depth, got several depths. Summarise each "
            "depth separately."
        )
    scored = [row for row in rows if not row.note and not math.isnan(row.value)]
    n, mean, error = len(scored), math.nan, math.nan
    if n > 0:
        mean = math.fsum(row.value for row in scored) / n
    if n > 1:
        error = math.sqrt(math.fsum((row.value - mean) ** 2 for row in scored) / (n - 1) / n)
    notes = [row.note for row in rows if row.note]
    return mean, error, n, len({row.repeat for row in scored}), _summary_notes(notes, len(rows))


def _summary_notes(notes: list[str], n: int) -> str:
    """Return the distinct notes of `n` scores, each with a count unless all scores have it."""
    counts = {note: notes.count(note) for note in sorted(set(notes))}
    return "; ".join(
        note if count == n else f"{count} of {n} scores: {note}" for note, count in counts.items()
    )


def summary_at_epsilon(summary: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """Return the rows at one epsilon, and the rows without privacy with this epsilon filled in."""
    at = summary["epsilon"].isna() | ((summary["epsilon"] - epsilon).abs() <= 1e-9 * epsilon)
    return summary[at].assign(epsilon=epsilon)


def with_published_accuracy(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the summary with columns published, published_standard_error and difference.

    The columns of :func:`with_probability_scores` come last, if the summary has them.
    """
    unknown = Published(math.nan, math.nan)
    found = [
        published_accuracy(row.dataset, row.method, row.epsilon) or unknown
        for row in frame_rows(summary)
    ]
    added = summary.assign(
        published=[one.mean for one in found],
        published_standard_error=[one.standard_error for one in found],
        difference=lambda frame: frame["mean"] - frame["published"],
    )
    more = [f"{name}{end}" for name in PROBABILITY_SCORES for end in ("", "_standard_error")]
    shown = [*_COMPARED, "published", "published_standard_error", "difference", "note"]
    return added[[*shown, *(name for name in more if name in added.columns)]]


def with_published_runtime(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the summary with columns published, published_bound, ratio (published/measured)."""
    unknown = PublishedRuntime(math.nan)
    found = [
        published_runtime(row.dataset, row.method, row.epsilon) or unknown
        for row in frame_rows(summary)
    ]
    added = summary.assign(
        published=[one.seconds for one in found],
        published_bound=[one.bound for one in found],
        ratio=lambda frame: frame["published"] / frame["mean"],
    )
    return added[[*_COMPARED, "published", "published_bound", "ratio", "note"]]


def summary_disagreements(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that disagree with the published figures, with a column ``tolerance``.

    The tolerance is ``MARGIN`` plus twice the joint standard error of both figures. An unknown
    standard error, as of a single score, counts as zero.
    """
    errors = compared[["standard_error", "published_standard_error"]].fillna(0.0)
    allowed = 2 * (errors**2).sum(axis=1) ** 0.5 + MARGIN
    extended = compared.assign(tolerance=allowed)
    return extended[extended["difference"].abs() > allowed].reset_index(drop=True)


def frame_rows(frame: pd.DataFrame) -> Iterator[Any]:
    """Iterate over the rows of a DataFrame as named tuples."""
    return iter(frame.itertuples(index=False))
