"""The terms of an ensemble: what each feature, and each pair of features, adds to the score.

The score of a record is the intercept plus the value of every term. The terms are computed from the
released ensemble alone (``_decomposition.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.suggestions import did_you_mean
from privatree._support.validation import is_integer
from privatree.errors import ParameterError
from privatree.model._json_labels import labels_by_code
from privatree.model.ensemble import Ensemble
from privatree.schema import Categorical, Feature, Label, Schema
from privatree.tables import prediction_matrix

_TILE_ROWS = 8192
_ROUNDING, _NOTHING = 1e-9, 1e-12
"""Relative and absolute error of effects and bands, roughly."""


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
        How large the effect in each cell would be by the noise of the draws alone, in the shape of
        `effect`: twice the standard deviation that it would have if the sign of every released step
        function were tossed anew, with a fair coin for each. Where the records say nothing, the
        draws are such tosses, and about one effect of twenty is larger than its band, or fewer if
        it is the sum of a few functions. The switches of the step functions and the branches above
        them are taken as they were released. The band is *not* a confidence interval: it does not
        say how far the records differ from the population, nor what so many rounds cannot learn.
        None if a feature of the term was declared monotone, because its signs were not free.
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
    def is_outside(self) -> NDArray[np.bool_] | None:
        """Whether the effect in each cell is outside the band; None without a band."""
        if self.band is None:
            return None
        # Four equal functions reach the band exactly. Rounding must not put them outside.
        return np.asarray(np.abs(self.effect) > self.band * (1 + _ROUNDING) + _NOTHING)

    @cached_property
    def beyond_chance(self) -> float | None:
        """Share of the public measure where the effect is outside the band.

        With more than two classes, it is the mean over the classes. Of a term that is the sum of
        many functions with signs by chance, about 5% are outside.
        """
        if self.is_outside is None:
            return None
        return float((self._over_classes(self.is_outside) * self.measure).sum())

    def _over_classes(self, effects: NDArray[Any]) -> NDArray[Any]:
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
        Weak terms of several features that ``max_pairs`` left out, the strongest first.

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
        names = (key,) if isinstance(key, str) else tuple(key)
        for term in self.kept:
            if set(term.names) == set(names):
                return term
        raise KeyError(self._why_absent(names))

    def _why_absent(self, names: tuple[Any, ...]) -> str:
        known = list(self.schema.features)
        for name in names:
            if name not in known:
                near = did_you_mean(name, known) if isinstance(name, str) else ""
                return f"{name!r} is not a feature of the schema.{near}"
        what = f"there is no term of {' and '.join(map(repr, names))}"
        if any(set(term.names) == set(names) for term in self.left_out):
            return f"{what}: max_pairs left it out."
        return f"{what}: it would be 0."

    def with_pairs(self, max_pairs: int) -> Terms:
        """Return the terms with no more than `max_pairs` terms of several features: the strongest.

        The others are in ``left_out``.
        """
        if not (is_integer(max_pairs) and max_pairs >= 0):
            raise ParameterError(
                f"max_pairs must be an integer of at least 0, or None, got {max_pairs!r}.",
                "max_pairs",
            )
        weak = {term.names for term in [t for t in self.kept if t.order > 1][max_pairs:]}
        kept = tuple(term for term in self.kept if term.names not in weak)
        left_out = tuple(term for term in self.kept if term.names in weak)
        return Terms(self.ensemble, self.intercept, kept, left_out + self.left_out)

    def __repr__(self) -> str:
        shown = ", ".join(" and ".join(term.names) for term in self.kept[:3])
        return f"<Terms: {len(self.kept)} terms; the strongest: {shown or 'none'}>"

    @property
    def schema(self) -> Schema:
        """The schema of the ensemble."""
        return self.ensemble.schema

    @property
    def typical_change(self) -> float:
        """Root of the mean square by which leaving out terms changes a score.

        The mean is over the public measure and, with more than two classes, over the classes. What
        changes all scores of a record alike does not count, because it changes no probability.
        """
        return float(np.sqrt(sum(term.typical**2 for term in self.left_out)))

    @property
    def largest_change(self) -> float:
        """Bound on how much leaving out terms can change a score of any record.

        As for `typical_change`, what changes all scores of a record alike does not count.
        """
        return float(sum(np.abs(term.effect).max() for term in self.left_out))

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
        return self._tile_by_tile(X, names, lambda parts: parts)

    def shap_values(self, X: Any, *, names: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return the SHAP value of each feature for each record, under the public measure.

        They are exact for the sum of these terms, because every term has a mean of 0 along each of
        its features: a feature has its own term, half of each of its terms of two features, and so
        on. With ``max_pairs``, this sum is not the score of the model. The base value is the
        intercept. The arguments are those of :meth:`contributions`.

        Returns
        -------
        array of shape (n_records, n_features), or (n_records, n_features, n_classes)
            In the order of the schema. Features that the ensemble does not use have 0.
        """
        places = {name: place for place, name in enumerate(self.schema.features)}

        def share_out(parts: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.zeros((len(parts), len(places), *parts.shape[2:]))
            for number, term in enumerate(self.kept):
                for name in term.names:
                    found[:, places[name]] += parts[:, number] / term.order
            return found

        return self._tile_by_tile(X, names, share_out)

    def decision_function(
        self, X: Any, *, names: Sequence[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the sum of intercept and terms for each record.

        Without ``max_pairs``, it is the ``decision_function`` of the model. The arguments are those
        of :meth:`contributions`.
        """
        base = self.intercept[0] if self.ensemble.has_one_score else self.intercept
        return self._tile_by_tile(X, names, lambda parts: np.asarray(base + parts.sum(axis=1)))

    def _tile_by_tile(
        self,
        X: Any,
        names: Sequence[str] | None,
        reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Apply `reduce` to the contributions of some records at a time."""
        matrix, columns = prediction_matrix(
            X, self.schema, self.ensemble.used_features, names=names
        )
        matrix, columns = np.asarray(matrix), np.asarray(columns)
        found = reduce(self._contributions(matrix[:0], columns))
        found = np.empty((len(matrix), *found.shape[1:]))
        for start in range(0, len(matrix), _TILE_ROWS):
            rows = slice(start, start + _TILE_ROWS)
            found[rows] = reduce(self._contributions(matrix[rows], columns))
        return found

    def _contributions(self, matrix: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
        codes = self.ensemble.packed.codes(matrix, columns)
        classes = () if self.ensemble.has_one_score else (len(self.schema.classes),)
        places = {name: place for place, name in enumerate(self.schema.features)}
        found = np.empty((len(self.kept), len(matrix), *classes))
        for number, term in enumerate(self.kept):
            cells = [axis.cell_of_code[codes[places[axis.name]]] for axis in term.axes]
            found[number] = term.values[tuple(cells)]
        return np.moveaxis(found, 0, 1)
