"""Which table of counts scores a model: public bins of its predictions, by the true class.

A *column* is a set of records that the model treats alike: a leaf of a tree, or an interval of a
score. The main table counts records by true class and column. All its columns are known from the
model alone, so they are public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.evaluation._error_knots import ErrorKnots
from privatree.model import Tree, released_predictor
from privatree.model.ensemble import Ensemble
from privatree.schema import Schema
from privatree.tables import Batch, batch_matrix, column_to_numbers

SCORE_STEPS = np.array(
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99]
)
"""Probabilities at which the intervals of a score end. A probability belongs to its left."""
_MOST_COLUMNS = {True: 32, False: 128}
"""Largest number of columns for leaves: of two classes, and of more."""
_FEW_COLUMNS = 4
"""With at most this many columns for each class, a second table of predictions gains nothing."""
PREDICTION_SHARE = Fraction(2, 5)
"""Share of epsilon for the table of predictions, where there are two tables."""

PREDICTIONS, PROBABILITIES = "predictions by class", "probabilities by class"
"""What the tables of classes are called."""

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class TableShare:
    """One table of a release: its shape, its share of epsilon, and what a record changes."""

    name: str
    shape: tuple[int, ...]
    share: Fraction
    cells_of_a_record: int = 1
    """Number of cells that a record of full weight changes by its weight."""


class ScorePlan(ABC):
    """What a release of scores counts. It depends on the released model alone."""

    schema: Schema

    @property
    @abstractmethod
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the tables that are counted."""

    @abstractmethod
    def add_records(
        self,
        batch: Batch,
        labels: NDArray[np.signedinteger],
        weights: NDArray[np.integer[Any]],
        exact_tables: list[Counts],
    ) -> None:
        """Add some records to the tables. A label or target that is -1 has the weight 0."""


# --- classes ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Columns:
    """Sets of records that a model treats alike, and what it predicts for them.

    Parameters
    ----------
    predicted : ndarray of shape (n_columns,)
        Position of the predicted class.
    probabilities : ndarray of shape (n_columns, n_classes), optional
        Probabilities of the classes. None if the model has none, or if they have tables of their
        own.
    """

    predicted: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.predicted)


@dataclass(frozen=True, eq=False)
class ClassPlan(ScorePlan):
    """What is counted for a model of classes.

    Parameters
    ----------
    schema : Schema
        Features and classes.
    predictor : Tree or Ensemble
        The released model.
    columns : Columns
        Columns of the main table.
    column_of_node : ndarray, optional
        Column of each leaf of a tree.
    against_rest : bool
        Whether each class has a table of its own, of the records of this class and of all others,
        by the interval of its probability.
    is_rounded : bool
        Whether probabilities are rounded to the intervals of a score.
    """

    schema: Schema
    predictor: Tree | Ensemble
    columns: Columns
    column_of_node: NDArray[np.int64] | None = None
    against_rest: bool = False
    is_rounded: bool = True

    @property
    def n_classes(self) -> int:
        return len(self.schema.classes)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [table.shape for table in self.tables]

    @cached_property
    def tables(self) -> tuple[TableShare, ...]:
        n, all_of_it, most = self.n_classes, Fraction(1), 1 - PREDICTION_SHARE
        main = (n, len(self.columns))
        if self.against_rest:
            rest = (n, 2, len(SCORE_STEPS) + 1)
            return (
                TableShare(PREDICTIONS, main, PREDICTION_SHARE),
                TableShare(PROBABILITIES, rest, most, cells_of_a_record=n),
            )
        if self.columns.probabilities is None:
            return (TableShare(PREDICTIONS, main, all_of_it),)
        if len(self.columns) <= _FEW_COLUMNS * n:
            return (TableShare(PROBABILITIES, main, all_of_it),)
        return (
            TableShare(PROBABILITIES, main, most),
            TableShare(PREDICTIONS, (n, n), PREDICTION_SHARE),
        )

    def add_records(
        self,
        batch: Batch,
        labels: NDArray[np.signedinteger],
        weights: NDArray[np.integer[Any]],
        exact_tables: list[Counts],
    ) -> None:
        counted = weights > 0
        matrix, places = batch_matrix(batch, self.schema, self.predictor.used_features)
        labels, weights = labels[counted], weights[counted]
        if self.column_of_node is not None and isinstance(self.predictor, Tree):
            found = self.column_of_node[self.predictor.apply(matrix, places)][counted]
            np.add.at(exact_tables[0], (labels, found), weights)
            predicted = self.columns.predicted[found]
        else:
            predicted = np.asarray(self.predictor.predict(matrix, places), np.int64)[counted]
            shares = self.predictor.predict_proba(matrix, places)[counted]
            if self.against_rest:
                np.add.at(exact_tables[0], (labels, predicted), weights)
                for one in range(self.n_classes):
                    step = np.searchsorted(SCORE_STEPS, shares[:, one])
                    np.add.at(exact_tables[1][one], ((labels == one).astype(int), step), weights)
                return
            found = _step_of_second(shares[:, 1], predicted)
            np.add.at(exact_tables[0], (labels, found), weights)
        if len(exact_tables) > 1:
            np.add.at(exact_tables[1], (labels, predicted), weights)


