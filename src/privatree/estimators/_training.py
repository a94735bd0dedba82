"""What the private learners have in common: parameters, charges, training and statement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from privatree._support.validation import check_integer, check_number, check_one_of
from privatree.counting import ClassCounts
from privatree.errors import ParameterError, TooFewRecordsError
from privatree.estimators._charges import Charges
from privatree.estimators._class_weights import check_class_weight
from privatree.estimators._notes import (
    PUBLIC_PARAMETERS,
    PUBLIC_SCHEMA,
    PUBLIC_TARGET,
    own_weights,
    weight_notes,
)
from privatree.estimators._schema_checks import schema_leaks
from privatree.estimators.holdout import HeldOut
from privatree.evaluation import PrivateScores
from privatree.learners.first_steps import FULL_FACTOR, MAX_COUNT
from privatree.model import Tree
from privatree.model.ensemble import Ensemble
from privatree.privacy import (
    Ledger,
    PrivacyStatement,
    Randomness,
    UnitWords,
    check_epsilon,
    epsilon_above,
    positive_fraction,
)
from privatree.schema import Schema
from privatree.sources import Records

MIN_WEIGHTED_EPSILON = 2.0**-34
"""Smallest epsilon for one unit of weight: its smallest spend can still be drawn.

That is a sum of knots for 3% of epsilon, to which a unit of weight adds 2^10; noise needs a rate of
at least 2^-50."""

Trained = TypeVar("Trained")
AnyPlan = TypeVar("AnyPlan", bound="TrainingPlan")


class TrainingPlan(Protocol):
    """What the plans of all learners have."""

    @property
    def dataset_size(self) -> int | None: ...

    @property
    def class_factors(self) -> tuple[int, ...] | None: ...

    @property
    def balances_classes(self) -> bool: ...

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def min_records(self) -> int | None: ...

    @property
    def size_epsilon(self) -> Fraction: ...

    def size_error(self, full_weight: int = 1) -> int: ...


class Training:
    """One training: its ledger, its charges to a budget, and the noisy number of records."""

    def __init__(
        self,
        ledger: Ledger,
        charges: Charges,
        size_error: int | None,
        unit: str | None,
        seeded: bool,
    ) -> None:
        self.ledger, self.charges, self.size_error, self.unit = ledger, charges, size_error, unit
        self.seeded = seeded
        self.noisy_size: int | None = None

    @property
    def counted(self) -> str:
        """What one weight stands for: "records" or "units"."""
        return UnitWords(self.unit).counted

    def after_size(self, noisy_size: int | None) -> None:
        """Keep the noisy number of records, and charge for the rest of the training."""
        self.noisy_size = noisy_size
        self.charges.charge_rest()


class PrivateTraining:
    """Parameters and steps that the private learners share."""

    epsilon: float
    schema: Schema | None
    n_bins: int | str
    dataset_size: int | str
    neighbours: str
    class_weight: Any = None
    max_sample_weight: float
    budget: Any
    _learner: ClassVar[str]
    """Name of the learner in charges and statements."""
    _drawn: ClassVar[str]
    """What the learner trains, in the words of charges and notes: "tree" or "ensemble"."""

    @property
    def _delta(self) -> Any:
        """Delta of the guarantee, as the user gave it."""
        return 0

    def _check_shared_parameters(self) -> None:
        check_epsilon(self.epsilon)
        if self.n_bins != "auto":
            check_integer("n_bins", self.n_bins, 2, 256, unless='"auto"')
        if self.dataset_size != "private":
            check_integer("dataset_size", self.dataset_size, 1, MAX_COUNT, unless='"private"')
        check_one_of("neighbours", self.neighbours, ("add-remove", "replace"))
        check_number(
            "max_sample_weight",
            self.max_sample_weight,
            lambda weight: 1e-100 <= weight <= 1e100,
            "be a number from 1e-100 to 1e100",
        )
        check_class_weight(self.class_weight)
        if self.budget is not None:
            self._check_budget()

    def _check_budget(self) -> None:
        if not hasattr(self.budget, "charge"):
            raise ParameterError(
                "budget must be a privatree.privacy.Budget, a BudgetStore or None, "
                f"got {type(self.budget).__name__}. BudgetStore(path) opens one in a file.",
                "budget",
            )
        if self.schema is None:
            raise ParameterError(
                "budget must be used with a schema: without a schema no finite epsilon covers the "
                "model. Pass a schema.",
                "budget",
            )
        if isinstance(self.schema, Schema) and self.schema.unconfirmed:
            raise ParameterError(
                "budget must be used with a schema of confirmed entries: otherwise no finite "
                f"epsilon covers the model. Unconfirmed: {self.schema.shown_unconfirmed()}. Check "
                "each against public knowledge; then delete its mark, or pass schema.confirmed().",
                "budget",
            )

    def _training_plan(self, plan: AnyPlan, full_weight: int, held_out: HeldOut | None) -> AnyPlan:
        """Return the plan for the training part, and check it before anything is charged."""
        if held_out is not None:
            plan = held_out.training_plan(plan)
            held_out.check_noise(full_weight)
        self._check_noise(plan, full_weight)
        return plan

    def _released_scores(
        self,
        predictor: Tree | Ensemble,
        source: Records,
        randomness: Randomness,
        unit: str | None,
        held_out: HeldOut | None,
    ) -> PrivateScores | None:
        """Score what was trained with the held-out part, if there is one."""
        if held_out is None:
            return None
        return held_out.release_scores(
            predictor, source, randomness, unit=unit, neighbours=self.neighbours
        )

    def _check_noise(self, plan: TrainingPlan, full_weight: int) -> None:
        """Check, before anything is charged, that noise can be drawn for so small an epsilon."""
        has_class_weights = plan.class_factors is not None or plan.balances_classes
        full_weight *= FULL_FACTOR if has_class_weights else 1
        if full_weight > 1 and plan.epsilon < MIN_WEIGHTED_EPSILON * full_weight:
            raise ParameterError(
                "epsilon must be larger for records with units or weights, at least about "
                f"{MIN_WEIGHTED_EPSILON * full_weight:.2g}, got {self.epsilon}.",
                "epsilon",
            )

    def _train(
        self,
        train: Callable[[Training], Trained],
        records: ClassCounts,
        plan: TrainingPlan,
        randomness: Randomness,
        unit: str | None,
        delta: Fraction = Fraction(0),
        held_out: HeldOut | None = None,
    ) -> tuple[Trained, Training]:
        """Charge the budget, and train."""
        charges = Charges(
            self.budget, self.epsilon, self.neighbours, unit, plan, self._delta,
            learner=self._learner, drawn=self._drawn, held_out=held_out,
        )  # fmt: skip
        # Before the training, which changes the full weight if classes have weights.
        size_error = plan.size_error(records.full_weight) if plan.size_epsilon else None
        ledger = Ledger(plan.epsilon, randomness, delta=delta)
        training = Training(ledger, charges, size_error, unit, randomness.seeded)
        try:
            charges.charge_first()  # parameters are checked before, noise is drawn after this
            # Whether a sum of secret numbers underflows must not decide about a warning or an
            # error, whatever the caller has told numpy to do then.
            with np.errstate(all="ignore"):
                return train(training), training
        except TooFewRecordsError as error:
            raise TooFewRecordsError(
                f"{error} {charges.explain_stop()}", error.noisy_records, error.records_error
            ) from None

    def _make_statement(
        self, schema: Schema, training: Training, notes: list[str], has_weights: bool
    ) -> PrivacyStatement:
        unit = training.unit
        words = UnitWords(unit)
        leaks = schema_leaks(schema)
        public = [PUBLIC_SCHEMA if schema.target is None else PUBLIC_TARGET, PUBLIC_PARAMETERS]
        if self.dataset_size != "private":
            public.append("dataset_size, as declared: it must not be the table's own length")
        elif self.neighbours == "replace":
            public.append(f"the number of {words.counted}: it is the same in both tables")
        if schema.min_records is not None:
            public.append(
                f"min_records = {schema.min_records}, as declared: it must not be counted from the "
                "records"
            )
        if has_weights:
            public.append(own_weights(unit))
        epsilon = positive_fraction("epsilon", self.epsilon)
        weights = (has_weights, self.max_sample_weight, self.class_weight)
        notes = notes + weight_notes(unit, *weights, self._drawn)
        if self.schema is not None and schema.classes != self.schema.classes:
            notes.append(
                f"y held whole numbers and the schema's classes are text: the {self._drawn} "
                "predicts 0, 1, ..., not their names."
            )
        if self.neighbours == "replace":
            notes.append(
                f"Spends are for one {words.noun} added or removed: one replaced costs twice."
            )
        statement = PrivacyStatement(
            learner=self._learner,
            epsilon=math.inf if leaks else epsilon_above(epsilon),
            neighbours=self.neighbours,
            public=tuple(public),
            leaks=leaks,
            notes=tuple(notes),
            seeded=training.seeded,
            spends=tuple(training.ledger.spends()),
            unit=unit,
        )
        if training.noisy_size is None:
            return statement
        return replace(
            statement, noisy_records=training.noisy_size, records_error=training.size_error
        )
