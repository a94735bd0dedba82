"""Every exception and warning of privatree.

::

    PrivatreeError
    ├── ParameterError (ValueError)      a parameter is out of its range: ``.parameter`` names it
    ├── SchemaError (ValueError)         a schema contradicts itself, or the columns it is given
    ├── SourceError                      records cannot be read, or change while they are read
    ├── ModelFormatError (ValueError)    a model file is not what ``save`` writes
    ├── CertificateError (ValueError)    a learner or its data cannot be certified
    ├── BudgetExceededError              a draw would spend more than the budget; nothing was drawn
    ├── BudgetStoreError                 a budget's file is missing, damaged, busy or something else
    └── DatasetMissingError              a dataset of the paper is not here and cannot be fetched

    PrivacyLeakWarning (UserWarning)     something was read from the data outside the guarantee
    └── PaperClaimWarning                the paper's claim is not a guarantee for whole records

Messages say what must hold, what was got and what to do next. They never contain a value taken
from a record: an error is an output, and outputs must not leak.
"""


class PrivatreeError(Exception):
    """Base of every error raised on purpose by privatree."""


class ParameterError(PrivatreeError, ValueError):
    """A parameter of an estimator or mechanism is out of its range.

    Parameters
    ----------
    message : str
        What must hold, what was got and what to do next.
    parameter : str, optional
        Its name. Nothing if no single one is at fault. The command line names its option by it.
    """

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class SchemaError(PrivatreeError, ValueError):
    """A schema contradicts itself, or the columns of the frame it is used with."""


class SourceError(PrivatreeError):
    """Records cannot be read where they are, or change while they are read."""


class ModelFormatError(PrivatreeError, ValueError):
    """A model file is not what ``save`` writes."""


class CertificateError(PrivatreeError, ValueError):
    """A certificate against poisoning would not hold for this learner or these data."""


class BudgetExceededError(PrivatreeError):
    """A draw would spend more than the budget allows; it was refused before it was made."""


class BudgetStoreError(PrivatreeError):
    """A budget's file cannot be used: it is missing, damaged, busy or something else."""


class DatasetMissingError(PrivatreeError):
    """A dataset of the paper is neither on this machine nor can it be fetched."""


class PrivacyLeakWarning(UserWarning):
    """Something was read from the data outside the differential-privacy guarantee."""


class PaperClaimWarning(PrivacyLeakWarning):
    """The paper's claimed epsilon does not hold for whole records."""
