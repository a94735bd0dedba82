"""Base classes of the baselines: constructor, ``fit``, privacy statement and warning."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from privatree._support.validation import check_integer
from privatree.baselines._one_against_rest import Coding, Rules, grow_one_against_rest
from privatree.errors import PaperClaimWarning
from privatree.estimators import (
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
)
from privatree.schema import Schema


class BaselineClassifier(TreeClassifier):
    """Base class of baselines with the parameters epsilon, max_depth, schema, random_state."""

    _max_depth: ClassVar[int]

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        max_depth: int = 4,
        schema: Schema | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.schema = schema
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **beside: Any) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features)
            The records. Columns with a name that the schema does not declare are ignored.
        y : array-like of shape (n_records,)
            The labels. Records whose label is not a class of the schema are left out.
        **beside
            Nothing: ``sample_weight`` and ``units`` are refused, because this method knows neither.

        Returns
        -------
        self

        Warns
        -----
        PaperClaimWarning
            If the epsilon that the method claims does not hold.
        PrivacyLeakWarning
            If there is no schema, or the schema has unconfirmed entries.
        """
        self._refuse_beside(beside)
        check_epsilon(self.epsilon)
        check_integer("max_depth", self.max_depth, 1, self._max_depth)
        return self._release_model(self._train_model(X, y))

    @abstractmethod
    def _train_model(self, X: Any, y: Any) -> Model:
        """Return the model trained on records and labels. The parameters are already checked."""

    def __sklearn_tags__(self) -> Any:
        """Tell the checks of scikit-learn that this classifier may be inaccurate."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class PublishedTreeClassifier(BaselineClassifier):
    """Base class of published trees whose epsilon does not hold. Subclasses define the learner."""

    # A split on a group in the middle of a numeric feature has three children in the tree, and
    # 3^10 leaves are as many as a model should have.
    _max_depth = 10
    _method: ClassVar[str]
    _notes: ClassVar[tuple[str, ...]] = ()
    """Further notes on the method, for its privacy statement."""

    @abstractmethod
    def _make_learner(
        self, schema: Schema, columns: list[NDArray[Any]]
    ) -> tuple[Coding, Rules, list[Leak]]:
        """Return the codes, the rules, and the leaks that explain why epsilon does not hold."""

    def _train_model(self, X: Any, y: Any) -> Model:
        randomness = Randomness.from_random_state(self.random_state)
        schema, columns, labels, _ = self._read_columns(X, y)
        coding, rules, leaks = self._make_learner(schema, columns)
        records = coding.bin_records(columns, labels, len(schema.classes))
        ledger = Ledger(positive_fraction("epsilon", self.epsilon), randomness)
        tree = grow_one_against_rest(schema, coding, records, rules, ledger)
        privacy = PrivacyStatement(
            learner=type(self).__name__,
            epsilon=math.inf,
            public=(PUBLIC_SCHEMA, PUBLIC_PARAMETERS),
            leaks=(*schema_leaks(schema), *leaks),
            claimed_epsilon=float(self.epsilon),
            notes=(
                f"The spends are what {self._method} counts. On every path they add up to at most "
                "the claimed epsilon, which would hold if each of them were what its draw costs.",
                *self._notes,
            ),
            seeded=randomness.seeded,
            spends=tuple(ledger.spends()),
        )
        names = ", ".join(leak.name for leak in privacy.leaks)
        warnings.warn(
            f"epsilon={float(self.epsilon):g} is the claim of {self._method}, not a guarantee: no "
            f"finite epsilon is proved ({names}). Print privacy_ for the reasons.",
            PaperClaimWarning,
            stacklevel=3,
        )
        return Model(schema_=schema, tree_=tree, privacy_=privacy)
