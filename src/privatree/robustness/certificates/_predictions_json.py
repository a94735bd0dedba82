"""Certificates of predictions as a JSON file. One that is read promises no more than its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree.errors import CertificateError, ModelFormatError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.robustness.certificates._certificate_json import (
    FORMAT,
    ROUNDING,
    VERSION,
    check_header,
    number,
    own_notes,
)
from privatree.robustness.certificates._certificate_text import NOT_PRIVATE
from privatree.robustness.certificates._certification import MAX_REFITS
from privatree.robustness.certificates._majority import is_label
from privatree.robustness.certificates._predictions_text import conditions, meaning, notes
from privatree.schema import Label

if TYPE_CHECKING:
    from privatree.robustness.certificates._predictions import PredictionCertificates

    Kind = TypeVar("Kind", bound=PredictionCertificates)

KIND = "predictions"
_TEXTS = ("meaning", "conditions", "notes", "warning")
_PROMISES = ("predictions", "probability_at_least", "runner_up_at_most", "tolerates")
_FIGURES = ("classes", "confidence", "refits", "n_train", "counts")
_KEYS = {"format", "version", "kind", *_TEXTS, "privacy", *_FIGURES, *_PROMISES}


def predictions_to_dict(certificates: PredictionCertificates) -> dict[str, Any]:
    """Plain dictionaries and lists."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "meaning": meaning(certificates),
        "conditions": conditions(certificates),
        "notes": notes(certificates),
        "warning": NOT_PRIVATE,
        "privacy": certificates.privacy.to_dict(),
        "classes": list(certificates.classes),
        "confidence": certificates.confidence,
        "refits": certificates.refits,
        "n_train": certificates.n_train,
        "counts": certificates.counts.tolist(),
        "predictions": certificates.predictions,
        "probability_at_least": certificates.lower.tolist(),
        "runner_up_at_most": certificates.runner_up.tolist(),
        "tolerates": [None if x < 0 else x for x in certificates.tolerates.tolist()],
    }


def predictions_from_dict(kind: type[Kind], written: Any) -> Kind:
    """Read it; every mistake is a :class:`ModelFormatError`."""
    check_header(written, KIND, _KEYS)
    privacy = PrivacyStatement.from_dict(written["privacy"])
    try:
        certificates = kind(
            privacy=privacy,
            classes=_classes(written["classes"]),
            counts=_counts(written["counts"]),
            confidence=number("confidence", written["confidence"], float),
            n_train=number("n_train", written["n_train"], int),
            notes=own_notes(written["notes"]),
        )
    except (CertificateError, ParameterError) as error:
        raise ModelFormatError(str(error)) from None
    if number("refits", written["refits"], int) != certificates.refits:
        raise ModelFormatError("'counts' must add up to 'refits' for each record.")
    _check_promises(certificates, written)
    return certificates


def _check_promises(certificates: PredictionCertificates, written: dict[str, Any]) -> None:
    """Refuse what the counts do not support."""
    n_records = len(certificates.counts)
    for name in _PROMISES:
        if not isinstance(written[name], list) or len(written[name]) != n_records:
            raise ModelFormatError(f"{name!r} must be a list with an entry for each record.")
    if written["predictions"] != certificates.predictions:
        raise ModelFormatError("'predictions' must be what most refits predicted.")
    lower = _numbers("probability_at_least", written, float)
    upper = _numbers("runner_up_at_most", written, float)
    known = [-1 if edits is None else edits for edits in written["tolerates"]]
    tolerates = np.array([number("tolerates", edits, int) for edits in known], dtype=object)
    if (
        np.any(lower > certificates.lower + ROUNDING)
        or np.any(upper < certificates.runner_up - ROUNDING)
        or np.any(tolerates > certificates.tolerates)
    ):
        raise ModelFormatError(
            "what is certain of each record must follow from the counts, and promises more."
        )


def _numbers(name: str, written: dict[str, Any], kind: type) -> NDArray[np.float64]:
    return np.array([number(name, entry, kind) for entry in written[name]], dtype=np.float64)


def _classes(written: Any) -> tuple[Label, ...]:
    labels = tuple(label for label in written if is_label(label)) if _is_list(written) else ()
    if not labels or len(set(labels)) != len(written):
        raise ModelFormatError("'classes' must be a list of different texts, numbers or bools.")
    return labels


def _counts(written: Any) -> NDArray[np.int64]:
    """A table of whole numbers; whether they fit together is the class's to say."""
    is_table = _is_list(written) and all(map(_is_list, written))
    if not is_table or len({len(row) for row in written}) != 1:
        raise ModelFormatError("'counts' must be rows of the same length, one for each record.")
    rows = [[number("counts", count, int) for count in row] for row in written]
    if max(map(max, rows), default=0) > MAX_REFITS:
        raise ModelFormatError(f"'counts' must be at most {MAX_REFITS}.")
    return np.array(rows, dtype=np.int64)


def _is_list(written: Any) -> bool:
    return isinstance(written, list)
