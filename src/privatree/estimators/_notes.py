"""Notes of the statement about a model. They follow from released values, so they cost nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from privatree.model import Tree
from privatree.privacy.mechanisms import Geometric
from privatree.schema import Label, Schema, shorten_value

PUBLIC_SCHEMA = "the schema: column names, ranges, categories and classes"
PUBLIC_TARGET = "the schema: column names, ranges, categories and the range of the target"
PUBLIC_PARAMETERS = "the parameters of the learner"
DECLARED_INTERVAL = (
    "the interval that most targets lie in, as declared: it must not be read from the records"
)
"""What the statement lists as public."""
_MAX_NAMED = 5
"""Most classes that a note names."""
_MAX_ERROR_SHARE = 0.05
"""Largest error, as a share of all records, at which a small count tells anything."""
_LEAST_SIGNAL = 100
"""Least number of records times epsilon at which a model of a number usually beats a constant."""
_SIMPLIFIED = (
    "The tree was simplified from released values alone, which costs no privacy. Where splits took "
    "the place of a side with few or no records, the numbers of records below them do not include "
    "that side. The spends of dropped nodes are not listed: with those above them they add up to "
    "at most epsilon, too."
)
_NO_QUESTIONS = (
    "The tree has no questions: none made enough difference for these records and this epsilon. "
    "Training again costs epsilon again."
)


def tree_notes(drawn: Tree, released: Tree, leaf_epsilon: Fraction) -> list[str]:
    """Say what a reader of the released tree must know and cannot see in it.

    `leaf_epsilon` is the budget of the noisy class counts of a leaf; 0 if the leaves have none.
    """
    notes = [_SIMPLIFIED] if released.n_nodes < drawn.n_nodes else []
    if released.n_leaves == 1:
        notes.append(_NO_QUESTIONS)
    if rare := _classes_without_records(drawn, leaf_epsilon):
        more = len(rare) - _MAX_NAMED
        named = ", ".join(map(shorten_value, rare[:_MAX_NAMED])) + (f", {more} more" * (more > 0))
        notes.append(
            f"Few or no records have these classes: {named}. Are they spelt as in the records?"
        )
    return notes


def signal_notes(schema: Schema, size: int, epsilon: Fraction) -> list[str]:
    """Say whether there are too few records, for this epsilon, to predict a number.

    `size` is the number of records that the learner planned with: released, declared or public.
    """
    signal = size * epsilon
    if schema.target is None or signal >= _LEAST_SIGNAL:
        return []
    return [
        "There are few records for this epsilon: their number times epsilon is about "
        f"{float(signal):.2g}. Below about {_LEAST_SIGNAL}, a model hardly predicts a number "
        "better than one constant does."
    ]


def own_weights(unit: str | None) -> str:
    """Say what must hold for sample weights, so that one record or unit changes its own alone."""
    return (
        f"that the weight of a record follows from {'that record' if unit is None else 'its unit'} "
        "and public knowledge: it must not be computed from other records"
    )


def weight_notes(
    unit: str | None, has_weights: bool, max_sample_weight: float, class_weight: Any, drawn: str
) -> list[str]:
    """Say what the weights of the records change for a reader of the tree or ensemble."""
    notes = []
    if unit is not None:
        notes.append(
            "Each unit weighs as much as one record, divided among its records. So numbers of "
            f"records are numbers of units, and the {drawn} is right for most units, not for most "
            "records."
        )
    if has_weights:
        notes.append(
            f"Records have weights from 0 to {max_sample_weight:g}, which count as 0 to 1. Numbers "
            "of records are sums of weights."
        )
    if class_weight is not None:
        how = "inversely to their noisy number of records" if class_weight == "balanced" else (
            "as declared"
        )  # fmt: skip
        what = "Numbers of records of leaves, and probabilities," if drawn == "tree" else (
            "Probabilities"
        )  # fmt: skip
        notes.append(
            f"Classes were weighed {how}, the heaviest as 1. {what} are for records weighed in "
            "this way."
        )
    return notes


def _classes_without_records(drawn: Tree, leaf_epsilon: Fraction) -> list[Label]:
    """Return the classes whose noisy number of records is within the error of none.

    Where the error is a large part of all records, an ordinary class can look empty: none is named.
    """
    if drawn.noisy_counts is None or drawn.schema.target is not None:
        return []
    error = Geometric(leaf_epsilon).error(drawn.n_leaves)
    counts = drawn.noisy_counts.sum(axis=0).tolist()
    if error > _MAX_ERROR_SHARE * sum(counts):
        return []
    pairs = zip(drawn.schema.classes, counts, strict=True)
    return [label for label, count in pairs if count <= error]
