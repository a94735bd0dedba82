"""The boosted ensemble as a scikit-learn regressor: validate, plan, boost, release."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

from privatree.counting import FineCells
from privatree.estimators._base import RecordRegressor
from privatree.estimators._boosting import EnsembleTraining
from privatree.estimators._notes import DECLARED_INTERVAL
from privatree.estimators._schema_checks import check_interval, declared_interval
from privatree.estimators.holdout import HeldOut
from privatree.learners.boosting import NumberBoosting, NumberPlan
from privatree.model import RegressionEnsembleModel
from privatree.privacy import Randomness
from privatree.schema import Schema


class PrivaBoostRegressor(EnsembleTraining, RecordRegressor):
    """A boosted ensemble that predicts a number, (epsilon, delta)-private for whole records.

    It is a sum of step functions of one and two features. Where there are enough records, it
    predicts much better than one tree does. One tree (:class:`PrivaTreeRegressor`) is easier to
    read, and better where records times epsilon are few.

    Only the schema and the parameters are assumed public; even the number of records is private.
    The schema declares the range of the target, which may be ten times too wide: the learner first
    draws a private interval that most targets lie in. If several records can belong to one person,
    or any other unit, pass ``units``: then the guarantee holds for all records of a unit together
    (``docs/persons.md``). Each round draws one function by an exponential mechanism, for records
    that are weighed by how far the prediction is from their target. How it works is in
    ``docs/boosting.md``, the proof in ``docs/proofs/boosting.md``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of a whole record or, with units, of all records of a unit. A smaller
        epsilon is more private and less accurate.
    delta : float, default=1e-6
        Probability with which epsilon may not hold, at most 0.1. It should be far below one in the
        number of records. 0 is allowed: then epsilon holds always, with fewer rounds.
    max_depth : {1, 2, 3}, default=2
        Number of features that a function can look at. 1 gives a sum of functions of single
        features. 3 is slower, and somewhat better for many records times epsilon.
    rounds : int or "auto", default="auto"
        Number of rounds, 1 to 1,000. ``"auto"`` follows from the noisy number of records, epsilon
        and delta. More rounds have less budget each.
    schema : Schema, optional
        Public knowledge about the columns, with a :class:`Target`. Without a schema, one is read
        from the data, which leaks and warns. Entries that are marked as unconfirmed leak and warn,
        too.
    n_bins : int or "auto", default="auto"
        Number of bins of each numeric feature, 2 to 256. ``"auto"`` means 256, or fewer with more
        than 50 features. Bins cost no budget.
    dataset_size : int or "private", default="private"
        ``"private"`` spends 3% of the budget on a noisy number of records. A number is an estimate
        from public knowledge, and may be wrong. Never pass the exact length of the dataset. If the
        schema has ``min_records``, the 3% are spent in any case.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Datasets between which the guarantee holds: with one record added or removed, or with one
        replaced. ``"replace"`` halves every spend, and makes the number of records public.
    monotonic_cst : array-like of int, or dict of str to int, optional
        Direction of each numeric feature: 1 if a larger value must not lower the prediction, -1 if
        it must not raise it, and 0 for no constraint. A list has the order of the schema's
        features. A dictionary has names, and 0 for all others. It must be public knowledge. Missing
        values are not constrained.
    interval : tuple of two floats, optional
        Interval that most targets lie in, if it is public knowledge. It saves the 3% of epsilon
        for which the interval is drawn. Targets outside of it still count.
    max_sample_weight : float, default=1.0
        Largest sample weight. It must be public knowledge: larger weights are clipped to it, and
        all are divided by it.
    budget : Budget or BudgetStore, optional
        Budget of the records, in memory or in a file. ``fit`` charges epsilon and delta before any
        draw, also with a seed, and fails if the budget is too small. A charge is never taken back.
        If the schema has ``min_records``, there are two charges: 3% before the noisy number of
        records is drawn, and the rest before the ensemble is.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Attributes
    ----------
    ensemble_ : Ensemble
        The released functions of all rounds.
    privacy_ : PrivacyStatement
        Epsilon and delta, the assumptions about what is public, and every spend.
    schema_ : Schema
        The schema that the ensemble was trained with.
    scores_ : PrivateScores or None
        Private scores of the held-out part; None without ``holdout``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Notes
    -----
    Ranges of features may be generous, as that of the target: a part of the budget finds, for each
    numeric feature, an interval that has most of the records, where epsilon and the number of
    records allow it.

    Examples
    --------
    >>> from privatree import PrivaBoostRegressor, Schema, Target, datasets
    >>> frame, _, schema = datasets.load("adult")
    >>> hours = frame.pop("hours-per-week")
    >>> features = {name: schema.features[name] for name in frame}
    >>> schema = Schema(features, target=Target(0, 100, integer=True))
    >>> model = PrivaBoostRegressor(epsilon=1.0, schema=schema, random_state=0)
    >>> model.fit(frame, hours).score(frame, hours) > 0.2
    True
    """

    _separates_missing = True
    _weighs_records = True
    _learner = "PrivaBoostRegressor"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        delta: float = 1e-6,
        max_depth: int = 2,
        rounds: int | str = "auto",
        schema: Schema | None = None,
        n_bins: int | str = "auto",
        dataset_size: int | str = "private",
        neighbours: str = "add-remove",
        monotonic_cst: Any = None,
        interval: tuple[float, float] | None = None,
        max_sample_weight: float = 1.0,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.max_depth = max_depth
        self.rounds = rounds
        self.schema = schema
        self.n_bins = n_bins
        self.dataset_size = dataset_size
        self.neighbours = neighbours
        self.monotonic_cst = monotonic_cst
        self.interval = interval
        self.max_sample_weight = max_sample_weight
        self.budget = budget
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        units: Any = None,
        holdout: float | None = None,
        score_epsilon: float | None = None,
    ) -> Self:
        """Train on records and their targets.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
            The records, in memory or in a source with their targets (:mod:`privatree.sources`). A
            source is read once for each round, unless it keeps its records in memory. Columns with
            names may have any order, and those that the schema does not declare are ignored.
            Columns without names must have the order of the schema.
        y : array-like of shape (n_records,), optional
            The targets; None with a source. Records whose target is missing or not a number are
            left out. A target outside the range of the schema counts as the nearer end.
        sample_weight : array-like of shape (n_records,), optional
            Weight of each record. It must follow from that record, or from its unit, and from
            public knowledge. Negative and missing weights count as 0, weights above
            ``max_sample_weight`` as ``max_sample_weight``.
        units : array-like of shape (n_records,), optional
            Whole number or text that says who each row is about, such as a patient's id. By
            default, it is the column of X that the schema names as its unit, if it has one.
            Records without an id are left out. Each unit weighs as much as one record.
        holdout : float, optional
            Probability of each record, or unit, to be held out: the model is trained on the others,
            and ``scores_`` say how good it is, from the held-out part. Each record is dealt by
            itself, so model and scores together cost the larger of their epsilons. By default, the
            model is trained on all records, and there are no scores.
        score_epsilon : float, optional
            Epsilon of ``scores_``. By default, it is that of the model.

        Returns
        -------
        self

        Warns
        -----
        PrivacyLeakWarning
            If there is no schema, or the schema has unconfirmed entries.

        Raises
        ------
        TooFewRecordsError
            If the schema has ``min_records`` and the noisy number of records is below it. Then 3%
            of epsilon was spent, and the rest was not.
        BudgetExceededError
            If the budget does not cover epsilon and delta. Then nothing was drawn.
        """
        self.check_parameters()
        held_out = HeldOut.from_parameters(holdout, score_epsilon, self.epsilon)
        randomness = Randomness.from_random_state(self.random_state)
        opened = self._open_records(
            X, y, sample_weight=sample_weight, units=units, max_weight=float(self.max_sample_weight)
        )
        schema = opened.schema
        interval = declared_interval(self.interval, schema)

        def make_plan(cells: FineCells, n_rows: int) -> NumberPlan:
            shared = self._shared_plan(cells, n_rows)
            return NumberPlan(**shared, n_classes=0, draws_target_interval=interval is None)

        learner = partial(NumberBoosting, declared_interval=interval)
        ensemble, privacy, scores = self._train_ensemble(
            opened, make_plan, learner, randomness, held_out
        )
        if interval is not None:
            privacy = replace(privacy, public=(*privacy.public, DECLARED_INTERVAL))
        self._keep_model(RegressionEnsembleModel(schema, ensemble, privacy, scores))
        self.ensemble_ = ensemble
        return self

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        super().check_parameters()
        check_interval(self.interval, self.schema)