def _step_of_second(shares: NDArray[np.float64], predicted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the interval of the second class's probability, on the side of the prediction."""
    middle = int(np.searchsorted(SCORE_STEPS, 0.5)) + 1  # first interval above 0.5
    step = np.searchsorted(SCORE_STEPS, shares)
    sided: NDArray[np.int64] = np.where(
        predicted == 1, np.maximum(step, middle), np.minimum(step, middle - 1)
    )
    return sided


def step_middles() -> NDArray[np.float64]:
    """Return a probability that stands for each interval of a score: its middle."""
    ends = np.concatenate([[0.0], SCORE_STEPS, [1.0]])
    middles: NDArray[np.float64] = (ends[1:] + ends[:-1]) / 2
    return middles


def _class_plan(schema: Schema, predictor: Tree | Ensemble) -> ClassPlan:
    n = len(schema.classes)
    only_predictions = Columns(np.arange(n))
    if isinstance(predictor, Ensemble):
        if n > 2:
            return ClassPlan(schema, predictor, only_predictions, against_rest=True)
        middles = step_middles()
        second = Columns((middles > 0.5).astype(np.int64), np.stack([1 - middles, middles], axis=1))
        return ClassPlan(schema, predictor, second)
    leaves = predictor.leaves
    if predictor.probability is None:
        column_of_node = np.asarray(predictor.label, dtype=np.int64)
        return ClassPlan(schema, predictor, only_predictions, column_of_node, is_rounded=False)
    labels, shares = predictor.label[leaves], predictor.probability[leaves]
    distinct, place = _distinct_rows(labels, shares)
    is_rounded = len(distinct) > _MOST_COLUMNS[n == 2]
    if is_rounded:
        if n > 2:
            return ClassPlan(schema, predictor, only_predictions, against_rest=True)
        middles = step_middles()[np.searchsorted(SCORE_STEPS, shares[:, 1])]
        distinct, place = _distinct_rows(labels, np.stack([1 - middles, middles], axis=1))
    column_of_node = np.zeros(predictor.n_nodes, dtype=np.int64)
    column_of_node[leaves] = place
    columns = Columns(distinct[:, 0].astype(np.int64), distinct[:, 1:])
    return ClassPlan(schema, predictor, columns, column_of_node, is_rounded=is_rounded)


def _distinct_rows(
    labels: NDArray[np.int32], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct pairs of label and probabilities, and the place of each leaf's pair."""
    rows = np.column_stack([labels, shares])
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    return distinct, place.reshape(-1)


# --- numbers ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberPlan(ScorePlan):
    """What is counted for a model that predicts a number: errors and targets, at public knots."""

    schema: Schema
    predictor: Tree | Ensemble
    knots: ErrorKnots

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [(self.knots.errors.n_knots,), (self.knots.targets.n_knots,)]

    def add_records(
        self,
        batch: Batch,
        labels: NDArray[np.signedinteger],
        weights: NDArray[np.integer[Any]],
        exact_tables: list[Counts],
    ) -> None:
        counted = weights > 0
        matrix, places = batch_matrix(batch, self.schema, self.predictor.used_features)
        predicted = np.asarray(self.predictor.predict(matrix, places), np.float64)[counted]
        with np.errstate(all="ignore"):
            actual = column_to_numbers(batch.labels.read())[counted]
        self.knots.add_errors(actual, predicted, weights[counted], exact_tables)


def score_plan(model: Any) -> ScorePlan:
    """Return what is counted to score a model.

    Parameters
    ----------
    model : model or fitted learner
        A released model, or a fitted learner of privatree.
    """
    predictor = released_predictor(model)
    schema = predictor.schema
    if schema.target is None:
        return _class_plan(schema, predictor)
    return NumberPlan(schema, predictor, ErrorKnots.of(schema.target, predictor))
