import inspect
import subprocess
import sys

import pytest

import privatree

NAMES = {
    "BudgetExceededError",
    "Categorical",
    "Model",
    "ModelFormatError",
    "Numeric",
    "PaperClaimWarning",
    "PaperPrivaTreeClassifier",
    "ParameterError",
    "PrivacyLeakWarning",
    "PrivatreeError",
    "Schema",
    "SchemaError",
    "__version__",
    "datasets",
    "export",
    "export_text",
    "load",
    "privacy",
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


def test_parameters_of_the_paper_tree_and_their_defaults():
    parameters = inspect.signature(privatree.PaperPrivaTreeClassifier).parameters
    assert {name: p.default for name, p in parameters.items()} == {
        "epsilon": 1.0,
        "max_depth": 4,
        "schema": None,
        "n_bins": 10,
        "max_leaf_error": 0.01,
        "quantiles": "private",
        "stop_when_pure": True,
        "random_state": None,
    }
    keyword_only = {n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keyword_only == set(parameters) - {"epsilon"}


def test_import_alone_loads_nothing_heavy():
    code = (
        "import sys, privatree; "
        "print(sorted({'numpy', 'numba', 'pandas', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
