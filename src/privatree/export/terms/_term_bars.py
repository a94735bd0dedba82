"""The strongest terms of an ensemble as lines of text, with a bar for the strength of each."""

from __future__ import annotations

import math
from typing import Any

from privatree.export.terms._dots import shown_name
from privatree.export.terms._reading import predicted_number, score_names, terms_of
from privatree.export.text._ensemble_text import size_line
from privatree.export.text._shown_values import name_text, share_text
from privatree.model.terms import Term, Terms

_BAR_LENGTH = 20  # characters
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def term_bars(model: Any, max_terms: int = 15) -> str:
    """Return the size of an ensemble and its strongest terms, without a line break at the end."""
    terms = terms_of(model)
    shown = terms.kept[:max_terms]
    lines = [size_line(terms.ensemble), _sum_line(terms)]
    if not shown:
        return "\n".join(lines)
    names = [" and ".join(shown_name(name_text(name)) for name in term.names) for term in shown]
    width = max(map(len, [*names, "term"]))
    digits = _digits(terms, shown[0].strength)
    lines += ["", f"{'term':{width}}  strength  {'':{_BAR_LENGTH}}  beyond chance"]
    for name, term in zip(names, shown, strict=True):
        bar = _bar(term.strength / (shown[0].strength or 1.0))
        lines.append(
            f"{name:{width}}  {term.strength:8.{digits}f}  {bar}  {_beyond_text(term):>13}"
        )
    if (n_more := len(terms) - len(shown)) > 0:
        each = "1 weaker term" if n_more == 1 else f"{n_more:,} weaker terms"
        lines.append(f"… and {each}, up to {terms[len(shown)].strength:.{digits}f}")
    lines += [
        "",
        f"strength: mean effect on the {predicted_number(terms) or 'score'}, up to the sign, over "
        "the declared values",
        "beyond chance: share of them where the effect is larger than noise alone explains; if the",
        "records say nothing, about 5% or less",
    ]
    return "\n".join(lines)


def _sum_line(terms: Terms) -> str:
    n_terms = "1 term" if len(terms) == 1 else f"{len(terms):,} terms"
    target, number = terms.schema.target, predicted_number(terms)
    if target is not None:
        return (
            f"The {number} is {terms.intercept[0]:.6g} plus the sum of {n_terms}, clipped to the\n"
            f"range of the target from {target.low:.6g} to {target.high:.6g}."
        )
    classes = score_names(terms)
    if len(classes) == 1:
        return (
            f"The log-odds of {classes[0]} are {terms.intercept[0]:.3f} plus the sum of {n_terms}."
        )
    return f"The score of each of {len(classes)} classes is its mean plus the sum of {n_terms}."


def _digits(terms: Terms, strongest: float) -> int:
    """Return the number of decimals of strengths. The unit of a predicted number may be any."""
    if terms.schema.target is None or strongest <= 0:
        return 3
    return max(0, 3 - math.floor(math.log10(strongest)))


def _bar(share: float) -> str:
    whole, eighths = divmod(round(share * _BAR_LENGTH * 8), 8)
    bar = "█" * whole + (_EIGHTHS[eighths] if eighths else "")
    return f"{bar:{_BAR_LENGTH}}"


def _beyond_text(term: Term) -> str:
    if term.beyond_chance is None:
        return "monotone"
    return share_text(term.beyond_chance)
