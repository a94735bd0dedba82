"""The terms of an ensemble: what each feature, and each pair of features, adds to the score.

The score of a record is the intercept plus the value of every term. The terms are computed from the
released ensemble alone (``_decomposition.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.model._json_labels import labels_by_code
from privatree.model.ensemble import Ensemble
from privatree.schema import Categorical, Feature, Label, Schema
from privatree.tables import prediction_matrix

_TILE_ROWS = 8192


@dataclass(frozen=True, eq=False)
class Axis:
    """One feature of a term, with the cells on which the term is constant.

    Attributes
    ----------
    name : str
        Name of the feature.
    feature : Numeric or Categorical
        The feature, as the schema declares it.
    measure : ndarray of shape (n_cells,)
        Public measure of each cell; the sum is 1.
    cuts : ndarray of shape (n_cells - 1,), or None
        For a number, the cut points between the cells. A value equal to a cut point is below it. A
        first cut point of minus infinity has only missing values below it.
    cell_of_code : ndarray of int
        For a category, the cell of each category code. For a number, the cell of each interval
        between the cut points of the whole ensemble.
    """

    name: str
    feature: Feature
    measure: NDArray[np.float64]
    cuts: NDArray[np.float64] | None
    cell_of_code: NDArray[np.int64]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.measure)

    @property
    def has_missing_cell(self) -> bool:
        """Whether the first cell of a number has missing values and nothing else."""
        return self.cuts is not None and len(self.cuts) > 0 and bool(self.cuts[0] == -np.inf)

    @property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the cells of a number, from the lowest to the highest of the declared range.

        A cell of missing values is left out, so the first two edges can belong to the second cell.
        """
        if self.cuts is None or isinstance(self.feature, Categorical):
            raise ParameterError(f"{self.name}: categories have no edges. Use categories.")
        inner = self.cuts[1:] if self.has_missing_cell else self.cuts
        return np.array([float(self.feature.low), *inner.tolist(), float(self.feature.high)])

    @property
    def categories(self) -> tuple[tuple[Label | None, ...], ...]:
        """Categories of each cell; None stands for missing values that are separate."""
        if not isinstance(self.feature, Categorical):
            raise ParameterError(f"{self.name}: numbers have no categories. Use edges.")
        cells: list[list[Label | None]] = [[] for _ in range(self.n_cells)]
        for label, cell in zip(labels_by_code(self.feature), self.cell_of_code, strict=True):
            cells[cell].append(label)
        return tuple(map(tuple, cells))


