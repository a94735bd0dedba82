"""What epsilon means for a person, and what must be said aloud."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from privatree.privacy import PrivacyStatement, shown_amount
from privatree.report._shown_names import visible

SMALL = 0.2
"""An epsilon up to this lets one record change odds by less than a quarter."""
LARGE = 2.0
"""An epsilon above this lets one record change odds more than sevenfold: the page says so."""

_BELIEFS = (0.01, 0.1, 0.5)
_ASTRONOMICAL = math.log(1e15)


@dataclass(frozen=True)
class Alert:
    """Something that a reader must not miss."""

    tone: Literal["bad", "caution"]
    title: str
    text: str


@dataclass(frozen=True)
class Belief:
    """What somebody may have believed, and may believe after seeing the tree, in per cent."""

    before: str
    after: str
    before_share: float
    after_share: float


@dataclass(frozen=True)
class PrivacyWords:
    """The guarantee in plain language.

    Parameters
    ----------
    tone : {"holds", "caution", "bad"}
        How the page should look.
    epsilon : str
        In digits, or a sign.
    headline, meaning, terms : str
        A few words, a sentence or two, and what a specialist asks first.
    alerts : tuple of Alert
        What must be said aloud, the worst first.
    beliefs : tuple of Belief
        Bets; none where nothing bounds them.
    about : str
        What the beliefs are about.
    """

    tone: Literal["holds", "caution", "bad"]
    epsilon: str
    headline: str
    meaning: str
    terms: str
    alerts: tuple[Alert, ...]
    beliefs: tuple[Belief, ...]
    about: str


def privacy_words(privacy: PrivacyStatement) -> PrivacyWords:
    """Put a statement into plain language.

    Parameters
    ----------
    privacy : PrivacyStatement
        Of a model.
    """
    alerts = tuple(_alerts(privacy))
    is_finite = math.isfinite(privacy.epsilon)
    bad = any(alert.tone == "bad" for alert in alerts)
    replaced = privacy.neighbours == "replace"
    return PrivacyWords(
        tone="bad" if bad else "caution" if alerts else "holds",
        epsilon=shown_amount(privacy.epsilon) if is_finite else "∞",
        headline=_headline(privacy),
        meaning=_meaning(privacy),
        terms=_terms(privacy),
        alerts=alerts,
        beliefs=_beliefs(privacy),
        about="that your record says one thing and not another"
        if replaced
        else "that your record is in the table",
    )


def _headline(privacy: PrivacyStatement) -> str:
    if math.isinf(privacy.epsilon):
        return "nothing is promised"
    if privacy.seeded:
        return "only if the seed stays unknown"
    if privacy.claimed_epsilon is not None:
        return f"not the {privacy.claimed_epsilon:g} that was claimed"
    return "for a whole record"


def _meaning(privacy: PrivacyStatement) -> str:
    if math.isinf(privacy.epsilon):
        return (
            "No finite epsilon holds for a whole record. This tree may tell whether somebody is in "
            "the table, or what is written there; treat it as you would treat the records."
        )
    change = (
        "Whatever one person's record says" if privacy.neighbours == "replace"
        else "With or without one person's record"
    )  # fmt: skip
    rest = f", but for a probability of {shown_amount(privacy.delta)}" if privacy.delta else ""
    fact = (
        f"{change}, every possible tree is at most {factor_text(privacy.epsilon)} times as likely "
        f"to come out{rest}."
    )
    if privacy.epsilon > SMALL or privacy.seeded or privacy.delta:
        return fact
    return (
        f"{fact} So whoever studies this tree learns hardly more about a person than from a tree "
        "that was trained without that person."
    )


def _terms(privacy: PrivacyStatement) -> str:
    if math.isinf(privacy.epsilon):
        return "No finite epsilon holds for a whole record."
    between = (
        "tables that differ in one record"
        if privacy.neighbours == "replace"
        else "tables that differ by one record added or removed"
    )
    unless = " but the seed" if privacy.seeded else ""
    return (
        f"Epsilon {shown_amount(privacy.epsilon)}, delta {shown_amount(privacy.delta)}, for a "
        f"whole record: between any two {between}. It holds against everybody, whatever else they "
        f"know{unless}, and for ever."
    )


def _alerts(privacy: PrivacyStatement) -> list[Alert]:
    found = []
    if math.isinf(privacy.epsilon):
        found.append(
            Alert(
                "bad",
                "No privacy guarantee",
                "Epsilon is infinite. Noise was drawn, but what is named here is outside it, and "
                "nothing bounds what this tree reveals about a record.",
            )
        )
    if privacy.claimed_epsilon is not None:
        holds = (
            "no finite epsilon holds"
            if math.isinf(privacy.epsilon)
            else f"epsilon {shown_amount(privacy.epsilon)} holds"
        )
        found.append(
            Alert(
                "bad",
                f"The claimed epsilon of {privacy.claimed_epsilon:g} is not true for whole records",
                f"It is what a publication claims for {visible(privacy.learner)}. For a whole "
                f"record {holds}.",
            )
        )
    if privacy.seeded:
        found.append(
            Alert(
                "bad",
                "The noise was not secret",
                "It came from a seed (random_state). Whoever knows or guesses the seed can remove "
                "the noise, and with it all that is promised here. Train without a seed before "
                "publishing.",
            )
        )
    if LARGE < privacy.epsilon < math.inf:
        found.append(
            Alert(
                "caution",
                f"Epsilon {shown_amount(privacy.epsilon)} is large",
                f"One record can make a tree {factor_text(privacy.epsilon)} times as likely. That "
                "is a weak promise to a person.",
            )
        )
    return found


def factor_text(epsilon: float) -> str:
    """e to the epsilon, rounded up, in as many digits as say something."""
    if epsilon > _ASTRONOMICAL:
        return f"10^{math.ceil(epsilon / math.log(10)):,}"
    over = math.expm1(epsilon)
    digits = max(0, 2 - math.floor(math.log10(over))) if over > 0 else 2
    if over < 1:  # two digits of what is above 1
        unit = 10.0 ** -(digits - 1)
        return f"{1 + math.ceil(over / unit * (1 - 1e-12)) * unit:.{digits - 1}f}"
    factor = over + 1
    unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
    rounded = math.ceil(factor / unit * (1 - 1e-12)) * unit
    return f"{rounded:,.2f}".rstrip("0").rstrip(".") if rounded < 100 else f"{rounded:,.0f}"


# --- bets -----------------------------------------------------------------------------------------


def _beliefs(privacy: PrivacyStatement) -> tuple[Belief, ...]:
    """By Bayes: odds grow by a factor e^epsilon at most."""
    if math.isinf(privacy.epsilon) or privacy.delta > 0:
        return ()
    return tuple(
        Belief(f"{before:.0%}", _percent_up(after), before, after)
        for before in _BELIEFS
        for after in [_believed(before, privacy.epsilon)]
    )


def _believed(before: float, epsilon: float) -> float:
    against = math.exp(-epsilon) * (1 - before)
    return before / (before + against)


def _percent_up(share: float) -> str:
    per_cent = math.ceil(share * 1000 - 1e-9) / 10
    return "nearly 100%" if per_cent > 99.9 else f"{per_cent:.1f}%"
