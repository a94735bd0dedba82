"""Every exception and warning of privatree.

::

    PrivatreeError
    ├── ParameterError (ValueError)      a parameter is out of its range: ``.parameter`` names it
    ├── SchemaError (ValueError)         a schema is invalid, or does not match the columns
    ├── SourceError                      records cannot be read, or changed during training
    ├── ModelFormatError (ValueError)    a model file is not what ``save`` writes
    ├── CertificateError (ValueError)    a learner or its data cannot be certified
    ├── TooFewRecordsError               the noisy number of records is below ``min_records``
    ├── BudgetExceededError              a draw would exceed the budget, so it was not made
    ├── BudgetStoreError                 a budget file is missing, damaged, busy or of another kind
    └── DatasetMissingError              a dataset of the paper is missing and cannot be downloaded

    PrivacyLeakWarning (UserWarning)     something was read from the data outside the guarantee
    └── PaperClaimWarning                the paper's claim is not a guarantee for whole records

Messages say what must hold, what was got and what to do next. They never contain a value taken
from a record: an error is an output, and outputs must not leak.
"""

from typing import Self


class PrivatreeError(Exception):
    """Base class of every error that privatree raises on purpose.

    Examples
    --------
    >>> import privatree
    >>> try:
    ...     privatree.Numeric(low=10, high=0)
    ... except privatree.PrivatreeError as error:
    ...     print(error)
    low must be <= high, got low=10 and high=0. Swap them.
    """


class ParameterError(PrivatreeError, ValueError):
    """A parameter of an estimator, a function or a mechanism is out of its range.

    Parameters
    ----------
    message : str
        What must hold, what was got and what to do next.
    parameter : str, optional
        Name of the parameter; None if no single parameter is at fault. The command line uses the
        name to find the option that the user must change.

    Examples
    --------
    >>> from privatree import ParameterError, datasets
    >>> try:
    ...     datasets.load("iris")
    ... except ParameterError as error:
    ...     print(error.parameter)
    name
    """

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class SchemaError(PrivatreeError, ValueError):
    """A schema contradicts itself, or contradicts the columns of the data.

    Examples
    --------
    >>> from privatree import Numeric, Schema
    >>> Schema({"age": Numeric(0, 120)}, classes=["yes"])
    Traceback (most recent call last):
    privatree.errors.SchemaError: classes must have at least 2 entries, got 1.
    """


class SourceError(PrivatreeError):
    """Records cannot be read, or changed while they were read.

    Examples
    --------
    >>> from privatree import Numeric, PrivaTreeClassifier, Schema
    >>> from privatree.sources import ArrowSource
    >>> def query():
    ...     raise ConnectionError("the database is down")
    >>> schema = Schema({"age": Numeric(0, 120)}, ["no", "yes"])
    >>> PrivaTreeClassifier(1.0, schema=schema).fit(ArrowSource(query, target="ill"))
    Traceback (most recent call last):
    privatree.errors.SourceError: data could not be read. Read all of it yourself to see the error.
    """


class ModelFormatError(PrivatreeError, ValueError):
    """A file is not a model file that ``save`` wrote.

    Examples
    --------
    >>> from privatree import Model, ModelFormatError
    >>> try:
    ...     Model.from_dict({"format": "another"})
    ... except ModelFormatError:
    ...     print("This is not a privatree model.")
    This is not a privatree model.
    """


class CertificateError(PrivatreeError, ValueError):
    """A certificate against poisoning would not hold for this learner or this dataset.

    Examples
    --------
    >>> from privatree import CertificateError, PrivaTreeClassifier, datasets
    >>> from privatree.robustness import claimed_accuracy_certificate
    >>> frame, labels, schema = datasets.load("vote")
    >>> learner = PrivaTreeClassifier(1.0, schema=schema, random_state=0)
    >>> try:
    ...     claimed_accuracy_certificate(learner, frame, labels, frame, labels, claimed_by="us")
    ... except CertificateError:
    ...     print("This learner guarantees its epsilon: use accuracy_certificate.")
    This learner guarantees its epsilon: use accuracy_certificate.
    """


class TooFewRecordsError(PrivatreeError):
    """The noisy number of records is below the schema's ``min_records``, so training stopped.

    Only the noisy number was drawn, for 3% of epsilon. The message shows it: it is released, so the
    decision to stop reveals nothing more.

    Parameters
    ----------
    message : str
        The noisy number, what it cost, what was not spent, and the usual causes.
    noisy_records, records_error : int
        The noisy number of records with a known label, and a bound on its noise that holds with a
        probability of 95%.

    Examples
    --------
    >>> from privatree import Numeric, PrivaTreeClassifier, Schema, TooFewRecordsError
    >>> schema = Schema({"age": Numeric(0, 120)}, ["no", "yes"], min_records=1000)
    >>> try:
    ...     PrivaTreeClassifier(1.0, schema=schema).fit([[34], [57]] * 50, ["No", "Yes"] * 50)
    ... except TooFewRecordsError as error:
    ...     print(error.noisy_records < 1000, error.records_error)
    True 100
    """

    def __init__(self, message: str, noisy_records: int, records_error: int) -> None:
        super().__init__(message)
        self.noisy_records, self.records_error = noisy_records, records_error

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Pickle with all arguments: refits run in other processes."""
        return type(self), (str(self), self.noisy_records, self.records_error)


class BudgetExceededError(PrivatreeError):
    """A draw would spend more than the budget allows. It was refused, so nothing was drawn.

    Examples
    --------
    >>> from privatree import BudgetExceededError
    >>> from privatree.privacy import Budget
    >>> try:
    ...     Budget(1.0).charge(1.5, purpose="a first model")
    ... except BudgetExceededError:
    ...     print("The budget does not cover an epsilon of 1.5.")
    The budget does not cover an epsilon of 1.5.
    """


class BudgetStoreError(PrivatreeError):
    """A budget file cannot be used: it is missing, damaged, busy or a file of another kind.

    Examples
    --------
    >>> from privatree import BudgetStoreError
    >>> from privatree.privacy import BudgetStore
    >>> try:
    ...     BudgetStore("no-such-file.db").charge(0.5, purpose="a first model")
    ... except BudgetStoreError:
    ...     print("Create the budget first.")
    Create the budget first.
    """


class DatasetMissingError(PrivatreeError):
    """A dataset of the PrivaTree paper is not on this machine and cannot be downloaded.

    Examples
    --------
    >>> from privatree import DatasetMissingError
    >>> from privatree.reproduction.datasets import load
    >>> try:
    ...     records = load("vote")
    ... except DatasetMissingError as error:
    ...     print(error)  # where to get the dataset, and where to put it
    """


class PrivacyLeakWarning(UserWarning):
    """Something was read from the data outside the differential-privacy guarantee.

    Examples
    --------
    >>> import warnings
    >>> from privatree import PrivacyLeakWarning, Schema
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PrivacyLeakWarning)  # a draft, for the owner only
    ...     schema = Schema.infer([[34], [57]], ["no", "yes"])
    >>> schema.unconfirmed[0]
    ('classes',)
    """


class PaperClaimWarning(PrivacyLeakWarning):
    """The epsilon that the PrivaTree paper claims does not hold for whole records.

    Examples
    --------
    >>> import warnings
    >>> from privatree import PaperClaimWarning, PaperPrivaTreeClassifier, datasets
    >>> frame, labels, schema = datasets.load("vote")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PaperClaimWarning)  # for a comparison
    ...     model = PaperPrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> model.privacy_.epsilon > model.privacy_.claimed_epsilon
    True
    """
