"""Certificates in plain words: what is certain, on what conditions, and what is not private.

The sentences are also written into certificate files, so they must not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from privatree.privacy import PrivacyStatement, shown_amount

if TYPE_CHECKING:
    from privatree.robustness.certificates._certificate import Certificate
    from privatree.robustness.certificates._intervals import PredictionIntervals
    from privatree.robustness.certificates._majority import Majority
    from privatree.robustness.certificates._predictions import PredictionCertificates

    _AnyCertificate: TypeAlias = Certificate | PredictionCertificates | PredictionIntervals

NOT_PRIVATE = (
    "This certificate was computed from the records without privacy: publishing it is outside "
    "epsilon."
)
SEEDED = (
    "The refits came from random_state, so that they can be repeated. The confidence holds for a "
    "seed that was not chosen by its result."
)
_BOUND_COLUMN = "bound: the letter of the best one. A is the paper's; any other is tighter there."
_CERTAIN_COLUMN = "certain: share of the records for which the class predicted most often stays so."
_MAX_CLASS_WIDTH = 40
"""Largest number of characters of a class that are printed; longer texts are cut."""
_PREDICTION_ROWS = 6
_FEW_CHOICES = 2
"""A schedule with so few choices stands for an unknown number of rounds, or is for one round.

An ensemble for a number has one choice more than its rounds: the interval of the target."""


# --- certificates of a score ----------------------------------------------------------------------


def score_certificate_text(certificate: Certificate) -> str:
    """Return the whole certificate of an accuracy, a success rate or an error as text."""
    word = "Claimed certificate" if certificate.claimed_by is not None else "Certificate"
    side = "at least" if certificate.more_is_better else "at most"
    header = [
        ("without poison, average of the refits", _plain_text(certificate, certificate.estimate)),
        (f"without poison, expected {side}", _safe_text(certificate, certificate.clean_bound)),
    ]
    if certificate.majority is not None:
        always = f"always answering {_class_text(certificate.majority)}"
        header.append((always, _plain_text(certificate, certificate.majority.share)))
    width = max(len(name) for name, _ in header)
    rows = [
        ("poisoned", "share", certificate.promise, "bound"),
        *(
            (str(edits), f"{edits / certificate.n_train:.2%}", _safe_text(certificate, value), by)
            for edits, (value, by), _ in certificate.rows
        ),
    ]
    figures = [
        f"{word} of {certificate.learner}, {_amounts_text(certificate.privacy)}: "
        f"{certificate.score} against poisoned training {certificate.privacy.words.counted}",
        *(f"  {name:<{width}}   {figure}" for name, figure in header),
        "",
        *_table_text(rows),
        f"  {_BOUND_COLUMN}",
    ]
    return _join_text(figures, _score_hints(certificate), score_certificate_sentences(certificate))


def score_certificate_sentences(certificate: Certificate) -> dict[str, Any]:
    """Return the sentences of an accuracy or success rate certificate by their key in the file."""
    words, of_number = certificate.privacy.words, certificate.kind == "error"
    side = "at least" if certificate.more_is_better else "at most"
    shown = "guaranteed" if certificate.claimed_by is None else "shown"
    reserve = "" if certificate.claimed_by is None else ", if the claim is true"
    meaning = (
        f"{_evidence_text(certificate)} and test set "
        f"({pluralize(certificate.n_test, 'record')}), any x additions or removals of training "
        f"{words.counted} leave an expected {certificate.score} of {side} what is {shown} for "
        f"x{reserve}. {_two_edits_text(words.two_edits, of_number)}"
    )
    comparison = []
    if certificate.majority is not None:
        comparison = [
            f"Always answering {_class_text(certificate.majority)} would have "
            f"{'an' if certificate.score[0] in 'aeiou' else 'a'} {certificate.score} of "
            f"{_plain_text(certificate, certificate.majority.share)} on the test set.",
            *_score_hints(certificate),
        ]
    trigger = ", the trigger" if certificate.kind == "attack-success" else ""
    conditions = [
        *_range_conditions_text(certificate),
        f"the test set{trigger} and the parameters of the learner were fixed before training, and "
        "no attacker changes them",
        *(
            public_conditions_text(certificate.privacy)
            if certificate.claimed_by is None
            else _claim_conditions_text(certificate.privacy, certificate.claimed_by)
        ),
    ]
    return {
        "meaning": meaning,
        "comparison": comparison,
        "conditions": conditions,
        "notes": _notes_text(certificate),
        "warning": NOT_PRIVATE,
    }


def _score_hints(certificate: Certificate) -> list[str]:
    """Return advice if every bound for poisoned records is worse than one answer for all."""
    gains = [
        certificate.compare_with_majority(value)
        for edits, (value, _), _ in certificate.rows
        if edits > 0
    ]
    if certificate.majority is None or not gains or max(gains) >= 0:
        return []
    robust = _stronger_parameter(certificate.privacy)
    counted = certificate.privacy.words.counted
    clean, estimate = map(
        certificate.compare_with_majority, (certificate.clean_bound, certificate.estimate)
    )
    too_few = clean < 0 <= estimate
    worse = "below" if certificate.more_is_better else "above"
    return [
        f"Every figure for poisoned {counted} is {worse} that of always answering "
        f"{_class_text(certificate.majority)}. {'More refits, a' if too_few else 'A'} smaller "
        f"epsilon, {robust}more training {counted} or fewer poisoned ones can make certificates "
        "stronger."
    ]


def _stronger_parameter(privacy: PrivacyStatement) -> str:
    """Return the parameter of our own learners that makes certificates stronger, and a comma."""
    if privacy.learner in ("PrivaBoostClassifier", "PrivaBoostRegressor"):
        paths = () if privacy.schedule is None else privacy.schedule.sequences
        n_choices = (sum(stage.kind == "choice" for stage in path) for path in paths)
        return "" if max(n_choices, default=0) > _FEW_CHOICES else "a declared number of rounds, "
    return "" if privacy.schedule is None else 'schedule="robust", '


def _safe_text(certificate: Certificate, value: float) -> str:
    return score_text(value, up=not certificate.more_is_better, last=_last_place(certificate))


def _plain_text(certificate: Certificate, value: float) -> str:
    """Return a score that promises nothing, rounded to the nearest."""
    return f"{Decimal(value).quantize(Decimal((0, (1,), _last_place(certificate)))):f}"


def _last_place(certificate: Certificate) -> int:
    """Return the decimal exponent of the last digit of a score: the fourth after the largest."""
    return Decimal(certificate.largest).adjusted() - 4


def _range_conditions_text(certificate: Certificate) -> list[str]:
    ends = getattr(certificate, "target_range", None)
    if ends is None:
        return []
    low, high = (f"{end:.6g}" for end in ends)
    return [
        f"predictions below {low} count as {low}, and those above {high} as {high}: the test "
        "targets are between these numbers"
    ]


def _class_text(majority: Majority) -> str:
    name = repr(majority.label)
    return name if len(name) <= _MAX_CLASS_WIDTH else f"{name[: _MAX_CLASS_WIDTH - 3]}..."


# --- certificates of predictions ------------------------------------------------------------------


def prediction_certificates_text(certificates: PredictionCertificates) -> str:
    """Return a text about all records together. The table has the single records."""
    privacy = certificates.privacy
    most = max(int(certificates.tolerates.max()), 0)
    numbers = sorted(set(np.linspace(0, most, _PREDICTION_ROWS).astype(int).tolist()))
    shares = [(str(edits), f"{certificates.certified_share(edits):.2%}") for edits in numbers]
    figures = [
        f"Certificates of {pluralize(len(certificates.counts), 'prediction')} of "
        f"{privacy.learner}, {_amounts_text(privacy)}",
        "",
        *_table_text([("poisoned", "certain"), *shares]),
        f"  {_CERTAIN_COLUMN}",
    ]
    sentences = prediction_certificates_sentences(certificates)
    return _join_text(figures, _prediction_hints(certificates), sentences)


def prediction_certificates_sentences(certificates: PredictionCertificates) -> dict[str, Any]:
    """Return the sentences of the certificates of predictions by their key in the file."""
    words = certificates.privacy.words
    meaning = (
        f"{_evidence_text(certificates)} and all "
        f"{pluralize(len(certificates.counts), 'record')} to predict together: the class that the "
        "learner predicts most often for a record stays the one that it predicts most often, "
        f"after any additions or removals of at most as many training {words.counted} as that "
        f"tolerates. {words.two_edits}"
    )
    fixed = "the parameters of the learner were fixed before training"
    return {
        "meaning": meaning,
        "conditions": [fixed, *public_conditions_text(certificates.privacy)],
        "notes": _notes_text(certificates),
        "warning": NOT_PRIVATE,
    }


def _prediction_hints(certificates: PredictionCertificates) -> list[str]:
    """Return advice if nothing is certain for some records."""
    undecided = int(np.sum(certificates.tolerates < 0))
    if undecided == 0:
        return []
    start = (
        f"Nothing is certain for {undecided} of {pluralize(len(certificates.counts), 'record')}, "
        "not even without poison: "
    )
    fewest = certificates.fewest_refits
    if certificates.refits < fewest:
        return [
            f"{start}that takes at least {pluralize(fewest, 'refit')} here, and more where they "
            f"disagree; there were {certificates.refits}. Use more."
        ]
    return [f"{start}the refits disagree too often. More of them make more certain."]


# --- intervals of predictions --------------------------------------------------------------------


def prediction_intervals_text(intervals: PredictionIntervals) -> str:
    """Return a text about all records together. The table has the single records."""
    privacy = intervals.privacy
    rows = [("poisoned", "typical width", "largest width")]
    for edits in intervals.poisoned:
        widths = intervals.widths(edits)
        rows.append((str(edits), f"{np.median(widths):.6g}", f"{widths.max():.6g}"))
    figures = [
        f"Intervals of {pluralize(len(intervals.values), 'prediction')} of "
        f"{privacy.learner}, {_amounts_text(privacy)}",
        "",
        *_table_text(rows, 13),
    ]
    sentences = prediction_intervals_sentences(intervals)
    return _join_text(figures, _interval_hints(intervals), sentences)


def prediction_intervals_sentences(intervals: PredictionIntervals) -> dict[str, Any]:
    """Return the sentences of intervals of predictions by their key in the file."""
    words = intervals.privacy.words
    meaning = (
        f"{_evidence_text(intervals)} and all "
        f"{pluralize(len(intervals.values), 'record')} to predict together: the median of the "
        "numbers that the learner predicts for a record, over its noise, stays in the interval for "
        f"x after any x additions or removals of training {words.counted}. "
        f"{_two_edits_text(words.two_edits, of_number=True)} The interval says nothing about the "
        "true target of the record."
    )
    fixed = "the parameters of the learner were fixed before training"
    return {
        "meaning": meaning,
        "conditions": [fixed, *public_conditions_text(intervals.privacy)],
        "notes": _notes_text(intervals),
        "warning": NOT_PRIVATE,
    }


def _interval_hints(intervals: PredictionIntervals) -> list[str]:
    """Return advice if nothing is certain for some numbers of edits."""
    low, high = intervals.target_range
    vacuous = [x for x in intervals.poisoned if (intervals.widths(x) >= high - low).all()]
    if not vacuous:
        return []
    return [
        f"For {min(vacuous)} poisoned {intervals.privacy.words.counted} or more, the intervals are "
        "the whole range of the target: nothing is certain. A smaller epsilon, more refits or "
        "fewer poisoned ones can make intervals narrower."
    ]


# --- conditions and notes -------------------------------------------------------------------------


def public_conditions_text(privacy: PrivacyStatement) -> list[str]:
    """Return the conditions on what the learner assumes to be public."""
    if not privacy.public:
        return []
    return [
        "these do not come from the records, so poison cannot change them: "
        f"{_public_list_text(privacy)}",
        "types of columns and labels were fixed beforehand, and "
        + (
            "each record is read on its own: no other record changes how"
            if privacy.unit is None
            else "no record of another unit changes how a record is read or weighed"
        ),
    ]


def _claim_conditions_text(privacy: PrivacyStatement, claimed_by: str) -> list[str]:
    epsilon = shown_amount(privacy.claimed_epsilon or 0.0)
    entries = [
        f"epsilon = {epsilon} holds for one record added or removed: this is claimed by "
        f"{claimed_by}, it is not guaranteed, and the certificate is only as true as that claim"
    ]
    if privacy.public:
        entries.append(
            f"the claim takes these as public: {_public_list_text(privacy)}. Where poison changes "
            "one of them, not even the claim covers it"
        )
    entries += [f"known to contradict the claim: {k.name}: {k.explanation}" for k in privacy.leaks]
    return entries


def _public_list_text(privacy: PrivacyStatement) -> str:
    """Return a one-line list of what is public, with explanations in brackets."""
    parts = [entry.partition(": ") for entry in privacy.public]
    return "; ".join(f"{name} ({why})" if why else name for name, _, why in parts)


def _two_edits_text(two_edits: str, of_number: bool) -> str:
    return two_edits.replace("flipped label", "changed target") if of_number else two_edits


def _notes_text(certificate: _AnyCertificate) -> list[str]:
    return [*certificate.notes, *([SEEDED] if certificate.privacy.seeded else [])]


def _amounts_text(privacy: PrivacyStatement) -> str:
    """Return the guaranteed or claimed epsilon, and delta if there is one."""
    claimed = privacy.claimed_epsilon
    epsilon = f"epsilon {shown_amount(privacy.epsilon if claimed is None else claimed)}"
    return f"{epsilon} and delta {shown_amount(privacy.delta)}" if privacy.delta else epsilon


# --- formatting -----------------------------------------------------------------------------------


def _evidence_text(certificate: _AnyCertificate) -> str:
    return (
        f"With {confidence_text(certificate.confidence)} confidence over "
        f"{pluralize(certificate.refits, 'refit')}, for this training set "
        f"({pluralize(certificate.n_train, certificate.privacy.words.noun)})"
    )


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural: 1 record, 2 records."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def confidence_text(confidence: float) -> str:
    """Return a probability as a percentage without trailing zeros."""
    return f"{Decimal(repr(confidence)) * 100:f}".rstrip("0").rstrip(".") + "%"


def score_text(value: float, *, up: bool, last: int = -4) -> str:
    """Return a score, rounded in the direction that promises less.

    `last` is the decimal exponent of the last digit.
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return f"{Decimal(repr(value)).quantize(Decimal((0, (1,), last)), rounding=rounding):f}"


def _table_text(rows: Iterable[Sequence[str]], width: int = 10) -> list[str]:
    return ["  " + "  ".join(cell.rjust(width) for cell in row) for row in rows]


def _join_text(figures: list[str], hints: list[str], sentences: dict[str, Any]) -> str:
    fill = TextWrapper(96, break_on_hyphens=False).fill
    bullet = TextWrapper(
        96, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
    )
    lines = [*figures, ""]
    for hint in hints:
        lines += [fill(hint), ""]
    lines.append(fill(sentences["meaning"]))
    for title, key in (("on the conditions that", "conditions"), ("notes", "notes")):
        if sentences[key]:
            lines += [f"{title}:", *map(bullet.fill, sentences[key])]
    return "\n".join([*lines, "", fill(NOT_PRIVATE)])
