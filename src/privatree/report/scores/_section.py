"""The values of the section on quality, and the places of its drawings, in per cent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privatree.errors import ParameterError
from privatree.evaluation import CurvePoint, PrivateScores, Score
from privatree.export import name_text
from privatree.report._shown_names import escape_shown_text
from privatree.schema import Schema

_MAX_CLASSES = 30
"""Largest number of classes whose recall, precision and counts are shown."""
_MAX_CURVES = 4
_MEANINGS = {
    "accuracy": "share of right predictions",
    "balanced accuracy": "mean of the recalls of all classes",
    "AUC": "how well it ranks: 0.5 is chance, 1 is perfect",
    "Brier score": "mean squared error of the probabilities: smaller is better",
    "log loss": "smaller is better",
    "recall": "of the {counted} of this class, those that are predicted so",
    "precision": "of the {counted} that are predicted so, those of this class",
    "R²": "share of the variance that is explained: 1 is perfect",
    "mean absolute error": "how far predictions are off on average",
    "root mean squared error": "the same, with large errors counting more",
}


@dataclass(frozen=True)
class ScoreRow:
    """A metric of the page: texts, and places on its scale in per cent.

    `at` is None if the noise hides the estimate.
    """

    title: str
    meaning: str
    value: str
    interval: str
    low: float
    width: float
    at: float | None


@dataclass(frozen=True)
class CurveDot:
    """A point of a calibration curve: places in per cent, and texts."""

    x: float
    y: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class ScoresSection:
    """What the page shows of private scores."""

    size: str
    epsilon: str
    rows: tuple[ScoreRow, ...]
    class_rows: tuple[ScoreRow, ...]
    curves: tuple[tuple[str, tuple[CurveDot, ...]], ...]
    classes: tuple[str, ...]
    confusion: tuple[tuple[str, ...], ...]
    """Shown if there are not too many classes."""
    meaning: tuple[str, ...]
    counted: str


def check_scores(scores: object, schema: Schema) -> PrivateScores:
    """Return private scores that can be those of a model with this schema."""
    if not isinstance(scores, PrivateScores):
        raise ParameterError(
            "scores must be PrivateScores, as private_scores returns them, got "
            f"{type(scores).__name__}. PrivateScores.load(path) reads a file.",
            "scores",
        )
    mine = [(type(label), label) for label in schema.classes]
    if mine != [(type(label), label) for label in scores.classes]:
        raise ParameterError(
            "scores must be those of this model, but they are about other classes. Score this "
            "model.",
            "scores",
        )
    return scores


def scores_section(scores: object, schema: Schema) -> ScoresSection | None:
    """Return the section of the page; None without scores."""
    if scores is None:
        return None
    checked = check_scores(scores, schema)
    of_all = [score for score in checked if score.of_class is None]
    of_classes = [score for score in checked if score.of_class is not None]
    few = len(checked.classes) <= _MAX_CLASSES
    largest = max((one.high for one in of_all if one.name == "root mean squared error"), default=1)
    return ScoresSection(
        size=checked.size_text,
        epsilon=f"{checked.epsilon:.6g}",
        rows=tuple(_row(score, checked, largest) for score in of_all),
        class_rows=tuple(_row(score, checked, largest) for score in of_classes) if few else (),
        curves=tuple(
            (name_text(label), _dots(points))
            for label, points in checked.calibration[:_MAX_CURVES]
            if points
        ),
        classes=tuple(map(name_text, checked.classes)),
        confusion=tuple(tuple(f"{round(max(n, 0)):,}" for n in row) for row in checked.confusion)
        if few
        else (),
        meaning=tuple(map(escape_shown_text, checked.meaning)),
        counted=checked.counted,
    )


def _row(score: Score, scores: PrivateScores, largest: float) -> ScoreRow:
    start, stop = _scale(score, largest)

    def place(number: float) -> float:
        return round(100 * min(max((number - start) / (stop - start), 0.0), 1.0), 2)

    value, interval = score.shown
    low, high = place(score.low), place(score.high)
    title = (
        scores.title_of(score)
        if score.of_class is None
        else f"{score.name} of {name_text(score.of_class)}"
    )
    return ScoreRow(
        title=title[0].upper() + title[1:],
        meaning=_MEANINGS[score.name].format(counted=scores.counted),
        value=value,
        interval=interval,
        low=low,
        width=round(high - low, 2),
        at=None if score.value is None else place(score.value),
    )


def _scale(score: Score, largest: float) -> tuple[float, float]:
    """Return the ends of the scale on which a metric is drawn."""
    if score.name in ("mean absolute error", "root mean squared error"):
        return 0.0, max(largest, 1e-300)
    if score.name == "R²":
        return min(score.low, 0.0), 1.0
    return 0.0, max(1.0, score.high)


def _dots(points: Sequence[CurvePoint]) -> tuple[CurveDot, ...]:
    found = []
    for point in points:
        share = point.share
        value = share.value if share.value is not None else (share.low + share.high) / 2
        text = (
            f"predicted {100 * point.predicted:.0f}%, true {100 * value:.0f}% "
            f"({100 * share.low:.0f}% to {100 * share.high:.0f}%)"
        )
        places = (100 * number for number in (point.predicted, value, share.low, share.high))
        x, y, low, high = (round(place, 2) for place in places)
        found.append(CurveDot(x, 100 - y, 100 - low, 100 - high, text))
    return tuple(found)
