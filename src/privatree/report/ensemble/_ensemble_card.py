"""The sections of a card that only an ensemble has."""

from __future__ import annotations

from privatree.export import name_text
from privatree.model import EnsembleRelease
from privatree.report._card_text import CardParts, escape_card_markdown
from privatree.report._summary import ModelSummary
from privatree.report.ensemble._ensemble_page import EnsembleParts, ensemble_page

_MAX_ROWS = 15
_NO_TERMS = (
    "This ensemble is too large to be shown as a sum of terms. `privatree show MODEL` prints its "
    "rounds."
)


def ensemble_card(released: EnsembleRelease) -> CardParts:
    """Return what only the card of an ensemble has."""
    page = ensemble_page(released)
    own: EnsembleParts = page.own
    n_rounds, depth = own.ensemble.n_rounds, own.ensemble.depth
    rounds = "1 round" if n_rounds == 1 else f"{n_rounds:,} rounds"
    features = "one feature" if depth == 1 else f"at most {depth} features"
    return CardParts(
        summary=page.summary,
        tag="boosting",
        kind="An ensemble",
        size=f"It is the sum of {rounds}, each a function of {features}.",
        sections=(f"## Terms\n\n{_terms_text(own, page.summary)}",),
    )


def _terms_text(own: EnsembleParts, summary: ModelSummary) -> str:
    """Explain the terms, and list the strongest in a table."""
    if own.terms is None:
        return _NO_TERMS
    classes, target = own.ensemble.schema.classes, summary.target
    if target is not None and target.log:
        mean = f"{own.terms.intercept[0]:+.{own.digits + 1}f}"
        sums = f"The logarithm of 1 + {target.called} is {mean} plus one value per term."
        start = f"Where all terms are 0, the prediction is {own.start[0]}."
    elif target is not None:
        sums = f"The prediction is {own.start[0]} plus one value per term, in the units of"
        start = f"{target.called}. A sum outside the range counts as its nearer end."
    elif len(classes) == 2:
        label = name_text(classes[1])
        sums = f"The log-odds of {label} are {own.terms.intercept[0]:+.2f} plus one value per term."
        start = f"Where all terms are 0, the probability of {label} is {own.start[1]}."
    else:
        sums = "The score of each class is a constant plus one value per term."
        start = "The probabilities are the softmax of the scores."
    lines = [
        "| features | strength | share | beyond chance | highest | lowest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in own.rows[:_MAX_ROWS]:
        beyond = row.beyond_chance or "direction declared"
        cells = (row.names, row.strength, row.share, beyond, row.highest, row.lowest)
        lines.append(f"| {' | '.join(map(escape_card_markdown, cells))} |")
    if (n_more := len(own.terms) - _MAX_ROWS) > 0:
        lines.append(f"| … and {n_more:,} more | | | | | |")
    table = "\n".join(lines)
    n_weak = len(own.terms) - own.n_beyond
    weak = f" {n_weak:,} of {len(own.terms):,} terms are nowhere beyond it." if n_weak else ""
    return (
        escape_card_markdown(
            f"The rounds add up to {len(own.terms):,} terms, functions of one or a few features. "
            f"{sums} {start}"
        )
        + "\n\n"
        "The strength of a term is its mean absolute value, where all values that the schema "
        "allows are equally likely, and values in a released interval are likelier. Beyond chance "
        "is the share of values for which the term is more than twice as large as is typical if "
        "the functions of the rounds keep their shapes and toss coins for their signs."
        f"{weak}\n\n{table}"
    )
