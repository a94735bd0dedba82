"""Deep Partition Aggregation [LF21]: many small models, none of which sees another's records.

An attacker who adds, removes or relabels a record reaches one model of the ensemble, so a majority
of votes that is large enough stands. Neither private nor interpretable; for comparison.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d, gen_batches, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from privatree._support.validation import check_integer, check_same_length
from privatree.errors import ParameterError
from privatree.estimators import check_columns
from privatree.robustness.attacks._poisoned import poisoned_records
from privatree.robustness.dpa._record_hash import canonical, partition_numbers
from privatree.robustness.dpa._voter import ABSTAINING, Voter, train_voter
from privatree.schema import Label, Numeric, Schema
from privatree.tables import open_frame, read_features, read_labels

MAX_PARTITIONS = 1_000_000
_FEW_RECORDS = 10  # in a partition, on average: a model of fewer knows hardly more than a majority
_ENOUGH_RECORDS = 20
_VOTERS_AT_ONCE = 64  # models that one thread asks in turn


class CertifiedPredictions(NamedTuple):
    """Predicted labels, and how many edits of the training records each of them survives."""

    labels: NDArray[Any]
    radii: NDArray[np.int64]


class DPAClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Deep Partition Aggregation [LF21]: a vote of models trained on disjoint parts of the data.

    Parameters
    ----------
    base_estimator : classifier, optional
        Trained once on each partition; a decision tree of depth 4 if not given. It must be
        deterministic given its records and seed. Every ``random_state`` among its parameters, and
        those of its parts, is set to the number of the partition. One that shuffles with a splitter
        of its own must give that a seed.
    n_partitions : int, default=1000
        How many models vote. More of them survive more edits and know less each: choose it so that
        a partition has 20 records or more.
    schema : Schema, optional
        What is public: kinds, ranges and categories by which every record is read on its own, and
        the classes. Without one, X must be numeric.
    classes : sequence of labels, optional
        The classes, for use without a schema. Records with other labels are left out. Without
        declared classes an attacker can add a class that nobody has seen, and radii allow for it.
    n_jobs : int, optional
        How many threads train and predict, as elsewhere in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray
        The labels; of equally many votes the first in this order wins. As declared, else sorted.
    classes_declared_ : bool
        Whether they were declared, by a schema or by themselves.
    voters_ : list of Voter
        For each partition its model, its only class, or neither.
    n_records_ : int
        How many records it was given to train on, those that were left out among them.
    n_features_in_, feature_names_in_
        As elsewhere in scikit-learn.

    Notes
    -----
    Edits: one record added, one removed or one label changed is one edit, for it changes one
    partition. A record whose features change counts as two: it leaves a partition and enters
    another. The order of the records does not matter.

    Guarantee: a prediction with radius r is the same for every training set that is at most r edits
    away. Nothing random is in it. The proof, and what it rests on, is in
    ``docs/proofs/partition-aggregation.md``.

    Partitions without records, and those on which the base estimator raises an exception, vote for
    nobody; a partition of one class votes for it. Fitting raises only if all that could vote fail:
    fewer edits than any radius cannot bring that about.

    Without a schema, values that are not numbers, infinite or (unless the base estimator takes it)
    NaN are refused for all records at once. That is an error and no other prediction, but it is
    one that an attacker can cause; with a schema nothing in a record is an error.

    The ensemble is not differentially private, and nobody can read a thousand trees.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = DPAClassifier(n_partitions=20, classes=[0, 1]).fit(X, X[:, 0] >= 100)
    >>> model.predict([[10.0], [190.0]])
    array([0, 1])
    >>> model.certified_radius([[10.0], [190.0]])
    array([10,  9])
    """

    def __init__(
        self,
        base_estimator: Any = None,
        *,
        n_partitions: int = 1000,
        schema: Schema | None = None,
        classes: Sequence[Label] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_partitions = n_partitions
        self.schema = schema
        self.classes = classes
        self.n_jobs = n_jobs

    # --- training -----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Train a model on each partition.

        Parameters
        ----------
        X : array or frame of shape (n_records, n_features)
            The records. With a schema: any frame that it describes; else numbers.
        y : array-like of shape (n_records,)
            Their labels. If classes are declared, records with other labels are left out.

        Returns
        -------
        self

        Raises
        ------
        ParameterError, SchemaError, ValueError
            If parameters or columns are not as described, or if no partition could be trained.

        Warns
        -----
        UserWarning
            If the partitions have fewer than 10 records on average: where all vote for the same
            class, radii are large and the model is of no use. If the base estimator failed on some
            partitions.
        """
        check_integer("n_partitions", self.n_partitions, 1, MAX_PARTITIONS)
        base = self._base()
        self._declare()
        rows, codes = self._read(X, y)
        self._look_at_size(len(rows))
        numbers = partition_numbers(rows, self.n_partitions)
        members = np.split(
            np.argsort(numbers, kind="stable"),
            np.cumsum(np.bincount(numbers, minlength=self.n_partitions))[:-1],
        )
        trained = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(train_voter)(base, seed, rows[own], codes[own], self.classes_)
            for seed, own in enumerate(members)
        )
        failures = [result for result in trained if isinstance(result, Exception)]
        self.voters_: list[Voter] = [
            ABSTAINING if isinstance(result, Exception) else result for result in trained
        ]
        if failures:
            self._tell(failures)
        return self

    def _base(self) -> Any:
        """The classifier to train; refused if it is none."""
        if self.base_estimator is None:
            return DecisionTreeClassifier(max_depth=4)
        if not is_classifier(self.base_estimator):
            raise ParameterError(
                "base_estimator must be a scikit-learn classifier, got "
                f"{type(self.base_estimator).__name__}.",
                "base_estimator",
            )
        unseeded = [
            name for name, value in self.base_estimator.get_params().items() if _draws(value)
        ]
        if unseeded:
            raise ParameterError(
                f"base_estimator must be deterministic, but its {unseeded[0]} has no seed. "
                "Give that an integer random_state.",
                "base_estimator",
            )
        return self.base_estimator

    def _takes_nan(self) -> bool:
        base = DecisionTreeClassifier() if self.base_estimator is None else self.base_estimator
        return bool(get_tags(base).input_tags.allow_nan)

    def _declare(self) -> None:
        """Keep what is public as it is now: parameters may be changed after training."""
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise ParameterError(
                f"schema must be a privatree.Schema or None, got {type(self.schema).__name__}. "
                "Schema.from_toml(path) reads one from a file.",
                "schema",
            )
        if self.schema is not None and self.schema.unconfirmed:
            raise ParameterError(
                "schema must have nothing unconfirmed: what was read from the records is changed "
                "by an attack on them, and no radius would hold. Marked are: "
                f"{self.schema.shown_unconfirmed()}. Check each against public knowledge; then "
                "delete its mark, or pass schema.confirmed().",
                "schema",
            )
        if self.schema is not None and self.classes is not None:
            raise ParameterError(
                "classes must be None with a schema, which declares them itself.", "classes"
            )
        self._nan_is_fine = self._takes_nan()
        self._features = self.schema
        self._labels = self.schema
        if self.classes is not None:
            self._labels = Schema({"never read": Numeric(0, 0)}, self.classes)
        self.classes_declared_ = self._labels is not None

    def _read(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Read the records that have a class, each on its own."""
        rows = self._read_features(X, y, reset=True)
        self.n_records_ = len(rows)
        if self._labels is None:
            labels = column_or_1d(y)
            check_classification_targets(labels)
            self.classes_, codes = np.unique(labels, return_inverse=True)
            return rows, codes
        codes = read_labels(y, self._labels).astype(np.intp)
        self.classes_ = _label_array(self._labels.classes)
        check_same_length(len(rows), len(codes))
        return rows[codes >= 0], codes[codes >= 0]

    def _read_features(self, X: Any, y: Any = None, *, reset: bool) -> NDArray[np.float64]:
        """Read records as canonical numbers; what is in one never depends on the others."""
        if self._features is None:
            # Labels are checked with the records only where any label can be a class.
            checked = {"y": y} if reset and self._labels is None else {}
            try:
                found = validate_data(
                    self,
                    X,
                    **checked,
                    reset=reset,
                    dtype=np.float64,
                    ensure_all_finite="allow-nan" if self._nan_is_fine else True,
                )
            except ValueError as error:
                if not str(error).startswith("could not convert"):
                    raise
                raise ParameterError(  # and not the cause: it shows a value of a record
                    "X must be numeric without a schema, got text in it. Pass schema=..., which "
                    "says how each column is read, or encode text as numbers."
                ) from None
            return canonical(found[0] if checked else found)
        table = open_frame(X)
        check_columns(self, X, table, self._features, reset=reset)
        names = None if reset else getattr(self, "feature_names_in_", None)
        return canonical(np.column_stack(read_features(table, self._features, names)))

    def _look_at_size(self, n_records: int) -> None:
        """Warn where partitions are too small to learn anything from."""
        if self.n_partitions == 1 or n_records >= _FEW_RECORDS * self.n_partitions:
            return
        warnings.warn(
            f"n_partitions leaves each partition about {n_records / self.n_partitions:.2g} records "
            f"({n_records} in {self.n_partitions}), which is little to learn from: many may vote "
            "for the commonest class whatever the row, and a constant prediction is robust and of "
            f"no use. Choose n_partitions so that each has {_ENOUGH_RECORDS} records or more, here "
            f"at most {max(1, n_records // _ENOUGH_RECORDS)}.",
            stacklevel=3,
        )

    def _tell(self, failures: list[Exception]) -> None:
        """Report partitions that could not be trained; refuse a model in which nobody votes."""
        kind = type(failures[0]).__name__
        if not any(len(voter.codes) for voter in self.voters_):
            raise ParameterError(
                f"base_estimator must train on some partition, but failed on all {len(failures)} "
                f"that have two classes, first with {kind}. Check its parameters, or choose fewer "
                "partitions so that each has more records.",
                "base_estimator",
            ) from failures[0]
        warnings.warn(
            f"base_estimator failed on {len(failures)} of {self.n_partitions} partitions, first "
            f"with {kind}. They vote for nobody. Fewer partitions have more records each.",
            stacklevel=3,
        )

    # --- prediction ---------------------------------------------------------------------------

    def _votes(self, X: Any) -> NDArray[np.int32]:
        """How many partitions vote for each class, row by row."""
        check_is_fitted(self, "voters_")
        rows = self._read_features(X, reset=False)
        votes = np.zeros((len(rows), len(self.classes_)), dtype=np.int32)
        if len(rows) == 0:  # most classifiers refuse to be asked about nothing
            return votes
        counted = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(_count)(self.voters_[part], rows, self.classes_)
            for part in gen_batches(len(self.voters_), _VOTERS_AT_ONCE)
        )
        for some in counted:
            votes += some
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the most votes for each row; the first of ``classes_`` among equals."""
        return self.certify(X).labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class in the votes on each row; equal shares where nobody votes."""
        votes = self._votes(X)
        votes[votes.sum(axis=1) == 0] = 1
        shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    # --- certificates -------------------------------------------------------------------------

    def certify(self, X: Any) -> CertifiedPredictions:
        """The predicted label of each row, and how many edits it survives."""
        votes = self._votes(X)
        return CertifiedPredictions(self.classes_[votes.argmax(axis=1)], self._radii(votes))

    def certified_radius(self, X: Any) -> NDArray[np.int64]:
        """How many edits of the training records the prediction for each row survives."""
        return self._radii(self._votes(X))

    def _radii(self, votes: NDArray[np.int32]) -> NDArray[np.int64]:
        return vote_radii(votes, unseen_classes=not self.classes_declared_)

    def certified_accuracy(
        self, X: Any, y: Any, poisoned: Sequence[int | str]
    ) -> NDArray[np.float64]:
        """The accuracy on these rows that is left after edits of the training records, at least.

        Parameters
        ----------
        X, y : array or frame, array-like
            Rows and their true labels, chosen before the training records were edited.
        poisoned : sequence of int or str
            Numbers of edits, or shares of the training records (``n_records_``) such as ``"1%"``,
            rounded down.

        Returns
        -------
        ndarray of float64
            For each entry the share of rows that are predicted right whatever the edits.
        """
        check_is_fitted(self, "voters_")
        poisoned_records(poisoned, self.n_records_)  # refuses what is no list
        numbers = [poisoned_records([entry], self.n_records_)[0] for entry in poisoned]
        votes = self._votes(X)
        winners, radii = votes.argmax(axis=1), self._radii(votes)
        found, actual = (
            (self.classes_[winners], column_or_1d(y))
            if self._labels is None
            else (winners, read_labels(y, self._labels))
        )
        check_same_length(len(found), len(actual))
        if len(found) == 0:
            raise ParameterError("certified_accuracy must be given at least one row.")
        right = found == actual
        return np.array([np.mean(right & (radii >= edits)) for edits in numbers])

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect: as the base estimator, and all that a schema describes."""
        tags = super().__sklearn_tags__()
        described = self.schema is not None
        tags.input_tags.allow_nan = described or self._takes_nan()
        tags.input_tags.categorical = tags.input_tags.string = described
        return tags


def vote_radii(votes: NDArray[np.integer[Any]], *, unseen_classes: bool) -> NDArray[np.int64]:
    """How many changed votes the winner of each row survives [LF21, Thm. 1].

    Parameters
    ----------
    votes : ndarray of int of shape (n_rows, n_classes)
        How many vote for each class; the first class with the most wins.
    unseen_classes : bool
        Whether votes can change to classes that are not among these, and come before them.

    Returns
    -------
    ndarray of int64
        ``floor((n_c - max over j != c of (n_j + [j < c])) / 2)`` for winner c.
    """
    rows, winners = np.arange(len(votes)), votes.argmax(axis=1)
    # A rival needs as many votes as the winner if it comes before it, else one more.
    rivals = votes.astype(np.int64) + (np.arange(votes.shape[1]) < winners[:, None])
    rivals[rows, winners] = 1 if unseen_classes else 0  # nobody votes for it yet, and it is first
    margins: NDArray[np.int64] = votes[rows, winners] - rivals.max(axis=1)
    return np.maximum(margins // 2, 0)


def _draws(parameter: Any) -> bool:
    """Whether it is a splitter, or the like, with a seed that nobody sets."""
    has_seed = hasattr(parameter, "random_state") and not hasattr(parameter, "get_params")
    shuffles = getattr(parameter, "shuffle", True)
    return has_seed and shuffles and not isinstance(parameter.random_state, (int, np.integer))


def _count(
    voters: Sequence[Voter], rows: NDArray[np.float64], classes: NDArray[Any]
) -> NDArray[np.int32]:
    votes = np.zeros((len(rows), len(classes)), dtype=np.int32)
    for voter in voters:
        voter.vote(rows, classes, votes)
    return votes


def _label_array(labels: Sequence[Any]) -> NDArray[Any]:
    """An array of labels; of objects where numpy would change one."""
    array = np.array(labels)
    return array if array.tolist() == list(labels) else np.array(labels, dtype=object)
