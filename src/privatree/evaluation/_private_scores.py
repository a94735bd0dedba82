"""``private_scores``: how good a released model is for somebody's records, privately."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from privatree._support.validation import check_number, check_one_of
from privatree.counting import Weigher, full_weight_of
from privatree.errors import ParameterError
from privatree.evaluation._counts import ScoreQuery
from privatree.evaluation._draws import check_score_epsilon
from privatree.evaluation._plan import ScorePlan, score_plan
from privatree.evaluation._release import release_scores
from privatree.evaluation._scores import PrivateScores
from privatree.privacy import (
    NEIGHBOURS,
    Ledger,
    Randomness,
    check_epsilon,
    conservative_epsilon,
    decimal_fraction,
)
from privatree.sources import Records, Source, open_frame_records
from privatree.tables import collect_lazy_frame, open_frame, open_labels

PURPOSE = "private_scores"
"""What a charge to a budget says."""


def private_scores(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    units: Any = None,
    sample_weight: Any = None,
    max_sample_weight: float = 1.0,
    neighbours: str = "add-remove",
    budget: Any = None,
    random_state: Any = None,
) -> PrivateScores:
    """Score a model with differential privacy for the records that it is scored with.

    For classes: accuracy, balanced accuracy, recall and precision of each class and, if the model
    has probabilities, AUC, Brier score, log loss and calibration. For a number: R², mean absolute
    error and root mean squared error. Each has an interval that counts both the noise and that the
    records are a sample.

    The records should not be those that the model was trained with: for these it looks better than
    it is, and their epsilons add up.

    Parameters
    ----------
    model : model or fitted learner
        A released model, or a fitted learner of privatree. It counts as public.
    X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
        The records, in memory or in a source with their labels (:mod:`privatree.sources`). Columns
        with names may have any order, and those that the schema of the model does not declare are
        ignored.
    y : array-like of shape (n_records,), optional
        The labels or targets; None with a source. Records whose label is not a class of the model,
        or whose target is missing, are left out.
    epsilon : float
        Privacy cost of all scores together, for a whole record or for all records of a unit.
    units : array-like of shape (n_records,), optional
        Whole number or text that says who each row is about. By default, it is the column of X that
        the schema of the model names as its unit, if it has one. Each unit weighs as much as one
        record, however many records it has.
    sample_weight : array-like of shape (n_records,), optional
        Weight of each record. It must follow from that record, or from its unit, and from public
        knowledge.
    max_sample_weight : float, default=1.0
        Largest sample weight, by public knowledge: larger weights are clipped to it, and all are
        divided by it.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Datasets between which the guarantee holds: with one record added or removed, or with one
        replaced, which takes twice the noise.
    budget : Budget or BudgetStore, optional
        Budget of the records. It is charged before any draw.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Returns
    -------
    PrivateScores
        Metrics with intervals, and what they cost. ``print`` shows them as a table.

    Raises
    ------
    BudgetExceededError
        If the budget does not cover epsilon. Then nothing was drawn.

    Notes
    -----
    Neighbours: one record, or all records of one unit, added or removed; or replaced by others.
    Sensitivity: a record adds its weight to one cell of each table of counts.
    Guarantee: epsilon-DP (``docs/proofs/scores.md``).
    Cost: epsilon.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> from privatree.evaluation import private_scores
    >>> frame, labels, schema = datasets.load("adult")
    >>> learner = PrivaTreeClassifier(0.5, max_depth=4, schema=schema, random_state=0)
    >>> model = learner.fit(frame[::2], labels[::2]).model_
    >>> scores = private_scores(model, frame[1::2], labels[1::2], epsilon=0.1, random_state=0)
    >>> round(scores["accuracy"].value, 2)
    0.84
    """
    plan = score_plan(model)
    check_epsilon(epsilon)
    check_one_of("neighbours", neighbours, NEIGHBOURS)
    check_number(
        "max_sample_weight",
        max_sample_weight,
        lambda weight: 1e-100 <= weight <= 1e100,
        "be a number from 1e-100 to 1e100",
    )
    if budget is not None and not hasattr(budget, "charge"):
        raise ParameterError(
            "budget must be a privatree.privacy.Budget, a BudgetStore or None, "
            f"got {type(budget).__name__}. BudgetStore(path) opens one in a file.",
            "budget",
        )
    randomness = Randomness.from_random_state(random_state)
    records, unit, has_weights = _open_scored(
        plan, X, y, units, sample_weight, float(max_sample_weight)
    )
    exact_epsilon = conservative_epsilon("epsilon", epsilon)
    weigher = Weigher() if has_weights or unit is not None else None
    check_score_epsilon("epsilon", epsilon, full_weight_of(weigher))
    queries: list[ScoreQuery] = []

    def make_query(weigher: Weigher | None) -> ScoreQuery:
        queries.append(ScoreQuery(plan, weigher))
        return queries[0]

    exact = records.answer_weighed(plan.schema, make_query)
    if budget is not None:  # after all that can fail, and before any noise
        budget.charge(
            decimal_fraction("epsilon", epsilon), purpose=PURPOSE, neighbours=neighbours, unit=unit
        )
    scores = release_scores(
        plan,
        exact.tables,
        Ledger(exact_epsilon / (2 if neighbours == "replace" else 1), randomness),
        epsilon=exact_epsilon,
        full_weight=queries[0].full_weight,
        unit=unit,
        neighbours=neighbours,
        seeded=randomness.seeded,
    )
    return replace(scores, assumptions=records.assumptions)


def _open_scored(
    plan: ScorePlan, X: Any, y: Any, units: Any, sample_weight: Any, max_weight: float
) -> tuple[Records, str | None, bool]:
    """Return the records of a frame or a source, their unit, and whether they have weights."""
    if isinstance(X, Source):
        for name, given in (("y", y), ("units", units), ("sample_weight", sample_weight)):
            if given is not None:
                raise ParameterError(
                    f"{name} must be None if X is a source, which has its own columns.", name
                )
        X.open(plan.schema, max_weight=max_weight)
        return X, X.unit_name(plan.schema), X.weight is not None
    if y is None:
        raise ParameterError("y must have a label or target for each record, got None.", "y")
    table = open_frame(collect_lazy_frame(X))
    return open_frame_records(
        table,
        open_labels(y),
        plan.schema,
        sample_weight=sample_weight,
        units=units,
        max_weight=max_weight,
    )
