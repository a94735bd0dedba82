import inspect
import subprocess
import sys

import pytest

import privatree

NAMES = {
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
    "evaluation",
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
}


def test_the_public_names_are_these_and_each_can_be_had():
    assert set(privatree.__all__) == NAMES
    for name in NAMES:
        assert getattr(privatree, name) is not None
    assert set(dir(privatree)) == NAMES


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Nope'"):
        _ = privatree.Nope


PARAMETERS = {
    "PrivaTreeClassifier": {
        "epsilon": 1.0,
        "max_depth": 4,
        "schema": None,
        "n_bins": "auto",
        "lookahead": "auto",
        "dataset_size": "private",
        "schedule": "accuracy",
        "robust_levels": 3,
        "neighbours": "add-remove",
        "probability_share": "auto",
        "simplify": True,
        "zoom": False,
        "class_weight": None,
        "max_sample_weight": 1.0,
        "budget": None,
        "random_state": None,
    },
    "PrivaBoostClassifier": {
        "epsilon": 1.0,
        "delta": 1e-6,
        "max_depth": 2,
        "rounds": "auto",
        "schema": None,
        "n_bins": "auto",
        "dataset_size": "private",
        "neighbours": "add-remove",
        "monotonic_cst": None,
        "class_weight": None,
        "max_sample_weight": 1.0,
        "budget": None,
        "random_state": None,
    },
    "PrivaTreeRegressor": {
        "epsilon": 1.0,
        "max_depth": 4,
        "schema": None,
        "n_bins": "auto",
        "lookahead": "auto",
        "dataset_size": "private",
        "schedule": "accuracy",
        "robust_levels": 3,
        "neighbours": "add-remove",
        "leaf_values": "mean",
        "interval": None,
        "simplify": True,
        "zoom": False,
        "max_sample_weight": 1.0,
        "budget": None,
        "random_state": None,
    },
    "PrivaBoostRegressor": {
        "epsilon": 1.0,
        "delta": 1e-6,
        "max_depth": 2,
        "rounds": "auto",
        "schema": None,
        "n_bins": "auto",
        "dataset_size": "private",
        "neighbours": "add-remove",
        "monotonic_cst": None,
        "interval": None,
        "max_sample_weight": 1.0,
        "budget": None,
        "random_state": None,
    },
    "PaperPrivaTreeClassifier": {
        "epsilon": 1.0,
        "max_depth": 4,
        "schema": None,
        "n_bins": 10,
        "max_leaf_error": 0.01,
        "quantiles": "private",
        "stop_when_pure": True,
        "random_state": None,
    },
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_of_the_learners_and_their_defaults(name):
    parameters = inspect.signature(getattr(privatree, name)).parameters
    assert {name: p.default for name, p in parameters.items()} == PARAMETERS[name]
    keyword_only = {n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keyword_only == set(parameters) - {"epsilon"}


def test_what_privacy_offers_can_be_had():
    assert {
        "Budget",
        "BudgetStore",
        "Charge",
        "Ledger",
        "PrivacyStatement",
        "Schedule",
        "Spend",
        "Stage",
    } <= set(privatree.privacy.__all__)
    for name in privatree.privacy.__all__:
        assert getattr(privatree.privacy, name) is not None


def test_what_robustness_offers_can_be_had():
    assert set(privatree.robustness.__all__) == {
        "AccuracyCertificate",
        "AttackSuccessCertificate",
        "BackdoorAttack",
        "DPAClassifier",
        "EpsilonDP",
        "ErrorCertificate",
        "InsertionAttack",
        "LabelFlipAttack",
        "PoisonedData",
        "PredictionCertificates",
        "PredictionIntervals",
        "accuracy_certificate",
        "art_classifier",
        "attack_success_certificate",
        "best",
        "bounds",
        "claimed_accuracy_certificate",
        "error_certificate",
        "prediction_certificates",
        "prediction_intervals",
    }
    for name in privatree.robustness.__all__:
        assert getattr(privatree.robustness, name) is not None


def test_what_audit_offers_can_be_had():
    assert set(privatree.audit.__all__) == {
        "AuditReport",
        "Event",
        "FileNeighbours",
        "Finding",
        "Neighbours",
        "PrivacyLoss",
        "Records",
        "Universe",
        "View",
        "audit",
        "exact_law",
        "exact_privacy_loss",
        "file_pairs",
        "known_pairs",
        "own_pair",
        "shape_of",
    }
    for name in privatree.audit.__all__:
        assert getattr(privatree.audit, name) is not None


def test_import_alone_loads_nothing_heavy():
    code = (
        "import sys, privatree; "
        "print(sorted({'numpy', 'numba', 'pandas', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
