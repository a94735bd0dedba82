"""What the published trees share: parameters, reading the records, statement and warning."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from privatree._support.validation import check_integer
from privatree.baselines._one_against_rest import Coding, Rules, grow
from privatree.errors import PaperClaimWarning
from privatree.estimators import TreeClassifier, check_epsilon, schema_leaks
from privatree.model import Model
from privatree.privacy import Leak, Ledger, PrivacyStatement, Randomness, positive_fraction
from privatree.schema import Schema

MAX_DEPTH = 10
"""A split on a group in the middle of a numeric feature has three children in the tree, and 3^10
leaves are as many as a model should have."""


class PublishedTreeClassifier(TreeClassifier):
    """A published method, read as its authors ran it; a subclass says how it splits and labels."""

    _method: ClassVar[str]
    _notes: ClassVar[tuple[str, ...]] = ()
    """What the statement says besides what all of them say."""

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

    @abstractmethod
    def _coding(self, schema: Schema, columns: list[NDArray[Any]]) -> Coding:
        """The codes that can be split off."""

    @abstractmethod
    def _rules(self) -> Rules:
        """How a split is chosen and a leaf labelled."""

    @abstractmethod
    def _leaks(self, schema: Schema) -> list[Leak]:
        """Why the claimed epsilon does not hold."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features)
            The records. Columns that have names, and that the schema does not declare, are ignored.
        y : array-like of shape (n_records,)
            Their labels. Records whose label is not among the schema's classes are left out.

        Returns
        -------
        self

        Warns
        -----
        PaperClaimWarning
            Always: the claimed epsilon does not hold.
        PrivacyLeakWarning
            If no schema was given, or one with unconfirmed entries.
        """
        check_epsilon(self.epsilon)
        check_integer("max_depth", self.max_depth, 1, MAX_DEPTH)
        randomness = Randomness.from_random_state(self.random_state)
        schema, columns, labels, _ = self._read(X, y)
        coding = self._coding(schema, columns)
        records = coding.code(columns, labels, len(schema.classes))
        ledger = Ledger(positive_fraction("epsilon", self.epsilon), randomness)
        tree = grow(schema, coding, records, self._rules(), ledger)
        privacy = self._statement(schema, ledger, randomness.seeded)
        leaks = ", ".join(leak.name for leak in privacy.leaks)
        warnings.warn(
            f"epsilon={float(self.epsilon):g} is the claim of {self._method}, not a guarantee: no "
            f"finite epsilon is proved ({leaks}). Print privacy_.",
            PaperClaimWarning,
            stacklevel=2,
        )
        return self._release(Model(schema_=schema, tree_=tree, privacy_=privacy))

    def _statement(self, schema: Schema, ledger: Ledger, seeded: bool) -> PrivacyStatement:
        return PrivacyStatement(
            learner=type(self).__name__,
            epsilon=math.inf,
            public=(
                "the schema: column names, ranges, categories and classes",
                "the parameters of the learner",
            ),
            leaks=(*schema_leaks(schema), *self._leaks(schema)),
            claimed_epsilon=float(self.epsilon),
            notes=(
                f"The spends are what {self._method} counts. On every path they add up to at most "
                "the claimed epsilon, which would hold if each of them were what its draw costs.",
                *self._notes,
            ),
            seeded=seeded,
            spends=tuple(ledger.spends()),
        )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn not to expect accuracy: numeric features give little or none."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
