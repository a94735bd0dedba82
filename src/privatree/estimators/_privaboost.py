"""The boosted ensemble as a scikit-learn classifier: validate, plan, boost, release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privatree._support.progress import passing_bar
from privatree._support.suggestions import did_you_mean
from privatree._support.validation import check_integer, check_number
from privatree.counting import MAX_LEVELS, FineCells, default_n_bins
from privatree.errors import ParameterError
from privatree.estimators._base import RecordClassifier
from privatree.estimators._class_weights import class_factors_of
from privatree.estimators._training import PrivateTraining, Training
from privatree.learners.boosting import BoostPlan, boost
from privatree.model import EnsembleModel
from privatree.model.ensemble import Ensemble
from privatree.model.terms import Terms
from privatree.privacy import Randomness, conservative_delta, conservative_epsilon, epsilon_above
from privatree.schema import Numeric, Schema
from privatree.sources import Source

_MIN_DELTA, _MAX_DELTA = 1e-30, 0.1
_MAX_ROUNDS = 1000


class PrivaBoostClassifier(PrivateTraining, RecordClassifier):
    """A boosted ensemble that is (epsilon, delta)-differentially private for whole records.

    It is a sum of step functions of one and two features. It ranks records better than one tree
    does, and its probabilities are close to calibrated where there are enough records. One tree
    (:class:`PrivaTreeClassifier`) is easier to read, and often more accurate where records times
    epsilon are few.

    Only the schema and the parameters are assumed public; even the number of records is private.
    If several records can belong to one person, or any other unit, pass ``units``: then the
    guarantee holds for all records of a unit together (``docs/persons.md``).
    Each round draws one function by an exponential mechanism, for records that are weighed by how
    badly the rounds before fit them. How it works is in ``docs/boosting.md``, the proof in
    ``docs/proofs/boosting.md``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of a whole record or, with units, of all records of a unit. A smaller
        epsilon is more private and less accurate.
    delta : float, default=1e-6
        Probability with which epsilon may not hold, at most 0.1. It should be far below one in the
        number of records. 0 is allowed: then epsilon holds always, with fewer rounds.
    max_depth : {1, 2, 3}, default=2
        Number of features that a function can look at. 1 gives a sum of functions of single
        features. 3 is slower, and somewhat better for many records times epsilon.
    rounds : int or "auto", default="auto"
        Number of rounds, 1 to 1,000. ``"auto"`` follows from the noisy number of records, epsilon
        and delta. More rounds have less budget each.
    schema : Schema, optional
        Public knowledge about the columns. Without a schema, one is read from the data, which leaks
        and warns. Entries that are marked as unconfirmed leak and warn, too.
    n_bins : int or "auto", default="auto"
        Number of bins of each numeric feature, 2 to 256. ``"auto"`` means 256, or fewer with more
        than 50 features. Bins cost no budget.
    dataset_size : int or "private", default="private"
        ``"private"`` spends 3% of the budget on a noisy number of records. A number is an estimate
        from public knowledge, and may be wrong. Never pass the exact length of the dataset. If the
        schema has ``min_records``, the 3% are spent in any case.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Datasets between which the guarantee holds: with one record added or removed, or with one
        replaced. ``"replace"`` halves every spend, and makes the number of records public.
    monotonic_cst : array-like of int, or dict of str to int, optional
        Direction of each numeric feature, for two classes: 1 if a larger value must not lower the
        probability of the second class, -1 if it must not raise it, and 0 for no constraint. A list
        has the order of the schema's features. A dictionary has names, and 0 for all others. It
        must be public knowledge. Missing values are not constrained.
    class_weight : dict or "balanced", optional
        Weight of each class, from its label; classes that are not named weigh 1. Weights are
        divided by the largest one, so rare classes count more by counting the others less.
        ``"balanced"`` spends 2% of epsilon on noisy class counts, and weighs inversely to them, up
        to a ratio of 100. Probabilities are then those of records weighed in this way.
    max_sample_weight : float, default=1.0
        Largest sample weight. It must be public knowledge: larger weights are clipped to it, and
        all are divided by it.
    budget : Budget or BudgetStore, optional
        Budget of the records, in memory or in a file. ``fit`` charges epsilon and delta before any
        draw, also with a seed, and fails if the budget is too small. A charge is never taken back.
        If the schema has ``min_records``, there are two charges: 3% before the noisy number of
        records is drawn, and the rest before the ensemble is.
    random_state : int, numpy generator or None, default=None
        None draws from the operating system. A seed is for tests and papers only.

    Attributes
    ----------
    ensemble_ : Ensemble
        The released functions of all rounds.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the strengths of all terms; see :meth:`terms`.
    privacy_ : PrivacyStatement
        Epsilon and delta, the assumptions about what is public, and every spend.
    schema_ : Schema
        The schema that the ensemble was trained with.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Notes
    -----
    Numeric ranges may be generous: a part of the budget finds, for each numeric feature, an
    interval that has most of the records, where epsilon and the number of records allow it.

    If all classes of the schema are text that spells no number, and y has a *type* of whole
    numbers, then the ensemble learns the classes 0, 1, ..., as the tree does.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, datasets
    >>> from sklearn.metrics import roc_auc_score
    >>> frame, labels, schema = datasets.load("adult")
    >>> model = PrivaBoostClassifier(epsilon=1.0, schema=schema, random_state=0)
    >>> scores = model.fit(frame, labels).predict_proba(frame)[:, 1]
    >>> roc_auc_score(labels == ">50K", scores) > 0.9
    True
    """

    _separates_missing = True
    _weighs_records = True
    _learner = "PrivaBoostClassifier"
    _drawn = "ensemble"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        delta: float = 1e-6,
        max_depth: int = 2,
        rounds: int | str = "auto",
        schema: Schema | None = None,
        n_bins: int | str = "auto",
        dataset_size: int | str = "private",
        neighbours: str = "add-remove",
        monotonic_cst: Any = None,
        class_weight: Any = None,
        max_sample_weight: float = 1.0,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.max_depth = max_depth
        self.rounds = rounds
        self.schema = schema
        self.n_bins = n_bins
        self.dataset_size = dataset_size
        self.neighbours = neighbours
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.max_sample_weight = max_sample_weight
        self.budget = budget
        self.random_state = random_state

    @property
    def _delta(self) -> Any:
        return self.delta

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, units: Any = None) -> Self:
        """Train on records and their labels.

        Parameters
        ----------
        X : array, pandas, polars or Arrow frame of shape (n_records, n_features), or a source
            The records, in memory or in a source with their labels (:mod:`privatree.sources`). A
            source is read once for each round, unless it keeps its records in memory. Columns with
            names may have any order, and those that the schema does not declare are ignored.
            Columns without names must have the order of the schema.
        y : array-like of shape (n_records,), optional
            The labels; None with a source. Records whose label is not a class of the schema are
            left out.
        sample_weight : array-like of shape (n_records,), optional
            Weight of each record. It must follow from that record, or from its unit, and from
            public knowledge. Weights that are computed from all records break the guarantee: use
            `class_weight`. Negative and missing weights count as 0, weights above
            ``max_sample_weight`` as ``max_sample_weight``.
        units : array-like of shape (n_records,), optional
            Whole number or text that says who each row is about, such as a patient's id. By
            default, it is the column of X that the schema names as its unit, if it has one.
            Records without an id are left out. Each unit weighs as much as one record.

        Returns
        -------
        self

        Warns
        -----
        PrivacyLeakWarning
            If there is no schema, or the schema has unconfirmed entries.

        Raises
        ------
        TooFewRecordsError
            If the schema has ``min_records`` and the noisy number of records is below it. Then 3%
            of epsilon was spent, and the rest was not.
        BudgetExceededError
            If the budget does not cover epsilon and delta. Then nothing was drawn.
        """
        self.check_parameters()
        randomness = Randomness.from_random_state(self.random_state)
        source, schema, unit, has_weights = self._open_records(
            X, y, sample_weight=sample_weight, units=units, max_weight=float(self.max_sample_weight)
        )
        factors = class_factors_of(self.class_weight, schema)
        directions = _directions(self.monotonic_cst, schema)
        n_bins = default_n_bins(len(schema.features)) if self.n_bins == "auto" else self.n_bins
        cells = FineCells.from_schema(schema, int(n_bins), MAX_LEVELS)
        records, n_rows = source.counts(cells.binner())
        plan = self._make_plan(cells, factors, n_rows)
        self._check_noise(plan, records.full_weight)

        def train(training: Training) -> Ensemble:
            shown = False if isinstance(source, Source) else None  # a source shows its passes
            with passing_bar("Rounds", shown) as show:
                return boost(
                    records,
                    cells,
                    plan,
                    schema,
                    training.ledger,
                    directions,
                    training.after_size,
                    training.counted,
                    show,
                )

        ensemble, training = self._train(
            train, source, records, plan, randomness, unit, delta=plan.delta
        )
        notes = [f"The guarantee rests on this: {text}." for text in source.assumptions]
        privacy = self._make_statement(schema, training, notes, has_weights)
        privacy = replace(
            privacy,
            delta=epsilon_above(plan.delta) if plan.delta else 0.0,
            composition=training.ledger.composition,
            schedule=plan.schedule(),
        )
        model = EnsembleModel(schema_=schema, ensemble_=ensemble, privacy_=privacy)
        self._keep_model(model)
        self.ensemble_ = ensemble
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the second of two classes, or else a score for each class."""
        return np.asarray(self._ask_model("decision_function", X))

    def terms(self, *, max_pairs: int | None = None) -> Terms:
        """Return the ensemble as a sum of functions of few features; see `EnsembleModel.terms`."""
        check_is_fitted(self, "ensemble_")
        return self.model_.terms(max_pairs=max_pairs)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the strengths of all terms, from the released ensemble alone."""
        check_is_fitted(self, "ensemble_")
        return self.model_.feature_importances_

    def _make_plan(
        self, cells: FineCells, class_factors: tuple[int, ...] | None, n_rows: int
    ) -> BoostPlan:
        """Return the learner's public parameters. `n_rows` is used only where it is public."""
        epsilon = conservative_epsilon("epsilon", self.epsilon)
        is_private = self.dataset_size == "private"
        dataset_size = None if is_private else int(self.dataset_size)
        replaces = self.neighbours == "replace"
        if replaces:  # one replaced record is one removed and one added
            epsilon /= 2
            dataset_size = max(1, n_rows) if is_private else dataset_size
        return BoostPlan(
            epsilon=epsilon,
            delta=conservative_delta("delta", self.delta) if self.delta else Fraction(0),
            n_classes=len(cells.schema.classes),
            n_codes=cells.plain.n_codes,
            max_depth=int(self.max_depth),
            n_rounds=None if self.rounds == "auto" else int(self.rounds),
            dataset_size=dataset_size,
            replaces=replaces,
            n_zoomed=len(cells.features),
            class_factors=class_factors,
            balances_classes=isinstance(self.class_weight, str),
            min_records=cells.schema.min_records,
        )

    def check_parameters(self) -> None:
        """Check the parameters, as :meth:`fit` does before it reads records."""
        self._check_shared_parameters()
        check_number(
            "delta",
            self.delta,
            lambda delta: delta == 0 or _MIN_DELTA <= delta <= _MAX_DELTA,
            f"be 0, or from {_MIN_DELTA:g} to {_MAX_DELTA:g}",
        )
        check_integer("max_depth", self.max_depth, 1, 3)
        if self.rounds != "auto":
            check_integer("rounds", self.rounds, 1, _MAX_ROUNDS, unless='"auto"')
        if isinstance(self.schema, Schema):
            _directions(self.monotonic_cst, self.schema)


