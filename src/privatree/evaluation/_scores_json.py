"""Private scores as JSON. What is read is checked: nobody needs to trust the file."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privatree.errors import ModelFormatError
from privatree.evaluation._score import NAMES, SHARE_NAMES, CurvePoint, Score
from privatree.privacy import (
    NEIGHBOURS,
    Spend,
    stated_number,
    stated_object,
    stated_spend_from_dict,
    stated_spend_to_dict,
)
from privatree.schema import Label

if TYPE_CHECKING:
    from privatree.evaluation._scores import PrivateScores

FORMAT, VERSION = "privatree-scores", 1
MAX_ENTRIES = 10_000
"""Largest number of scores, classes and points in a file."""
_LARGEST = 1e300
_ROUNDING = Fraction(1, 10**9)

_KEYS: dict[type, tuple[str, ...]] = {
    str: ("format", "neighbours"),
    int: ("version",),
    bool: ("seeded",),
    list: ("classes", "scores", "confusion", "calibration", "spends"),
    object: ("epsilon", "unit", "noisy_size", "size_error", "error_limit", "target_limits"),
}
_SCORE_KEYS: dict[type, tuple[str, ...]] = {
    str: ("name",),
    object: ("value", "low", "high", "of_class"),
}
_CURVE_KEYS: dict[type, tuple[str, ...]] = {list: ("points",), object: ("of_class",)}
_POINT_KEYS: dict[type, tuple[str, ...]] = {
    object: ("predicted", "value", "low", "high", "noisy_size")
}


def scores_to_dict(scores: PrivateScores) -> dict[str, Any]:
    """Return scores as plain dictionaries and lists."""
    limits = scores.target_limits
    return {
        "format": FORMAT,
        "version": VERSION,
        "epsilon": scores.epsilon,
        "neighbours": scores.neighbours,
        "unit": scores.unit,
        "seeded": scores.seeded,
        "noisy_size": scores.noisy_size,
        "size_error": scores.size_error,
        "classes": list(scores.classes),
        "scores": [_score_to_dict(score) for score in scores.scores],
        "confusion": [list(row) for row in scores.confusion],
        "calibration": [
            {"of_class": label, "points": [_point_to_dict(point) for point in points]}
            for label, points in scores.calibration
        ],
        **({"is_rounded": True} if scores.is_rounded else {}),
        **({"assumptions": list(scores.assumptions)} if scores.assumptions else {}),
        "error_limit": scores.error_limit,
        "target_limits": None if limits is None else list(limits),
        "spends": [stated_spend_to_dict(spend) for spend in scores.spends],
    }


def scores_from_dict(written: Any) -> dict[str, Any]:
    """Return the fields of the scores that were written; raise a ModelFormatError for mistakes."""
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise ModelFormatError(f"private scores must be an object with 'format': '{FORMAT}'.")
    version = written.get("version")
    if type(version) is not int or version < 1:
        raise ModelFormatError("'version' must be a whole number, at least 1.")
    if version > VERSION:
        raise ModelFormatError(
            f"'version' must be at most {VERSION} for this version of privatree. Upgrade privatree."
        )
    keys = _KEYS
    if "is_rounded" in written:
        keys = keys | {bool: (*keys[bool], "is_rounded")}
    if "assumptions" in written:
        keys = keys | {list: (*keys[list], "assumptions")}
    fields = stated_object("private scores", written, keys)
    for key in keys[list]:
        if len(fields[key]) > MAX_ENTRIES:
            raise ModelFormatError(f"{key!r} must have at most {MAX_ENTRIES} entries.")
    if fields["neighbours"] not in NEIGHBOURS:
        raise ModelFormatError(f"'neighbours' must be one of {', '.join(NEIGHBOURS)}.")
    if fields["unit"] is not None and not isinstance(fields["unit"], str):
        raise ModelFormatError("'unit' must be a text or null.")
    classes = tuple(fields["classes"])
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ModelFormatError("'classes' must be labels.")
    assumptions = tuple(fields.get("assumptions", ()))
    if not all(isinstance(text, str) for text in assumptions):
        raise ModelFormatError("'assumptions' must be texts.")
    epsilon = stated_number("epsilon", fields["epsilon"])
    spends = tuple(stated_spend_from_dict(entry) for entry in fields["spends"])
    _check_spends(epsilon, spends, fields["neighbours"])
    return {
        "scores": tuple(_read_score(entry, classes) for entry in fields["scores"]),
        "epsilon": epsilon,
        "neighbours": fields["neighbours"],
        "unit": fields["unit"],
        "seeded": fields["seeded"],
        "noisy_size": _read_number("noisy_size", fields["noisy_size"]),
        "size_error": stated_number("size_error", fields["size_error"]),
        "classes": classes,
        "confusion": _read_confusion(fields["confusion"], len(classes)),
        "calibration": tuple(_read_curve(entry, classes) for entry in fields["calibration"]),
        "is_rounded": fields.get("is_rounded", False),
        "error_limit": _read_optional("error_limit", fields["error_limit"]),
        "target_limits": _read_limits(fields["target_limits"]),
        "spends": spends,
        "assumptions": assumptions,
    }


def _check_spends(epsilon: float, spends: tuple[Spend, ...], neighbours: str) -> None:
    """Raise a ModelFormatError if epsilon is less than what was spent."""
    if not epsilon > 0:
        raise ModelFormatError("'epsilon' must be above 0.")
    spent = sum((spend.times * spend.epsilon for spend in spends), Fraction(0))
    factor = 2 if neighbours == "replace" else 1  # spends are for one added or removed
    if factor * spent > Fraction(epsilon) * (1 + _ROUNDING):
        raise ModelFormatError("'epsilon' must be at least the sum of the epsilons spent.")


def _score_to_dict(score: Score) -> dict[str, Any]:
    return {
        "name": score.name,
        "of_class": score.of_class,
        "value": score.value,
        "low": score.low,
        "high": score.high,
    }


def _read_score(written: Any, classes: tuple[Label, ...]) -> Score:
    fields = stated_object("a score", written, _SCORE_KEYS)
    if fields["name"] not in NAMES:
        raise ModelFormatError("the name of a score must be the name of a metric.")
    of_class = fields["of_class"]
    return _checked_score(
        fields["name"], fields, None if of_class is None else _read_label(of_class, classes)
    )


def _checked_score(name: str, fields: dict[str, Any], of_class: Label | None) -> Score:
    value = _read_optional("value", fields["value"])
    low, high = (_read_number(end, fields[end]) for end in ("low", "high"))
    if not low <= (low if value is None else value) <= high:
        raise ModelFormatError("the value of a score must lie in its interval.")
    if name in SHARE_NAMES and not 0.0 <= low <= high <= 1.0:
        raise ModelFormatError("the interval of a share must lie between 0 and 1.")
    return Score(name, value, low, high, of_class)


def _point_to_dict(point: CurvePoint) -> dict[str, Any]:
    return {
        "predicted": point.predicted,
        "value": point.share.value,
        "low": point.share.low,
        "high": point.share.high,
        "noisy_size": point.noisy_size,
    }


def _read_curve(written: Any, classes: tuple[Label, ...]) -> tuple[Label, tuple[CurvePoint, ...]]:
    fields = stated_object("a calibration curve", written, _CURVE_KEYS)
    points = []
    for entry in fields["points"]:
        point = stated_object("a point of a curve", entry, _POINT_KEYS)
        predicted = _read_number("predicted", point["predicted"])
        if not 0.0 <= predicted <= 1.0:
            raise ModelFormatError("'predicted' must be between 0 and 1.")
        share = _checked_score("share", point, None)
        size = _read_number("noisy_size", point["noisy_size"])
        points.append(CurvePoint(predicted, share, size))
    return _read_label(fields["of_class"], classes), tuple(points)


def _read_label(written: Any, classes: tuple[Label, ...]) -> Label:
    for label in classes:
        if type(label) is type(written) and label == written:
            return label
    raise ModelFormatError("'of_class' must be one of the classes.")


def _read_confusion(written: list[Any], n_classes: int) -> tuple[tuple[float, ...], ...]:
    is_square = all(isinstance(row, list) and len(row) == n_classes for row in written)
    if not is_square or len(written) != n_classes:
        raise ModelFormatError("'confusion' must have a row and a column for each class.")
    return tuple(tuple(_read_number("confusion", count) for count in row) for row in written)


def _read_limits(written: Any) -> tuple[float, float] | None:
    if written is None:
        return None
    if not isinstance(written, list) or len(written) != 2:
        raise ModelFormatError("'target_limits' must be two numbers or null.")
    low, high = (_read_number("target_limits", end) for end in written)
    if not low <= high:
        raise ModelFormatError("'target_limits' must be in order.")
    return low, high


def _read_optional(name: str, written: Any) -> float | None:
    return None if written is None else _read_number(name, written)


def _read_number(name: str, written: Any) -> float:
    if type(written) not in (int, float) or not abs(written) <= _LARGEST:
        raise ModelFormatError(f"{name!r} must be a finite number.")
    number = float(written)
    if math.isnan(number):
        raise ModelFormatError(f"{name!r} must be a number.")
    return number
