"""The learner of regression trees as a scikit-learn regressor: validate, plan, grow, release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from privatree._support.validation import check_one_of
from privatree.counting import FineCells
from privatree.estimators._base import TreeRegressor
from privatree.estimators._notes import DECLARED_INTERVAL
from privatree.estimators._schema_checks import check_interval, declared_interval
from privatree.estimators._training import Training
from privatree.estimators._tree_training import Counted, TreeTraining
from privatree.estimators.holdout import HeldOut
from privatree.learners.regression import N_CLASSES, RegressionPlan, grow_regression_tree
from privatree.model import RegressionModel, Tree
from privatree.privacy import Randomness
from privatree.schema import Schema


class PrivaTreeRegressor(TreeTraining, TreeRegressor):
    """A regression tree that is epsilon-differentially private for whole records.

    Only the schema and the parameters are assumed public; even the number of records is private.
    The schema declares the range of the target, which may be ten times too wide: the learner first
    draws a private interval that most targets lie in. If several records can belong to one person,
    or any other unit, pass ``units``: then epsilon holds for all records of a unit together
    (``docs/persons.md``). The proof is in ``docs/proofs/regression-tree.md``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of a whole record or, with units, of all records of a unit. A smaller
        epsilon is more private and less accurate.
    max_depth : int or None, default=4
        Largest depth of the tree, 1 to 16. With None, the depth follows from the number of records
        and epsilon, up to 10.
    schema : Schema, optional
        Public knowledge about the columns, with a :class:`Target`. Without a schema, one is read
        from the data, which leaks and warns. Entries that are marked as unconfirmed leak and warn,
        too.
    n_bins : int or "auto", default="auto"
        Number of bins of each numeric feature, 2 to 256. ``"auto"`` means 256, or fewer with more
        than 50 features. Bins cost no budget.
    lookahead : {"auto", 1, 2, 3}, default="auto"
        Number of levels at the end of each path that are drawn together. More levels are better and
        slower. ``"auto"`` takes as many as the size of the dataset allows.
    dataset_size : int or "private", default="private"
        ``"private"`` spends 3% of the budget on a noisy number of records. A number is an estimate
        from public knowledge, and may be wrong. Never pass the exact length of the dataset. If the
        schema has ``min_records``, the 3% are spent in any case.
    schedule : {"accuracy", "robust"}, default="accuracy"
        ``"robust"`` has a fixed number of levels with equal budgets, for the strongest certificates
        against poisoning. It is somewhat less accurate.
    robust_levels : int, default=3
        Number of levels of ``schedule="robust"``.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Datasets between which epsilon holds: with one record added or removed, or with one
        replaced. ``"replace"`` halves every spend, and makes the number of records public.
    leaf_values : {"mean", "median"}, default="mean"
        ``"mean"`` spends about 18% of epsilon on noisy sums of the leaves. Their values are then
        means, and leaves have numbers of records and a coarse distribution of the target.
        ``"median"`` spends all on the tree. Its leaves have coarse medians and nothing else.
    interval : tuple of two floats, optional
        Interval that most targets lie in, if it is public knowledge. It saves the 5% of epsilon
        for which the interval is drawn. Targets outside of it still count.
    simplify : bool, default=True
        Whether to drop sides of the tree that have hardly any records, and to put sides together
        that say the same. Only released values decide, so it costs no privacy.
    zoom : bool, default=False
        Whether to spend 3% of epsilon on a private interval for each numeric feature, so that cut
        points lie where the records are and a range that is too wide costs less.
    max_sample_weight : float, default=1.0
        Largest sample weight. It must be public knowledge: larger weights are clipped to it, and
        all are divided by it.
    budget : Budget or BudgetStore, optional
        Budget of the records, in memory or in a file. ``fit`` charges epsilon before any draw, also
        with a seed, and fails if the budget is too small. A charge is never taken back. If the
        schema has ``min_records``, there are two charges: 3% before the noisy number of records is
        drawn, and the rest before the tree is.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        Epsilon, the assumptions about what is public, every spend, and the schedule.
    schema_ : Schema
        The schema that the tree was trained with.
    scores_ : PrivateScores or None
        Private scores of the held-out part; None without ``holdout``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Examples
    --------
    >>> from privatree import Numeric, PrivaTreeRegressor, Schema, Target, datasets
    >>> frame, _, schema = datasets.load("adult")
    >>> hours = frame.pop("hours-per-week")
    >>> features = {name: schema.features[name] for name in frame}
    >>> schema = Schema(features, target=Target(0, 100, integer=True))
    >>> model = PrivaTreeRegressor(epsilon=1.0, schema=schema, random_state=0)
    >>> model.fit(frame, hours).score(frame, hours) > 0.15
    True
    """

    _separates_missing = True
    _weighs_records = True
    _learner = "PrivaTreeRegressor"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        max_depth: int | None = 4,
        schema: Schema | None = None,
        n_bins: int | str = "auto",
        lookahead: int | str = "auto",
        dataset_size: int | str = "private",
        schedule: str = "accuracy",
        robust_levels: int = 3,
        neighbours: str = "add-remove",
        leaf_values: str = "mean",
        interval: tuple[float, float] | None = None,
        simplify: bool = True,
        zoom: bool = False,
        max_sample_weight: float = 1.0,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.schema = schema
        self.n_bins = n_bins
        self.lookahead = lookahead
        self.dataset_size = dataset_size
        self.schedule = schedule
        self.robust_levels = robust_levels
        self.neighbours = neighbours
        self.leaf_values = leaf_values
        self.interval = interval
        self.simplify = simplify
        self.zoom = zoom
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
            The records, in memory or in a source with their targets (:mod:`privatree.sources`).
            Columns with names may have any order, and those that the schema does not declare are
            ignored. Columns without names must have the order of the schema.
        y : array-like of shape (n_records,), optional
            The targets; None with a source. Records whose target is missing or not a number are
            left out. A target outside the range of the schema counts as the nearer end.
        sample_weight : array-like of shape (n_records,), optional
            Weight of each record. It must follow from that record, or from its unit, and from
            public knowledge. Negative and missing weights count as 0, weights above
            ``max_sample_weight`` as ``max_sample_weight``. By default every record weighs the same.
        units : array-like of shape (n_records,), optional
            Whole number or text that says who each row is about, such as a patient's id. By
            default, it is the column of X that the schema names as its unit, if it has one.
            Records without an id are left out. Each unit weighs as much as one record, however many
            records it has.
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
            If the budget does not cover epsilon. Then nothing was drawn.
        """
        self.check_parameters()
        held_out = HeldOut.from_parameters(holdout, score_epsilon, self.epsilon)
        randomness = Randomness.from_random_state(self.random_state)
        opened = self._open_records(
            X, y, sample_weight=sample_weight, units=units, max_weight=float(self.max_sample_weight)
        )
        schema = opened.schema

        def grow(counted: Counted, plan: RegressionPlan, training: Training) -> Tree:
            return grow_regression_tree(
                *counted,
                plan,
                schema,
                training.ledger,
                training.after_size,
                training.counted,
            )

        tree, privacy, scores = self._train_tree(
            opened, self._make_plan, grow, randomness, held_out
        )
        if self.interval is not None:
            privacy = replace(privacy, public=(*privacy.public, DECLARED_INTERVAL))
        return self._release_model(RegressionModel(schema, tree, privacy, scores))

    def _make_plan(self, cells: FineCells, n_rows: int) -> RegressionPlan:
        """Return the learner's public parameters. `n_rows` is used only where it is public."""
        return RegressionPlan(
            **self._shared_plan(cells, n_rows),
            n_classes=N_CLASSES,
            interval=declared_interval(self.interval, cells.schema),
            leaf_means=self.leaf_values == "mean",
        )

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        self._check_tree_parameters()
        check_one_of("leaf_values", self.leaf_values, ("mean", "median"))
        check_interval(self.interval, self.schema)
