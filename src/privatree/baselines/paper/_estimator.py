"""The paper's Algorithm 1 as a scikit-learn classifier."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np

from privatree._support.validation import check_integer, check_one_of
from privatree.baselines.paper._budget import divide_paper_budget
from privatree.baselines.paper._tree import (
    PaperPlan,
    Unbinned,
    UnbinnedColumns,
    grow_paper_tree,
    needs_paper_quantiles,
)
from privatree.baselines.paper._value_counts import UnbinnedSource
from privatree.errors import PaperClaimWarning, ParameterError
from privatree.estimators import (
    MAX_DEPTH,
    PUBLIC_PARAMETERS,
    PUBLIC_SCHEMA,
    TreeClassifier,
    schema_leaks,
)
from privatree.model import Model
from privatree.privacy import (
    Leak,
    Ledger,
    PrivacyStatement,
    Randomness,
    check_epsilon,
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

    This class reproduces the paper, to compare with it. **Its epsilon does not hold for whole
    records**: every record is in every feature's histogram, so the costs of features add up, and no
    finite epsilon covers stopping at pure nodes. ``privacy_`` says what holds.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget as the paper counts it.
    max_depth : int, default=4
        Largest depth of the tree, 1 to 16.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is inferred from the data, which
        is a leak and causes a warning. Entries that are marked as unconfirmed are
        leaks, too.
    n_bins : int, default=10
        Number of bins of each numeric feature, 2 to 256. A feature with declared ``cuts`` keeps its
        cuts, and has the budget of a categorical feature.
    max_leaf_error : float, default=0.01
        Loss of accuracy that noisy leaf labels may cause: the E_max of equation 5.
    quantiles : {"private", "exact"}, default="private"
        ``"exact"`` is the paper's PrivaTree*, whose bins leak.
    stop_when_pure : bool, default=True
        Whether to stop at nodes with one class or fewer than two records, as Algorithm 1 does.
        False removes this leak.
    random_state : int, numpy generator or None, default=None
        Seed of the noise, for tests and papers only. None draws fresh noise.

    Attributes
    ----------
    tree_ : Tree
        The released tree.
    privacy_ : PrivacyStatement
        The claimed epsilon, the guarantee for a whole record, and every spend.
    schema_ : Schema
        The schema that the tree was trained with.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

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

    def fit(self, X: Any, y: Any = None, **beside: Any) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
            The records, in memory or in a source with their labels (:mod:`privatree.sources`).
            Columns with a name that the schema does not declare are ignored. The quantiles of
            Algorithm 1 need every distinct value of a numeric feature in memory.
        y : array-like of shape (n_records,), optional
            The labels; None with a source. Records whose label is not a class of the schema are
            left out.
        **beside
            Nothing: ``sample_weight`` and ``units`` are refused, because this method knows neither.

        Returns
        -------
        self

        Warns
        -----
        PaperClaimWarning
            Always: the claimed epsilon does not hold for whole records.
        PrivacyLeakWarning
            If there is no schema, or the schema has unconfirmed entries.
        """
        self._refuse_beside(beside)
        self.check_parameters()
        randomness = Randomness.from_random_state(self.random_state)
        unbinned, schema, n_records = self._open_unbinned(X, y)
        plan = self._make_plan(schema, n_records)
        ledger = Ledger(plan.budget.for_a_record(*plan.kinds, plan.max_depth), randomness)
        tree = grow_paper_tree(unbinned, plan, ledger)
        privacy = self._make_statement(plan, ledger, randomness.seeded)
        warnings.warn(_paper_claim_warning(privacy), PaperClaimWarning, stacklevel=2)
        return self._release_model(Model(schema_=schema, tree_=tree, privacy_=privacy))

    def _open_unbinned(self, X: Any, y: Any) -> tuple[Unbinned, Schema, int]:
        """Return the records without bins, the schema and the number of rows."""
        if isinstance(X, Source):
            schema = self._open_source(X, y)
            features = enumerate(schema.features.values())
            asked = [place for place, feature in features if needs_paper_quantiles(feature)]
            unbinned = UnbinnedSource(X, schema, asked)
            return unbinned, schema, unbinned.exact_rows
        training = self._read_columns(X, y)
        columns = UnbinnedColumns(training.columns, training.labels, len(training.schema.classes))
        return columns, training.schema, training.n_records

    def _make_plan(self, schema: Schema, n_records: int) -> PaperPlan:
        private_quantiles = self.quantiles == "private"
        budget = divide_paper_budget(
            positive_fraction("epsilon", self.epsilon),
            n_records=n_records,
            n_classes=len(schema.classes),
            max_depth=self.max_depth,
            max_leaf_error=self.max_leaf_error,
            private_quantiles=private_quantiles,
        )
        return PaperPlan(
            schema, budget, self.max_depth, self.n_bins, private_quantiles, self.stop_when_pure
        )

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        check_epsilon(self.epsilon)
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_integer("n_bins", self.n_bins, 2, 256)
        if positive_fraction("max_leaf_error", self.max_leaf_error) >= 1:
            raise ParameterError(
                f"max_leaf_error must be less than 1, got {self.max_leaf_error}.", "max_leaf_error"
            )
        check_one_of("quantiles", self.quantiles, ("private", "exact"))
        if not isinstance(self.stop_when_pure, (bool, np.bool_)):
            raise ParameterError(
                f"stop_when_pure must be True or False, got {self.stop_when_pure!r}.",
                "stop_when_pure",
            )

    def _make_statement(self, plan: PaperPlan, ledger: Ledger, seeded: bool) -> PrivacyStatement:
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
                PUBLIC_SCHEMA,
                "the number of records: it sets the leaf budget, and the spends reveal it",
                PUBLIC_PARAMETERS,
            ),
            leaks=tuple(leaks),
            claimed_epsilon=float(self.epsilon),
            notes=tuple(notes),
            seeded=seeded,
            spends=tuple(ledger.spends()),
        )


def _paper_claim_warning(privacy: PrivacyStatement) -> str:
    claim = f"epsilon={privacy.claimed_epsilon:g} is the paper's claim, not a guarantee."
    if math.isinf(privacy.epsilon):
        leaks = ", ".join(leak.name for leak in privacy.leaks)
        holds = f"no finite epsilon holds ({leaks})"
    else:
        holds = f"epsilon={shown_amount(privacy.epsilon)} holds"
    return f"{claim} For a whole record {holds}. Print privacy_ for the reasons."
