"""A certificate as a JSON file. One that is read promises no more than its figures support."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from privatree._support import json_files
from privatree._support.atomic_files import replace_file
from privatree.errors import CertificateError, ModelFormatError, ParameterError
from privatree.privacy import PrivacyStatement
from privatree.robustness.certificates._certificate_text import (
    NOT_PRIVATE,
    SEEDED,
    comparison,
    conditions,
    meaning,
    notes,
)
from privatree.robustness.certificates._majority import Majority

if TYPE_CHECKING:
    from privatree.robustness.certificates._certificate import Certificate

    Kind = TypeVar("Kind", bound=Certificate)

Loaded = TypeVar("Loaded")

FORMAT, VERSION = "privatree-certificate", 1
READERS = {
    "accuracy": "AccuracyCertificate",
    "attack-success": "AttackSuccessCertificate",
    "predictions": "PredictionCertificates",
}
"""Which class reads a file of each kind."""
MAX_ROWS = 1000
"""Of a certificate in a file: each is computed again when it is read."""
ROUNDING = 1e-9
"""Of figures computed with another version of a library."""

_FIGURES = {
    "estimate": float,
    "clean_bound": float,
    "confidence": float,
    "refits": int,
    "n_train": int,
    "n_test": int,
}
_TEXTS = ("meaning", "comparison", "conditions", "notes", "warning")
"""For people. What they say follows from the figures, except the notes."""
_KEYS = {
    "format",
    "version",
    "kind",
    *_TEXTS,
    "privacy",
    "claimed_by",
    "majority",
    *_FIGURES,
    "rows",
}


def certificate_to_dict(certificate: Certificate) -> dict[str, Any]:
    """Plain dictionaries and lists."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": certificate.kind,
        "meaning": meaning(certificate),
        "comparison": comparison(certificate),
        "conditions": conditions(certificate),
        "notes": notes(certificate),
        "warning": NOT_PRIVATE,
        "privacy": certificate.privacy.to_dict(),
        "claimed_by": certificate.claimed_by,
        "majority": _majority_to_dict(certificate.majority),
        **{name: getattr(certificate, name) for name in _FIGURES},
        "rows": [
            {"poisoned": edits, _promise(certificate): value, "bound": bound, "bounds": all_bounds}
            for edits, (value, bound), all_bounds in certificate.rows
        ],
    }


def certificate_from_dict(kind: type[Kind], written: Any) -> Kind:
    """Read it; every mistake is a :class:`ModelFormatError`."""
    check_header(written, kind.kind, _KEYS)
    if not (written["claimed_by"] is None or isinstance(written["claimed_by"], str)):
        raise ModelFormatError("'claimed_by' must be a name or null.")
    rows = _objects("rows", written["rows"])
    if len(rows) > MAX_ROWS:
        raise ModelFormatError(f"'rows' must be at most {MAX_ROWS}.")
    privacy = PrivacyStatement.from_dict(written["privacy"])
    try:
        certificate = kind(
            privacy=privacy,
            claimed_by=written["claimed_by"],
            poisoned=tuple(number("poisoned", row.get("poisoned"), int) for row in rows),
            notes=own_notes(written["notes"]),
            majority=_majority_from_dict(written["majority"]),
            **{name: number(name, written[name], of) for name, of in _FIGURES.items()},
        )
    except (CertificateError, ParameterError) as error:
        raise ModelFormatError(str(error)) from None
    promise = _promise(certificate)
    for row, edits in zip(rows, certificate.poisoned, strict=True):
        promised = number(promise, row.get(promise), float)
        supported = certificate.guarantee(edits)
        excess = promised - supported if kind.more_is_better else supported - promised
        if excess > ROUNDING:
            raise ModelFormatError(
                f"what is guaranteed for {edits} poisoned records must follow from the figures, "
                "and promises more."
            )
    return certificate


def check_header(written: Any, kind: str, keys: set[str]) -> None:
    """Refuse a file of another format, version or kind, or with other keys.

    Parameters
    ----------
    written : object
        What was read.
    kind : str
        What it must be, one of `READERS`.
    keys : set of str
        What a file of this kind has.
    """
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise ModelFormatError(
            f"a certificate must be an object with 'format': '{FORMAT}'. privatree.load reads a "
            "model."
        )
    version = written.get("version")
    if type(version) is not int or version != VERSION:
        raise ModelFormatError(
            f"this privatree reads version {VERSION} of the certificate format. Please upgrade "
            "privatree if the file is of a later one."
        )
    found = written.get("kind")
    if found != kind:
        reader = READERS.get(found) if isinstance(found, str) else None
        hint = f" {reader}.load reads this one." if reader else ""
        raise ModelFormatError(f"{READERS[kind]} must be of the kind '{kind}'.{hint}")
    if written.keys() != keys:
        raise ModelFormatError(f"a certificate must have the keys {', '.join(sorted(keys))}.")


def read_json(path: str | Path, understand: Callable[[Any], Loaded]) -> Loaded:
    """Read a file; every mistake starts with its path.

    Parameters
    ----------
    path : path
        The file.
    understand : callable
        From plain dictionaries and lists to what they mean, or a :class:`ModelFormatError`.
    """
    return json_files.read_json(path, "a certificate", understand)


def write_json(path: str | Path, text: str) -> None:
    """Write a file, whole or not at all; a new one is for its owner only, as it is not private."""
    # A surrogate without its pair has no UTF-8; its backslash form is its JSON escape.
    replace_file(path, f"{text}\n".encode("utf-8", errors="backslashreplace"), private=True)


def _promise(certificate: Certificate) -> str:
    """The key of the figures: nothing is guaranteed by a claim."""
    return certificate.promise.replace(" ", "_")


def _majority_to_dict(majority: Majority | None) -> dict[str, Any] | None:
    return None if majority is None else {"class": majority.label, "share": majority.share}


def _majority_from_dict(written: Any) -> Majority | None:
    if written is None:
        return None
    if not isinstance(written, dict) or written.keys() != {"class", "share"}:
        raise ModelFormatError("'majority' must be null or have a 'class' and a 'share'.")
    return Majority(written["class"], number("share", written["share"], float))


def own_notes(written: Any) -> tuple[str, ...]:
    """The notes without those that follow from the figures."""
    if not isinstance(written, list) or not all(isinstance(note, str) for note in written):
        raise ModelFormatError("'notes' must be a list of texts.")
    return tuple(note for note in written if note != SEEDED)


def _objects(name: str, written: Any) -> list[dict[str, Any]]:
    if not isinstance(written, list) or not all(isinstance(entry, dict) for entry in written):
        raise ModelFormatError(f"'{name}' must be a list of objects.")
    return written


def number(name: str, written: Any, kind: type) -> Any:
    """A finite number of a kind, int or float."""
    allowed = (int,) if kind is int else (int, float)
    if isinstance(written, bool) or not isinstance(written, allowed) or not _is_finite(written):
        raise ModelFormatError(f"'{name}' must be a finite {'whole ' * (kind is int)}number.")
    return kind(written)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
