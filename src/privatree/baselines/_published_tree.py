"""Base classes of the baselines: constructor, ``fit``, privacy statement and warning."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Self

from privatree._support.validation import check_integer
from privatree.baselines._forest_model import ForestModel
from privatree.baselines.growing._method import Guarantee, Job, PublishedMethod
from privatree.errors import PaperClaimWarning, ParameterError
from privatree.estimators import (
    PUBLIC_PARAMETERS,
    PUBLIC_SCHEMA,
    RecordClassifier,
    TreeClassifier,
    schema_leaks,
)
from privatree.model import Model
from privatree.privacy import (
    PrivacyStatement,
    Randomness,
    check_epsilon,
    epsilon_above,
    positive_fraction,
)
from privatree.schema import Schema


class BaselineEstimator(RecordClassifier):
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
        return self._keep_baseline(self._train_model(X, y))

    @abstractmethod
    def _train_model(self, X: Any, y: Any) -> Any:
        """Return the model trained on records and labels. The parameters are already checked."""

    @abstractmethod
    def _keep_baseline(self, model: Any) -> Self:
        """Keep what is published."""

    def __sklearn_tags__(self) -> Any:
        """Tell the checks of scikit-learn that this classifier may be inaccurate."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class BaselineClassifier(BaselineEstimator, TreeClassifier):
    """Base class of baselines whose model is one tree."""

    def _keep_baseline(self, model: Any) -> Self:
        return self._release_model(model)


class PublishedEstimator(BaselineEstimator):
    """Base class of estimators that train a published method."""

    # A split on a group in the middle of a numeric feature has three children in the tree, and
    # 3^10 leaves are as many as a model should have.
    _max_depth = 10
    method: PublishedMethod

    @property
    def _learner(self) -> str:
        """Name of the learner in the privacy statement."""
        return type(self).__name__

    def _train_model(self, X: Any, y: Any) -> Any:
        if not isinstance(self.method, PublishedMethod):
            raise ParameterError(
                f"method must be a published method such as DiffPID3(), got {self.method!r}.",
                "method",
            )
        self.method.check()
        randomness = Randomness.from_random_state(self.random_state)
        schema, columns, labels, _ = self._read_columns(X, y)
        epsilon = positive_fraction("epsilon", self.epsilon)
        job = Job(schema, epsilon, self.max_depth, columns, labels, randomness)
        proved = self.method.guarantee(job)
        grown = self.method.grow(job)
        is_false = proved.epsilon is None or proved.epsilon > epsilon
        leaks = (*schema_leaks(schema), *proved.leaks)
        bound = math.inf if proved.epsilon is None or leaks else epsilon_above(proved.epsilon)
        privacy = PrivacyStatement(
            learner=self._learner,
            epsilon=bound,
            delta=float(proved.delta),
            public=(PUBLIC_SCHEMA, PUBLIC_PARAMETERS),
            leaks=leaks,
            claimed_epsilon=float(self.epsilon) if is_false else None,
            notes=(*_notes_on_claim(self.method.title, proved, epsilon), *proved.notes),
            seeded=randomness.seeded,
            spends=tuple(spend for tree in grown for spend in tree.spends),
        )
        if is_false:
            names = ", ".join(leak.name for leak in leaks)
            unless = f"no finite epsilon is proved ({names})"
            warnings.warn(
                f"epsilon={float(self.epsilon):g} is the claim of {self.method.title}, not a "
                f"guarantee: {unless if leaks else f'{bound:.6g} is proved'}. Print privacy_ for "
                "the reasons.",
                PaperClaimWarning,
                stacklevel=3,
            )
        if len(grown) == 1:
            return Model(schema_=schema, tree_=grown[0].tree, privacy_=privacy)
        return ForestModel(schema, [one.tree for one in grown], privacy, self.method.vote)


def _notes_on_claim(title: str, proved: Guarantee, claim: Fraction) -> tuple[str, ...]:
    if proved.epsilon is None:
        return (
            f"The spends are what {title} counts. On every path they add up to at most "
            "the claimed epsilon, which would hold if each of them were what its draw costs.",
        )
    if proved.epsilon == claim:
        return ()
    bound = epsilon_above(proved.epsilon)
    return (f"{title} claims {float(claim):g}. For the same draws, {bound:.6g} is proved.",)


class PublishedClassifier(PublishedEstimator):
    """A published method for private trees and forests, to compare with.

    ``privacy_`` states the epsilon that is proved for it, which may be smaller or larger than the
    claim. If it is larger, ``fit`` warns, and ``privacy_.claimed_epsilon`` is the claim.

    Parameters
    ----------
    method : PublishedMethod
        The method with its options, such as ``DiffPID3(criterion="gini")``.
    epsilon : float, default=1.0
        Privacy budget as the method counts it.
    max_depth : int, default=4
        Number of splits on every path, 1 to 10; fewer if the categories run out.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is inferred from the data, which
        is a leak and causes a warning.
    random_state : int, numpy generator or None, default=None
        Seed of the noise, for tests and papers only. None draws fresh noise.

    Attributes
    ----------
    tree_ : Tree
        The released tree, if there is one tree.
    estimators_ : list of Model
        The released trees, if there are several.
    privacy_ : PrivacyStatement
        What is proved and what is claimed, the leaks, and every spend.
    schema_ : Schema
        The schema that the method was trained with.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Notes
    -----
    Neighbours: datasets that differ by one record added or removed.
    Guarantee: that of the method; see ``docs/proofs/baselines.md``.

    Examples
    --------
    >>> from privatree import datasets
    >>> from privatree.baselines import DiffPID3, PublishedClassifier
    >>> frame, labels, schema = datasets.load("vote")
    >>> model = PublishedClassifier(DiffPID3(), epsilon=10.0, schema=schema, random_state=0)
    >>> model.fit(frame, labels).score(frame, labels) > 0.9
    True
    >>> model.privacy_.epsilon
    7.0
    """

    def __init__(
        self,
        method: PublishedMethod,
        epsilon: float = 1.0,
        *,
        max_depth: int = 4,
        schema: Schema | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(epsilon, max_depth=max_depth, schema=schema, random_state=random_state)
        self.method = method

    @property
    def _learner(self) -> str:
        return type(self.method).__name__

    def _keep_baseline(self, model: Any) -> Self:
        self._keep_model(model)
        for name in ("tree_", "estimators_"):
            self.__dict__.pop(name, None)
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self
