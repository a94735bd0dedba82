"""The record-level learner as a scikit-learn classifier: validate, plan, grow, release."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

from privatree._support.validation import check_number
from privatree.counting import FineCells
from privatree.errors import ParameterError
from privatree.estimators._base import TreeClassifier
from privatree.estimators._class_weights import class_factors_of
from privatree.estimators._training import Training
from privatree.estimators._tree_training import Counted, TreeTraining
from privatree.estimators.holdout import HeldOut
from privatree.learners.tree import RecordPlan, grow_tree
from privatree.model import Model, Tree
from privatree.privacy import Randomness
from privatree.schema import Schema

_MIN_LEAF_EPSILON = 1e-12
"""Least budget of the leaves' class counts. Noise can be drawn for far smaller budgets."""


class PrivaTreeClassifier(TreeTraining, TreeClassifier):
    """A decision tree that is epsilon-differentially private for whole records.

    Only the schema and the parameters are assumed public; even the number of records is private.
    If several records can belong to one person, or any other unit, pass ``units``: then epsilon
    holds for all records of a unit together (``docs/persons.md``).
    Splits and labels are drawn by exponential mechanisms: a better tree is more likely, and no
    record changes any tree's probability by more than a factor e^epsilon. How it works is in
    ``docs/how-it-works.md``, the proof in ``docs/proofs/record-tree.md``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of a whole record or, with units, of all records of a unit. A smaller
        epsilon is more private and less accurate.
    max_depth : int or None, default=4
        Largest depth of the tree, 1 to 16. With None, the depth follows from the number of records
        and epsilon, up to 10.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is read from the data, which leaks
        and warns. Entries that are marked as unconfirmed leak and warn, too.
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
    probability_share : float or "auto", default="auto"
        Share of epsilon, below 1, for noisy class counts of the leaves. ``predict_proba`` and the
        number of records of a leaf come from them. ``"auto"`` is 5%, or 0 where records and epsilon
        are too few for the counts to be of use. With 0, half of the probability follows the label,
        the other half the class counts that were released above the leaf.
    simplify : bool, default=True
        Whether to drop sides of the tree that have hardly any records, and to put sides together
        that say the same. Only released values decide, so it costs no privacy.
    zoom : bool, default=False
        Whether to spend 3% of epsilon on a private interval for each numeric feature, so that cut
        points lie where the records are and a range that is too wide costs less. Where records and
        epsilon are too few for it, nothing is drawn or spent.
    class_weight : dict or "balanced", optional
        Weight of each class, from its label; classes that are not named weigh 1. Weights are
        divided by the largest one, so rare classes count more by counting the others less.
        ``"balanced"`` spends 2% of epsilon on noisy class counts, and weighs inversely to them, up
        to a ratio of 100. By default all classes weigh the same.
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
    classes_ : ndarray
        The labels.
    scores_ : PrivateScores or None
        Private scores of the held-out part; None without ``holdout``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Notes
    -----
    Ensembles of scikit-learn number the labels before they train their members. So if all classes
    of the schema are text that spells no number, and y has a *type* of whole numbers, then the tree
    learns the classes 0, 1, ..., as many as the schema has. ``classes_``, ``predict`` and the tree
    show these numbers: only the ensemble knows which class each number stands for. An ensemble
    costs the sum of the epsilons of its members, or more: see ``docs/exports.md``.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("adult")
    >>> model = PrivaTreeClassifier(epsilon=0.1, schema=schema, random_state=0)
    >>> model.fit(frame, labels).score(frame, labels) > 0.82
    True
    """

    _separates_missing = True
    _weighs_records = True
    _learner = "PrivaTreeClassifier"

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
        probability_share: float | str = "auto",
        simplify: bool = True,
        zoom: bool = False,
        class_weight: Any = None,
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
        self.probability_share = probability_share
        self.simplify = simplify
        self.zoom = zoom
        self.class_weight = class_weight
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
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
            The records, in memory or in a source with their labels (:mod:`privatree.sources`), such
            as files larger than memory or a Spark data frame. Columns with names may have any
            order, and those that the schema does not declare are ignored. Columns without names
            must have the order of the schema.
        y : array-like of shape (n_records,), optional
            The labels; None with a source. Records whose label is not a class of the schema are
            left out. If the classes are text and y has whole numbers, see Notes above.
        sample_weight : array-like of shape (n_records,), optional
            Weight of each record. It must follow from that record, or from its unit, and from
            public knowledge. Weights that are computed from all records, as ``AdaBoostClassifier``
            and ``compute_sample_weight`` do, break the guarantee: use `class_weight`. Negative and
            missing weights count as 0, weights above ``max_sample_weight`` as
            ``max_sample_weight``. By default every record weighs the same.
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
        factors = class_factors_of(self.class_weight, schema)

        def grow(counted: Counted, plan: RecordPlan, training: Training) -> Tree:
            return grow_tree(
                *counted, plan, schema, training.ledger, training.after_size, training.counted
            )

        tree, privacy, scores = self._train_tree(
            opened,
            lambda cells, n_rows: self._make_plan(cells, factors, n_rows),
            grow,
            randomness,
            held_out,
        )
        return self._release_model(Model(schema, tree, privacy, scores))

    def _make_plan(
        self, cells: FineCells, class_factors: tuple[int, ...] | None, n_rows: int
    ) -> RecordPlan:
        """Return the learner's public parameters. `n_rows` is used only where it is public."""
        automatic = self.probability_share == "auto"
        return RecordPlan(
            **self._shared_plan(cells, n_rows),
            n_classes=len(cells.schema.classes),
            probability_share=None if automatic else Fraction(float(self.probability_share)),
            class_factors=class_factors,
            balances_classes=isinstance(self.class_weight, str),
        )

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        self._check_tree_parameters()
        share = 0.0 if self.probability_share == "auto" else self.probability_share
        check_number(
            "probability_share",
            share,
            lambda share: share == 0 or 1e-6 <= share <= 1 - 1e-6,
            'be "auto", or 0, or from 1e-6 to 1 - 1e-6',
        )
        if share and self.epsilon * float(share) < _MIN_LEAF_EPSILON:
            raise ParameterError(
                f"epsilon * probability_share must be 0 or at least {_MIN_LEAF_EPSILON:g}, "
                f"got {self.epsilon * float(share):g}."
            )
