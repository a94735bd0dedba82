"""A held-out part that ``fit`` was asked for, and the scores that are released from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from privatree._support.validation import check_number
from privatree.counting.dealing import Dealing
from privatree.errors import ParameterError
from privatree.evaluation import (
    PrivateScores,
    ScoreQuery,
    check_score_epsilon,
    release_scores,
    score_plan,
)
from privatree.model import Tree
from privatree.model.ensemble import Ensemble
from privatree.privacy import (
    Holdout,
    Ledger,
    PrivacyStatement,
    Randomness,
    check_epsilon,
    conservative_epsilon,
    epsilon_above,
    positive_fraction,
)
from privatree.schema import Schema
from privatree.sources import Records

_LEAST = 0.001
"""Least share of either part."""


class SizedPlan(Protocol):
    """A plan of a learner, which may use a declared or public number of records."""

    @property
    def dataset_size(self) -> int | None: ...


AnyPlan = TypeVar("AnyPlan", bound=SizedPlan)


@dataclass(frozen=True)
class HeldOut:
    """A held-out part: the share of the records, and epsilon of the scores as the user gave it."""

    share: Fraction
    score_epsilon: Any

    @classmethod
    def from_parameters(cls, holdout: Any, score_epsilon: Any, epsilon: Any) -> Self | None:
        """Check the parameters of ``fit``; return None if no part is to be held out.

        `epsilon` is that of the model.
        """
        if holdout is None:
            if score_epsilon is not None:
                raise ParameterError(
                    "score_epsilon must be used with holdout, the share of the records that the "
                    "model is scored on. Pass holdout=0.2, say.",
                    "score_epsilon",
                )
            return None
        check_number(
            "holdout",
            holdout,
            lambda share: _LEAST <= share <= 1 - _LEAST,
            f"be a share from {_LEAST:g} to {1 - _LEAST:g}",
        )
        if score_epsilon is None:
            score_epsilon = epsilon
        check_epsilon(score_epsilon, "score_epsilon")
        return cls(Fraction(float(holdout)), score_epsilon)

    def training_plan(self, plan: AnyPlan) -> AnyPlan:
        """Return the plan for the training part.

        A declared number of records, or one that is public, is that of both parts. The number of
        records in the training part alone is never public.
        """
        if plan.dataset_size is None:
            return plan
        size = max(1, round(plan.dataset_size * (1 - self.share)))
        return replace(plan, dataset_size=size)  # type: ignore[type-var]

    def check_noise(self, full_weight: int) -> None:
        """Check, before anything is charged, that noise can be drawn for so small an epsilon."""
        check_score_epsilon("score_epsilon", self.score_epsilon, full_weight)

    def release_scores(
        self, predictor: Tree | Ensemble, records: Records, randomness: Randomness, **words: Any
    ) -> PrivateScores:
        """Score a tree or ensemble with the held-out part. It was charged with the training.

        `words` are `unit` and `neighbours` of the guarantee.

        Notes
        -----
        Neighbours, Sensitivity, Guarantee: those of :func:`privatree.evaluation.release_scores`.
        Cost: ``score_epsilon`` for the records of the held-out part, and nothing for others.
        """
        query = ScoreQuery(score_plan(predictor), records.weigher)
        exact = records.answer_held_out(query)
        epsilon = conservative_epsilon("score_epsilon", self.score_epsilon)
        # For neighbours that replace a record, the ledger is for one of two that change.
        of_one = epsilon / 2 if words["neighbours"] == "replace" else epsilon
        with np.errstate(all="ignore"):
            return release_scores(
                query.plan,
                exact.tables,
                Ledger(of_one, randomness),
                epsilon=epsilon,
                full_weight=query.full_weight,
                seeded=randomness.seeded,
                **words,
            )


@contextmanager
def dealt_records(
    records: Records, schema: Schema, held_out: HeldOut | None, randomness: Randomness
) -> Iterator[None]:
    """Deal the records, if a part is held out, under a fresh key that is forgotten at the end.

    Then they are closed, also after an error.
    """
    if held_out is not None:
        records.dealing = Dealing.draw(schema, held_out.share, randomness)
    try:
        yield
    finally:
        records.dealing = None
        records.close()


def stated_with_scores(
    privacy: PrivacyStatement, held_out: HeldOut | None, scores: PrivateScores | None
) -> PrivacyStatement:
    """Return the statement about a model and its scores, if there are any."""
    if held_out is None or scores is None:
        return privacy
    score_epsilon = epsilon_above(positive_fraction("score_epsilon", held_out.score_epsilon))
    dealt = (
        f"Each {privacy.words.noun} was dealt by itself, under a key that nobody keeps: it was "
        "either trained on or scored with, and never both. So the model and its scores together "
        "cost the larger of their epsilons."
    )
    return replace(
        privacy,
        epsilon=max(privacy.epsilon, score_epsilon),
        notes=(*privacy.notes, dealt),
        holdout=Holdout(
            share=float(held_out.share),
            model_epsilon=privacy.epsilon,
            score_epsilon=score_epsilon,
            spends=scores.spends,
        ),
    )
