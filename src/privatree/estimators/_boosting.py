"""What the classifier and the regressor whose model is an ensemble have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privatree._support.progress import passing_bar
from privatree._support.suggestions import did_you_mean
from privatree._support.validation import check_integer, check_number
from privatree.counting import MAX_LEVELS, FineCells, default_n_bins
from privatree.errors import ParameterError
from privatree.estimators._base import OpenRecords
from privatree.estimators._notes import signal_notes
from privatree.estimators._training import PrivateTraining, Training
from privatree.estimators.holdout import HeldOut, dealt_records, stated_with_scores
from privatree.evaluation import PrivateScores
from privatree.learners.boosting import Boosting, BoostPlan, boost
from privatree.model.ensemble import Ensemble
from privatree.model.terms import Terms
from privatree.privacy import (
    PrivacyStatement,
    Randomness,
    conservative_delta,
    conservative_epsilon,
    epsilon_above,
)
from privatree.schema import Numeric, Schema
from privatree.sources import Source

_MIN_DELTA, _MAX_DELTA = 1e-30, 0.1
_MAX_ROUNDS = 1000


class EnsembleTraining(PrivateTraining):
    """Parameters and steps that the learners of ensembles share."""

    delta: float
    max_depth: int
    rounds: int | str
    monotonic_cst: Any
    ensemble_: Ensemble
    model_: Any
    _drawn = "ensemble"

    @property
    def _delta(self) -> Any:
        return self.delta

    def _train_ensemble(
        self,
        opened: OpenRecords,
        make_plan: Callable[[FineCells, int], BoostPlan],
        make_learner: Callable[..., Boosting],
        randomness: Randomness,
        held_out: HeldOut | None,
    ) -> tuple[Ensemble, PrivacyStatement, PrivateScores | None]:
        """Count, plan, charge, boost, score, and write the statement.

        `make_plan` gets the codes of the features, and the number of rows, which it uses only where
        it is public.
        """
        source, schema, unit, has_weights = opened
        directions = _directions(self.monotonic_cst, schema)
        n_bins = default_n_bins(len(schema.features)) if self.n_bins == "auto" else self.n_bins
        cells = FineCells.from_schema(schema, int(n_bins), MAX_LEVELS)
        with dealt_records(source, schema, held_out, randomness):
            records, n_rows = source.counts(cells.binner())
            plan = self._training_plan(make_plan(cells, n_rows), records.full_weight, held_out)

            def train(training: Training) -> Ensemble:
                shown = False if isinstance(source, Source) else None  # a source shows its passes
                with passing_bar("Rounds", shown) as show:
                    return boost(
                        records,
                        cells,
                        plan,
                        schema,
                        training.ledger,
                        directions,
                        training.after_size,
                        training.counted,
                        show,
                        make_learner,
                    )

            ensemble, training = self._train(
                train, records, plan, randomness, unit, delta=plan.delta, held_out=held_out
            )
            scores = self._released_scores(ensemble, source, randomness, unit, held_out)
        notes = [f"The guarantee rests on this: {text}." for text in source.assumptions]
        notes += signal_notes(schema, plan.planning_size(training.noisy_size), plan.epsilon)
        privacy = self._make_statement(schema, training, notes, has_weights)
        privacy = replace(
            privacy,
            delta=epsilon_above(plan.delta) if plan.delta else 0.0,
            composition=training.ledger.composition,
            schedule=plan.schedule(),
        )
        return ensemble, stated_with_scores(privacy, held_out, scores), scores

    def terms(self, *, max_pairs: int | None = None) -> Terms:
        """Return the ensemble as a sum of functions of few features; see `EnsembleModel.terms`."""
        check_is_fitted(self, "ensemble_")
        terms: Terms = self.model_.terms(max_pairs=max_pairs)
        return terms

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the strengths of all terms, from the released ensemble alone."""
        check_is_fitted(self, "ensemble_")
        shares: NDArray[np.float64] = self.model_.feature_importances_
        return shares

    def _shared_plan(self, cells: FineCells, n_rows: int) -> dict[str, Any]:
        """Return the learner's public parameters. `n_rows` is used only where it is public."""
        epsilon = conservative_epsilon("epsilon", self.epsilon)
        is_private = self.dataset_size == "private"
        dataset_size = None if is_private else int(self.dataset_size)
        replaces = self.neighbours == "replace"
        if replaces:  # one replaced record is one removed and one added
            epsilon /= 2
            dataset_size = max(1, n_rows) if is_private else dataset_size
        return {
            "epsilon": epsilon,
            "delta": conservative_delta("delta", self.delta) if self.delta else Fraction(0),
            "n_codes": cells.plain.n_codes,
            "max_depth": int(self.max_depth),
            "n_rounds": None if self.rounds == "auto" else int(self.rounds),
            "dataset_size": dataset_size,
            "replaces": replaces,
            "n_zoomed": len(cells.features),
            "min_records": cells.schema.min_records,
        }

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        self._check_shared_parameters()
        check_number(
            "delta",
            self.delta,
            lambda delta: delta == 0 or _MIN_DELTA <= delta <= _MAX_DELTA,
            f"be 0, or from {_MIN_DELTA:g} to {_MAX_DELTA:g}",
        )
        check_integer("max_depth", self.max_depth, 1, 3)
        if self.rounds != "auto":
            check_integer("rounds", self.rounds, 1, _MAX_ROUNDS, unless='"auto"')
        if isinstance(self.schema, Schema):
            _directions(self.monotonic_cst, self.schema)


def _directions(monotonic_cst: Any, schema: Schema) -> list[int]:
    """Return the direction of each feature: 1, -1 or 0."""
    directions = _given_directions(monotonic_cst, schema.names)
    for (name, feature), direction in zip(schema.features.items(), directions, strict=True):
        if direction and not isinstance(feature, Numeric):
            raise ParameterError(
                f"monotonic_cst must be 0 for a categorical feature, got {direction} for {name!r}. "
                "Only numbers can be monotone.",
                "monotonic_cst",
            )
    if any(directions) and len(schema.classes) > 2:
        raise ParameterError(
            "monotonic_cst must be used with two classes: with more, no class is the higher one.",
            "monotonic_cst",
        )
    return directions


def _given_directions(monotonic_cst: Any, names: Sequence[str]) -> list[int]:
    if monotonic_cst is None:
        return [0] * len(names)
    if isinstance(monotonic_cst, Mapping):
        if unknown := [name for name in monotonic_cst if name not in names]:
            raise ParameterError(
                "monotonic_cst must have names of features of the schema, got "
                f"{unknown[0]!r}.{did_you_mean(str(unknown[0]), names)}",
                "monotonic_cst",
            )
        given: list[Any] = [monotonic_cst.get(name, 0) for name in names]
    else:
        given = np.asarray(monotonic_cst).ravel().tolist()
    if len(given) != len(names):
        raise ParameterError(
            f"monotonic_cst must have a number for each of the {len(names)} features, "
            f"got {len(given)}.",
            "monotonic_cst",
        )
    if any(isinstance(one, bool) or one not in (-1, 0, 1) for one in given):
        raise ParameterError("monotonic_cst must have the numbers -1, 0 and 1.", "monotonic_cst")
    return [int(one) for one in given]