@dataclass(frozen=True, eq=False)
class Term:
    """What one feature, or a few features together, add to the score.

    Attributes
    ----------
    axes : tuple of Axis
        The features, in the order of the schema.
    values : ndarray
        What is added in each cell to the log-odds of the second of two classes, or to the predicted
        number: an array with a dimension for each axis. With more than two classes, there is a last
        dimension with what is added to the score of each class.
    band : ndarray, or None
        What pure chance explains in each cell, up to the sign. If the rounds had drawn their signs
        by tossing coins, the value would be larger in about one case of twenty. None if a feature
        was declared monotone: its direction was not drawn.
    """

    axes: tuple[Axis, ...]
    values: NDArray[np.float64]
    band: NDArray[np.float64] | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(axis.name for axis in self.axes)

    @property
    def order(self) -> int:
        """Number of features."""
        return len(self.axes)

    @cached_property
    def measure(self) -> NDArray[np.float64]:
        """Public measure of each cell: the product of the measures of the axes."""
        measure = np.ones(())
        for axis in self.axes:
            measure = np.multiply.outer(measure, axis.measure)
        return measure

    @cached_property
    def effect(self) -> NDArray[np.float64]:
        """The values, without what all classes have in common, which changes no probability."""
        if self.values.ndim == self.order:
            return self.values
        return np.asarray(self.values - self.values.mean(axis=-1, keepdims=True))

    @cached_property
    def strength(self) -> float:
        """Mean absolute effect on the score, under the public measure."""
        return float((self._over_classes(np.abs(self.effect)) * self.measure).sum())

    @cached_property
    def typical(self) -> float:
        """Root of the mean square of the effect, under the public measure."""
        return float(np.sqrt((self._over_classes(self.effect**2) * self.measure).sum()))

    @cached_property
    def beyond_chance(self) -> float | None:
        """Share of the public measure where the values are outside the band of chance."""
        if self.band is None:
            return None
        sizes = np.abs(self.values)
        largest = sizes.max(axis=-1) if self.values.ndim > self.order else sizes
        return float(self.measure[largest > self.band].sum())

    def _over_classes(self, effects: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(effects.mean(axis=-1)) if effects.ndim > self.order else effects

    def __repr__(self) -> str:
        return f"<Term: {' and '.join(self.names)}, strength {self.strength:.3g}>"


@dataclass(frozen=True, eq=False)
class Terms(Sequence[Term]):
    """All terms of an ensemble, the strongest first.

    ``terms["age"]`` is the term of one feature, and ``terms["age", "income"]`` that of two.

    Attributes
    ----------
    ensemble : Ensemble
        The ensemble.
    intercept : ndarray of shape (n_scores,)
        Mean of each score under the public measure. With two classes, it has one entry: the mean
        log-odds of the second class. With a numeric target, it is the mean prediction.
    kept : tuple of Term
        The terms.
    left_out : tuple of Term
        Weak terms of several features that ``max_pairs`` left out.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, datasets
    >>> frame, labels, schema = datasets.load("vote")
    >>> model = PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> terms = model.terms()
    >>> terms[0].names
    ('physician-fee-freeze',)
    >>> scores = terms.decision_function(frame)
    >>> bool(abs(scores - model.decision_function(frame)).max() < 1e-12)
    True
    """

    ensemble: Ensemble
    intercept: NDArray[np.float64]
    kept: tuple[Term, ...]
    left_out: tuple[Term, ...] = ()

    def __len__(self) -> int:
        return len(self.kept)

    def __iter__(self) -> Iterator[Term]:
        return iter(self.kept)

    def __getitem__(self, key: Any) -> Any:
        """Return a term by its place, or by the names of its features."""
        if isinstance(key, int | np.integer | slice):
            return self.kept[key]
        names = frozenset((key,) if isinstance(key, str) else key)
        for term in self.kept:
            if frozenset(term.names) == names:
                return term
        raise KeyError(f"there is no term of {' and '.join(map(repr, sorted(names)))}")

    def __repr__(self) -> str:
        shown = ", ".join(" and ".join(term.names) for term in self.kept[:3])
        return f"<Terms: {len(self.kept)} terms; the strongest: {shown or 'none'}>"

    @property
    def schema(self) -> Schema:
        """The schema of the ensemble."""
        return self.ensemble.schema

    @property
    def typical_change(self) -> float:
        """Root of the mean square by which leaving out terms changes a score."""
        return float(np.sqrt(sum(term.typical**2 for term in self.left_out)))

    @property
    def largest_change(self) -> float:
        """Bound on how much leaving out terms can change a score of any record."""
        return float(sum(np.abs(term.values).max() for term in self.left_out))

    @property
    def feature_importances(self) -> NDArray[np.float64]:
        """Share of each feature of the schema in all strengths. Features of a term share alike."""
        places = {name: place for place, name in enumerate(self.schema.features)}
        found = np.zeros(len(places))
        for term in self.kept:
            for name in term.names:
                found[places[name]] += term.strength / term.order
        return found / (found.sum() or 1.0)

    def contributions(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return what each term adds to the score of each record.

        Parameters
        ----------
        X : frame
            The records, as for ``predict``.
        names : sequence of str, optional
            Names of the columns, if X itself has no names.

        Returns
        -------
        array of shape (n_records, n_terms), or (n_records, n_terms, n_classes)
            The last dimension is there with more than two classes.
        """
        used = self.ensemble.used_features
        matrix, columns = prediction_matrix(X, self.schema, used, names=names)
        matrix, columns = np.asarray(matrix), np.asarray(columns)
        classes = () if self.ensemble.has_one_score else (len(self.schema.classes),)
        found = np.empty((len(matrix), len(self.kept), *classes))
        places = {name: place for place, name in enumerate(self.schema.features)}
        for start in range(0, len(matrix), _TILE_ROWS):
            rows = slice(start, start + _TILE_ROWS)
            codes = self.ensemble.packed.codes(matrix[rows], columns)
            for number, term in enumerate(self.kept):
                cells = [axis.cell_of_code[codes[places[axis.name]]] for axis in term.axes]
                found[rows, number] = term.values[tuple(cells)]
        return found

    def shap_values(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return the SHAP value of each feature for each record, under the public measure.

        They are exact, because every term has a mean of 0 along each of its features: a feature has
        its own term, half of each of its terms of two features, and so on. The base value is the
        intercept. The arguments are those of :meth:`contributions`.

        Returns
        -------
        array of shape (n_records, n_features), or (n_records, n_features, n_classes)
            In the order of the schema. Features that the ensemble does not use have 0.
        """
        parts = self.contributions(X, names=names)
        places = {name: place for place, name in enumerate(self.schema.features)}
        found = np.zeros((len(parts), len(places), *parts.shape[2:]))
        for number, term in enumerate(self.kept):
            for name in term.names:
                found[:, places[name]] += parts[:, number] / term.order
        return found

    def decision_function(
        self, X: Any, *, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the sum of intercept and terms for each record.

        Without ``max_pairs``, it is the ``decision_function`` of the model. The arguments are those
        of :meth:`contributions`.
        """
        sums: NDArray[np.float64] = self.contributions(X, names=names).sum(axis=1)
        return sums + (self.intercept[0] if sums.ndim == 1 else self.intercept)
