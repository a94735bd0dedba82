"""The record-level learner as a scikit-learn classifier: validate, plan, grow, release."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from privatree._support.validation import (
    check_integer,
    check_number,
    check_one_of,
)
from privatree.counting import MAX_LEVELS, FineCells, default_n_bins
from privatree.errors import ParameterError
from privatree.estimators._base import MAX_DEPTH, TreeClassifier
from privatree.estimators._class_weights import class_factors_of
from privatree.estimators._notes import tree_notes
from privatree.estimators._training import PrivateTraining, Training
from privatree.learners.tree import (
    FREE_DEPTH,
    MAX_TABLE,
    RecordPlan,
    grow_tree,
    simplify_tree,
)
from privatree.model import MAX_MASK, Model, Tree
from privatree.privacy import Randomness, conservative_epsilon
from privatree.schema import Categorical, Schema

_MIN_LEAF_EPSILON = 1e-12
"""Least budget of the leaves' class counts. Noise can be drawn for far smaller budgets."""


class PrivaTreeClassifier(PrivateTraining, TreeClassifier):
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
    _drawn = "tree"

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

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, units: Any = None) -> Self:
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
        randomness = Randomness.from_random_state(self.random_state)
        source, schema, unit, has_weights = self._open_records(
            X, y, sample_weight=sample_weight, units=units, max_weight=float(self.max_sample_weight)
        )
        factors = class_factors_of(self.class_weight, schema)
        n_bins = default_n_bins(len(schema.features)) if self.n_bins == "auto" else self.n_bins
        levels = MAX_LEVELS if self.zoom and self.schedule == "accuracy" else 0
        cells = FineCells.from_schema(schema, int(n_bins), levels)
        self._check_categories(schema)
        _check_table_size(self._make_plan(cells, factors, n_rows=0))  # n_rows does not matter
        records, n_rows = source.counts(cells.binner())
        plan = self._make_plan(cells, factors, n_rows)
        self._check_noise(plan, records.full_weight)

        def train(training: Training) -> Tree:
            return grow_tree(
                records, cells, plan, schema, training.ledger, training.after_size, training.counted
            )

        tree, training = self._train(train, source, records, plan, randomness, unit)
        noisy_size = training.noisy_size
        spends, drawn = tuple(training.ledger.spends()), tree
        size = plan.planning_size(noisy_size)
        leaf_epsilon = plan.leaf_count_epsilon(size)
        if self.simplify:
            tree, numbers = simplify_tree(drawn, leaf_epsilon, size)
            spends = tuple(
                spend if spend.node is None else replace(spend, node=numbers[spend.node])
                for spend in spends
                if spend.node is None or spend.node in numbers
            )
        notes = [f"The guarantee rests on this: {text}." for text in source.assumptions]
        notes += tree_notes(drawn, tree, leaf_epsilon)
        privacy = self._make_statement(schema, training, notes, has_weights)
        privacy = replace(privacy, spends=spends, schedule=plan.schedule())
        return self._release_model(Model(schema_=schema, tree_=tree, privacy_=privacy))

    def _make_plan(
        self, cells: FineCells, class_factors: tuple[int, ...] | None, n_rows: int
    ) -> RecordPlan:
        """Return the learner's public parameters. `n_rows` is used only where it is public."""
        epsilon = conservative_epsilon("epsilon", self.epsilon)
        is_private = self.dataset_size == "private"
        dataset_size = None if is_private else int(self.dataset_size)
        if self.neighbours == "replace":  # one replaced record is one removed and one added
            epsilon /= 2
            dataset_size = max(1, n_rows) if is_private else dataset_size
        candidates = cells.plain
        codes = np.array(candidates.n_codes)
        automatic = self.probability_share == "auto"
        share = None if automatic else Fraction(float(self.probability_share))
        return RecordPlan(
            epsilon=epsilon,
            n_classes=len(cells.schema.classes),
            numeric_codes=tuple(codes[~candidates.is_category].tolist()),
            categorical_codes=tuple(codes[candidates.is_category].tolist()),
            max_depth=FREE_DEPTH if self.max_depth is None else int(self.max_depth),
            lookahead=None if self.lookahead == "auto" else int(self.lookahead),
            robust_levels=int(self.robust_levels) if self.schedule == "robust" else None,
            dataset_size=dataset_size,
            probability_share=share,
            class_factors=class_factors,
            balances_classes=isinstance(self.class_weight, str),
            min_records=cells.schema.min_records,
            n_zoomed=len(cells.features),
        )

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        self._check_shared_parameters()
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, 1, MAX_DEPTH, unless="None")
        if self.lookahead != "auto":
            check_integer("lookahead", self.lookahead, 1, 3, unless='"auto"')
        check_one_of("schedule", self.schedule, ("accuracy", "robust"))
        check_integer("robust_levels", self.robust_levels, 1, MAX_DEPTH)
        share = 0.0 if self.probability_share == "auto" else self.probability_share
        check_number(
            "probability_share",
            share,
            lambda share: share == 0 or 1e-6 <= share <= 1 - 1e-6,
            'be "auto", or 0, or from 1e-6 to 1 - 1e-6',
        )
        for name in ("simplify", "zoom"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(
                    f"{name} must be True or False, got {getattr(self, name)!r}.", name
                )
        if share and self.epsilon * float(share) < _MIN_LEAF_EPSILON:
            raise ParameterError(
                f"epsilon * probability_share must be 0 or at least {_MIN_LEAF_EPSILON:g}, "
                f"got {self.epsilon * float(share):g}."
            )

    def _check_categories(self, schema: Schema) -> None:
        """Check, before any record is read, that a tree can hold the splits on categories."""
        depth = FREE_DEPTH if self.max_depth is None else int(self.max_depth)
        kinds = [f for f in schema.features.values() if isinstance(f, Categorical)]
        most = max((feature.n_codes for feature in kinds), default=0)
        if most * (2**depth - 1) > MAX_MASK:
            raise ParameterError(
                f"max_depth must be smaller for a feature of {most} categories, got {depth}: at "
                f"this depth, all splits of a tree together can have more than {MAX_MASK} "
                "categories. Pass a smaller max_depth.",
                "max_depth",
            )


def _check_table_size(plan: RecordPlan) -> None:
    """Check that the tables of counts fit in memory, wherever the records are.

    Only the schema and the parameters decide this, before any record is counted. Whether records
    are kept in memory or read in passes depends on their number, and an error must not.
    """
    if plan.largest_table() > MAX_TABLE:
        raise ParameterError(
            "lookahead must be smaller for this number of columns and classes: its tables must "
            f'have at most {MAX_TABLE} counts. Pass a smaller lookahead, or lookahead="auto".',
            "lookahead",
        )
