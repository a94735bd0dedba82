from privatree import audit, baselines, datasets, export, privacy, report, robustness, sources
from privatree.baselines.paper import PaperPrivaTreeClassifier
from privatree.errors import (
    BudgetExceededError,
    BudgetStoreError,
    CertificateError,
    DatasetMissingError,
    ModelFormatError,
    PaperClaimWarning,
    ParameterError,
    PrivacyLeakWarning,
    PrivatreeError,
    SchemaError,
    SourceError,
    TooFewRecordsError,
)
from privatree.estimators import (
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
)
from privatree.export import export_text, plot_budget, plot_term, plot_terms, plot_tree
from privatree.inspection import SchemaCheck
from privatree.model import EnsembleModel, Model, RegressionEnsembleModel, RegressionModel, load
from privatree.schema import About, Categorical, CsvDialect, Numeric, Schema, Target

__version__: str

__all__ = [
    "About",
    "BudgetExceededError",
    "BudgetStoreError",
    "Categorical",
    "CertificateError",
    "CsvDialect",
    "DatasetMissingError",
    "EnsembleModel",
    "Model",
    "ModelFormatError",
    "Numeric",
    "PaperClaimWarning",
    "PaperPrivaTreeClassifier",
    "ParameterError",
    "PrivaBoostClassifier",
    "PrivaBoostRegressor",
    "PrivaTreeClassifier",
    "PrivaTreeRegressor",
    "PrivacyLeakWarning",
    "PrivatreeError",
    "RegressionEnsembleModel",
    "RegressionModel",
    "Schema",
    "SchemaCheck",
    "SchemaError",
    "SourceError",
    "Target",
    "TooFewRecordsError",
    "__version__",
    "audit",
    "baselines",
    "datasets",
    "export",
    "export_text",
    "load",
    "plot_budget",
    "plot_term",
    "plot_terms",
    "plot_tree",
    "privacy",
    "report",
    "robustness",
    "sources",
]
