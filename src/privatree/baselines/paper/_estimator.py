"""The paper's Algorithm 1 as a scikit-learn classifier."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np

from privatree._support.validation import check_integer, check_one_of
from privatree.baselines.paper._budget import split_budget
from privatree.baselines.paper._tree import (
    PaperPlan,
    Unbinned,
    UnbinnedColumns,
    grow,
    needs_quantiles,
)
from privatree.baselines.paper._value_counts import UnbinnedSource
from privatree.errors import PaperClaimWarning, ParameterError
from privatree.estimators import (
    MAX_DEPTH,
    TreeClassifier,
    check_epsilon,
    schema_leaks,
)
from privatree.model import Model
from privatree.privacy import (
    Leak,
    Ledger,
    PrivacyStatement,
    Randomness,
    positive_fraction,
    shown_amount,
)
from privatree.schema import Schema
from privatree.sources import Source

PURITY_STOP = Leak(
    "purity stop",
    "whether a node has two records and two classes decides exactly whether it is split, so one "
    "record can change the shape of the tree with certainty. Pass stop_when_pure=False.",
)
EXACT_QUANTILES = Leak(
    "exact quantiles",
    'bin edges, hence thresholds, are values of the records. Pass quantiles="private".',
)


class PaperPrivaTreeClassifier(TreeClassifier):
    """Algorithm 1 of the PrivaTree paper, as printed.

    It is here to reproduce the paper and to compare with it. **Its epsilon does not hold for whole
    records**: every record is in every feature's histogram, so their costs add up, and stopping
    at pure nodes has no finite cost at all. ``privacy_`` says what does hold.

    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy budget as the paper counts it.
    max_depth : int, default=4
        Largest depth of the tree, 1 to 16.
    schema : Schema, optional
        What is public. Without one it is read from the data, which leaks and warns, as entries do
        that are marked as unconfirmed.
    n_bins : int, default=10
        Bins for each numeric feature, 2 to 256. A feature with declared ``cuts`` keeps those, and
        is budgeted like a category feature.
    max_leaf_error : float, default=0.01
        Accuracy that noisy leaf labels may cost: the E_max of equation 5.
    quantiles : {"private", "exact"}, default="private"
        ``"exact"`` is the paper's PrivaTree*, whose bins leak.
    stop_when_pure : bool, default=True
        Whether to stop at nodes with one class or fewer than two records, as printed. False
        removes this leak.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        The claimed epsilon, what holds for a whole record, and every spend.
    schema_ : Schema
        What was taken to be public.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had any.

    Examples
    --------
    >>> import warnings
    >>> from privatree import PaperPrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("nursery")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = PaperPrivaTreeClassifier(1.0, schema=schema, random_state=0)
    ...     accuracy = model.fit(frame, labels).score(frame, labels)
    >>> accuracy > 0.99
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        max_depth: int = 4,
        schema: Schema | None = None,
        n_bins: int = 10,
        max_leaf_error: float = 0.01,
        quantiles: str = "private",
        stop_when_pure: bool = True,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.schema = schema
        self.n_bins = n_bins
        self.max_leaf_error = max_leaf_error
        self.quantiles = quantiles
        self.stop_when_pure = stop_when_pure
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
            The records; or where they are, with their labels (:mod:`privatree.sources`). Columns
            that have names, and that the schema does not declare, are ignored. The quantiles of
            Algorithm 1 need every distinct value of a number in memory.
        y : array-like of shape (n_records,), optional
            Their labels, but for a source, which has them. Records whose label is not among the
            schema's classes are left out.

        Returns
        -------
        self

        Warns
        -----
        PaperClaimWarning
            Always: the claimed epsilon does not hold for whole records.
        PrivacyLeakWarning
            If no schema was given, or one with unconfirmed entries.
        """
        self.check_parameters()
        randomness = Randomness.from_random_state(self.random_state)
        unbinned, schema, n_records = self._unbinned(X, y)
        plan = self._plan(schema, n_records)
        ledger = Ledger(plan.budget.for_a_record(*plan.kinds, plan.max_depth), randomness)
        tree = grow(unbinned, plan, ledger)
        privacy = self._statement(plan, ledger, randomness.seeded)
        warnings.warn(_warning(privacy), PaperClaimWarning, stacklevel=2)
        return self._release(Model(schema_=schema, tree_=tree, privacy_=privacy))

    def _unbinned(self, X: Any, y: Any) -> tuple[Unbinned, Schema, int]:
        """The records, the schema, and how many rows there are; to be called by ``fit``."""
        if isinstance(X, Source):
            schema = self._open_source(X, y)
            features = enumerate(schema.features.values())
            asked = [place for place, feature in features if needs_quantiles(feature)]
            unbinned = UnbinnedSource(X, schema, asked)
            return unbinned, schema, unbinned.exact_rows
        training = self._read(X, y, stacklevel=6)
        columns = UnbinnedColumns(training.columns, training.labels, len(training.schema.classes))
        return columns, training.schema, training.n_records

    def _plan(self, schema: Schema, n_records: int) -> PaperPlan:
        budget = split_budget(
            positive_fraction("epsilon", self.epsilon),
            n_records=n_records,
            n_classes=len(schema.classes),
            max_depth=self.max_depth,
            max_leaf_error=self.max_leaf_error,
            private_quantiles=self.quantiles == "private",
        )
        return PaperPlan(
            schema=schema,
            budget=budget,
            max_depth=self.max_depth,
            n_bins=self.n_bins,
            private_quantiles=self.quantiles == "private",
            stop_when_pure=self.stop_when_pure,
        )

    def check_parameters(self) -> None:
        """Refuse what :meth:`fit` would refuse whatever the records are."""
        check_epsilon(self.epsilon)
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_integer("n_bins", self.n_bins, 2, 256)
        if not 0 < positive_fraction("max_leaf_error", self.max_leaf_error) < 1:
            raise ParameterError(
                f"max_leaf_error must be < 1, got {self.max_leaf_error}.", "max_leaf_error"
            )
        check_one_of("quantiles", self.quantiles, ("private", "exact"))
        if not isinstance(self.stop_when_pure, (bool, np.bool_)):
            raise ParameterError(
                f"stop_when_pure must be True or False, got {self.stop_when_pure!r}.",
                "stop_when_pure",
            )

    def _statement(self, plan: PaperPlan, ledger: Ledger, seeded: bool) -> PrivacyStatement:
        composed = float(plan.budget.for_a_record(*plan.kinds, plan.max_depth))
        replaced = float(plan.budget.for_a_replaced_record(*plan.kinds, plan.max_depth))
        leaks = list(schema_leaks(plan.schema))
        if self.stop_when_pure:
            leaks.append(PURITY_STOP)
        if self.quantiles == "exact":
            leaks.append(EXACT_QUANTILES)
        notes = [
            "The paper composes features in parallel, but every record is in every feature's "
            f"histogram: spends on one record add up to as much as {shown_amount(composed)}.",
            "Neighbours are compared with the number of records in the leaf budget held fixed. For "
            f"tables of the same size with one record replaced it is {shown_amount(replaced)}.",
        ]
        if not leaks and plan.kinds[0] > 0:
            notes.append(
                "The quantiles were drawn in floating point, not exactly: epsilon holds up to the "
                "rounding of that draw."
            )
        return PrivacyStatement(
            learner="PaperPrivaTreeClassifier",
            epsilon=math.inf if leaks else composed,
            public=(
                "the schema: column names, ranges, categories and classes",
                "the number of records: it sets the leaf budget, and the spends reveal it",
                "the parameters of the learner",
            ),
            leaks=tuple(leaks),
            claimed_epsilon=float(self.epsilon),
            notes=tuple(notes),
            seeded=seeded,
            spends=tuple(ledger.spends()),
        )


def _warning(privacy: PrivacyStatement) -> str:
    claim = f"epsilon={privacy.claimed_epsilon:g} is the paper's claim, not a guarantee."
    if math.isinf(privacy.epsilon):
        leaks = ", ".join(leak.name for leak in privacy.leaks)
        return f"{claim} For a whole record no finite epsilon holds ({leaks}): print privacy_."
    holds = shown_amount(privacy.epsilon)
    return f"{claim} For a whole record epsilon={holds} holds: print privacy_."
