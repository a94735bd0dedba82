"""The classifiers a scikit-learn user sees: validate, grow, release."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from privatree.errors import PaperClaimWarning, ParameterError
from privatree.model import Model
from privatree.paper_budget import split_budget
from privatree.paper_tree import PaperPlan, grow
from privatree.privacy.amounts import positive_fraction
from privatree.privacy.ledger import Ledger
from privatree.privacy.randomness import Randomness
from privatree.privacy.statement import Leak, PrivacyStatement, shown_amount
from privatree.schema import Schema
from privatree.sources.frames import open_frame, open_labels, read_features, read_labels
from privatree.sources.inference import check_without_schema, infer_schema

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-9, 1e9
LARGEST_DEPTH = 16

INFERRED_SCHEMA = Leak(
    "schema read from the data",
    "ranges, categories and classes were taken from the records. Pass a schema.",
)
PURITY_STOP = Leak(
    "purity stop",
    "whether a node has two records and two classes decides exactly whether it is split, so one "
    "record can change the shape of the tree with certainty. Pass stop_when_pure=False.",
)
EXACT_QUANTILES = Leak(
    "exact quantiles",
    'bin edges, hence thresholds, are values of the records. Pass quantiles="private".',
)


class _Training(NamedTuple):
    """What a learner is given."""

    schema: Schema
    columns: list[NDArray[Any]]
    labels: NDArray[np.int32]
    n_records: int
    """Including those left out for want of a label."""


class _TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the tree learners share: reading input, and predicting from the released model."""

    schema: Schema | None

    def _read(self, X: Any, y: Any) -> _Training:
        """Read the records, by the schema or, if none was given, by one read from them."""
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise ParameterError(
                f"schema must be a privatree.Schema or None, got {type(self.schema).__name__}. "
                "Schema.from_toml(path) reads one from a file."
            )
        table = open_frame(X)
        if table.has_shape:
            validate_data(self, X, y, skip_check_array=True)
        elif self.schema is not None:  # a list without rows
            self.n_features_in_ = len(self.schema.features)
        target = open_labels(y)
        if self.schema is None:
            check_without_schema(table, target)
            schema = infer_schema(table, target, stacklevel=4)
        else:
            schema = self.schema
        columns = read_features(table, schema)
        labels = read_labels(target, schema)
        if len(labels) != len(columns[0]):
            raise ValueError("X and y must have the same number of rows.")
        known = labels >= 0  # a record without one of the classes is left out
        return _Training(
            schema, [column[known] for column in columns], labels[known], n_records=len(labels)
        )

    def _release(self, model: Model) -> Self:
        """Keep what is published, and nothing else."""
        self.model_ = model
        self.schema_, self.tree_, self.privacy_ = model.schema_, model.tree_, model.privacy_
        self.classes_ = model.classes_
        return self

    def _names(self, X: Any) -> Any:
        """Check X against the training columns; their names, for an X that has none."""
        check_is_fitted(self)
        if open_frame(X).has_shape:  # else: a list without rows
            validate_data(self, X, reset=False, skip_check_array=True)
        return getattr(self, "feature_names_in_", None)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted label of each row."""
        names = self._names(X)
        return self.model_.predict(X, names=names)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class (columns in the order of ``classes_``) for each row."""
        names = self._names(X)
        return self.model_.predict_proba(X, names=names)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the leaf that each row falls in."""
        names = self._names(X)
        return self.model_.apply(X, names=names)

    def save(self, path: str | Path) -> None:
        """Write the released model as JSON; :func:`privatree.load` reads it."""
        check_is_fitted(self)
        self.model_.save(path)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect: missing values and categories are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class PaperPrivaTreeClassifier(_TreeClassifier):
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
        What is public. Without one it is read from the data, which leaks and warns.
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

    def fit(self, X: Any, y: Any) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features)
            The records.
        y : array-like of shape (n_records,)
            Their labels. Records whose label is not among the schema's classes are left out.

        Returns
        -------
        self

        Warns
        -----
        PaperClaimWarning
            Always: the claimed epsilon does not hold for whole records.
        PrivacyLeakWarning
            If no schema was given.
        """
        self._check_parameters()
        randomness = Randomness.from_random_state(self.random_state)
        training = self._read(X, y)
        plan = self._plan(training.schema, training.n_records)
        ledger = Ledger(plan.budget.for_a_record(*plan.kinds, plan.max_depth), randomness)
        tree = grow(training.columns, training.labels, plan, ledger)
        privacy = self._statement(plan, ledger, randomness.seeded)
        warnings.warn(_warning(privacy), PaperClaimWarning, stacklevel=2)
        return self._release(Model(schema_=training.schema, tree_=tree, privacy_=privacy))

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

    def _check_parameters(self) -> None:
        check_epsilon(self.epsilon)
        check_integer("max_depth", self.max_depth, 1, LARGEST_DEPTH)
        check_integer("n_bins", self.n_bins, 2, 256)
        if not 0 < positive_fraction("max_leaf_error", self.max_leaf_error) < 1:
            raise ParameterError(f"max_leaf_error must be < 1, got {self.max_leaf_error}.")
        if self.quantiles not in ("private", "exact"):
            raise ParameterError(f'quantiles must be "private" or "exact", got {self.quantiles!r}.')
        if not isinstance(self.stop_when_pure, (bool, np.bool_)):
            raise ParameterError(
                f"stop_when_pure must be True or False, got {self.stop_when_pure!r}."
            )

    def _statement(self, plan: PaperPlan, ledger: Ledger, seeded: bool) -> PrivacyStatement:
        composed = float(plan.budget.for_a_record(*plan.kinds, plan.max_depth))
        replaced = float(plan.budget.for_a_replaced_record(*plan.kinds, plan.max_depth))
        leaks = []
        if self.schema is None:
            leaks.append(INFERRED_SCHEMA)
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


def check_epsilon(epsilon: Any) -> None:
    """Refuse an epsilon that is not a positive finite number of sensible size."""
    exact = positive_fraction("epsilon", epsilon)
    if exact < SMALLEST_EPSILON:
        raise ParameterError(f"epsilon must be at least {SMALLEST_EPSILON:g}, got {epsilon}.")
    if exact > LARGEST_EPSILON:
        raise ParameterError(f"epsilon must be at most {LARGEST_EPSILON:g}: that is no privacy.")


def check_integer(name: str, value: Any, smallest: int, largest: int) -> None:
    """Refuse anything but an integer in a range."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or not smallest <= value <= largest:
        raise ParameterError(
            f"{name} must be an integer from {smallest} to {largest}, got {value!r}."
        )
