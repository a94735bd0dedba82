"""The terms of a model, and what they add to: scores of classes, or the predicted number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.suggestions import did_you_mean
from privatree.errors import ParameterError
from privatree.export.text._shown_values import name_text
from privatree.model import EnsembleRelease, Tree, released_predictor
from privatree.model.terms import Term, Terms, ensemble_terms
from privatree.schema import Label


def terms_of(model: Any, max_pairs: int | None = None) -> Terms:
    """Return the terms of an ensemble, a model or a fitted classifier, or of their terms."""
    terms = model if isinstance(model, Terms) else _all_terms(model)
    return terms if max_pairs is None else terms.with_pairs(max_pairs)


def _all_terms(model: Any) -> Terms:
    found = released_predictor(model)
    if isinstance(found, Tree):
        raise TypeError(
            "model must be an ensemble, which is a sum of terms, got one tree. plot_tree draws a "
            "tree, and feature_importances_ says what its features tell."
        )
    if isinstance(model, EnsembleRelease):  # which keeps its terms
        return model.terms()
    return ensemble_terms(found)


def scored_classes(terms: Terms) -> tuple[Label, ...]:
    """Return the classes that have a score: all, or the second of two."""
    classes = tuple(terms.schema.classes)
    return classes[1:] if len(classes) == 2 else classes


def predicted_number(terms: Terms) -> str | None:
    """Return what the terms add up to if a number is predicted; None for classes."""
    target = terms.schema.target
    if target is None:
        return None
    return "logarithm of 1 plus the prediction" if target.log else "prediction"


def score_names(terms: Terms) -> tuple[str, ...]:
    """Return the names of the scores: those of the classes that have one, or the number."""
    number = predicted_number(terms)
    return tuple(map(name_text, scored_classes(terms))) if number is None else (number,)


def effects_by_class(term: Term) -> NDArray[np.float64]:
    """Return the effect of a term with one more dimension: for those of :func:`score_names`."""
    effect = term.effect
    return effect[..., np.newaxis] if effect.ndim == term.order else effect


def bands_by_class(term: Term) -> NDArray[np.float64] | None:
    """Return the band of a term in the shape of :func:`effects_by_class`."""
    if term.band is None:
        return None
    return term.band[..., np.newaxis] if term.band.ndim == term.order else term.band


def class_place(terms: Terms, label: Label | None) -> int | None:
    """Return the place of a class among those that have a score; None for no class.

    The first of two classes has no score of its own.
    """
    if label is None:
        return None
    if terms.schema.target is not None:
        raise ParameterError(
            f"label must be None for a model that predicts a number, got {label!r}.", "label"
        )
    known = scored_classes(terms)
    plain = label.item() if isinstance(label, np.generic) else label
    for place, one in enumerate(known):
        if one == plain and type(one) is type(plain):
            return place
    shown = ", ".join(map(repr, known))
    near = did_you_mean(plain, list(map(str, known))) if isinstance(plain, str) else ""
    what = "the class whose log-odds are added up" if len(known) == 1 else "one of the classes"
    raise ParameterError(f"label must be {what}: {shown}, got {label!r}.{near}", "label")


def score_text(terms: Terms, place: int | None) -> str:
    """Return what a term adds to: "log-odds of ill", "score of ill", "prediction"."""
    if (number := predicted_number(terms)) is not None:
        return number
    known = score_names(terms)
    if len(known) == 1:
        return f"log-odds of {known[0]}"
    return "score of each class" if place is None else f"score of {known[place]}"
