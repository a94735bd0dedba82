"""The record-level learner as a scikit-learn classifier: validate, plan, grow, release."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np

from privatree._support.validation import check_integer, check_number, check_one_of
from privatree.counting import Binner, Candidates, default_n_bins
from privatree.errors import ParameterError
from privatree.estimators._base import (
    MAX_DEPTH,
    TreeClassifier,
    check_epsilon,
    schema_leaks,
)
from privatree.learners.tree import FREE_DEPTH, MAX_COUNT, MAX_TABLE, RecordPlan, grow
from privatree.model import MAX_MASK, Model
from privatree.privacy import (
    Ledger,
    PrivacyStatement,
    Randomness,
    conservative_epsilon,
    positive_fraction,
    rounded_up,
)
from privatree.schema import Categorical, Schema

_MIN_LEAF_EPSILON = 1e-12
"""Far above the smallest budget for which noise can be drawn."""


class PrivaTreeClassifier(TreeClassifier):
    """A decision tree that is epsilon-differentially private for whole records.

    Nothing is assumed public but the schema and the parameters; not even the number of records.
    Splits and labels are drawn by exponential mechanisms: a better tree is more likely, and no
    record changes any tree's probability by more than a factor e^epsilon. How it works is in
    ``docs/how-it-works.md``, the proof in ``docs/proofs/record-tree.md``.

    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy budget of a whole record. Smaller is more private and less accurate.
    max_depth : int or None, default=4
        Largest depth of the tree, 1 to 16. None lets it follow the number of records and epsilon,
        up to 10.
    schema : Schema, optional
        What is public. Without one it is read from the data, which leaks and warns, as entries do
        that are marked as unconfirmed.
    n_bins : int or "auto", default="auto"
        Codes of each numeric feature, 2 to 256. ``"auto"``: 256, fewer beyond 50 features. They
        cost no budget.
    lookahead : {"auto", 1, 2, 3}, default="auto"
        How many levels at the end of each path are drawn together. More is better and slower;
        ``"auto"`` takes as many as the size of the table allows.
    dataset_size : int or "private", default="private"
        ``"private"`` spends 3% of the budget on a noisy number of records. A number is declared by
        the caller from public knowledge, and need not be right: never the length of the table.
    schedule : {"accuracy", "robust"}, default="accuracy"
        ``"robust"``: a fixed number of levels with equal budgets, for the strongest certificates
        against poisoning; somewhat less accurate.
    robust_levels : int, default=3
        How many levels ``schedule="robust"`` has.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Between which tables epsilon holds: one record added or removed, or one record replaced by
        any other. ``"replace"`` halves every spend, and the number of records is public.
    probability_share : float, default=0.0
        Share of epsilon, below 1, for noisy class counts of the leaves, which ``predict_proba``
        then uses. With 0 it is one-hot.
    budget : Budget or BudgetStore, optional
        An account of the records, in memory or in a file. Charged with epsilon before anything is
        drawn, also for a model with a seed; refuses what it does not cover. A charge is never
        taken back, even if training is interrupted.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        Epsilon, what is assumed public, every spend, and the schedule.
    schema_ : Schema
        What was taken to be public.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had any.

    Notes
    -----
    Ensembles of scikit-learn number the labels before they train their members. So if the schema's
    classes are text, none of which spells a number, and the *type* of y is a whole number, then the
    tree learns the classes 0, 1, ..., as many as the schema has, and ``classes_``, ``predict`` and
    the tree itself say these numbers: only the ensemble knows which class each stands for. An
    ensemble costs the sum of the epsilons of its members, or more: what holds for which one is in
    ``docs/exports.md``.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("adult")
    >>> model = PrivaTreeClassifier(epsilon=0.1, schema=schema, random_state=0)
    >>> model.fit(frame, labels).score(frame, labels) > 0.82
    True
    """

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
        probability_share: float = 0.0,
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
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
            The records; or where they are, with their labels (:mod:`privatree.sources`): files
            larger than memory, or a Spark data frame. Columns with names are found by them, in
            any order, and those that the schema does not declare are ignored; columns without
            names are those of the schema in its order.
        y : array-like of shape (n_records,), optional
            Their labels, but for a source, which has them. Records whose label is not among the
            schema's classes are left out. Whole numbers, where the classes are text, are numbers
            that somebody else gave them: see Notes above.

        Returns
        -------
        self

        Warns
        -----
        PrivacyLeakWarning
            If no schema was given, or one with unconfirmed entries.
        """
        self.check_parameters()
        randomness = Randomness.from_random_state(self.random_state)
        source, schema = self._records(X, y)
        n_bins = default_n_bins(len(schema.features)) if self.n_bins == "auto" else self.n_bins
        candidates = Candidates.from_schema(schema, int(n_bins))
        self._check_categories(schema)
        binner = Binner(schema, candidates.cuts, candidates.groups, candidates.n_codes)
        _check_room(self._plan(schema, candidates, n_rows=0))  # which it does not look at
        records, n_rows = source.counts(binner)
        plan = self._plan(schema, candidates, n_rows)
        if self.budget is not None:  # no mistake of the caller shows after this, no noise before
            self.budget.charge(
                self.epsilon, purpose="PrivaTreeClassifier", neighbours=self.neighbours
            )
        ledger = Ledger(plan.epsilon, randomness)
        tree = grow(records, candidates, plan, schema, ledger)
        privacy = self._statement(schema, plan, ledger, randomness.seeded, source.assumptions)
        return self._release(Model(schema_=schema, tree_=tree, privacy_=privacy))

    def _plan(self, schema: Schema, candidates: Candidates, n_rows: int) -> RecordPlan:
        """The learner's public parameters; `n_rows` is used only where it is public."""
        epsilon = conservative_epsilon("epsilon", self.epsilon)
        is_private = self.dataset_size == "private"
        dataset_size = None if is_private else int(self.dataset_size)
        if self.neighbours == "replace":  # one replaced record is one removed and one added
            epsilon /= 2
            dataset_size = max(1, n_rows) if is_private else dataset_size
        codes = np.array(candidates.n_codes)
        return RecordPlan(
            epsilon=epsilon,
            n_classes=len(schema.classes),
            numeric_codes=tuple(codes[~candidates.is_category].tolist()),
            categorical_codes=tuple(codes[candidates.is_category].tolist()),
            max_depth=FREE_DEPTH if self.max_depth is None else int(self.max_depth),
            lookahead=None if self.lookahead == "auto" else int(self.lookahead),
            robust_levels=int(self.robust_levels) if self.schedule == "robust" else None,
            dataset_size=dataset_size,
            probability_share=Fraction(float(self.probability_share)),
        )

    def check_parameters(self) -> None:
        """Refuse what :meth:`fit` would refuse whatever the records are."""
        check_epsilon(self.epsilon)
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, 1, MAX_DEPTH, unless="None")
        if self.n_bins != "auto":
            check_integer("n_bins", self.n_bins, 2, 256, unless='"auto"')
        if self.lookahead != "auto":
            check_integer("lookahead", self.lookahead, 1, 3, unless='"auto"')
        if self.dataset_size != "private":
            check_integer("dataset_size", self.dataset_size, 1, MAX_COUNT, unless='"private"')
        check_one_of("schedule", self.schedule, ("accuracy", "robust"))
        check_integer("robust_levels", self.robust_levels, 1, MAX_DEPTH)
        check_one_of("neighbours", self.neighbours, ("add-remove", "replace"))
        share = self.probability_share
        check_number(
            "probability_share",
            share,
            lambda share: share == 0 or 1e-6 <= share <= 1 - 1e-6,
            "be 0, or from 1e-6 to 1 - 1e-6",
        )
        if self.budget is not None and not hasattr(self.budget, "charge"):
            raise ParameterError(
                "budget must be a privatree.privacy.Budget, a BudgetStore or None, "
                f"got {type(self.budget).__name__}. BudgetStore(path) opens one in a file.",
                "budget",
            )
        if self.budget is not None and self.schema is None:
            raise ParameterError(
                "budget must be used with a schema: without one no finite epsilon covers the "
                "model.",
                "budget",
            )
        if self.budget is not None and isinstance(self.schema, Schema) and self.schema.unconfirmed:
            raise ParameterError(
                "budget must be used with a schema of confirmed entries, else no finite epsilon "
                f"covers the model; unconfirmed are: {self.schema.shown_unconfirmed()}. Check each "
                "against public knowledge; then delete its mark, or pass schema.confirmed().",
                "budget",
            )
        if share and self.epsilon * share < _MIN_LEAF_EPSILON:
            raise ParameterError(
                f"epsilon * probability_share must be 0 or at least {_MIN_LEAF_EPSILON:g}, "
                f"got {float(self.epsilon * share):g}."
            )

    def _check_categories(self, schema: Schema) -> None:
        """Refuse, before any record is read, what a tree could not hold."""
        depth = FREE_DEPTH if self.max_depth is None else int(self.max_depth)
        kinds = [f for f in schema.features.values() if isinstance(f, Categorical)]
        most = max((len(feature.categories) for feature in kinds), default=0)
        if most * (2**depth - 1) > MAX_MASK:
            raise ParameterError(
                f"max_depth must be smaller for a feature of {most} categories: the splits of a "
                f"tree have at most {MAX_MASK} categories in all, and depth {depth} can have more.",
                "max_depth",
            )

    def _statement(
        self,
        schema: Schema,
        plan: RecordPlan,
        ledger: Ledger,
        seeded: bool,
        assumptions: tuple[str, ...],
    ) -> PrivacyStatement:
        leaks = schema_leaks(schema)
        public = [
            "the schema: column names, ranges, categories and classes",
            "the parameters of the learner",
        ]
        if self.dataset_size != "private":
            public.append("dataset_size, as declared: it must not be the table's own length")
        elif self.neighbours == "replace":
            public.append("the number of records: it is the same in both tables")
        epsilon = positive_fraction("epsilon", self.epsilon)
        notes = [f"The guarantee rests on this: {assumption}." for assumption in assumptions]
        if self.schema is not None and schema.classes != self.schema.classes:
            notes.append(
                "y held whole numbers and the schema's classes are text: the tree predicts 0, 1, "
                "..., not their names."
            )
        if self.neighbours == "replace":
            notes.append("Spends are for one record added or removed: one replaced costs twice.")
        return PrivacyStatement(
            learner="PrivaTreeClassifier",
            epsilon=math.inf if leaks else rounded_up(epsilon),
            neighbours=self.neighbours,
            public=tuple(public),
            leaks=leaks,
            notes=tuple(notes),
            seeded=seeded,
            spends=tuple(ledger.spends()),
            schedule=plan.schedule(),
        )


def _check_room(plan: RecordPlan) -> None:
    """Refuse tables of counts that do not fit in memory, wherever the records are.

    Only the schema and the parameters decide it, before any record is counted: whether records are
    held or read in passes depends on how many there are, and an error must not.
    """
    if plan.largest_table() > MAX_TABLE:
        raise ParameterError(
            "lookahead must be smaller for so many columns and classes: it needs a table of more "
            f'than {MAX_TABLE} counts. Pass lookahead="auto".',
            "lookahead",
        )
