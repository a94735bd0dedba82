"""The terms as rows of a table, with their largest effects in words."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from privatree.export import cell_texts, name_text, share_text, shown_thresholds
from privatree.model.ensemble import Ensemble
from privatree.model.terms import Term, Terms
from privatree.schema import Numeric

MINUS = "\u2212"
_CLASS_DIGITS, _NUMBER_DIGITS = 2, 3
"""Digits behind the point of effects on log-odds, and digits of the largest effect on a number."""
_MAX_DIGITS = 20
ShownCuts = dict[str, dict[float, str]]


@dataclass(frozen=True)
class TermRow:
    """A term as the row of a table.

    `share` is its part of all strengths. `beyond_chance` is the share of the public measure where
    the term is beyond pure chance, or empty if that is not known. `highest` and `lowest` say where
    it pushes most.
    """

    names: str
    strength: str
    share: str
    beyond_chance: str
    highest: str
    lowest: str


def term_rows(terms: Terms, at_most: int) -> tuple[TermRow, ...]:
    """Return the strongest terms as rows."""
    total = sum(term.strength for term in terms) or 1.0
    shown = shown_cuts(terms.ensemble)
    digits = effect_digits(terms)
    return tuple(_term_row(terms, term, total, shown, digits) for term in terms[:at_most])


def effect_digits(terms: Terms) -> int:
    """Return how many digits behind the point the effects of the terms are shown with.

    Log-odds have two. Effects on a number have so many that the largest has three digits in all.
    """
    if terms.schema.target is None:
        return _CLASS_DIGITS
    largest = max((float(np.abs(term.effect).max()) for term in terms), default=0.0)
    exponent = Decimal(largest).adjusted() if largest else 0
    return min(max(0, _NUMBER_DIGITS - 1 - exponent), _MAX_DIGITS)


def shown_cuts(ensemble: Ensemble) -> ShownCuts:
    """Return the text of each finite cut point of the numbers, by the name of the feature.

    A cut point has the same text in all terms.
    """
    features = list(ensemble.schema.features.items())
    found = {}
    for place, cuts in ensemble.packed.cuts.items():
        name, feature = features[place]
        if isinstance(feature, Numeric):
            found[name] = shown_thresholds(feature, cuts.tolist())
    return found


def is_beyond_chance(term: Term) -> bool:
    """Return whether a term is anywhere beyond pure chance, or was not drawn by its sign."""
    return term.beyond_chance is None or term.beyond_chance > 0


def effect_text(effect: float, digits: int) -> str:
    """Return an effect with its sign and some digits behind the point."""
    return f"{'+' if effect >= 0 else MINUS}{abs(effect):.{digits}f}"


def _term_row(terms: Terms, term: Term, total: float, shown: ShownCuts, digits: int) -> TermRow:
    beyond = term.beyond_chance
    return TermRow(
        names=" and ".join(map(name_text, term.names)),
        strength=f"{term.strength:.{digits + 1}f}",
        share=share_text(term.strength / total),
        beyond_chance="" if beyond is None else share_text(beyond),
        highest=_extreme_text(terms, term, int(term.effect.argmax()), shown, digits),
        lowest=_extreme_text(terms, term, int(term.effect.argmin()), shown, digits),
    )


def _extreme_text(terms: Terms, term: Term, place: int, shown: ShownCuts, digits: int) -> str:
    """Say what a term adds at a place of its effect, and for which values."""
    effect = float(term.effect.flat[place])
    index = np.unravel_index(place, term.effect.shape)
    classes = terms.schema.classes
    for_class = "" if len(classes) <= 2 else f" for {name_text(classes[int(index[-1])])}"
    values = " and ".join(
        f"{name_text(axis.name)} is {cell_texts(axis, shown=shown.get(axis.name))[int(cell)]}"
        for axis, cell in zip(term.axes, index, strict=False)
    )
    return f"{effect_text(effect, digits)}{for_class} if {values}"
