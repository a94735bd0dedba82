"""A certificate as a JSON file. One that is read promises no more than its figures support."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from privatree.errors import CertificateError, ModelFormatError, ParameterError
from privatree.privacy.statement import PrivacyStatement
from privatree.robustness.certificate_text import NOT_PRIVATE, SEEDED, conditions, meaning, notes

if TYPE_CHECKING:
    from privatree.robustness.curve import Certificate

    Kind = TypeVar("Kind", bound=Certificate)

FORMAT, VERSION = "privatree-certificate", 1
_MAX_BYTES = 16 * 2**20
_ROUNDING = 1e-9
"""Of figures computed with another version of a library."""

_FIGURES = {
    "estimate": float,
    "clean_bound": float,
    "confidence": float,
    "refits": int,
    "n_train": int,
    "n_test": int,
}
_TEXTS = ("meaning", "conditions", "notes", "warning")
"""For people. What they say follows from the figures, except the notes."""
_KEYS = {"format", "version", "kind", *_TEXTS, "privacy", "claimed_by", *_FIGURES, "guarantees"}


def certificate_to_dict(certificate: Certificate) -> dict[str, Any]:
    """Plain dictionaries and lists."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": certificate.kind,
        "meaning": meaning(certificate),
        "conditions": conditions(certificate),
        "notes": notes(certificate),
        "warning": NOT_PRIVATE,
        "privacy": certificate.privacy.to_dict(),
        "claimed_by": certificate.claimed_by,
        **{name: getattr(certificate, name) for name in _FIGURES},
        "guarantees": [
            {"poisoned": edits, "guaranteed": value, "bound": bound, "bounds": all_bounds}
            for edits, (value, bound), all_bounds in certificate.rows
        ],
    }


def certificate_from_dict(kind: type[Kind], written: Any) -> Kind:
    """Read it; every mistake is a :class:`ModelFormatError`."""
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise ModelFormatError(f"a certificate must be an object with 'format': '{FORMAT}'.")
    if written.get("version") != VERSION:
        raise ModelFormatError(
            f"this privatree reads version {VERSION} of the certificate format. Please upgrade "
            "privatree if the file is of a later one."
        )
    if written.keys() != _KEYS:
        raise ModelFormatError(f"a certificate must have the keys {', '.join(sorted(_KEYS))}.")
    if written["kind"] != kind.kind:
        raise ModelFormatError(f"{kind.__name__} must be of the kind '{kind.kind}'.")
    if not (written["claimed_by"] is None or isinstance(written["claimed_by"], str)):
        raise ModelFormatError("'claimed_by' must be a name or null.")
    guarantees = _objects("guarantees", written["guarantees"])
    privacy = PrivacyStatement.from_dict(written["privacy"])
    try:
        certificate = kind(
            privacy=privacy,
            claimed_by=written["claimed_by"],
            poisoned=tuple(_number("poisoned", row.get("poisoned"), int) for row in guarantees),
            notes=_own_notes(written["notes"]),
            **{name: _number(name, written[name], of) for name, of in _FIGURES.items()},
        )
    except (CertificateError, ParameterError) as error:
        raise ModelFormatError(str(error)) from None
    for row, (edits, (supported, _), _) in zip(guarantees, certificate.rows, strict=True):
        promised = _number("guaranteed", row.get("guaranteed"), float)
        excess = promised - supported if kind.more_is_better else supported - promised
        if excess > _ROUNDING:
            raise ModelFormatError(
                f"what is guaranteed for {edits} poisoned records must follow from the figures, "
                "and promises more."
            )
    return certificate


def read_json(path: Path) -> Any:
    """The content of a file; every mistake starts with its path."""
    encoded = path.read_bytes()
    if len(encoded) > _MAX_BYTES:
        raise ModelFormatError(f"{path}: a certificate must be at most {_MAX_BYTES} bytes.")
    try:
        return json.loads(encoded.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ModelFormatError(f"{path}: a certificate must be JSON in UTF-8.") from None


def _own_notes(written: Any) -> tuple[str, ...]:
    if not isinstance(written, list) or not all(isinstance(note, str) for note in written):
        raise ModelFormatError("'notes' must be a list of texts.")
    return tuple(note for note in written if note != SEEDED)


def _objects(name: str, written: Any) -> list[dict[str, Any]]:
    if not isinstance(written, list) or not all(isinstance(entry, dict) for entry in written):
        raise ModelFormatError(f"'{name}' must be a list of objects.")
    return written


def _number(name: str, written: Any, kind: type) -> Any:
    allowed = (int,) if kind is int else (int, float)
    if isinstance(written, bool) or not isinstance(written, allowed) or not _is_finite(written):
        raise ModelFormatError(f"'{name}' must be a finite {'whole ' * (kind is int)}number.")
    return kind(written)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
