"""What epsilon means for a person, in words, and the warnings that the page must show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from privatree.privacy import PrivacyStatement, shown_amount
from privatree.report._shown_names import escape_shown_text

SMALL = 0.2
"""With an epsilon up to this value, one record changes odds by less than a quarter."""
LARGE = 2.0
"""With a larger epsilon, one record can change odds more than sevenfold: the page warns."""

_BELIEFS = (0.01, 0.1, 0.5)
_ASTRONOMICAL = math.log(1e15)
_MANY = 10**15


@dataclass(frozen=True)
class Alert:
    """A warning that a reader must not miss."""

    tone: Literal["bad", "caution"]
    title: str
    text: str


@dataclass(frozen=True)
class Belief:
    """A probability before an attacker sees the model, and its upper limit afterwards."""

    before: str
    after: str
    before_share: float
    after_share: float


@dataclass(frozen=True)
class PrivacyWords:
    """The guarantee in plain language. `terms` is for specialists; the worst alert is first.

    `beliefs` is empty if epsilon is infinite or delta is positive. `about` says what the beliefs
    are about. `delta_meaning` is empty if delta is 0 or epsilon is infinite, and `delta_chance`
    says delta as "1 in 1,000,000".
    """

    tone: Literal["holds", "caution", "bad"]
    epsilon: str
    delta: str
    delta_chance: str
    delta_meaning: tuple[str, ...]
    headline: str
    meaning: str
    terms: str
    alerts: tuple[Alert, ...]
    beliefs: tuple[Belief, ...]
    about: str


def privacy_words(privacy: PrivacyStatement, noun: str) -> PrivacyWords:
    """Explain a privacy statement in plain language. The noun is what the model is: "tree"."""
    alerts = tuple(_privacy_alert_words(privacy, noun))
    is_bad = any(alert.tone == "bad" for alert in alerts)
    return PrivacyWords(
        tone="bad" if is_bad else "caution" if alerts else "holds",
        epsilon=shown_amount(privacy.epsilon) if math.isfinite(privacy.epsilon) else "∞",
        delta=shown_amount(privacy.delta),
        delta_chance=_delta_chance_in_words(privacy.delta),
        delta_meaning=tuple(_delta_meaning_in_words(privacy, noun)),
        headline=_epsilon_headline_words(privacy),
        meaning=_epsilon_meaning_in_words(privacy, noun),
        terms=_guarantee_terms_in_words(privacy),
        alerts=alerts,
        beliefs=_beliefs_for_privacy_words(privacy),
        about=_belief_in_words(privacy),
    )


def _epsilon_headline_words(privacy: PrivacyStatement) -> str:
    if math.isinf(privacy.epsilon):
        return "nothing is promised"
    if privacy.seeded:
        return "only if the seed stays unknown"
    if privacy.claimed_epsilon is not None:
        return f"not the {privacy.claimed_epsilon:g} that was claimed"
    return f"for {privacy.words.whole}"


def _epsilon_meaning_in_words(privacy: PrivacyStatement, noun: str) -> str:
    if math.isinf(privacy.epsilon):
        return (
            f"No finite epsilon holds for {privacy.words.whole}. This {noun} may reveal whether "
            f"somebody is in the dataset, or what their {_records_say(privacy)}. Protect it as you "
            "protect the records."
        )
    rest = f", but for a probability of {shown_amount(privacy.delta)}" if privacy.delta else ""
    fact = (
        f"{_change_in_words(privacy)}, every possible {noun} is at most "
        f"{factor_in_words(privacy.epsilon)} times as likely to come out{rest}."
    )
    if privacy.epsilon > SMALL or privacy.seeded or privacy.delta:
        return fact
    whom, without = "a person", "without that person"
    if privacy.unit is not None:
        whom, without = f"the records of one {privacy.words.protected}", "without them"
    return (
        f"{fact} So this {noun} reveals hardly more about {whom} than {_with_article(noun)} that "
        f"was trained {without}."
    )


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun == "ensemble" else f"a {noun}"


def _delta_chance_in_words(delta: float) -> str:
    """Return a probability as "1 in 1,000,000", never smaller than it is."""
    if delta <= 0:
        return "never"
    if delta < 1 / _MANY:
        return f"less than 1 in {_MANY:,}"
    return f"1 in {math.floor((1 + 1e-9) / delta):,}"


def _delta_meaning_in_words(privacy: PrivacyStatement, noun: str) -> Iterator[str]:
    """Say what a positive delta means.

    Two laws that differ by epsilon and delta can be had from a law that reveals everything with
    probability delta and otherwise keeps epsilon. So the guarantee is at least as strong as that.
    """
    if not privacy.delta or math.isinf(privacy.epsilon):
        return
    yield (
        f"The promise of epsilon may fail with a probability of delta = "
        f"{shown_amount(privacy.delta)}, {_delta_chance_in_words(privacy.delta)}. At worst, the "
        f"{noun} is as private as one from a training that promises nothing with this probability, "
        "and keeps epsilon otherwise. Noise is drawn in every case."
    )
    counted, noisy_records = privacy.words.counted, privacy.noisy_records
    if noisy_records is None or noisy_records <= 0:
        return
    share = 1 / (privacy.delta * noisy_records)
    here = f"about {share:,.0f} times smaller" if share >= 2 else "not smaller"
    yield (
        f"Delta should be far below one in the number of {counted}. Here it is {here} than one in "
        f"{noisy_records:,}, their noisy number."
    )


def _records_say(privacy: PrivacyStatement) -> str:
    return "record says" if privacy.unit is None else "records say"


def _change_in_words(privacy: PrivacyStatement) -> str:
    replaces, whole = privacy.neighbours == "replace", privacy.words.whole
    if privacy.unit is not None:
        return f"Whatever {whole} say" if replaces else f"With or without {whole}"
    return "Whatever one record says" if replaces else "With or without one record"


def _belief_in_words(privacy: PrivacyStatement) -> str:
    if privacy.neighbours == "replace":
        return f"that your {_records_say(privacy)} one thing and not another"
    is_there = "record is" if privacy.unit is None else "records are"
    return f"that your {is_there} in the dataset"


def _guarantee_terms_in_words(privacy: PrivacyStatement) -> str:
    if math.isinf(privacy.epsilon):
        return f"No finite epsilon holds for {privacy.words.whole}."
    unless = " but the seed" if privacy.seeded else ""
    return (
        f"Epsilon {shown_amount(privacy.epsilon)}, delta {shown_amount(privacy.delta)}, for "
        f"{privacy.words.whole}: between any two {privacy.neighbours_text}. The guarantee holds "
        f"against everybody, whatever else they know{unless}, and for ever."
    )


def _privacy_alert_words(privacy: PrivacyStatement, noun: str) -> Iterator[Alert]:
    if math.isinf(privacy.epsilon):
        yield Alert(
            "bad",
            "No privacy guarantee",
            "Epsilon is infinite. Noise was drawn, but it does not cover the leaks named here. "
            f"Nothing bounds what this {noun} reveals about a record.",
        )
    if privacy.claimed_epsilon is not None:
        holds = (
            "no finite epsilon holds"
            if math.isinf(privacy.epsilon)
            else f"epsilon {shown_amount(privacy.epsilon)} holds"
        )
        yield Alert(
            "bad",
            f"The claimed epsilon of {privacy.claimed_epsilon:g} is not true for whole records",
            f"A publication claims this epsilon for {escape_shown_text(privacy.learner)}. For a "
            f"whole record {holds}.",
        )
    if privacy.seeded:
        yield Alert(
            "bad",
            "The noise was not secret",
            "The noise came from a seed (random_state). Whoever knows or guesses the seed can "
            "remove the noise, and then nothing is guaranteed. Train without a seed before you "
            "publish a model.",
        )
    if LARGE < privacy.epsilon < math.inf:
        whole = privacy.words.whole
        one = "One record" if privacy.unit is None else f"{whole[0].upper()}{whole[1:]}"
        yield Alert(
            "caution",
            f"Epsilon {shown_amount(privacy.epsilon)} is large",
            f"{one} can make {_with_article(noun)} {factor_in_words(privacy.epsilon)} times as "
            "likely. That is a weak promise to a person.",
        )


def factor_in_words(epsilon: float) -> str:
    """Return e to the epsilon, rounded up to about two or three significant digits."""
    if epsilon > _ASTRONOMICAL:
        return f"10^{math.ceil(epsilon / math.log(10)):,}"
    over = math.expm1(epsilon)
    digits = max(0, 2 - math.floor(math.log10(over))) if over > 0 else 2
    if over < 1:  # two digits of the part above 1
        unit = 10.0 ** -(digits - 1)
        return f"{1 + math.ceil(over / unit * (1 - 1e-12)) * unit:.{digits - 1}f}"
    factor = over + 1
    unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
    rounded = math.ceil(factor / unit * (1 - 1e-12)) * unit
    return f"{rounded:,.2f}".rstrip("0").rstrip(".") if rounded < 100 else f"{rounded:,.0f}"


# --- beliefs --------------------------------------------------------------------------------------


def _beliefs_for_privacy_words(privacy: PrivacyStatement) -> tuple[Belief, ...]:
    """Return what an attacker can believe by Bayes' rule: odds grow at most by e^epsilon."""
    if math.isinf(privacy.epsilon) or privacy.delta > 0:
        return ()
    beliefs = []
    for before in _BELIEFS:
        after = before / (before + math.exp(-privacy.epsilon) * (1 - before))
        per_cent = math.ceil(after * 1000 - 1e-9) / 10
        shown = "nearly 100%" if per_cent > 99.9 else f"{per_cent:.1f}%"
        beliefs.append(Belief(f"{before:.0%}", shown, before, after))
    return tuple(beliefs)
