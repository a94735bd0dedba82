"""Certificates as JSON files. A loaded certificate promises no more than its figures support."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from privatree._support.atomic_files import replace_file
from privatree._support.json_files import read_json
from privatree.errors import CertificateError, ModelFormatError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.robustness.certificates._certificate_text import (
    SEEDED,
    prediction_certificates_sentences,
    prediction_intervals_sentences,
    score_certificate_sentences,
)
from privatree.robustness.certificates._majority import Majority, is_label
from privatree.schema import Label

if TYPE_CHECKING:
    from privatree.robustness.certificates._certificate import Certificate
    from privatree.robustness.certificates._intervals import PredictionIntervals
    from privatree.robustness.certificates._predictions import PredictionCertificates

    ScoreKind = TypeVar("ScoreKind", bound=Certificate)
    IntervalKind = TypeVar("IntervalKind", bound=PredictionIntervals)
    PredictionKind = TypeVar("PredictionKind", bound=PredictionCertificates)

FORMAT, VERSION = "privatree-certificate", 1
_CLASS_OF_KIND = {
    "accuracy": "AccuracyCertificate",
    "attack-success": "AttackSuccessCertificate",
    "error": "ErrorCertificate",
    "predictions": "PredictionCertificates",
    "prediction-intervals": "PredictionIntervals",
}
MAX_REFITS = 10**6
"""Largest number of refits behind a certificate."""
MAX_ROWS = 1000
"""Largest number of rows in a file. Each row is computed again when the file is read."""
ROUNDING = 1e-9
"""Allowed difference between a figure in the file and one that is computed again, as a share of the
largest figure."""

_COMMON_KEYS = {"format", "version", "kind", "meaning", "conditions", "notes", "warning", "privacy"}
_SCORE_FIGURES = {
    "estimate": float,
    "clean_bound": float,
    "confidence": float,
    "refits": int,
    "n_train": int,
    "n_test": int,
}
_PREDICTION_PROMISES = ("predictions", "probability_at_least", "runner_up_at_most", "tolerates")


class SavedCertificate:
    """A certificate that can be saved to a JSON file and loaded from the file."""

    _write_dict: ClassVar[Any]
    _read_dict: ClassVar[Any]
    _indent: ClassVar[int | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary with the keys of the JSON file."""
        written: dict[str, Any] = self._write_dict(self)
        return written

    @classmethod
    def from_dict(cls, written: Any) -> Self:
        """Read a certificate from the dictionary that :meth:`to_dict` returned, and check it.

        Raises
        ------
        ModelFormatError
            If the dictionary is no certificate of this kind, or promises more than its figures
            support.
        """
        certificate: Self = cls._read_dict(cls, written)
        return certificate

    def to_json(self) -> str:
        """Return the certificate as the text of the JSON file."""
        return json.dumps(self.to_dict(), indent=self._indent, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the certificate to a JSON file. If the file is new, only its owner can read it."""
        # A surrogate without its pair has no UTF-8; its backslash form is its JSON escape.
        encoded = f"{self.to_json()}\n".encode("utf-8", errors="backslashreplace")
        replace_file(path, encoded, private=True)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a certificate from the JSON file that :meth:`save` wrote, and check it in full.

        Raises
        ------
        ModelFormatError
            If :meth:`from_dict` refuses the content of the file. The message names the file.
        """
        return read_json(path, "a certificate", cls.from_dict)


# --- certificates of a score ----------------------------------------------------------------------


def score_certificate_to_dict(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate of an accuracy or a success rate as a dictionary."""
    promise, majority = certificate.promise.replace(" ", "_"), certificate.majority
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": certificate.kind,
        **score_certificate_sentences(certificate),
        "privacy": certificate.privacy.to_dict(),
        "claimed_by": certificate.claimed_by,
        "majority": None
        if majority is None
        else dict(zip(certificate.majority_keys, (majority.label, majority.share), strict=True)),
        **{name: list(getattr(certificate, name)) for name in _range_keys(type(certificate))},
        **{name: getattr(certificate, name) for name in _SCORE_FIGURES},
        "rows": [
            {"poisoned": edits, promise: value, "bound": bound, "bounds": all_bounds}
            for edits, (value, bound), all_bounds in certificate.rows
        ],
    }


def score_certificate_from_dict(kind: type[ScoreKind], written: Any) -> ScoreKind:
    """Read the certificate of an accuracy or a success rate, and check what it promises."""
    own_keys = {"comparison", "claimed_by", "majority", "rows", *_SCORE_FIGURES, *_range_keys(kind)}
    _check_json_header(written, kind.kind, own_keys)
    if not (written["claimed_by"] is None or isinstance(written["claimed_by"], str)):
        raise ModelFormatError("'claimed_by' must be a name or null.")
    rows = _list_from_json(written, "rows", dict, "objects")
    if len(rows) > MAX_ROWS:
        raise ModelFormatError(f"'rows' must have at most {MAX_ROWS} entries.")
    privacy = PrivacyStatement.from_dict(written["privacy"])
    further: dict[str, Any] = {
        name: _range_from_json(name, written[name]) for name in _range_keys(kind)
    }
    try:
        certificate = kind(
            privacy=privacy,
            claimed_by=written["claimed_by"],
            poisoned=tuple(_json_number("poisoned", row.get("poisoned"), int) for row in rows),
            notes=_notes_from_json(written),
            majority=_majority_from_json(written["majority"], kind.majority_keys),
            **further,
            **{name: _json_number(name, written[name], of) for name, of in _SCORE_FIGURES.items()},
        )
    except (CertificateError, ParameterError) as error:
        raise ModelFormatError(str(error)) from None
    promise = certificate.promise.replace(" ", "_")
    for row, edits in zip(rows, certificate.poisoned, strict=True):
        promised = _json_number(promise, row.get(promise), float)
        supported = certificate.guarantee(edits)
        excess = promised - supported if kind.more_is_better else supported - promised
        if excess > ROUNDING * certificate.largest:
            raise ModelFormatError(
                f"the guarantee for {edits} poisoned {privacy.words.counted} must follow from the "
                "other figures, but the file promises more than they do. The file was changed: "
                "certify again."
            )
    return certificate


def _majority_from_json(written: Any, keys: tuple[str, str]) -> Majority | None:
    answer, share = keys
    if written is None:
        return None
    if not isinstance(written, dict) or written.keys() != {answer, share}:
        raise ModelFormatError(f"'majority' must be null or have a '{answer}' and a '{share}'.")
    return Majority(written[answer], _json_number(share, written[share], float))


def _range_keys(kind: type[Certificate]) -> tuple[str, ...]:
    return ("target_range",) if kind.kind == "error" else ()


def _range_from_json(name: str, written: Any) -> tuple[float, float]:
    if not isinstance(written, list) or len(written) != 2:
        raise ModelFormatError(f"'{name}' must be a list of two numbers.")
    low, high = (_json_number(name, end, float) for end in written)
    return low, high


# --- certificates of predictions ------------------------------------------------------------------


def prediction_certificates_to_dict(certificates: PredictionCertificates) -> dict[str, Any]:
    """Return the certificates of predictions as a dictionary."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "predictions",
        **prediction_certificates_sentences(certificates),
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


def prediction_certificates_from_dict(kind: type[PredictionKind], written: Any) -> PredictionKind:
    """Read the certificates of predictions, and check what they promise."""
    figures = {"classes", "confidence", "refits", "n_train", "counts"}
    _check_json_header(written, "predictions", figures.union(_PREDICTION_PROMISES))
    privacy = PrivacyStatement.from_dict(written["privacy"])
    try:
        certificates = kind(
            privacy=privacy,
            classes=_classes_from_json(written["classes"]),
            counts=_prediction_counts_from_json(written),
            confidence=_json_number("confidence", written["confidence"], float),
            n_train=_json_number("n_train", written["n_train"], int),
            notes=_notes_from_json(written),
        )
    except (CertificateError, ParameterError) as error:
        raise ModelFormatError(str(error)) from None
    if _json_number("refits", written["refits"], int) != certificates.refits:
        raise ModelFormatError("'counts' must add up to 'refits' for each record.")
    n_records = len(certificates.counts)
    for name in _PREDICTION_PROMISES:
        if not isinstance(written[name], list) or len(written[name]) != n_records:
            raise ModelFormatError(f"{name!r} must be a list with an entry for each record.")
    if written["predictions"] != certificates.predictions:
        raise ModelFormatError(
            "each entry of 'predictions' must be the class with the largest number in its row of "
            "'counts'."
        )
    lower, upper = (
        np.array([_json_number(name, entry, float) for entry in written[name]])
        for name in ("probability_at_least", "runner_up_at_most")
    )
    known = [-1 if edits is None else edits for edits in written["tolerates"]]
    tolerates = [_json_number("tolerates", edits, int) for edits in known]
    if (
        np.any(lower > certificates.lower + ROUNDING)
        or np.any(upper < certificates.runner_up - ROUNDING)
        or np.any(np.array(tolerates, dtype=object) > certificates.tolerates)
    ):
        raise ModelFormatError(
            "the guarantee for each record must follow from 'counts', but the file promises more "
            "than they do. The file was changed: certify again."
        )
    return certificates


def prediction_intervals_to_dict(intervals: PredictionIntervals) -> dict[str, Any]:
    """Return intervals of predictions as a dictionary."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "prediction-intervals",
        **prediction_intervals_sentences(intervals),
        "privacy": intervals.privacy.to_dict(),
        "target_range": list(intervals.target_range),
        "confidence": intervals.confidence,
        "refits": intervals.refits,
        "n_train": intervals.n_train,
        "values": intervals.values.tolist(),
        "predictions": intervals.medians.tolist(),
        "rows": [
            {"poisoned": edits, "at_least": low.tolist(), "at_most": high.tolist()}
            for edits in intervals.poisoned
            for low, high in [intervals.interval(edits)]
        ],
    }


def prediction_intervals_from_dict(kind: type[IntervalKind], written: Any) -> IntervalKind:
    """Read intervals of predictions, and check what they promise."""
    own_keys = {"target_range", "confidence", "refits", "n_train", "values", "predictions", "rows"}
    _check_json_header(written, "prediction-intervals", own_keys)
    values = _table_from_json(written, "values", float)
    rows = _list_from_json(written, "rows", dict, "objects")
    if len(rows) > MAX_ROWS:
        raise ModelFormatError(f"'rows' must have at most {MAX_ROWS} entries.")
    try:
        intervals = kind(
            privacy=PrivacyStatement.from_dict(written["privacy"]),
            target_range=_range_from_json("target_range", written["target_range"]),
            values=values,
            poisoned=tuple(_json_number("poisoned", row.get("poisoned"), int) for row in rows),
            confidence=_json_number("confidence", written["confidence"], float),
            n_train=_json_number("n_train", written["n_train"], int),
            notes=_notes_from_json(written),
        )
    except (CertificateError, ParameterError) as error:
        raise ModelFormatError(str(error)) from None
    if _json_number("refits", written["refits"], int) != intervals.refits:
        raise ModelFormatError("'values' must have 'refits' numbers for each record.")
    if written["predictions"] != intervals.medians.tolist():
        raise ModelFormatError("'predictions' must be the medians of 'values'.")
    for row, edits in zip(rows, intervals.poisoned, strict=True):
        low, high = intervals.interval(edits)
        if row != {"poisoned": edits, "at_least": low.tolist(), "at_most": high.tolist()}:
            raise ModelFormatError(
                f"the intervals for {edits} poisoned records must follow from 'values'. The file "
                "was changed: certify again."
            )
    return intervals


def _classes_from_json(written: Any) -> tuple[Label, ...]:
    labels = tuple(filter(is_label, written)) if isinstance(written, list) else ()
    if not labels or len(set(labels)) != len(written):
        raise ModelFormatError("'classes' must be a list of different texts, numbers or bools.")
    return labels


def _prediction_counts_from_json(written: dict[str, Any]) -> NDArray[np.int64]:
    """Return a table of whole numbers. PredictionCertificates checks their consistency."""
    counts = _table_from_json(written, "counts", int)
    if max(map(max, counts.tolist()), default=0) > MAX_REFITS:
        raise ModelFormatError(f"each entry of 'counts' must be at most {MAX_REFITS}.")
    return counts.astype(np.int64)


def _table_from_json(written: dict[str, Any], name: str, kind: type) -> NDArray[Any]:
    """Return rows of numbers, of the same length, as an array."""
    rows = _list_from_json(written, name, list, "lists")
    if len({len(row) for row in rows}) != 1:
        raise ModelFormatError(f"'{name}' must be rows of the same length, one for each record.")
    dtype = np.float64 if kind is float else object  # whole numbers of a file can be very large
    return np.array([[_json_number(name, entry, kind) for entry in row] for row in rows], dtype)


# --- parts of a file ------------------------------------------------------------------------------


def _check_json_header(written: Any, kind: str, own_keys: set[str]) -> None:
    """Raise a ModelFormatError unless format, version, kind and keys are valid."""
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise ModelFormatError(
            f"a certificate must be an object with 'format': '{FORMAT}'. If this is a model, "
            "use privatree.load."
        )
    version = written.get("version")
    if type(version) is not int or version != VERSION:
        raise ModelFormatError(
            f"the version of a certificate file must be {VERSION}. Upgrade privatree to read a "
            "later version."
        )
    found = written.get("kind")
    if found != kind:
        reader = _CLASS_OF_KIND.get(found) if isinstance(found, str) else None
        hint = f" {reader}.load reads this file." if reader else ""
        raise ModelFormatError(f"the 'kind' of a {_CLASS_OF_KIND[kind]} must be '{kind}'.{hint}")
    keys = _COMMON_KEYS | own_keys
    if written.keys() != keys:
        raise ModelFormatError(f"a certificate must have the keys {', '.join(sorted(keys))}.")


def _notes_from_json(written: dict[str, Any]) -> tuple[str, ...]:
    """Return the notes in the file, except the note that the privacy statement implies."""
    return tuple(note for note in _list_from_json(written, "notes", str, "texts") if note != SEEDED)


def _list_from_json(written: dict[str, Any], name: str, kind: type, plural: str) -> list[Any]:
    entries = written[name]
    if not isinstance(entries, list) or not all(isinstance(entry, kind) for entry in entries):
        raise ModelFormatError(f"'{name}' must be a list of {plural}.")
    return entries


def _json_number(name: str, value: Any, kind: type) -> Any:
    """Return a finite number as an int or a float."""
    allowed = (int,) if kind is int else (int, float)
    try:
        if isinstance(value, allowed) and not isinstance(value, bool) and math.isfinite(value):
            return kind(value)
    except OverflowError:  # an integer that is too large for a float
        pass
    raise ModelFormatError(f"'{name}' must be a finite {'whole ' * (kind is int)}number.")