def _directions(monotonic_cst: Any, schema: Schema) -> list[int]:
    """Return the direction of each feature: 1, -1 or 0."""
    directions = _given_directions(monotonic_cst, schema.names)
    for (name, feature), direction in zip(schema.features.items(), directions, strict=True):
        if direction and not isinstance(feature, Numeric):
            raise ParameterError(
                f"monotonic_cst must be 0 for a categorical feature, got {direction} for {name!r}. "
                "Only numbers can be monotone.",
                "monotonic_cst",
            )
    if any(directions) and len(schema.classes) > 2:
        raise ParameterError(
            "monotonic_cst must be used with two classes: with more, no class is the higher one.",
            "monotonic_cst",
        )
    return directions


def _given_directions(monotonic_cst: Any, names: Sequence[str]) -> list[int]:
    if monotonic_cst is None:
        return [0] * len(names)
    if isinstance(monotonic_cst, Mapping):
        if unknown := [name for name in monotonic_cst if name not in names]:
            raise ParameterError(
                "monotonic_cst must have names of features of the schema, got "
                f"{unknown[0]!r}.{did_you_mean(str(unknown[0]), names)}",
                "monotonic_cst",
            )
        given: list[Any] = [monotonic_cst.get(name, 0) for name in names]
    else:
        given = np.asarray(monotonic_cst).ravel().tolist()
    if len(given) != len(names):
        raise ParameterError(
            f"monotonic_cst must have a number for each of the {len(names)} features, "
            f"got {len(given)}.",
            "monotonic_cst",
        )
    if any(isinstance(one, bool) or one not in (-1, 0, 1) for one in given):
        raise ParameterError("monotonic_cst must have the numbers -1, 0 and 1.", "monotonic_cst")
    return [int(one) for one in given]
