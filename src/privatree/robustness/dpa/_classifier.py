"""Deep Partition Aggregation [LF21]: a vote of small models with disjoint training records.

An attacker who adds, removes or relabels a record changes only one model of the ensemble, so a few
edits cannot change a large majority. The ensemble is neither private nor interpretable; it is for
comparison.
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

from privatree._support.validation import check_integer, check_same_length, is_integer
from privatree.errors import ParameterError
from privatree.estimators import check_columns, refuse_separate_missing, refuse_weights
from privatree.robustness.attacks._poisoned_numbers import parse_poisoned, parse_poisoned_entry
from privatree.robustness.dpa._record_hash import partition_numbers, rows_to_hash
from privatree.robustness.dpa._voter import ABSTAINING, Voter, train_voter
from privatree.schema import Label, Numeric, Schema
from privatree.tables import open_frame, read_features, read_labels

MAX_PARTITIONS = 1_000_000
_FEW_RECORDS = 10  # average per partition below which a model hardly beats a constant prediction
_ENOUGH_RECORDS = 20
_VOTERS_PER_TASK = 64


class CertifiedPredictions(NamedTuple):
    """Predicted labels, and the number of edits that each prediction survives."""

    labels: NDArray[Any]
    radii: NDArray[np.int64]


class DPAClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A vote of models that are trained on disjoint parts of the data [LF21].

    Parameters
    ----------
    base_estimator : classifier, optional
        Classifier that is trained on each partition; by default a decision tree of depth 4. It must
        be deterministic given its records and seed. Every ``random_state`` among its parameters is
        set to the number of the partition. A shuffling cross-validation splitter
        among its parameters must have a seed.
    n_partitions : int, default=1000
        Number of models that vote. With more models a prediction survives more edits, but each
        model learns less: choose a number with 20 records or more for each partition.
    schema : Schema, optional
        Schema by which every record is read on its own. Without a schema X must be numeric.
    classes : sequence of labels, optional
        Classes, for use without a schema. Records with other labels are left out. If no classes
        are declared, an attacker can add a new class, and the radii take this into account.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray
        Labels as declared, or sorted if not declared. If votes are equal, the first class wins.
    classes_declared_ : bool
        Whether the classes were declared, by `schema` or by `classes`.
    voters_ : list of Voter
        Model of each partition, or its class if all of its records have the same class.
    n_records_ : int
        Number of training records, including those that were left out.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Edits: one record added, one record removed or one label changed is one edit, because it changes
    one partition. A record whose features change counts as two: it leaves a partition and enters
    another. The order of the records does not matter.

    Guarantee: a prediction with radius r is the same for every training set that is at most r edits
    away. The guarantee is deterministic. The proof and its assumptions are in
    ``docs/proofs/partition-aggregation.md``.

    A partition without records, or on which the base estimator raises an exception, does not vote.
    A partition of one class votes for that class. ``fit`` raises an error only if training fails on
    every partition that could vote; edits within a radius cannot cause that.

    Without a schema, ``fit`` raises an error if any value is not a number, is infinite or is NaN
    (unless the base estimator accepts NaN). An attacker can cause this error, but not another
    prediction. With a schema, no value causes an error.

    The ensemble is not differentially private, and a thousand trees are too many to read.

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

    def fit(self, X: Any, y: Any) -> Self:
        """Train a model on each partition.

        Warn if the partitions have fewer than 10 records on average, or if the base estimator
        failed on some of them.

        Parameters
        ----------
        X : array or frame of shape (n_records, n_features)
            Training records: a frame that fits the schema, or numbers if there is no schema.
        y : array-like of shape (n_records,)
            Labels. If classes are declared, records with other labels are left out.
        """
        check_integer("n_partitions", self.n_partitions, 1, MAX_PARTITIONS)
        base = self._base_or_default
        _check_base_estimator(base)
        self._check_declarations()
        rows, codes = self._read_training_records(X, y)
        self._warn_of_small_partitions(len(rows))
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
            self._report_failures(failures)
        return self

    @property
    def _base_or_default(self) -> Any:
        default = self.base_estimator is None
        return DecisionTreeClassifier(max_depth=4) if default else self.base_estimator

    def _check_declarations(self) -> None:
        """Check and store the schema and classes, because parameters may change after training."""
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise ParameterError(
                f"schema must be a privatree.Schema or None, got {type(self.schema).__name__}. "
                "Schema.from_toml(path) reads one from a file.",
                "schema",
            )
        if self.schema is not None:
            refuse_separate_missing(self.schema, type(self).__name__)
        if self.schema is not None and self.schema.unit is not None:
            refuse_weights(type(self).__name__, "schema")
        if self.schema is not None and self.schema.unconfirmed:
            raise ParameterError(
                "schema must have no unconfirmed entries, got unconfirmed "
                f"{self.schema.shown_unconfirmed()}. An attack changes what was read from the "
                "records, so no radius would hold. Check each entry against public knowledge; then "
                "delete its mark, or pass schema.confirmed().",
                "schema",
            )
        if self.schema is not None and self.classes is not None:
            raise ParameterError(
                "classes must be None with a schema: the schema declares them.", "classes"
            )
        self._nan_is_fine = get_tags(self._base_or_default).input_tags.allow_nan
        self._features = self.schema
        self._labels = self.schema
        if self.classes is not None:
            self._labels = Schema({"never read": Numeric(0, 0)}, self.classes)
        self.classes_declared_ = self._labels is not None

    def _read_training_records(
        self, X: Any, y: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        rows = self._read_features(X, y, reset=True)
        self.n_records_ = len(rows)
        if self._labels is None:
            labels = column_or_1d(y)
            check_classification_targets(labels)
            self.classes_, codes = np.unique(labels, return_inverse=True)
            return rows, codes
        codes = read_labels(y, self._labels).astype(np.intp)
        self.classes_ = _classifier_labels(self._labels.classes)
        check_same_length(len(rows), len(codes))
        return rows[codes >= 0], codes[codes >= 0]

    def _read_features(self, X: Any, y: Any = None, *, reset: bool) -> NDArray[np.float64]:
        """Return records as canonical numbers. Each record is read independently of the others."""
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
                raise ParameterError(  # without the cause, which shows a value of a record
                    "X must be numeric without a schema, got text. Pass schema=..., which says how "
                    "each column is read, or encode text as numbers.",
                    "X",
                ) from None
            return rows_to_hash(found[0] if checked else found)
        table = open_frame(X)
        check_columns(self, X, table, self._features, reset=reset)
        names = None if reset else getattr(self, "feature_names_in_", None)
        return rows_to_hash(np.column_stack(read_features(table, self._features, names)))

    def _warn_of_small_partitions(self, n_records: int) -> None:
        if self.n_partitions == 1 or n_records >= _FEW_RECORDS * self.n_partitions:
            return
        warnings.warn(
            f"n_partitions leaves each partition about {n_records / self.n_partitions:.2g} records "
            f"({n_records} in {self.n_partitions}), which is little to learn from: many models may "
            "predict the most frequent class for every row, which is robust and useless. Choose "
            f"n_partitions so that each partition has {_ENOUGH_RECORDS} records or more, here at "
            f"most {max(1, n_records // _ENOUGH_RECORDS)}.",
            stacklevel=3,
        )

    def _report_failures(self, failures: list[Exception]) -> None:
        """Warn of partitions on which training failed, or raise an error if none is left."""
        kind = type(failures[0]).__name__
        if not any(len(voter.codes) for voter in self.voters_):
            raise ParameterError(
                "base_estimator must train on at least one partition, but failed on all "
                f"{len(failures)} that have two classes; the first error was {kind}. Check "
                "its parameters, or choose a smaller n_partitions so that each partition has "
                "more records.",
                "base_estimator",
            ) from failures[0]
        warnings.warn(
            f"base_estimator failed on {len(failures)} of {self.n_partitions} partitions, first "
            f"with {kind}. These partitions do not vote. Choose a smaller n_partitions so that "
            "each partition has more records.",
            stacklevel=3,
        )

    def _count_votes(self, X: Any) -> NDArray[np.int32]:
        """Return the number of partitions that vote for each class, for each row."""
        check_is_fitted(self, "voters_")
        rows = self._read_features(X, reset=False)
        votes = np.zeros((len(rows), len(self.classes_)), dtype=np.int32)
        if len(rows) == 0:  # most classifiers refuse to predict no rows
            return votes
        counted = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(_classifier_votes)(self.voters_[part], rows, self.classes_)
            for part in gen_batches(len(self.voters_), _VOTERS_PER_TASK)
        )
        for votes_of_batch in counted:
            votes += votes_of_batch
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the most votes for each row; the first of ``classes_`` in a tie."""
        return self.certify(X).labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class in the votes on each row; equal shares without votes."""
        votes = self._count_votes(X)
        votes[votes.sum(axis=1) == 0] = 1
        shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def certify(self, X: Any) -> CertifiedPredictions:
        """Return the predicted label of each row, and the number of edits that it survives."""
        votes = self._count_votes(X)
        radii = vote_radii(votes, unseen_classes=not self.classes_declared_)
        return CertifiedPredictions(self.classes_[votes.argmax(axis=1)], radii)

    def certified_radius(self, X: Any) -> NDArray[np.int64]:
        """Return the number of edits of the training data that each prediction survives."""
        return self.certify(X).radii

    def certified_accuracy(
        self, X: Any, y: Any, poisoned: Sequence[int | str]
    ) -> NDArray[np.float64]:
        """Return a lower bound on the accuracy after edits of the training data.

        Parameters
        ----------
        X, y : array or frame, array-like
            Rows and their true labels, chosen before the training data were edited.
        poisoned : sequence of int or str
            Numbers of edits, or shares of the training records (``n_records_``) such as ``"1%"``,
            rounded down.

        Returns
        -------
        ndarray of float64
            Share of rows that are predicted correctly after any edits, for each entry of
            `poisoned`.
        """
        check_is_fitted(self, "voters_")
        parse_poisoned(poisoned, self.n_records_)  # checks that it is a list
        numbers = [parse_poisoned_entry(entry, self.n_records_) for entry in poisoned]
        labels, radii = self.certify(X)
        actual = column_or_1d(y) if self._labels is None else read_labels(y, self._labels)
        check_same_length(len(labels), len(actual))
        if len(labels) == 0:
            raise ParameterError("X must have at least one row.", "X")
        if self._labels is None:
            right = labels == actual
        else:  # code -1 is a label that is no class
            right = (labels == self.classes_[actual]) & (actual >= 0)
        return np.array([np.mean(right & (radii >= edits)) for edits in numbers])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        described = self.schema is not None
        tags.input_tags.allow_nan = (
            described or get_tags(self._base_or_default).input_tags.allow_nan
        )
        tags.input_tags.categorical = tags.input_tags.string = described
        return tags


def vote_radii(votes: NDArray[np.integer[Any]], *, unseen_classes: bool) -> NDArray[np.int64]:
    """Return the number of changed votes that the winner of each row survives [LF21, Thm. 1].

    The number is ``floor((n_c - max over j != c of (n_j + [j < c])) / 2)`` for the winner c, where
    n_j is the number of votes for class j. If `unseen_classes` is true, votes can also change to a
    class that is not in the table and comes before all others.
    """
    rows, winners = np.arange(len(votes)), votes.argmax(axis=1)
    # A rival needs as many votes as the winner if it comes before it, else one more.
    rivals = votes.astype(np.int64) + (np.arange(votes.shape[1]) < winners[:, None])
    rivals[rows, winners] = 1 if unseen_classes else 0  # no votes, but first in order
    margins: NDArray[np.int64] = votes[rows, winners] - rivals.max(axis=1)
    return np.maximum(margins // 2, 0)


def _check_base_estimator(base: Any) -> None:
    if not is_classifier(base):
        raise ParameterError(
            f"base_estimator must be a scikit-learn classifier, got {type(base).__name__}.",
            "base_estimator",
        )
    for name, value in base.get_params().items():
        is_splitter = hasattr(value, "random_state") and not hasattr(value, "get_params")
        if is_splitter and getattr(value, "shuffle", True) and not is_integer(value.random_state):
            raise ParameterError(
                f"base_estimator must be deterministic, but its {name} has no seed. Give {name} an "
                "integer random_state.",
                "base_estimator",
            )


def _classifier_votes(
    voters: Sequence[Voter], rows: NDArray[np.float64], classes: NDArray[Any]
) -> NDArray[np.int32]:
    votes = np.zeros((len(rows), len(classes)), dtype=np.int32)
    for voter in voters:
        voter.add_votes(rows, classes, votes)
    return votes


def _classifier_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Return an array of the labels, of dtype object if numpy would change a label."""
    array = np.array(labels)
    return array if array.tolist() == list(labels) else np.array(labels, dtype=object)
