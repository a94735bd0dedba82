"""All values that the page and the card show of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privatree.errors import ParameterError
from privatree.export import share_text, value_text
from privatree.model import EnsembleRelease
from privatree.model.ensemble import Ensemble
from privatree.model.terms import Terms, ensemble_terms
from privatree.report._budget_bar import BudgetBar, budget_bar
from privatree.report._page import ReportPage, certificate_data
from privatree.report._shown_names import shorten_shown_schema
from privatree.report._summary import summarize_model
from privatree.report.ensemble._budget_parts import (
    DrawnRange,
    drawn_ranges,
    ensemble_budget_parts,
)
from privatree.report.ensemble._script_data import ensemble_script_data, terms_that_fit
from privatree.report.ensemble._term_rows import (
    TermRow,
    effect_digits,
    is_beyond_chance,
    term_rows,
)

MAX_TERM_ROWS = 200
"""Largest number of terms in the table of the page."""
MAX_NUMBERS = 500_000
"""Most numbers on a page for all terms: effects, bands, and what is in a cell. Some 8 MB."""


@dataclass(frozen=True)
class EnsembleParts:
    """What only the page of an ensemble shows. The names in `ensemble` are short.

    `terms` is None if the ensemble is too large for terms, or its functions look at too many
    features. `n_terms` of them are on the page: all, unless they have too many values. Then the
    page cannot compute a prediction.
    """

    ensemble: Ensemble
    terms: Terms | None
    n_terms: int
    n_of_order: tuple[int, int, int]
    """Number of terms of one, two and three features."""
    n_beyond: int
    """Number of terms that are somewhere beyond pure chance."""
    digits: int
    """Digits behind the point of an effect."""
    start: tuple[str, ...]
    """Where all terms are 0, and so each score is its mean: the probability of each class, or the
    prediction."""
    rows: tuple[TermRow, ...]
    budget: BudgetBar
    ranges: tuple[DrawnRange, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the page has all terms, so that it can compute predictions."""
        return self.terms is not None and self.n_terms == len(self.terms)


def ensemble_page(released: EnsembleRelease, certificate: Any = None) -> ReportPage:
    """Return what the page of an ensemble is made of."""
    schema = shorten_shown_schema(released.schema_)
    ensemble = released.ensemble_
    if schema is not released.schema_:
        ensemble = replace(ensemble, schema=schema)
    summary = summarize_model(released, schema, ensemble.used_features, certificate)
    privacy = released.privacy_
    terms = _terms_if_possible(ensemble)
    shown_terms = terms_that_fit(terms or (), MAX_NUMBERS)
    own = EnsembleParts(
        ensemble=ensemble,
        terms=terms,
        n_terms=len(shown_terms),
        n_of_order=_count_orders(terms),
        n_beyond=0 if terms is None else sum(map(is_beyond_chance, terms)),
        digits=0 if terms is None else effect_digits(terms),
        start=() if terms is None else _start_texts(terms),
        rows=() if terms is None else term_rows(terms, MAX_TERM_ROWS),
        budget=budget_bar(ensemble_budget_parts(privacy), privacy),
        ranges=drawn_ranges(privacy),
    )
    data = ensemble_script_data(ensemble, summary.target, terms, shown_terms)
    certificates = {"certificate": certificate_data(summary.certificate, privacy.words)}
    return ReportPage(summary, own, data | certificates)


def _terms_if_possible(ensemble: Ensemble) -> Terms | None:
    try:
        return ensemble_terms(ensemble)
    except ParameterError:
        return None


def _count_orders(terms: Terms | None) -> tuple[int, int, int]:
    orders = [] if terms is None else [term.order for term in terms]
    return orders.count(1), orders.count(2), orders.count(3)


def _start_texts(terms: Terms) -> tuple[str, ...]:
    """Return the probabilities, or the prediction, of a record for which every term is 0."""
    scores, target = terms.intercept, terms.schema.target
    if target is not None:
        return (value_text(target, float(target.of_score(scores[0]))),)
    if len(scores) == 1:
        scores = np.array([0.0, scores[0]])
    powers = np.exp(scores - scores.max())
    return tuple(share_text(float(share)) for share in powers / powers.sum())
