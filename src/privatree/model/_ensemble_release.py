"""A released ensemble with its schema and privacy statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ModelFormatError, ParameterError
from privatree.model._outcomes import ClassPredictions, NumberPredictions
from privatree.model._release import Predictor, Release, Scores
from privatree.model.ensemble import Ensemble, ensemble_from_dict, ensemble_to_dict
from privatree.model.terms import Terms, ensemble_terms
from privatree.privacy import PrivacyStatement, check_spends_without_tree
from privatree.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleRelease(Release):
    """An ensemble with its schema and privacy statement, whatever it predicts."""

    kind: ClassVar[str] = "ensemble"
    version: ClassVar[int] = 4

    schema_: Schema
    ensemble_: Ensemble
    privacy_: PrivacyStatement
    scores_: Scores | None = None

    def __post_init__(self) -> None:
        if self.ensemble_.schema != self.schema_:
            raise ModelFormatError("the schema of the ensemble must be the schema of the model.")
        check_spends_without_tree(self.privacy_)
        self._check_statement()

    @property
    def _predictor(self) -> Predictor:
        return self.ensemble_

    def _predictor_to_dict(self) -> dict[str, Any]:
        return ensemble_to_dict(self.ensemble_)

    @classmethod
    def _from_parts(
        cls,
        schema: Schema,
        predictor: Any,
        privacy: PrivacyStatement,
        scores: Scores | None,
        version: int,
    ) -> Self:
        return cls(schema, ensemble_from_dict(predictor, schema, version), privacy, scores)

    def _describe(self) -> tuple[str, str]:
        return "an ensemble", f"{self.ensemble_.n_rounds} rounds"

    def terms(self, *, max_pairs: int | None = None) -> Terms:
        """Return the ensemble as a sum of functions of one, two or three features.

        Parameters
        ----------
        max_pairs : int, optional
            Largest number of terms of several features. The weakest others are left out;
            ``typical_change`` and ``largest_change`` of the result say what that changes. By
            default, all terms are kept, and their sum is the score of the model: for a numeric
            target the prediction, before it is clipped to the range of the target.

        Returns
        -------
        Terms
            The terms, the strongest first. They reveal no more than the model.
        """
        return self._terms if max_pairs is None else self._terms.with_pairs(max_pairs)

    @cached_property
    def _terms(self) -> Terms:
        return ensemble_terms(self.ensemble_)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: terms are computed again."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_terms"}

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the strengths of all terms.

        It follows from the released ensemble, and reveals no more. Features of a term of several
        features share its strength alike. An ensemble that cannot be shown as terms has none.
        """
        try:
            return self.terms().feature_importances
        except ParameterError as error:
            raise AttributeError(f"there are no feature_importances_: {error}") from None


class ClassEnsembleRelease(ClassPredictions, EnsembleRelease):
    """An ensemble that predicts classes; see :class:`~privatree.EnsembleModel`."""

    first_version: ClassVar[int] = 3

    def decision_function(
        self, X: Any, *, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the log-odds of the second of two classes, or else a score for each class.

        The arguments are those of :meth:`predict`.
        """
        return self.ensemble_.decision_function(*self._feature_matrix(X, names))


class NumberEnsembleRelease(NumberPredictions, EnsembleRelease):
    """An ensemble that predicts numbers; see :class:`~privatree.RegressionEnsembleModel`."""

    first_version: ClassVar[int] = 4


def release_ensemble(
    ensemble: Ensemble, privacy: PrivacyStatement, scores: Scores | None = None
) -> ClassEnsembleRelease | NumberEnsembleRelease:
    """Return the release of an ensemble, by what it predicts."""
    kind = ClassEnsembleRelease if ensemble.schema.target is None else NumberEnsembleRelease
    return kind(ensemble.schema, ensemble, privacy, scores)
